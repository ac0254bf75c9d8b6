from datetime import UTC, datetime

import numpy as np
import pytest

from runtime.errors import InvalidRequest
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING, Filters
from search.engines.opensearch_queries import MAX_TERMS, document_page, legs, matching, one_document, selection
from search.engines.opensearch_reading import cosine
from search.engines.ordering import encoded
from search.ranking import LegQuery

TENANT = tenant_named("t-1")
VECTOR = np.array([1.0, 0.0], dtype=np.float32)
MINE = [{"term": {"tenant": "t-1"}}, {"term": {"deleted": False}}]


def test_every_query_is_limited_to_the_tenant_and_to_what_is_not_deleted() -> None:
    lexical, vector, count = legs("wa-t.1", TENANT, LegQuery("late fees", VECTOR, EVERYTHING))[1::2]
    assert lexical["query"]["bool"]["filter"] == MINE
    assert vector["query"]["knn"]["vector"]["filter"]["bool"]["filter"] == MINE
    assert count["query"]["bool"]["filter"][:2] == MINE
    for body in (one_document(TENANT, "a"), document_page(TENANT, EVERYTHING, None, 10, None)):
        assert body["query"]["bool"]["filter"][:2] == MINE


def test_every_line_names_the_alias() -> None:
    headers = legs("wa-t.1", TENANT, LegQuery("late fees", VECTOR, EVERYTHING))[::2]
    assert [header["index"] for header in headers] == ["wa-t.1"] * 3


def test_filters_of_the_vector_leg_are_inside_its_clause_and_nowhere_else() -> None:
    chosen = Filters(theme_ids=("billing",))
    vector = legs("wa-t.1", TENANT, LegQuery("x", VECTOR, chosen))[3]
    assert set(vector["query"]) == {"knn"}
    assert {"terms": {"theme_id": ["billing"]}} in vector["query"]["knn"]["vector"]["filter"]["bool"]["filter"]


def test_without_a_vector_there_is_one_leg_and_the_count() -> None:
    lines = legs("wa-t.1", TENANT, LegQuery("x", None, EVERYTHING))
    assert len(lines) == 4
    assert lines[3]["size"] == 0


@pytest.mark.parametrize(("depth", "k"), [(1, 100), (100, 400), (9_000, 10_000)])
def test_the_graph_is_searched_wider_than_the_hits_wanted_within_the_limit(depth: int, k: int) -> None:
    assert legs("wa-t.1", TENANT, LegQuery("x", VECTOR, EVERYTHING, depth))[3]["query"]["knn"]["vector"]["k"] == k


def test_a_question_goes_as_it_is_and_a_very_long_one_as_its_first_terms() -> None:
    def asked(text: str) -> dict[str, object]:
        match: dict[str, object] = legs("wa-t.1", TENANT, LegQuery(text, None, EVERYTHING))[1]["query"]["bool"]["must"][0]["match"][
            "lexical"
        ]
        return match

    assert asked("Why are the fees late?") == {"query": "Why are the fees late?"}
    long = asked(" ".join(f"term{number}" for number in range(5000)) + " term0")
    assert long == {"query": " ".join(["term0", "term0", *(f"term{number}" for number in range(1, 64))]), "analyzer": "whitespace"}


def test_bounds_in_time_are_whole_milliseconds_since_is_inside_and_before_outside() -> None:
    odd = datetime(2026, 1, 1, 0, 0, 0, 1500, tzinfo=UTC)
    (clause,) = selection(TENANT, Filters(since=odd, before=odd))[2:]
    assert clause == {"range": {"occurred_at": {"gte": 1767225600002, "lt": 1767225600002}}}


def test_a_source_is_a_kind_or_a_name() -> None:
    (clause,) = selection(TENANT, Filters(sources=("zendesk",)))[2:]
    assert clause["bool"]["should"] == [{"terms": {"source_kind": ["zendesk"]}}, {"terms": {"source_name": ["zendesk"]}}]
    assert clause["bool"]["minimum_should_match"] == 1


def test_a_match_asks_for_analysed_words_and_phrases_with_their_gaps() -> None:
    assert matching(None) == matching("what is the") == []
    assert matching("refunds late") == [{"term": {"whole": "refund"}}, {"term": {"whole": "late"}}]
    near = {
        "clauses": [{"span_term": {"whole": "out"}}, {"span_gap": {"whole": 1}}, {"span_term": {"whole": "time"}}],
        "slop": 0,
        "in_order": True,
    }
    assert matching('"out of time"') == [{"span_near": near}]
    assert matching('"refunds"') == [{"span_term": {"whole": "refund"}}]


def test_a_page_goes_on_behind_its_cursor() -> None:
    assert document_page(TENANT, EVERYTHING, None, 10, encoded((5, "a")))["search_after"] == [5, "a"]


@pytest.mark.parametrize("after", ["", "x", "e30=", "WzEsMl0=", "WyIxIiwiYSJd", "\udcff"])
def test_a_cursor_of_someone_else_is_refused_by_name(after: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        document_page(TENANT, EVERYTHING, None, 10, after)
    assert raised.value.field == "after"


def test_more_values_than_opensearch_takes_are_refused_by_name() -> None:
    with pytest.raises(InvalidRequest) as raised:
        selection(TENANT, Filters(doc_ids=tuple(str(number) for number in range(MAX_TERMS + 1))))
    assert raised.value.field == "doc_ids"


@pytest.mark.parametrize("wanted", [-1.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 1.0])
def test_the_cosine_comes_back_from_the_score_on_both_sides_of_zero(wanted: float) -> None:
    score = 1.0 + wanted if wanted >= 0 else 1.0 / (1.0 - wanted)
    assert cosine(score) == pytest.approx(wanted, abs=1e-12)
