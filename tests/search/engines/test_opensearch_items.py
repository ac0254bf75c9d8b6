import pytest

from search.engines.opensearch_items import Item, classified


def refused(status: int, kind: str, operation: str = "index") -> dict[str, object]:
    return {operation: {"_index": "wa-t-202601-000001", "_id": "a", "status": status, "error": {"type": kind, "reason": "because"}}}


@pytest.mark.parametrize(
    ("status", "kind", "fate"),
    [
        (409, "version_conflict_engine_exception", "stale"),
        (400, "strict_dynamic_mapping_exception", "poison"),
        (400, "mapper_parsing_exception", "poison"),
        (400, "illegal_argument_exception", "poison"),
        (404, "index_not_found_exception", "no_index"),
        (404, "document_missing_exception", "poison"),
        (403, "cluster_block_exception", "blocked"),
        (429, "cluster_block_exception", "blocked"),
        (429, "rejected_execution_exception", "overloaded"),
        (429, "circuit_breaking_exception", "overloaded"),
        (503, "unavailable_shards_exception", "overloaded"),
        (500, "node_not_connected_exception", "overloaded"),
        (502, "bad_gateway", "overloaded"),
    ],
)
def test_each_refusal_has_its_fate_and_says_why(status: int, kind: str, fate: str) -> None:
    item = classified(refused(status, kind))
    assert (item.fate, item.reason) == (fate, f"{kind}: because")


@pytest.mark.parametrize("status", [200, 201])
def test_what_was_written_carries_its_address(status: int) -> None:
    assert classified({"index": {"status": status, "_seq_no": 7, "_primary_term": 2}}) == Item("written", "", 7, 2)


def test_deleting_what_was_not_there_is_no_failure() -> None:
    assert classified({"delete": {"status": 404, "result": "not_found", "_seq_no": 3, "_primary_term": 1}}).fate == "absent"
    assert classified(refused(404, "index_not_found_exception", "delete")).fate == "no_index"


def test_a_claim_that_came_second_is_stale() -> None:
    assert classified(refused(409, "version_conflict_engine_exception", "create")).fate == "stale"


def test_a_failure_without_details_is_told_by_its_status() -> None:
    assert classified({"index": {"status": 503}}) == Item("overloaded", "status 503")
