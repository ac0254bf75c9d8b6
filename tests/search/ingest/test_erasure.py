"""Deleting by id, by account and by tenant, against a real store."""

import pytest

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.documents import EVERYTHING
from search.engines.embedded import EmbeddedEngine
from search.ingest.erasure import DeleteReport, delete_documents
from search.ingest.pipeline import Ingester
from search.ingest.rows import rows_of
from tests.search.ingest.conftest import ACME, Ingest, ticket


def test_documents_are_deleted_by_id_and_only_live_ones_counted(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(*[ticket(f"t-{n}") for n in range(5)])
    report = delete_documents(engine, engine.state, ACME, doc_ids=["t-1", "t-3", "t-1", "never seen"])
    assert report == DeleteReport(2, ("t-1", "t-3"))
    assert engine.corpus(ACME).documents == 3
    assert delete_documents(engine, engine.state, ACME, doc_ids=["t-1"]) == DeleteReport(0, ())


def test_more_ids_than_one_call_takes_are_deleted(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ids = [f"t-{n}" for n in range(2_500)]
    ingest(*[ticket(doc_id) for doc_id in ids])
    assert delete_documents(engine, engine.state, ACME, doc_ids=ids).deleted == 2_500
    assert engine.corpus(ACME).documents == 0


def test_an_account_is_deleted_beyond_one_page_and_nothing_else(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(*[ticket(f"t-{n}", f"text {n}", account_id="a" if n % 2 else "b") for n in range(2_400)])
    report = delete_documents(engine, engine.state, ACME, account_id="a")
    assert report.deleted == len(set(report.doc_ids)) == 1_200
    assert {document.account_id for document in engine.documents(ACME, EVERYTHING, first=1_000).documents} == {"b"}
    assert delete_documents(engine, engine.state, ACME, account_id="a") == DeleteReport(0, ())


def test_everything_of_a_tenant_goes_with_its_state_and_no_other_tenants(engine: EmbeddedEngine, ingester: Ingester) -> None:
    other = Tenant("other")
    for tenant in (ACME, other):
        ingester.ingest(tenant, rows_of([ticket(), ticket("t-2")]))
        engine.state.put(tenant, "trace", "run-1", {"question": "?"})
    engine.delete(ACME, ["t-2"])
    assert delete_documents(engine, engine.state, ACME, everything=True) == DeleteReport(1)
    assert engine.state.get(ACME, "trace", "run-1") is None
    assert engine.stored(ACME, ["t-1", "t-2"]) == {}
    assert engine.corpus(other).documents == 2
    assert engine.state.get(other, "trace", "run-1") is not None


@pytest.mark.parametrize(
    ("what", "field"),
    [
        ({}, "doc_ids"),
        ({"doc_ids": []}, "doc_ids"),
        ({"doc_ids": ["t-1", ""]}, "doc_ids"),
        ({"account_id": " "}, "account_id"),
        ({"doc_ids": ["t-1"], "account_id": "a"}, "doc_ids"),
        ({"doc_ids": ["t-1"], "everything": True}, "doc_ids"),
    ],
)
def test_exactly_one_thing_is_named_and_it_is_not_empty(
    engine: EmbeddedEngine, ingest: Ingest, what: dict[str, object], field: str
) -> None:
    ingest(ticket())
    with pytest.raises(InvalidRequest) as caught:
        delete_documents(engine, engine.state, ACME, **what)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert engine.corpus(ACME).documents == 1
