"""A text is read once, whoever asks; only a date that lacks its year is read in the year of its document."""

from datetime import UTC, datetime

import numpy as np
import pytest

from grounding.calendar_words import dates, may_lack_year
from grounding.reading import read
from grounding.vector_memory import RememberedVectors
from search.documents import EVERYTHING
from search.embedding.minilm import MiniLM
from search.ranking import Retrieval

SOME_DAY = datetime(2025, 4, 1, tzinfo=UTC)


def test_a_text_without_a_date_is_read_once() -> None:
    assert read("The card is blocked.", SOME_DAY) is read("The card is blocked.")


@pytest.mark.parametrize(
    "text", ["Charged on 3 March.", "In May it broke.", "Charged 03/04.", "since Sept. 5", "im August war Ruhe", "31/12 again"]
)
def test_a_date_without_its_year_takes_that_of_the_document(text: str) -> None:
    assert may_lack_year(text) or dates(text) == dates(text, SOME_DAY)
    assert read(text, SOME_DAY).dates == dates(text, SOME_DAY)
    assert read(text).dates == dates(text)


def test_the_vector_of_a_question_is_not_computed_twice() -> None:
    class Refusing(MiniLM):
        def embed(self, texts, *, deadline=None):  # type: ignore[no-untyped-def]
            raise AssertionError(texts, deadline)

    vector = np.ones(384, np.float32)
    reader = RememberedVectors(Refusing())
    reader.remember(Retrieval("why", EVERYTHING, (), 0, "rrf", vector=vector))
    assert reader.embed(["why"])[0] is not vector
    assert (reader.embed(["why"])[0] == vector).all()
