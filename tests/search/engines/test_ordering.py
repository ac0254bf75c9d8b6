"""Order, pages and cursors of lists, and the choice of the best of many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InvalidRequest
from search.engines.columns import Columns, ColumnsView
from search.engines.growing import GrowingArray
from search.engines.ordering import after, decoded, encoded, in_order, newest
from search.engines.selection import best

instants = st.lists(st.integers(-3, 3), max_size=30)


def columns_of(milliseconds: list[int]) -> ColumnsView:
    columns = Columns()
    columns.add([(row + 1, f"d{row * 7 % 10}-{row}", ms, "k", "", None, None, None, "g") for row, ms in enumerate(milliseconds)])
    return columns.view(np.ones(len(milliseconds), dtype=bool))


@given(instants, st.integers(0, 40))
def test_the_newest_are_the_head_of_the_whole_order(milliseconds: list[int], count: int) -> None:
    columns, rows = columns_of(milliseconds), np.arange(len(milliseconds))
    assert newest(columns, rows, count) == sorted(rows.tolist(), key=in_order(columns))[:count]


@given(instants, st.integers(1, 7))
def test_pages_by_cursor_are_the_whole_order(milliseconds: list[int], size: int) -> None:
    columns, rows = columns_of(milliseconds), np.arange(len(milliseconds))
    seen: list[int] = []
    rest = rows
    while page := newest(columns, rest, size):
        seen += page
        place = (int(columns.occurred_ms[page[-1]]), columns.doc_ids[page[-1]])
        assert decoded(encoded(place)) == place
        rest = after(columns, rows, place)
    assert seen == sorted(rows.tolist(), key=in_order(columns))


@pytest.mark.parametrize("cursor", [encoded((10**30, "a")), "WzEuNSwiYSJd", "W3RydWUsImEiXQ==", "WyJhIiwxXQ==", "WzFd", "Ww=="])
def test_a_cursor_with_other_values_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        decoded(cursor)
    assert refused.value.field == "after"


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(1, 45))
def test_the_best_are_by_score_then_name(values: list[int], count: int) -> None:
    scores = np.array(values, dtype=np.float32)
    found = best(np.arange(len(values)), scores, count, lambda row: f"{row * 37 % 41:02}")
    assert found == sorted(enumerate(scores.tolist()), key=lambda hit: (-hit[1], f"{hit[0] * 37 % 41:02}"))[:count]


@given(st.lists(st.lists(st.integers(0, 9), max_size=90), max_size=12))
def test_an_array_grows_and_earlier_views_stay(batches: list[list[int]]) -> None:
    array: GrowingArray[np.int32] = GrowingArray(np.int32)
    views = []
    for batch in batches:
        array.extend(batch)
        views.append(array.view())
    everything = [value for batch in batches for value in batch]
    assert array.view().tolist() == everything
    assert all(view.tolist() == everything[: len(view)] for view in views)
