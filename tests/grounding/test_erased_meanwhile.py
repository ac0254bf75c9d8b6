"""A run during which documents are erased keeps none of their words, at whatever point of the run they go."""

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grounding.answers import Outcome
from runtime.errors import NotFound, Unavailable
from search.ingest.erasure import delete_documents
from search.ports import StateEntry
from tests.grounding.desk import ACME, Desk, open_desk, record
from tests.servers import remove_prefix

SECRET = "zorblatine"
QUESTION = "Did a loyalty card fail to arrive?"
ERASURES: dict[str, dict[str, Any]] = {"account": {"account_id": "a"}, "id": {"doc_ids": ["X-1"]}, "tenant": {"everything": True}}


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.live("opensearch"))])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    settings: dict[str, Any] = {}
    if request.param == "opensearch":
        settings = {"engine_url": request.getfixturevalue("opensearch_url"), "index_prefix": "t" + uuid.uuid4().hex[:12]}
    try:
        with open_desk(tmp_path, **settings) as opened:
            opened.load(
                [
                    record("X-1", f"The loyalty card never arrived although I ordered a {SECRET} one.", account_id="a"),
                    record("X-2", "Loyalty points vanished from my account."),
                ]
            )
            yield opened
    finally:
        if settings:
            remove_prefix(settings["engine_url"], settings["index_prefix"])


class Interrupted:
    """The state store, with something happening before or after a trace is put into it."""

    def __init__(self, store: Any, before: Callable[[], object], after: Callable[[], object]) -> None:
        self._store, self._before, self._after = store, before, after

    def put(self, tenant: str, kind: str, *rest: Any, **named: Any) -> StateEntry:
        before, after = (self._before, self._after) if kind == "trace" else (lambda: None, lambda: None)
        if kind == "trace":
            self._before = self._after = lambda: None
        before()
        entry: StateEntry = self._store.put(tenant, kind, *rest, **named)
        after()
        return entry

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def kept(desk: Desk) -> str:
    state = desk.service.state
    entries, _ = state.entries(ACME, "trace", first=100)
    return json.dumps([entry.body for entry in entries] + [dict(event.body) for event in state.outbox(first=1000)])


def asked(desk: Desk, what: str, at: str) -> Outcome:
    def erase() -> None:
        delete_documents(desk.service.engine, desk.service.state, ACME, **ERASURES[what])

    def nothing() -> None:
        return None

    state: Any = Interrupted(desk.service.state, erase if at == "before" else nothing, erase if at == "after" else nothing)
    return desk.answerer(state=state).ask(ACME, QUESTION)


@pytest.mark.parametrize("at", ["before", "after"])
@pytest.mark.parametrize("what", ERASURES)
def test_words_that_were_erased_before_or_after_the_trace_was_kept_are_not_in_it(desk: Desk, what: str, at: str) -> None:
    outcome = asked(desk, what, at)
    assert outcome.answer is not None
    assert SECRET not in kept(desk)


def test_the_trace_of_an_erased_tenant_is_gone_with_its_event(desk: Desk) -> None:
    outcome = asked(desk, "tenant", "before")
    assert "was not stored" in outcome.degraded["trace"]
    with pytest.raises(NotFound):
        desk.service.traces.get(ACME, outcome.run_id)
    assert [event.type for event in desk.service.state.outbox(first=1000) if event.subject == outcome.run_id] == []


def test_a_run_that_begins_after_an_erasure_is_kept(desk: Desk) -> None:
    delete_documents(desk.service.engine, desk.service.state, ACME, doc_ids=["X-2"])
    outcome = desk.ask(QUESTION)
    assert "trace" not in outcome.degraded
    assert SECRET in kept(desk)
    assert desk.service.traces.get(ACME, outcome.run_id).claims


def test_a_run_that_cannot_know_keeps_nothing(desk: Desk) -> None:
    class Away(Interrupted):
        def get(self, tenant: str, kind: str, entry_id: str) -> StateEntry | None:
            if kind == "erasure_epoch" and not self.told:
                self.told = True
                raise Unavailable("the store is away", dependency="engine")
            found: StateEntry | None = self._store.get(tenant, kind, entry_id)
            return found

        told = False

    state: Any = Away(desk.service.state, lambda: None, lambda: None)
    outcome = desk.answerer(state=state).ask(ACME, QUESTION)
    assert outcome.answer is not None
    assert SECRET not in kept(desk)
