from dataclasses import replace
from datetime import timedelta

import pytest

from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.set_files import parse_set
from runtime.errors import InvalidRequest, NotFound
from runtime.tenancy import Tenant, tenant_named
from tests.grounding.desk import ACME, Desk, record
from worker.duties import Work
from worker.evaluations.duty import ScheduledEvaluations
from worker.evaluations.schedules import Schedules
from worker.opening import duties_of

BIRCH = tenant_named("birch")


def duty(desk: Desk, chunk: int = 3) -> ScheduledEvaluations:
    service = desk.service
    return ScheduledEvaluations(service.eval_schedules, service.evaluations, service.state, busy_s=60.0, chunk_cases=chunk)


def work_off(worker: ScheduledEvaluations, desk: Desk) -> list[Work]:
    """Everything that is due and what follows, in order."""
    done: list[Work] = []
    waiting = list(worker.due(desk.clock.now()))
    while waiting:
        done.append(waiting.pop(0))
        waiting += worker.do(done[-1])
    return done


def finished(desk: Desk, tenant: Tenant = ACME) -> list[str]:
    return [report.report_id for report in desk.service.evaluations.reports.list(tenant).reports]


def counted(desk: Desk, outcome: str) -> float:
    return desk.service.metrics.registry.get_sample_value("wa_eval_runs_total", {"result": outcome}) or 0.0


def test_a_single_run_is_done_in_chunks_and_leaves_one_report(desk: Desk) -> None:
    schedule = desk.service.eval_schedules.save(ACME, "parcels")
    done = work_off(duty(desk), desk)
    assert [work.key[2] for work in done] == ["0", "3", "6", "7"]
    report = desk.service.evaluations.reports.get(ACME, schedule.report_id(ACME))
    assert [result.case_id for result in report.results] == [f"c-{number}" for number in range(7)]
    assert (report.exact, report.outcome) == (5, "ungated")
    ended = desk.service.eval_schedules.get(ACME, schedule.schedule_id)
    assert (ended.next_at, ended.last_report_id) == (None, report.report_id)
    assert list(duty(desk).due(desk.clock.now() + timedelta(days=9))) == []


def test_a_finished_run_is_an_event_and_a_metric(desk: Desk) -> None:
    desk.service.eval_schedules.save(ACME, "parcels", gate=ScoreGate(thresholds={"exact_rate": 0.9}))
    work_off(duty(desk), desk)
    events = [event for event in desk.service.state.outbox(first=1000) if event.type == "eval.finished"]
    assert [(event.subject, event.body["passed"]) for event in events] == [(finished(desk)[0], False)]
    assert counted(desk, "failed") == 1
    assert desk.service.metrics.registry.get_sample_value("wa_eval_score_ratio", {"metric": "exact_rate"}) == pytest.approx(5 / 7)


def test_a_repeated_run_is_compared_with_the_one_before_and_skips_what_was_missed(desk: Desk) -> None:
    schedules = desk.service.eval_schedules
    schedules.save(ACME, "parcels", name="hourly", every_s=3600)
    work_off(duty(desk), desk)
    desk.clock.instant += timedelta(hours=5, minutes=10)
    desk.load([record("R-9", "One more parcel came late.")])
    work_off(duty(desk), desk)
    after = schedules.get(ACME, "hourly")
    report = desk.service.evaluations.reports.get(ACME, after.last_report_id or "")
    assert report.verdict is not None
    assert report.verdict.diff is not None
    assert report.verdict.diff.regressed == ("c-0", "c-1", "c-2", "c-3", "c-4")
    assert report.verdict.diff.fixed == ("c-5", "c-6")
    assert len(finished(desk)) == 2
    assert after.next_at is not None
    assert after.next_at - desk.clock.now() == timedelta(minutes=50)


def test_the_same_piece_done_twice_changes_nothing(desk: Desk) -> None:
    desk.service.eval_schedules.save(ACME, "parcels", name="again", every_s=3600)
    worker = duty(desk)
    done = work_off(worker, desk)
    before = desk.service.eval_schedules.get(ACME, "again")
    assert [list(worker.do(work)) for work in done] == [[], [], [], []]
    assert desk.service.eval_schedules.get(ACME, "again") == before
    assert len(finished(desk)) == 1


def test_two_workers_never_do_the_same_chunk(desk: Desk) -> None:
    desk.service.eval_schedules.save(ACME, "parcels")
    one, two = duty(desk), duty(desk)
    asked: list[str] = []
    work = next(iter(one.due(desk.clock.now())))

    class Interrupting:
        """In the middle of a chunk another worker takes the same piece."""

        def run(self, *arguments: object, **options: object) -> object:
            asked.append("one")
            assert list(two.do(work)) == []
            assert list(two.due(desk.clock.now())) == []
            return desk.service.evaluations.runner.run(*arguments, **options)  # type: ignore[arg-type]

    interrupted = replace(one, evaluations=replace(one.evaluations, runner=Interrupting()))  # type: ignore[arg-type]
    assert [each.key[2] for each in interrupted.do(work)] == ["3"]
    assert asked == ["one"]


def test_a_worker_that_dies_loses_its_chunk_only(desk: Desk) -> None:
    desk.service.eval_schedules.save(ACME, "parcels")

    class Dying:
        def run(self, *_: object, **__: object) -> object:
            raise KeyboardInterrupt

    worker = duty(desk)
    first = next(iter(worker.due(desk.clock.now())))
    second = next(iter(worker.do(first)))
    with pytest.raises(KeyboardInterrupt):
        replace(worker, evaluations=replace(worker.evaluations, runner=Dying())).do(second)  # type: ignore[arg-type]
    assert list(worker.due(desk.clock.now())) == []
    desk.clock.instant += timedelta(seconds=61)
    assert [work.key[2] for work in work_off(worker, desk)] == ["3", "6", "7"]
    assert len(finished(desk)) == 1


def test_a_worker_that_dies_after_the_report_is_kept_keeps_it_once(desk: Desk) -> None:
    schedules = desk.service.eval_schedules
    schedule = schedules.save(ACME, "parcels")
    worker = duty(desk, chunk=10)
    last = next(iter(worker.do(next(iter(worker.due(desk.clock.now()))))))

    class Forgetful(Schedules):
        def update(self, tenant: Tenant, schedule: object) -> object:  # type: ignore[override]
            if getattr(schedule, "last_report_id", None):
                raise KeyboardInterrupt
            return schedules.update(tenant, schedule)  # type: ignore[arg-type]

    with pytest.raises(KeyboardInterrupt):
        replace(worker, schedules=Forgetful(desk.service.state, desk.clock)).do(last)
    assert finished(desk) == [schedule.report_id(ACME)]
    desk.clock.instant += timedelta(seconds=61)
    work_off(worker, desk)
    assert finished(desk) == [schedule.report_id(ACME)]
    assert counted(desk, "ungated") == 1


def test_a_set_that_is_replaced_meanwhile_is_begun_again(desk: Desk) -> None:
    schedule = desk.service.eval_schedules.save(ACME, "parcels")
    worker = duty(desk)
    following = list(worker.do(next(iter(worker.due(desk.clock.now())))))
    fresh = '{"id": "new", "question": "How many documents are there?", "expected": {"answered": true, "count": 3}}'
    desk.service.evaluations.sets.save(ACME, parse_set(fresh, "parcels"))
    for work in following:
        following += worker.do(work)
    report = desk.service.evaluations.reports.get(ACME, schedule.report_id(ACME))
    assert [result.case_id for result in report.results] == ["new"]


def test_a_set_that_is_gone_ends_the_run_and_says_why(desk: Desk) -> None:
    desk.service.eval_schedules.save(ACME, "parcels", name="daily", every_s=86_400)
    desk.service.evaluations.sets.delete(ACME, "parcels")
    work_off(duty(desk), desk)
    after = desk.service.eval_schedules.get(ACME, "daily")
    assert "no set is called 'parcels'" in after.last_error
    assert after.next_at == desk.clock.now() + timedelta(days=1)
    assert counted(desk, "error") == 1


def test_a_removed_schedule_stops_where_it_is(desk: Desk) -> None:
    schedule = desk.service.eval_schedules.save(ACME, "parcels")
    worker = duty(desk)
    following = list(worker.do(next(iter(worker.due(desk.clock.now())))))
    desk.service.eval_schedules.delete(ACME, schedule.schedule_id)
    assert [list(worker.do(work)) for work in following] == [[]]
    assert finished(desk) == []
    with pytest.raises(NotFound):
        desk.service.eval_schedules.delete(ACME, schedule.schedule_id)


def test_tenants_take_turns(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        desk.service.eval_schedules.save(ACME, "parcels", name=name)
    desk.service.eval_schedules.save(BIRCH, "banking", name="z")
    assert [(work.tenant, work.key[0]) for work in duty(desk).due(desk.clock.now())] == [
        (ACME, "a"),
        (BIRCH, "z"),
        (ACME, "b"),
        (ACME, "c"),
    ]


@pytest.mark.parametrize(
    ("name", "every_s", "field"), [("", 3600, "name"), ("x" * 101, None, "name"), ("a", 59, "every_s"), ("a", 1e9, "every_s")]
)
def test_a_schedule_with_a_wrong_name_or_pace_is_refused(desk: Desk, name: str, every_s: float | None, field: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        desk.service.eval_schedules.save(ACME, "parcels", name=name, every_s=every_s)
    assert error.value.field == field


def test_due_changes_nothing(desk: Desk) -> None:
    desk.service.eval_schedules.save(ACME, "parcels")
    worker = duty(desk)
    assert list(worker.due(desk.clock.now())) == list(worker.due(desk.clock.now()))
    assert not list(worker.due(desk.clock.now() - timedelta(seconds=1)))


def test_the_service_has_the_duty(desk: Desk) -> None:
    assert ("evaluation", "evaluation") in [(each.name, each.queue) for each in duties_of(desk.service)]


def test_one_piece_of_work_asks_a_bounded_number_of_cases(desk: Desk) -> None:
    schedule = desk.service.eval_schedules.save(ACME, "banking")
    worker = duty(desk, chunk=20)
    assert [work.key[2] for work in worker.do(next(iter(worker.due(desk.clock.now()))))] == ["20"]
    assert desk.service.eval_schedules.get(ACME, schedule.schedule_id).progress.done == 20
