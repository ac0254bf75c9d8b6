"""Counts of events: exact, the same from the beginning, and not stopped by an event that cannot be counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.events import Event
from tests.worker.events.mill import ACME, BIRCH, Mill, digest, event, folded, indexed, keep, open_mill, refusal, without_page
from worker.duties import Work
from worker.events.bus import Sequenced
from worker.events.projection import MOST_CHARS, Projection, projection_from_json
from worker.queues.dead_letters import DeadLetters


@pytest.fixture
def mill(tmp_path: Path) -> Iterator[Mill]:
    with open_mill(tmp_path / "store.db") as opened:
        yield opened


makers = st.sampled_from([digest, refusal, indexed])
happenings = st.lists(st.tuples(makers, st.sampled_from([ACME, BIRCH]), st.integers(0, 40)), max_size=25, unique=True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=happenings, data=st.data())
def test_however_often_and_in_whatever_order_events_come_again_they_count_once(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[object, object, int]], data: st.DataObject
) -> None:
    events: list[Event] = [maker(tenant, number) for maker, tenant, number in made]  # type: ignore[operator]
    with open_mill(tmp_path_factory.mktemp("mill") / "store.db") as mill:
        cut = data.draw(st.integers(0, len(events)))
        keep(mill.state, events[:cut])
        mill.relay.relay()
        sent = [each for tenant in (ACME, BIRCH) for page in mill.log.since(tenant, 0) for each in page.sequenced()]
        again: list[Sequenced] = data.draw(st.lists(st.sampled_from(sent), max_size=10)) if sent else []
        mill.bus.publish(again)
        mill.counting.consume()
        keep(mill.state, events[cut:])
        mill.run()
        for tenant in (ACME, BIRCH):
            counted = mill.projection(tenant)
            assert without_page(counted) == folded([each for each in events if each.tenant == tenant])
            assert mill.projections.rebuild(tenant).as_json() == counted
            assert projection_from_json(counted).as_json() == counted


def test_an_event_that_cannot_be_counted_is_a_dead_letter_and_stops_nothing(mill: Mill) -> None:
    unsound = event("documents.indexed", ACME, "bad", {"documents": [{"id": "t", "day": "2026-01-01", "source": "ticket"}, {"id": "u"}]})
    sound = [digest(ACME, 1), digest(ACME, 2)]
    keep(mill.state, [sound[0], unsound, sound[1]])
    mill.run()
    counted = mill.projection(ACME)
    assert (counted["failed"], counted["documents"], counted["events"]) == (1, 0, 2)
    assert {**counted, "failed": 0, "page": 0} == {**folded(sound), "page": 0}
    (letter,), _ = DeadLetters(mill.state, mill.clock).list(ACME)
    assert (letter.work, letter.attempts) == (Work("count_events", ACME, ("event", unsound.event_id)), 1)
    assert "KeyError" in letter.error
    assert mill.projections.rebuild(ACME).as_json() == counted


def test_trying_a_dead_letter_again_counts_from_the_beginning(mill: Mill) -> None:
    unsound = event("eval.finished", ACME, "bad", {"cases": "many"})
    keep(mill.state, [unsound, digest(ACME, 1)])
    mill.run()
    before = mill.projection(ACME)
    letters = DeadLetters(mill.state, mill.clock)
    (letter,), _ = letters.list(ACME)
    mill.counting.do(letters.retry(ACME, letter.letter_id))
    assert mill.projection(ACME) == before
    assert len(letters.list(ACME)[0]) == 1


@pytest.mark.parametrize(
    "body", [{}, {"documents": 3}, {"documents": [3]}, {"documents": [{"day": 3, "source": "s"}]}, {"documents": [{"day": "d"}]}]
)
def test_an_unsound_event_counts_not_at_all(body: dict[str, object]) -> None:
    projection = Projection()
    before = projection.as_json()
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        projection.apply(event("documents.deleted", ACME, "bad", body))
    assert projection.as_json() == before


def test_themes_that_are_too_many_to_name_are_left_out_and_the_rest_is_counted(mill: Mill) -> None:
    length = 300
    events = [indexed(ACME, number, theme=f"{number:0{length}}") for number in range(MOST_CHARS // length + 50)]
    keep(mill.state, events)
    mill.run()
    counted = mill.projection(ACME)
    assert (counted["themes"], counted["documents"], counted["sources"]) == (None, len(events), {"ticket": len(events)})
    assert mill.projections.rebuild(ACME).as_json() == counted


def test_only_the_newest_unanswered_questions_are_kept(mill: Mill) -> None:
    keep(mill.state, [refusal(ACME, number) for number in (*range(60, 130), *range(60))])
    mill.run()
    counted = mill.projection(ACME)
    assert [each["run_id"] for each in counted["unanswered"]] == [f"r{number}" for number in range(129, 29, -1)]
    assert counted["refused"] == {"OFF_TOPIC": 130}
