"""The words of some passages side by side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.analysis import tokens
from search.term_table import TermTable, ids_of, passage_terms


def table(*texts: str) -> TermTable:
    return TermTable([passage_terms(text) for text in texts])


def asked(question: str) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    return ids_of(tokens(question))


def test_a_passage_agrees_with_what_others_say_and_not_with_itself() -> None:
    agreement = table("wet box, late parcel", "late parcel and a wet box", "kind support").agreement([1.0, 1.0, 1.0])
    assert agreement[0] == pytest.approx(agreement[1])
    assert agreement[0] > 0.6
    assert agreement[2] == pytest.approx(0.0, abs=1e-9)
    assert table("alone in the world").agreement([1.0]) == pytest.approx([0.0])


def test_a_passage_without_relevance_has_no_voice() -> None:
    agreement = table("late parcel", "late parcel", "kind support", "kind support").agreement([1.0, 1.0, 0.0, 0.0])
    assert agreement.tolist() == pytest.approx([1.0, 1.0, 0.0, 0.0], abs=1e-6)


def test_rare_words_of_the_question_cover_more() -> None:
    coverage = table("card card card", "card tornado", "card lost", "nothing").coverage(asked("card tornado unheard-of"))
    assert coverage[1] == pytest.approx(1.0)
    assert 0 < coverage[0] == coverage[2] < 0.5
    assert coverage[3] == 0.0


def test_neighbours_count_in_either_order_and_across_one_word_but_not_across_passages() -> None:
    shares = table(
        "late delivery", "delivery late", "late again delivery", "late it came at last delivery", "very late", "delivery"
    ).proximity(asked("late delivery"))
    assert shares.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert table("one").proximity(asked("one")).tolist() == [0.0]


@given(st.lists(st.text(alphabet="abc ", max_size=30), min_size=1, max_size=8), st.text(alphabet="abc ", max_size=20))
def test_every_value_lies_between_0_and_1(texts: list[str], question: str) -> None:
    terms = table(*texts)
    for values in (terms.agreement([1.0] * len(texts)), terms.coverage(asked(question)), terms.proximity(asked(question))):
        assert values.shape == (len(texts),)
        assert (values >= 0).all()
        assert (values <= 1 + 1e-9).all()
