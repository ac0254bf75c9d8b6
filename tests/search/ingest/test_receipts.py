"""Receipts of erasures: numbers, no names, each only its tenant's, whatever was erased since."""

import pytest

from runtime.errors import InvalidRequest, NotFound
from runtime.tenancy import HOUSE, Tenant
from search.engines.embedded import EmbeddedEngine
from search.ingest.epochs import Epoch, Epochs
from search.ingest.erasure import delete_documents
from search.ingest.receipts import KIND, Receipts
from tests.search.ingest.conftest import ACME, Ingest, ticket

OTHER = Tenant("other")


def test_a_receipt_says_what_was_removed_and_names_nothing(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(*[ticket(f"t-{n}", f"text {n}", account_id="acct-77") for n in range(3)])
    receipt = delete_documents(engine, engine.state, ACME, account_id="acct-77", by="ops key").receipt
    assert receipt is not None
    assert receipt == Receipts(engine.state).get(ACME, receipt.receipt_id)
    assert (receipt.scope, receipt.by, receipt.state, dict(receipt.removed)) == (
        "account", "ops key", "deleted", {"documents": 3, "passages": 3},
    )  # fmt: skip
    assert receipt.of_account("acct-77")
    assert not receipt.of_account("acct-7")
    entry = engine.state.get(HOUSE, KIND, receipt.receipt_id)
    assert entry is not None
    assert "acct-77" not in repr(entry)


def test_equal_accounts_have_different_hashes(engine: EmbeddedEngine) -> None:
    hashes = {Receipts(engine.state).open(ACME, "account", "", "acct-77").account_hash for _ in range(2)}
    assert len(hashes) == 2


def test_a_tenant_sees_its_own_receipts_alone_and_they_outlive_it(engine: EmbeddedEngine, ingest: Ingest) -> None:
    ingest(ticket())
    first = delete_documents(engine, engine.state, ACME, doc_ids=["t-1"]).receipt
    second = delete_documents(engine, engine.state, ACME, everything=True).receipt
    assert first is not None
    assert second is not None
    receipts = Receipts(engine.state)
    assert {found.receipt_id for found in receipts.list(ACME).receipts} == {first.receipt_id, second.receipt_id}
    assert receipts.list(OTHER).receipts == ()
    with pytest.raises(NotFound):
        receipts.get(OTHER, first.receipt_id)
    with pytest.raises(NotFound):
        receipts.add(OTHER, first.receipt_id, {"documents": 1})


def test_what_is_refused_leaves_no_receipt_and_ends_no_epoch(engine: EmbeddedEngine) -> None:
    with pytest.raises(InvalidRequest):
        delete_documents(engine, engine.state, ACME, account_id=" ")
    assert Receipts(engine.state).list(ACME).receipts == ()
    assert Epochs(engine.state).now(ACME) == Epoch()


def test_erasures_of_accounts_are_found_from_an_epoch_on(engine: EmbeddedEngine) -> None:
    receipts = Receipts(engine.state)
    opened = [receipts.open(ACME, "account", "", f"a-{n}", epoch=n + 1) for n in range(3)]
    receipts.open(ACME, "ids", "", epoch=4)
    assert {found.receipt_id for found in receipts.accounts_after(ACME, 1)} == {each.receipt_id for each in opened[1:]}
    assert receipts.accounts_after(ACME, 3) == ()
