"""Words of deleted documents leave the stored traces themselves, not only what is read of them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grounding.traces import KIND
from search.ingest.erasure import ERASURE, delete_documents
from tests.grounding.desk import ACME, Desk, open_desk, record
from worker.duties import Work
from worker.scrubbing import ROUND, ScrubTraces

SECRET = "ordered it in June"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        yield opened


@pytest.fixture
def asked(desk: Desk) -> Desk:
    desk.load(
        [
            record("X-1", f"The loyalty card never arrived although I {SECRET}."),
            record("X-2", "Loyalty points vanished from my account."),
        ]
    )
    assert desk.ask("Did a loyalty card fail to arrive?").answer is not None
    return desk


def duty(desk: Desk) -> ScrubTraces:
    found = desk.service.duties["scrub_traces"]
    assert isinstance(found, ScrubTraces)
    return found


def stored(desk: Desk) -> str:
    entries, _ = desk.service.state.entries(ACME, KIND, first=500)
    return json.dumps([entry.body for entry in entries])


def delete(desk: Desk, *doc_ids: str) -> None:
    delete_documents(desk.service.engine, desk.service.state, ACME, doc_ids=doc_ids)


def later(desk: Desk) -> None:
    desk.clock.instant += timedelta(minutes=11)


def run(duty: ScrubTraces, pieces: Iterable[Work]) -> int:
    done, waiting = 0, list(pieces)
    while waiting:
        waiting += duty.do(waiting.pop(0))
        done += 1
    return done


def test_after_the_duty_the_words_are_gone_from_the_state_store(asked: Desk) -> None:
    delete(asked, "X-1")
    assert SECRET in stored(asked)
    later(asked)
    assert run(duty(asked), duty(asked).due(asked.clock.now())) == 1
    assert SECRET not in stored(asked)
    assert "never arrived" not in stored(asked)
    assert duty(asked).due(asked.clock.now()) == []
    assert asked.service.state.entries(ACME, ERASURE) == ((), None)
    (trace,) = asked.service.traces.list(ACME).traces
    assert trace.deleted_doc_ids == ("X-1",)


def test_it_waits_until_what_was_being_answered_is_stored(asked: Desk) -> None:
    delete(asked, "X-1")
    assert duty(asked).due(asked.clock.now()) == []


def test_nothing_is_due_where_nothing_was_deleted(asked: Desk) -> None:
    later(asked)
    assert duty(asked).due(asked.clock.now()) == []


def test_a_pass_goes_on_where_a_killed_worker_left_it(asked: Desk) -> None:
    for _ in range(4):
        asked.ask("Did a loyalty card fail to arrive?")
    delete(asked, "X-1")
    later(asked)
    scrub = replace(duty(asked), page=2)
    (first,) = scrub.due(asked.clock.now())
    (second,) = scrub.do(first)
    assert list(scrub.due(asked.clock.now())) == [second]
    assert list(scrub.do(first)) == []  # told twice: it is done already
    assert run(scrub, scrub.due(asked.clock.now())) == 2
    assert SECRET not in stored(asked)
    assert asked.service.state.get(ACME, ROUND, ROUND) is None


def test_a_deletion_during_a_pass_gets_a_pass_of_its_own(asked: Desk) -> None:
    asked.ask("What vanished from my account?")
    delete(asked, "X-1")
    later(asked)
    scrub = replace(duty(asked), page=1)
    (first,) = scrub.due(asked.clock.now())
    (second,) = scrub.do(first)
    delete(asked, "X-2")
    run(scrub, [second])
    later(asked)
    assert run(scrub, scrub.due(asked.clock.now())) > 1
    assert "vanished" not in stored(asked).replace("What vanished from my account?", "")


def test_what_another_document_still_says_stays(asked: Desk) -> None:
    later(asked)
    delete(asked, "X-2")
    later(asked)
    run(duty(asked), duty(asked).due(asked.clock.now()))
    assert SECRET in stored(asked)
