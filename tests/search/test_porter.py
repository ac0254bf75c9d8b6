"""The stemmer, against stems that Lucene 9.12 gave for words of support messages and for made-up words with every suffix."""

from pathlib import Path

import pytest

from search.porter import stem

PAIRS = [line.split() for line in (Path(__file__).parent / "lucene_stems.txt").read_text("ascii").splitlines()]


def test_every_stem_is_lucenes() -> None:
    assert [(word, stem(word)) for word, expected in PAIRS if stem(word) != expected] == []
    assert len(PAIRS) > 1500


@pytest.mark.parametrize(
    ("word", "expected"),
    [("grokked", "grok"), ("possibly", "possibl"), ("apology", "apolog"), ("is", "is"), ("ab", "ab"), ("", ""), ("yy", "yy"), ("ies", "i")],
)
def test_where_lucene_departs_from_the_textbook(word: str, expected: str) -> None:
    assert stem(word) == expected
