"""Evaluations: decided once, published once, whoever comes and however often."""

from datetime import timedelta

import pytest

from grounding.answers import Outcome
from runtime.errors import Conflict, InvalidRequest, NotFound, Unavailable
from runtime.tenancy import Tenant
from search.ingest.erasure import delete_documents
from tests.contracts.writes import written
from tests.worker.monitors.watch import Refusing, Watch, at
from worker.monitors.machine import State
from worker.monitors.monitor import Monitor
from worker.monitors.window import Window


def test_a_breach_fires_with_one_digest_and_one_transition(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})
    done = watch.tick(monitor, at(0))
    assert (done.outcome, done.before, done.after) == ("breached", State.OK, State.FIRING)
    (digest,) = watch.published()
    assert done.digest is not None
    assert done.digest.digest_id == digest.digest_id
    assert (digest.n, digest.denominator, digest.observed, digest.threshold, digest.version) == (12, 100, 12.0, 10.0, 1)
    assert len(digest.doc_ids) == 12
    assert (digest.window_start, digest.window_end) == (at(-1), at(0))
    assert watch.told("monitor.transitioned") == [
        {"before": "ok", "after": "firing", "window_end": at(0).isoformat(), "severity": "warning"}
    ]
    assert watch.told("digest.published") == [{"monitor_id": "crash-volume", "severity": "warning", "n": 12, "denominator": 100}]


def test_the_same_window_again_changes_nothing(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})
    watch.tick(monitor, at(0))
    held = watch.monitors.held(watch.tenant, monitor)
    for _ in range(3):
        assert watch.tick(monitor, at(0.5)).outcome == "repeated"
    assert watch.monitors.held(watch.tenant, monitor) == held
    assert (len(watch.published()), len(watch.told("monitor.transitioned")), watch.asking.asked) == (1, 1, 1)


def test_a_digest_whose_text_refuses_says_so_and_keeps_its_numbers(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})
    digest = watch.tick(monitor, at(0)).digest
    assert digest is not None
    assert digest.refusal is not None
    assert digest.refusal.message == "nobody says so"
    assert (digest.claims, digest.n, digest.run_id) == ((), 12, "run-1")


def test_an_alert_does_not_wait_for_a_text_that_cannot_be_had(watch: Watch) -> None:
    monitor = watch.save()
    watch.asking.down = True
    watch.lay_out({at(0): 12})
    digest = watch.tick(monitor, at(0)).digest
    assert digest is not None
    assert digest.refusal is None
    assert "the embedder does not answer" in digest.degraded["answer"]


def test_what_cannot_be_seen_leaves_the_window_due_and_the_state_as_it_was(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12, at(1): None})
    watch.tick(monitor, at(0))
    lost = watch.tick(monitor, at(1))
    assert (lost.outcome, lost.after, lost.problem) == ("no_observation", State.FIRING, "the search was degraded")
    assert watch.monitors.held(watch.tenant, monitor).problem == "the search was degraded"
    assert [work.key[1] for work in watch.duty.due(at(1)) if work.tenant == watch.tenant] == [at(1).isoformat()]
    watch.lay_out({at(1): 0})
    assert watch.tick(monitor, at(1)).after is State.RESOLVED
    assert watch.monitors.held(watch.tenant, monitor).problem == ""


def test_missed_windows_are_evaluated_once_and_not_replayed(watch: Watch) -> None:
    monitor = watch.save(consecutive_breaches=2)
    watch.lay_out({at(hour): 12 for hour in range(10)})
    watch.tick(monitor, at(0))
    assert watch.tick(monitor, at(9)).after is State.FIRING
    assert len(watch.told("monitor.transitioned")) == 2


def test_a_dry_run_tells_what_would_happen_and_changes_nothing(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})
    tried = watch.evaluator.evaluate_latest(watch.tenant, monitor.monitor_id, dry_run=True)
    assert (tried.after, tried.digest_wanted, tried.dry_run) == (State.FIRING, True, True)
    assert tried.digest is not None
    assert tried.digest.n == 12
    assert watch.published() == ()
    assert watch.monitors.held(watch.tenant, monitor).version == 0
    assert watch.asking.asked == 0


def test_a_window_that_is_not_over_cannot_be_evaluated(watch: Watch) -> None:
    monitor = watch.save()
    with pytest.raises(InvalidRequest, match="not over yet"):
        watch.evaluator.evaluate(watch.tenant, monitor.monitor_id, at(0))
    with pytest.raises(NotFound):
        watch.evaluator.evaluate(watch.tenant, "nobody", at(-1))


def test_deleting_while_firing_ends_it_in_silence(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})
    watch.tick(monitor, at(0))
    assert watch.monitors.delete(watch.tenant, monitor.monitor_id)
    assert len(watch.told("monitor.transitioned")) == 1
    with pytest.raises(NotFound):
        watch.tick(monitor, at(1))
    assert len(watch.published()) == 1


@pytest.mark.parametrize(
    ("edit", "state"),
    [
        ({"question": "What do reviewers say about freezes?"}, State.OK),
        ({"condition": {"count_at_least": 11}}, State.OK),
        ({"filters": {"ratingMax": 2}}, State.OK),
        ({"name": "Crashes"}, State.FIRING),
        ({"severity": "critical", "cooldown_days": 1}, State.FIRING),
        ({}, State.FIRING),
    ],
)
def test_editing_what_is_asked_resets_to_ok_and_nothing_else_does(watch: Watch, edit: dict[str, object], state: State) -> None:
    watch.lay_out({at(0): 12})
    watch.tick(watch.save(id="m"), at(0))
    edited = watch.save(id="m", **edit)
    assert watch.monitors.held(watch.tenant, edited).standing.state is state
    assert edited.version == 2


def test_an_edit_is_due_at_once(watch: Watch) -> None:
    watch.tick(watch.save(id="m"), at(0))
    assert [work for work in watch.duty.due(at(0)) if work.tenant == watch.tenant] == []
    watch.save(id="m", condition={"count_at_least": 1})
    assert [work.key[0] for work in watch.duty.due(at(0)) if work.tenant == watch.tenant] == ["m"]


def test_acknowledging(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})
    watch.tick(monitor, at(0))
    with pytest.raises(Conflict, match="firing"):
        watch.monitors.acknowledge(watch.tenant, monitor.monitor_id)
    watch.tick(monitor, at(1))
    assert watch.monitors.acknowledge(watch.tenant, monitor.monitor_id).state is State.OK
    assert watch.monitors.acknowledge(watch.tenant, monitor.monitor_id).state is State.OK
    assert [body["after"] for body in watch.told("monitor.transitioned")] == ["firing", "resolved", "ok"]


def test_a_late_document_updates_the_digest_in_place(watch: Watch) -> None:
    monitor = watch.save(cooldown_s=0)
    watch.lay_out({at(0): 12})
    first = watch.tick(monitor, at(0)).digest
    assert first is not None
    watch.lay_out({at(0): 15})
    watch.engine.write(watch.tenant, [written("late", "It crashes")])
    watch.tick(monitor, at(0.5))
    (digest,) = watch.published()
    assert (digest.digest_id, digest.version, digest.n, digest.window_end) == (first.digest_id, 2, 15, at(0))
    assert (digest.created_at, digest.updated_at) == (first.created_at, at(0.5))
    watch.engine.write(watch.tenant, [written("elsewhere", "Something else")])
    watch.tick(monitor, at(0.7))
    assert watch.published() == (digest,), "documents of no window of ours change nothing"
    assert len(watch.told("digest.published")) == 1


def test_a_late_document_fires_the_window_it_belongs_to(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 9})
    assert watch.tick(monitor, at(0)).after is State.OK
    watch.lay_out({at(0): 10})
    watch.engine.write(watch.tenant, [written("late", "It crashes")])
    (work,) = [work for work in watch.duty.due(at(0.5)) if work.tenant == watch.tenant]
    watch.clock.instant = at(0.5)
    list(watch.duty.do(work))
    (digest,) = watch.published()
    assert (digest.n, digest.window_end, digest.version) == (10, at(0), 1)
    assert watch.monitors.held(watch.tenant, monitor).standing.state is State.FIRING


def test_a_late_document_of_a_window_before_the_last_is_told_of_too(watch: Watch) -> None:
    monitor = watch.save()
    for hour in range(3):
        watch.tick(monitor, at(hour))
    watch.lay_out({at(1): 20})
    watch.engine.write(watch.tenant, [written("late", "It crashes")])
    assert watch.tick(monitor, at(3)).outcome == "clear"
    (digest,) = watch.published()
    assert (digest.n, digest.window_end) == (20, at(1))
    assert watch.monitors.held(watch.tenant, monitor).standing.state is State.OK


def test_while_it_fires_the_digest_tells_how_long_it_was_seen(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(hour): 12 for hour in range(4)})
    for hour in range(5):
        watch.tick(monitor, at(hour))
    (digest,) = watch.published()
    assert (digest.first_seen, digest.last_seen, digest.version) == (at(0), at(3), 1)


def test_after_the_cooldown_a_monitor_that_still_fires_tells_of_new_documents(watch: Watch) -> None:
    monitor = watch.save(cooldown_hours=3)
    watch.lay_out({at(hour): 12 for hour in range(7)})
    for hour in range(7):
        watch.tick(monitor, at(hour))
    assert [digest.window_end for digest in watch.published()] == [at(0), at(3), at(6)]


def test_a_clock_that_steps_back_repeats_nothing(watch: Watch) -> None:
    monitor = watch.save(cooldown_s=0)
    watch.lay_out({at(hour): 12 for hour in range(5)})
    for hour in (0, 1, 2, 0, 1, 2, 3):
        watch.tick(monitor, at(hour))
    assert [digest.window_end for digest in watch.published()] == [at(0), at(1), at(2), at(3)]


def test_a_clock_that_was_hours_ahead_blinds_no_monitor_for_hours(watch: Watch) -> None:
    monitor = watch.save(cooldown_s=0)
    assert watch.tick(monitor, at(20)).outcome == "clear"
    watch.lay_out({at(hour): 12 for hour in range(1, 4)})
    for hour in (1, 2, 3):
        assert [work.key[1] for work in watch.duty.due(at(hour)) if work.tenant == watch.tenant] == [at(hour).isoformat()]
        assert watch.tick(monitor, at(hour)).outcome == "breached"
    assert [digest.window_end for digest in watch.published()] == [at(1), at(2), at(3)]


def test_one_monitor_that_cannot_be_evaluated_leaves_the_others_alone(watch: Watch) -> None:
    broken, sound = watch.save(id="a-broken"), watch.save(id="b-sound")
    watch.state.put(watch.tenant, "monitor", broken.monitor_id, {"name": "of another time"})
    watch.lay_out({at(0): 12})
    due = [work for work in watch.duty.due(at(0)) if work.tenant == watch.tenant]
    assert [work.key[0] for work in due] == ["b-sound"]
    list(watch.duty.do(due[0]))
    assert [digest.monitor_id for digest in watch.published()] == [sound.monitor_id]


def test_paused_monitors_are_not_due_and_go_on_where_they_stood(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})
    watch.tick(monitor, at(0))
    (work,) = [work for work in watch.duty.due(at(1)) if work.tenant == watch.tenant]
    watch.monitors.pause(watch.tenant, monitor.monitor_id, True)
    assert [each for each in watch.duty.due(at(1)) if each.tenant == watch.tenant] == []
    watch.clock.instant = at(1)
    assert watch.duty.evaluated(work) is None
    resumed = watch.monitors.pause(watch.tenant, monitor.monitor_id, False)
    assert watch.monitors.held(watch.tenant, resumed).standing.state is State.FIRING


def test_every_tenant_has_its_turn(watch: Watch) -> None:
    small = Watch(watch.engine, watch.state, type(watch.tenant)("z" + watch.tenant))
    for number in range(4):
        watch.save(id=f"m{number}")
    small.save(id="only")
    ours = [(work.tenant, work.key[0]) for work in watch.duty.due(at(0)) if work.tenant in (watch.tenant, small.tenant)]
    assert ours.index((small.tenant, "only")) == 1


def test_a_store_that_is_down_is_told_to_whoever_runs_duties(watch: Watch) -> None:
    class Down:
        def __getattr__(self, name: str) -> object:
            def fails(*arguments: object, **options: object) -> object:
                raise Unavailable("the store does not answer", dependency="engine")

            return fails

    monitor = watch.save()
    (work,) = [work for work in watch.duty.due(at(0)) if work.tenant == watch.tenant]
    down = Watch(watch.engine, Down(), watch.tenant, watch.clock)  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        down.duty.evaluated(work)
    assert watch.monitors.held(watch.tenant, monitor).version == 0


def test_the_next_window_is_a_cadence_later_however_long_windows_are(watch: Watch) -> None:
    monitor = watch.save(window_hours=6, cadence_hours=None, cadence_minutes=20)
    watch.lay_out({at(0) + timedelta(minutes=20): 12})
    assert watch.tick(monitor, at(0)).outcome == "clear"
    done = watch.tick(monitor, at(0) + timedelta(minutes=25))
    assert (done.window.start, done.window.end) == (at(-6) + timedelta(minutes=20), at(0) + timedelta(minutes=20))
    assert done.outcome == "breached"


def test_a_worker_whose_clock_is_behind_evaluates_what_was_found_due(watch: Watch) -> None:
    watch.save()
    watch.lay_out({at(1): 12})
    (work,) = [work for work in watch.duty.due(at(1)) if work.tenant == watch.tenant]
    watch.clock.instant = at(1) - timedelta(seconds=20)
    done = watch.duty.evaluated(work)
    assert done is not None
    assert (done.outcome, done.window.end) == ("breached", at(1))


def test_a_tenant_that_is_erased_while_the_text_is_made_gets_no_digest(watch: Watch) -> None:
    monitor = watch.save()
    watch.lay_out({at(0): 12})

    class Erasing(Refusing):
        def ask(self, tenant: Tenant, monitor: Monitor, window: Window) -> Outcome:
            delete_documents(watch.engine, watch.state, tenant, everything=True)
            return super().ask(tenant, monitor, window)

    watch.asking = Erasing()
    assert watch.tick(monitor, at(0)).digest is None
    assert (watch.published(), watch.told("digest.published")) == ((), [])
    assert watch.state.entries(watch.tenant, "monitor_state", first=1)[0] == ()
