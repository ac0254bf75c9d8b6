"""Several files, one report."""

import pytest

from search.ingest.report import IngestReport, Rejection, together


def report(**changes: object) -> IngestReport:
    counts = {"received": 0, "indexed": 0, "unchanged": 0, "updated": 0, "duplicate": 0, "rejected": 0, "corpus_size": 0, "seconds": 1.0}
    return IngestReport("b", **{**counts, **changes})  # type: ignore[arg-type]


def test_reports_of_several_files_add_up_and_name_the_file() -> None:
    one = report(
        received=3, indexed=2, rejected=1, corpus_size=2, rejections=(Rejection(3, "x", "text", "is empty"),), mapping={"text": "body"}
    )
    two = report(
        received=2, updated=1, duplicate=1, corpus_size=2, warnings=("encoding: guessed",), attribute_fields=("plan",), interrupted=True
    )
    both = together([("a.csv", one), ("b.csv", two)])
    assert (both.received, both.saved, both.rejected, both.corpus_size, both.seconds) == (5, 3, 1, 2, 2.0)
    assert both.rejections == (Rejection(3, "x", "text", "is empty", "a.csv"),)
    assert both.warnings == ("b.csv: encoding: guessed",)
    assert (both.mapping, both.attribute_fields, both.interrupted) == ({"text": "body"}, ("plan",), True)


def test_many_rejections_of_several_files_stay_bounded() -> None:
    many = report(received=1_000, rejected=1_000, rejections=tuple(Rejection(n, None, "text", "is empty") for n in range(1_000)))
    assert len(together([("a", many), ("b", many)]).rejections) == 1_000


def test_no_reports_are_no_report() -> None:
    with pytest.raises(ValueError, match="no reports"):
        together([])
