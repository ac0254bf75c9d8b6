"""Masking and receipts through the doors."""

import httpx

from tests.doors.calls import graphql

TENANT, OTHER = "privacy", "privacy-other"
INDEX = """mutation($documents: [DocumentInput!]!, $mask: [MaskKind!]) {
  indexDocuments(documents: $documents, mask: $mask) { indexed masked { kind count } }
}"""
DELETE = """mutation($account: ID!) {
  deleteDocuments(accountId: $account, confirm: true) { deleted receipt { receiptId scope by state accountHash removed { what count } } }
}"""
RECEIPT = "query($id: ID!) { erasureReceipt(receiptId: $id) { receiptId completedAt } erasureReceipts { receipts { receiptId } cursor } }"


def test_a_call_may_mask_more_and_its_report_counts_it(http: httpx.Client) -> None:
    document = {"docId": "p-1", "source": {"kind": "mail"}, "text": "Write to ana@example.org.", "occurredAt": "2026-02-03T04:05:06Z"}
    told = graphql(http, INDEX, TENANT, documents=[document], mask=["EMAIL", "CARD"])["data"]["indexDocuments"]
    assert told == {"indexed": 1, "masked": [{"kind": "EMAIL", "count": 1}]}
    found = graphql(http, 'query { document(docId: "p-1") { text } }', TENANT)["data"]["document"]
    assert found == {"text": "Write to [email]."}


def test_an_erasure_leaves_a_receipt_that_only_its_tenant_sees(http: httpx.Client) -> None:
    document = {"docId": "p-2", "source": {"kind": "mail"}, "text": "Late.", "occurredAt": "2026-02-03T04:05:06Z", "accountId": "acct-1"}
    graphql(http, INDEX, TENANT, documents=[document])
    told = graphql(http, DELETE, TENANT, account="acct-1")["data"]["deleteDocuments"]
    receipt = told["receipt"]
    assert (told["deleted"], receipt["scope"], receipt["state"], receipt["by"]) == (1, "ACCOUNT", "DELETED", "development")
    assert {each["what"]: each["count"] for each in receipt["removed"]} == {"documents": 1, "passages": 1}
    assert "acct-1" not in str(receipt)
    mine = graphql(http, RECEIPT, TENANT, id=receipt["receiptId"])["data"]
    assert mine["erasureReceipt"] == {"receiptId": receipt["receiptId"], "completedAt": None}
    assert receipt["receiptId"] in str(mine["erasureReceipts"])
    theirs = graphql(http, RECEIPT, OTHER, id=receipt["receiptId"])["data"]
    assert theirs == {"erasureReceipt": None, "erasureReceipts": {"receipts": [], "cursor": None}}
