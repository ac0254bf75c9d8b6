"""Answers given again: the same to the last byte, only where nothing changed that they rest on, and never because of what the cache says alone."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from api import operations, rendering
from grounding.answers import Outcome
from runtime.errors import Unavailable
from runtime.tenancy import Tenant, tenant_named
from search.caching.cache import Cache
from search.caching.entries import Entries, Key
from search.documents import Filters
from tests.grounding.desk import ACME, Desk, open_desk, record
from worker.opening import Service

BIRCH = tenant_named("birch")
ROWS = [
    record("d1", "The lift is stuck on the third floor again.", "2026-11-02", theme_id="lift", account_id="a1", rating=1),
    record("d2", "The lift is stuck on the third floor again!", "2026-11-09", theme_id="lift", account_id="a2", rating=2),
    record("d3", "The lift takes ten minutes to arrive.", "2026-11-16", theme_id="lift", account_id="a1", rating=2),
    record("d4", "Parking at the hotel costs twenty euros a night.", "2026-11-17", theme_id="parking", account_id="a3", rating=3),
    record("d5", "The breakfast is wonderful.", "2026-11-18", theme_id="food", account_id="a3", rating=5),
    record("d6", "My room key stopped working twice.", "2026-11-19", theme_id="keys", account_id="a4", rating=1),
]
QUESTIONS = (
    "What is wrong with the lift?",
    "How many documents are about the lift?",
    "Who is the fastest sprinter in the world?",
    "What is wrong with the lift and how many documents have the theme parking?",
    "How many messages came last week?",
    "Is parking free?",
    "What do people complain about?",
    "hello",
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        opened.load(ROWS)
        yield opened


def asked(desk: Desk, question: str, tenant: Tenant = ACME, **options: Any) -> Outcome:
    return operations.ask(desk.service, tenant, question, **{"top_k": 10} | options)


def told(outcome: Outcome) -> str:
    """Everything a door shows of an outcome but its id, its times and its steps."""
    shown = rendering.ask_result(outcome)
    for name in ("runId", "seconds"):
        shown.pop(name)
    for name in ("runId", "steps", "budget", "createdAt"):
        shown["trace"].pop(name)  # type: ignore[union-attr]
    return json.dumps(shown)


def recalled(outcome: Outcome) -> bool:
    return [step.name for step in outcome.trace.steps] == ["cache"]


def looks(service: Service, kind: str = "answer") -> dict[str, int]:
    names = ("hit", "miss", "error", "rejected")
    values = {each: service.metrics.registry.get_sample_value("wa_cache_total", {"kind": kind, "outcome": each}) for each in names}
    return {name: int(value) for name, value in values.items() if value}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_given_again_is_the_same_to_the_last_byte(desk: Desk, question: str) -> None:
    first, again = asked(desk, question), asked(desk, question)
    assert not recalled(first)
    assert recalled(again)
    assert told(again) == told(first)
    assert told(desk.ask(question)) == told(first)
    assert looks(desk.service) == {"miss": 1, "hit": 1}
