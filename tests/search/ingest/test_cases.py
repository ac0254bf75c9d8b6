"""Faults that users of comparable systems met while getting documents in, each as a small input."""

import base64
from pathlib import Path

import pytest

from search.documents import EVERYTHING
from search.engines.embedded import EmbeddedEngine
from search.ingest.files import ReadOptions, read_rows
from search.ingest.pipeline import Ingester
from search.ingest.report import IngestReport
from search.ranking import LegQuery
from tests.search.ingest.conftest import ACME, Ingest, counts

GERMAN_EXPORT = (
    "77u/dGV4dDtzb3VyY2U7b2NjdXJyZWRfYXQ7ZG9jX2lkDQoiRGllIFJlY2hudW5nIGZlaGx0LgpCaXR0ZSBlcm5ldXQgc2VuZGVuLiI7ZW1haWw7MjAyNi0xMC0wMlQwODoxNTowMFo7R1It"
    "MQ0KRGVyIEd1dHNjaGVpbiBsw6R1ZnQgaW0gTcOkcnogYWI7ZW1haWw7MjAyNi0xMC0wM1QxMTowMDowMFo7R1ItMg0K"
)
AT = "2026-11-12T09:30:00Z"


def record(doc_id: str, text: object, **fields: object) -> dict[str, object]:
    return {"id": doc_id, "text": text, "source": "support_ticket", "occurred_at": AT, **fields}


def rejected(report: IngestReport) -> list[tuple[str | None, str]]:
    return [(each.doc_id, each.field) for each in report.rejections]


def found(engine: EmbeddedEngine, words: str) -> list[str]:
    legs = engine.legs(ACME, LegQuery(words, None, EVERYTHING))
    return [hit.candidate.passage.doc_id for hit in legs.lexical]


def ingest_file(ingester: Ingester, path: Path, **options: object) -> IngestReport:
    with read_rows(path, ReadOptions(**options)) as rows:  # type: ignore[arg-type]
        return ingester.ingest(ACME, rows)


def test_ing_01_a_csv_from_a_spreadsheet(tmp_path: Path, ingester: Ingester, engine: EmbeddedEngine) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(base64.b64decode(GERMAN_EXPORT))
    report = ingest_file(ingester, path)
    assert counts(report) == {"received": 2, "indexed": 2}
    stored = [engine.document(ACME, doc_id) for doc_id in ("GR-1", "GR-2")]
    assert [document.text for document in stored if document] == [
        "Die Rechnung fehlt.\nBitte erneut senden.",
        "Der Gutschein läuft im März ab",
    ]
    assert not any("\ufeff" in name for name in (*report.mapping.values(), *report.attribute_fields))
    assert found(engine, "Gutschein") == ["GR-2"]


def test_ing_02_day_first_dates(tmp_path: Path, ingester: Ingester, engine: EmbeddedEngine) -> None:
    settled, unclear = tmp_path / "uk.csv", tmp_path / "unclear.csv"
    settled.write_text(
        "doc_id,text,source,date\n"
        "D-1,App logs me out every hour,app_review,03/04/2026\n"
        "D-2,Logged out again after lunch,app_review,17/04/2026\n"
        "D-3,Still logged out each hour,app_review,05/04/2026\n"
    )
    unclear.write_text(
        "doc_id,text,source,date\nE-1,Search is slow today,app_review,03/04/2026\nE-2,Search is slow again,app_review,05/06/2026\n"
    )
    assert counts(ingest_file(ingester, settled, mapping={"occurred_at": "date"})) == {"received": 3, "indexed": 3}
    stored = [engine.document(ACME, f"D-{n}") for n in (1, 2, 3)]
    assert [document.occurred_at.date().isoformat() for document in stored if document] == ["2026-04-03", "2026-04-17", "2026-04-05"]
    report = ingest_file(ingester, unclear, mapping={"occurred_at": "date"})
    assert counts(report) == {"received": 2, "rejected": 2}
    assert rejected(report) == [("E-1", "occurred_at"), ("E-2", "occurred_at")]
    assert "--date-order dmy" in report.rejections[0].reason


def test_ing_03_bad_rows_are_named_and_lose_nothing_else(ingest: Ingest, engine: EmbeddedEngine) -> None:
    records = [
        record("B-1", "Checkout froze after I entered my address"),
        record("B-2", "   \u200b\n"),
        record("B-3", None),
        record("B-4", "Checkout froze on the payment step", occurred_at="yesterday-ish"),
        record("B-5", "Checkout works well on the tablet"),
        record("B-6", "Rated it by mistake", rating="five"),
    ]
    report = ingest(*records)
    assert counts(report) == {"received": 6, "indexed": 2, "rejected": 4}
    assert rejected(report) == [("B-2", "text"), ("B-3", "text"), ("B-4", "occurred_at"), ("B-6", "rating")]
    assert sorted(found(engine, "checkout")) == ["B-1", "B-5"]
    assert counts(ingest(*records)) == {"received": 6, "unchanged": 2, "rejected": 4}


def test_ing_04_half_an_emoji(ingest: Ingest, engine: EmbeddedEngine) -> None:
    report = ingest(
        record("S-1", "Great update \ud83d but the map is gone"),
        record("S-2", "The map disappeared after the update 🗺️"),
        record("S-3", "Where did the map go?"),
    )
    assert counts(report) == {"received": 3, "indexed": 3}
    assert report.warnings == ("text: half of a character (a lone surrogate) was replaced by U+FFFD (row 1)",)
    assert set(found(engine, "map disappeared")) >= {"S-2", "S-3"}
    assert all(document.text.encode() for document in engine.documents(ACME, EVERYTHING).documents)


def test_ing_05_angle_brackets_are_text(ingest: Ingest, engine: EmbeddedEngine) -> None:
    texts = {
        "H-1": "Latency < 200 ms was promised, but the export <b>never</b> finishes for files > 2 GB.",
        "H-2": "Export fails &lt;script&gt;alert(1)&lt;/script&gt; with a blank page",
        "H-3": "<p>Export&nbsp;hangs at 99&nbsp;%</p>",
    }
    assert counts(ingest(*[record(doc_id, text) for doc_id, text in texts.items()])) == {"received": 3, "indexed": 3}
    for doc_id, text in texts.items():
        document = engine.document(ACME, doc_id)
        assert document is not None
        assert document.text == text
    assert found(engine, "export never finishes")[0] == "H-1"


def test_ing_06_one_enormous_field(ingest: Ingest, engine: EmbeddedEngine) -> None:
    report = ingest(
        record("L-1", "Invoice total is wrong"),
        record("L-2", "Invoice was sent twice", account_id="k" * 40_000),
        record("L-3", "z" * 2_000_000),
        record("L-4", "Invoice shows the wrong currency"),
    )
    assert counts(report) == {"received": 4, "indexed": 2, "rejected": 2}
    assert rejected(report) == [("L-2", "account_id"), ("L-3", "text")]
    assert sorted(found(engine, "invoice")) == ["L-1", "L-4"]


@pytest.mark.parametrize("name", ["million.csv", "million.csv.gz"])
def test_three_bad_rows_among_many_in_a_file(tmp_path: Path, ingester: Ingester, name: str) -> None:
    import gzip

    bad = {50: "too,few", 70: '7,"open,mail,2026-01-01', 90: "9,,mail,2026-01-01"}
    lines = ["doc_id,text,source,date", *[bad.get(n) or f"T-{n},text {n % 9},mail,2026-01-01" for n in range(1, 101)]]
    content = ("\n".join(lines) + "\n").encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    report = ingest_file(ingester, path)
    assert counts(report) == {"received": 100, "indexed": 97, "rejected": 3}
    assert [(each.row, each.field) for each in report.rejections] == [(50, "row"), (70, "row"), (90, "text")]
