"""Ingest against a real store: what is stored, what is counted, and that both agree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.clock import SettableClock
from runtime.errors import InvalidRequest
from runtime.settings import Settings
from search.documents import EVERYTHING, Filters
from search.engines.embedded import EmbeddedEngine
from search.ingest.parsing import Defaults
from search.ingest.pipeline import Ingester
from search.ingest.planning import CHUNK_ROWS
from search.ingest.report import MAX_REJECTIONS, Progress, Rejection
from search.ingest.rows import Problem, Row, RowSource, rows_of
from tests.search.ingest.conftest import ACME, Ingest, counts, ticket
from tests.search.ingest.hashing import HashingEmbedder


def test_documents_are_stored_as_they_were_given(engine: EmbeddedEngine, ingest: Ingest) -> None:
    report = ingest(ticket(title="Checkout", theme_id="payments", account_id="a-7", rating="4.5", language="en", plan="pro", version=3))
    assert counts(report) == {"received": 1, "indexed": 1}
    assert (report.saved, report.corpus_size, report.attribute_fields) == (1, 1, ("plan",))
    document = engine.document(ACME, "t-1")
    assert document is not None
    assert (document.text, document.title, document.rating, document.version) == ("Checkout froze", "Checkout", 4.5, 3)
    assert document.attributes == {"plan": "pro"}


def test_a_replay_stores_nothing_and_embeds_nothing(ingest: Ingest, embedder: HashingEmbedder) -> None:
    documents = [ticket(f"t-{n}", f"text {n}") for n in range(600)]
    assert counts(ingest(*documents)) == {"received": 600, "indexed": 600}
    embedder.texts.clear()
    replay = ingest(*documents)
    assert counts(replay) == {"received": 600, "unchanged": 600}
    assert (replay.saved, replay.corpus_size, embedder.texts) == (0, 600, [])


def test_rows_without_ids_are_the_same_documents_in_a_replay(ingest: Ingest) -> None:
    documents = [ticket(None, f"text {n}") for n in range(10)]
    assert ingest(*documents).indexed == 10
    assert counts(ingest(*documents)) == {"received": 10, "unchanged": 10}


@pytest.mark.parametrize("between", [0, 1, CHUNK_ROWS, 3 * CHUNK_ROWS])
def test_the_same_id_and_content_again_is_a_duplicate_however_far_behind(ingest: Ingest, between: int) -> None:
    others = [ticket(f"o-{n}", f"text {n}") for n in range(between)]
    report = ingest(ticket(), *others, ticket())
    assert counts(report) == {"received": 2 + between, "indexed": 1 + between, "duplicate": 1}


@pytest.mark.parametrize("between", [0, 1, CHUNK_ROWS, 3 * CHUNK_ROWS])
def test_the_same_id_with_other_content_is_an_update_and_the_last_one_stays(engine: EmbeddedEngine, ingest: Ingest, between: int) -> None:
    others = [ticket(f"o-{n}", f"text {n}") for n in range(between)]
    report = ingest(ticket(text="first"), *others, ticket(text="second"), *others, ticket(text="first"))
    assert (report.indexed, report.updated, report.duplicate) == (1 + between, 2, between)
    document = engine.document(ACME, "t-1")
    assert document is not None
    assert (document.text, document.version) == ("first", 3)


def test_other_ids_with_the_same_text_are_stored_and_embedded_once(ingest: Ingest, embedder: HashingEmbedder) -> None:
    report = ingest(*[ticket(f"t-{n}") for n in range(50)])
    assert counts(report) == {"received": 50, "indexed": 50}
    assert embedder.texts == ["Checkout froze"]


def test_an_older_version_never_overwrites_a_newer_one(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(ticket(text="new", version=7))
    report = ingest(ticket(text="old", version=3))
    assert counts(report) == {"received": 1, "unchanged": 1}
    assert report.warnings == ("version: 1 row holds an older version than the one that is stored, which stays: t-1",)
    document = engine.document(ACME, "t-1")
    assert document is not None
    assert (document.text, document.version) == ("new", 7)


def test_versions_in_any_order_within_one_run_leave_the_highest(engine: EmbeddedEngine, ingest: Ingest) -> None:
    report = ingest(*[ticket(text=f"v{version}", version=version) for version in (2, 5, 1, 4)])
    assert counts(report) == {"received": 4, "indexed": 1, "updated": 1, "unchanged": 2}
    document = engine.document(ACME, "t-1")
    assert document is not None
    assert (document.text, document.version) == ("v5", 5)


def test_the_same_version_with_other_content_is_rejected(ingest: Ingest) -> None:
    report = ingest(ticket(version=2), ticket(text="other", version=2), ticket("t-2"))
    assert counts(report) == {"received": 3, "indexed": 2, "rejected": 1}
    assert report.rejections[0].row == 2
    assert report.rejections[0].field == "version"


def test_a_deleted_document_stays_deleted_in_a_replay_and_comes_back_with_a_higher_version(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(ticket(version=2))
    engine.delete(ACME, ["t-1"])
    report = ingest(ticket(version=2))
    assert counts(report) == {"received": 1, "unchanged": 1}
    assert "deleted earlier" in report.warnings[0]
    assert report.corpus_size == 0
    assert counts(ingest(ticket(version=3))) == {"received": 1, "indexed": 1}


def test_a_changed_date_moves_the_document_and_never_doubles_it(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(ticket(occurred_at="2026-01-31"))
    assert counts(ingest(ticket(occurred_at="2026-02-01"))) == {"received": 1, "updated": 1}
    page = engine.documents(ACME, EVERYTHING)
    assert [document.occurred_at.month for document in page.documents] == [2]


def test_bad_rows_are_named_and_sink_nothing_else(engine: EmbeddedEngine, ingester: Ingester) -> None:
    rows = [
        Row(1, ticket("a")),
        Row(2, problem=Problem("row", "has 3 fields where the header has 2")),
        Row(3, ticket("b", text="\u200b")),
        Row(4, ticket("c", rating="five")),
        Row(5, {"id": "d\x00", "text": "x", "source": "s", "occurred_at": "2026-01-01"}),
        Row(6, ticket("e")),
    ]
    report = ingester.ingest(ACME, rows)
    assert counts(report) == {"received": 6, "indexed": 2, "rejected": 4}
    assert [(each.row, each.doc_id, each.field) for each in report.rejections] == [
        (2, None, "row"),
        (3, "b", "text"),
        (4, "c", "rating"),
        (5, "d", "doc_id"),
    ]
    assert all(each.reason for each in report.rejections)
    assert engine.corpus(ACME).documents == 2


def test_a_document_that_the_engine_refuses_is_a_rejection(engine: EmbeddedEngine, clock: SettableClock) -> None:
    class Forgetful(HashingEmbedder):
        def embed(self, texts, **_):  # type: ignore[no-untyped-def]
            vectors = super().embed(texts)
            vectors[[at for at, text in enumerate(texts) if text == "bad"]] = 0.0
            return vectors

    ingester = Ingester(engine, Forgetful(), clock, Settings())
    report = ingester.ingest(ACME, rows_of([ticket("a"), ticket("b", "bad"), ticket("c", "good"), ticket("b", "better")]))
    assert counts(report) == {"received": 4, "indexed": 3, "rejected": 1}
    assert (report.rejections[0].row, report.rejections[0].doc_id, report.rejections[0].field) == (2, "b", "text")


def test_of_many_rejections_the_first_are_kept_and_all_are_told(ingester: Ingester) -> None:
    told: list[Rejection] = []
    report = ingester.ingest(ACME, [Row(n, ticket(text="")) for n in range(1, 3_001)], on_rejection=told.append)
    assert report.rejected == 3_000
    assert [each.row for each in report.rejections] == list(range(1, MAX_REJECTIONS + 1))
    assert [each.row for each in told] == list(range(1, 3_001))


def test_equal_warnings_are_one_line_with_their_count(ingest: Ingest) -> None:
    report = ingest(*[ticket(f"t-{n}", occurred_at="2026-01-01", vip="\x00yes") for n in range(300)])
    assert report.warnings == (
        "occurred_at: has no time zone; read as local to UTC (300 rows, the first is row 1)",
        "attributes.vip: control characters were removed (300 rows, the first is row 1)",
    )


def test_different_warnings_without_end_are_bounded(ingest: Ingest) -> None:
    report = ingest(*[ticket(f"t-{n}", **{f"column {n}": ["x"]}) for n in range(1_500)])
    assert len(report.warnings) < 250
    assert len(report.attribute_fields) == 1_000


def test_a_long_document_gets_a_vector_for_every_passage(engine: EmbeddedEngine, ingest: Ingest, embedder: HashingEmbedder) -> None:
    text = ("The export stops. " * 500).strip()
    assert ingest(ticket(text=text, title="Export")).indexed == 1
    assert engine.corpus(ACME).passages > 5
    assert all(embedded.startswith("Export\nThe export stops.") for embedded in embedder.texts)


def test_passages_and_vectors_belong_together_whatever_the_lengths(
    engine: EmbeddedEngine, ingest: Ingest, embedder: HashingEmbedder
) -> None:
    ingest(*[ticket(f"t-{n}", (f"word{n} and more. " * (1 + n * 13 % 200)).strip()) for n in range(40)])
    from search.ranking import LegQuery

    for n in (0, 7, 39):
        legs = engine.legs(ACME, LegQuery("", embedder.embed([f"word{n} and more."])[0], EVERYTHING, depth=1))
        assert legs.vector[0].candidate.passage.doc_id == f"t-{n}"


def test_two_million_letters_are_rejected_by_field(ingest: Ingest) -> None:
    report = ingest(ticket("a", "z" * 2_000_000), ticket("b", account_id="k" * 40_000), ticket("c"))
    assert [(each.doc_id, each.field) for each in report.rejections] == [("a", "text"), ("b", "account_id")]
    assert report.indexed == 1


def test_no_rows_make_an_empty_report(ingest: Ingest) -> None:
    report = ingest()
    assert (counts(report), report.corpus_size, report.interrupted) == ({}, 0, False)


def test_the_batch_id_is_given_or_new(ingest: Ingest) -> None:
    assert ingest(batch_id="nightly 7").batch_id == "nightly 7"
    assert len({ingest().batch_id, ingest(batch_id=" ").batch_id}) == 2
    for bad in ("x" * 201, "a\nb"):
        with pytest.raises(InvalidRequest) as caught:
            ingest(batch_id=bad)
        assert caught.value.field == "batch_id"


def test_defaults_fill_in_the_source_and_the_zone(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(ticket(source=None, occurred_at="2026-07-01"), defaults=Defaults.of(Settings(), source="survey", time_zone="Asia/Tokyo"))
    document = engine.document(ACME, "t-1")
    assert document is not None
    assert (document.source.kind, document.occurred_at.hour) == ("survey", 15)
    assert engine.documents(ACME, Filters(sources=("survey",))).total == 1


def test_progress_ends_with_everything_done_and_nothing_remaining(ingester: Ingester, clock: SettableClock) -> None:
    told: list[Progress] = []

    def tell(progress: Progress) -> None:
        clock.elapsed_s += 2.0
        told.append(progress)

    rows = [Row(n, ticket(f"t-{n}", f"text {n}")) for n in range(1, 1_001)]
    clock.elapsed_s = 10.0
    ingester.ingest(ACME, RowSource(rows, share_read=lambda: 1.0), progress=tell)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert (told[-1].received, told[-1].done, told[-1].remaining) == (1_000, 1_000, 0.0)
    assert told[-1].rate > 0


def test_the_remaining_time_is_unknown_while_the_length_is(ingester: Ingester) -> None:
    told: list[Progress] = []
    ingester.ingest(ACME, [Row(1, ticket())], progress=told.append)
    assert {each.remaining for each in told} == {None}


def test_tenants_do_not_share_ids(engine: EmbeddedEngine, ingester: Ingester) -> None:
    from runtime.tenancy import Tenant

    ingester.ingest(ACME, rows_of([ticket(text="ours")]))
    report = ingester.ingest(Tenant("other"), rows_of([ticket(text="theirs")]))
    assert (report.indexed, report.corpus_size) == (1, 1)
    document = engine.document(ACME, "t-1")
    assert document is not None
    assert document.text == "ours"


DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "doc_id": st.sampled_from(["a", "b", "c", "", None, "x" * 500]),
        "text": st.sampled_from(["one", "two", "three", "", None, "\u200b", "\ud83d"]),
        "source": st.sampled_from(["mail", "", {"kind": "mail", "weight": 0.7}, 5]),
        "occurred_at": st.sampled_from(["2026-01-01", "03/04/2026", "soon", 1772611920]),
        "version": st.sampled_from([None, 1, 2, "3", "v", 0]),
        "rating": st.sampled_from([None, "5", "five"]),
        "extra": st.sampled_from(["x", ["y"], {"deep": {"er": 1}}]),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(DOCUMENT, max_size=30), min_size=1, max_size=3))
def test_every_report_adds_up_and_agrees_with_the_store(
    ingester: Ingester, engine: EmbeddedEngine, runs: list[list[dict[str, object]]]
) -> None:
    engine.erase(ACME)
    for run in runs:
        before = engine.corpus(ACME).documents
        report = ingester.ingest(ACME, rows_of(run))
        assert report.received == len(run)
        assert report.received == report.indexed + report.unchanged + report.updated + report.duplicate + report.rejected
        assert report.corpus_size == before + report.indexed == engine.corpus(ACME).documents
        replay = ingester.ingest(ACME, rows_of(run))
        assert replay.indexed == 0
        assert replay.rejected >= report.rejected
        assert replay.corpus_size == report.corpus_size


def test_a_report_that_does_not_add_up_cannot_be_made(ingest: Ingest) -> None:
    report = ingest(ticket(), ticket(text=""))
    for wrong in ({"received": 3}, {"indexed": 0}, {"rejected": 2}, {"rejections": ()}):
        with pytest.raises(ValueError, match=r"add up|are named"):
            replace(report, **wrong)  # type: ignore[arg-type]


def test_vectors_are_unit_length_and_one_for_each_text(embedder: HashingEmbedder) -> None:
    vectors = embedder.embed(["one two", "three"])
    assert vectors.shape == (2, embedder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
