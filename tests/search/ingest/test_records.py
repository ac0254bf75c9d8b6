"""What stays of an ingest: its counts and what was rejected, without anything that stood in a row."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.clock import SettableClock
from runtime.errors import Unavailable
from runtime.settings import Settings
from search.engines.embedded import EmbeddedEngine
from search.ingest.cleaning import shown
from search.ingest.files import read_rows
from search.ingest.pipeline import Ingester
from search.ingest.records import KIND, MOST_REASONS, OTHER, REJECTIONS, IngestRecords, reason_without_values, with_rejections
from search.ingest.rows import rows_of
from search.ports import StateEntry
from tests.grounding.breaking import FullState
from tests.search.ingest.conftest import ACME, NOW, ticket
from tests.search.ingest.hashing import HashingEmbedder

CANARY = "Kanarienvogel"


@pytest.fixture
def recording(engine: EmbeddedEngine, embedder: HashingEmbedder, clock: SettableClock) -> Ingester:
    return Ingester(engine, embedder, clock, Settings(), records=IngestRecords(engine.state))


def kept(engine: EmbeddedEngine) -> tuple[list[StateEntry], list[StateEntry]]:
    ingests, rejections = (engine.state.entries(ACME, kind)[0] for kind in (KIND, REJECTIONS))
    return list(ingests), sorted(rejections, key=lambda entry: entry.entry_id)


def bad_rows() -> list[dict[str, object]]:
    """Rows that fail in many ways, each with the canary in what is wrong."""
    return [
        ticket("a", text="  "),
        ticket("b", occurred_at=CANARY),
        ticket("c", occurred_at=f"the {CANARY}'s day"),
        ticket("d", occurred_at=f'"{CANARY}" {{x}} \'y'),
        ticket("e", rating=f"{CANARY} stars"),
        ticket("f", version=CANARY),
        ticket("g", source={"kind": "x", CANARY: 1}),
        ticket("h", attributes=CANARY),
        ticket("i", attributes={CANARY: {"x": 1}}),
        ticket("j", docId=CANARY),
        ticket(f"{CANARY}\u0000"),
        ticket("l", url=f"javascript:{CANARY}"),
        ticket("m", text=CANARY * 20_000),
        ticket("n", **{CANARY * 50: 1}),
    ]


def test_a_record_has_the_counts_and_the_rejections_by_field_and_reason(engine: EmbeddedEngine, recording: Ingester) -> None:
    rows = [
        ticket("a"),
        ticket("a"),
        ticket("b", text=" "),
        ticket("c", rating="five"),
        ticket("d", rating="four"),
        ticket("e", rating="1e99"),
    ]
    report = recording.ingest(ACME, rows_of(rows), batch_id="nightly")
    (ingest,), rejections = kept(engine)
    assert dict(ingest.body) == {"batch_id": "nightly"}
    counts = {"received": 6, "indexed": 1, "unchanged": 0, "updated": 0, "duplicate": 1, "rejected": 4}
    assert dict(ingest.facts) == {"at": NOW, "outcome": "done", "seconds": report.seconds, **counts}
    found = [{name: entry.facts[name] for name in ("field", "reason", "rows")} for entry in rejections]
    assert found == [
        {"field": "rating", "reason": "… is not a number", "rows": 3},
        {"field": "text", "reason": "is empty", "rows": 1},
    ]
    assert {str(entry.body["ingest"]) for entry in rejections} == {ingest.entry_id}
    assert sum(int(entry.facts["rows"]) for entry in rejections) == report.rejected  # type: ignore[call-overload]


def test_nothing_of_a_row_is_in_a_record(engine: EmbeddedEngine, recording: Ingester, tmp_path: Path) -> None:
    report = recording.ingest(ACME, rows_of(bad_rows()))
    assert report.rejected == len(bad_rows())
    broken = tmp_path / "broken.csv"
    broken.write_text(f'id,text,source,date\nx,"{CANARY}" {CANARY},mail,2026-01-01\ny,{CANARY},mail,2026-01-01,{CANARY}\n')
    lines = tmp_path / "broken.jsonl"
    lines.write_text(f'{{"text": "{CANARY}\n{CANARY}\n["{CANARY}"]\n{{"{CANARY}": 1, "{CANARY}": 2}}\n')
    for path in (broken, lines):
        with read_rows(path) as rows:
            assert recording.ingest(ACME, rows).rejected
    ingests, rejections = kept(engine)
    assert len(ingests) == 3
    assert len({entry.facts["field"] for entry in rejections}) >= 8
    written = json.dumps([[dict(entry.body), entry.entry_id, [str(value) for value in entry.facts.values()]] for entry in rejections])
    assert CANARY not in written
    assert CANARY not in json.dumps([[dict(entry.body), [str(value) for value in entry.facts.values()]] for entry in ingests])


@given(st.text(min_size=1, max_size=30))
def test_a_value_that_is_shown_in_a_reason_never_stays_in_it(value: str) -> None:
    reason = f"{shown(value)} is not a number, between 3 and 5"
    assert reason_without_values(reason) == "… is not a number, between … and …"


def test_more_reasons_than_are_kept_are_counted_together() -> None:
    counted = with_rejections((), [("text", f"reason {chr(97 + n // 10)}{chr(97 + n % 10)}") for n in range(2 * MOST_REASONS)])
    assert len(counted) == MOST_REASONS + 1
    assert counted[0] == (*OTHER, MOST_REASONS)
    again = with_rejections(counted, [("text", "reason aa"), ("a column of somebody", "new")])
    assert sum(rows for *_, rows in again) == 2 * MOST_REASONS + 2
    assert ("text", "reason aa", 2) in again


def test_an_ingest_of_nothing_leaves_no_record(engine: EmbeddedEngine, recording: Ingester) -> None:
    recording.ingest(ACME, [])
    assert kept(engine) == ([], [])


def test_an_ingest_that_gives_up_leaves_a_record_of_what_was_done(engine: EmbeddedEngine, clock: SettableClock) -> None:
    class Failing(HashingEmbedder):
        def embed(self, *_arguments: object, **_options: object) -> object:  # type: ignore[override]
            raise Unavailable("the embedder is away", dependency="embeddings")

    ingester = Ingester(engine, Failing(), clock, Settings(), records=IngestRecords(engine.state))
    with pytest.raises(Unavailable):
        ingester.ingest(ACME, rows_of([ticket("a", text=" "), ticket("b")]))
    ingests, _ = kept(engine)
    assert [entry.facts["outcome"] for entry in ingests] == ["failed"]


def test_an_interrupted_ingest_says_so(engine: EmbeddedEngine, recording: Ingester) -> None:
    def interrupt(_progress: object) -> None:
        raise KeyboardInterrupt

    report = recording.ingest(ACME, rows_of([ticket(f"t-{n}") for n in range(700)]), progress=interrupt)
    assert report.interrupted
    (ingest,), _ = kept(engine)
    assert (ingest.facts["outcome"], ingest.facts["received"]) == ("interrupted", report.received)


def test_an_ingest_does_not_fail_for_want_of_a_record(engine: EmbeddedEngine, embedder: HashingEmbedder, clock: SettableClock) -> None:
    ingester = Ingester(engine, embedder, clock, Settings(), records=IngestRecords(FullState(engine.state)))  # type: ignore[arg-type]
    report = ingester.ingest(ACME, rows_of([ticket()]))
    assert report.indexed == 1
    assert any("record" in warning for warning in report.warnings)


def test_each_ingest_has_a_record_of_its_own_also_under_one_batch_id(engine: EmbeddedEngine, recording: Ingester) -> None:
    for _ in range(2):
        recording.ingest(ACME, rows_of([ticket()]), batch_id="same")
    ingests, _ = kept(engine)
    assert sorted(entry.facts["indexed"] for entry in ingests) == [0, 1]  # type: ignore[type-var]
