"""A dry run shows what would happen, and nothing happens."""

from pathlib import Path

from search.ingest.files import read_rows
from search.ingest.parsing import Defaults
from search.ingest.preview import preview
from search.ingest.report import Rejection
from search.ingest.rows import rows_of
from tests.search.ingest.conftest import ticket


def test_a_dry_run_shows_the_mapping_three_documents_and_all_rejections(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text(
        "id,review,date,source,plan\n1,one,17/04/2026,web,pro\n2,,17/04/2026,web,\n3,three,03/04/2026,web,\n4,four,?,web,\n5,five,1/2/2026,web,\n"
    )
    with read_rows(path) as source:
        shown = preview(source, Defaults())
    assert (shown.received, shown.rejected) == (5, 2)
    assert [(document.doc_id, document.text) for document in shown.documents] == [("1", "one"), ("3", "three"), ("5", "five")]
    assert shown.documents[2].occurred_at.isoformat() == "2026-02-01T00:00:00+00:00"
    assert shown.mapping == {"source": "source", "doc_id": "id", "text": "review", "occurred_at": "date"}
    assert shown.attribute_fields == ("plan",)
    assert [(each.row, each.doc_id, each.field) for each in shown.rejections] == [(2, "2", "text"), (4, "4", "occurred_at")]
    assert len(shown.warnings) == 1


def test_rejections_beyond_those_named_are_counted_and_told() -> None:
    told: list[Rejection] = []
    shown = preview(rows_of([ticket(text="")] * 1_500), Defaults(), told.append)
    assert (shown.rejected, len(shown.rejections), len(told)) == (1_500, 1_000, 1_500)
