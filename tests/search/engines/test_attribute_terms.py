from search.engines.attribute_terms import LONGEST_TERM_CHARS, attribute_term, attribute_terms


def test_a_value_equals_its_usual_spelling_as_text() -> None:
    assert attribute_term("n", 5) == attribute_term("n", 5.0) == attribute_term("n", "5")
    assert attribute_term("n", True) == attribute_term("n", "true")
    assert attribute_term("n", 1.5) == attribute_term("n", "1.5")


def test_different_values_and_different_names_have_different_terms() -> None:
    pairs = [("n", 1), ("n", True), ("n", ""), ("n", "1 "), ("m", 1), ("n", -1), ("n", 1e300), ("n", 10**300)]
    assert len({attribute_term(name, value) for name, value in pairs}) == len(pairs)


def test_long_values_are_told_apart_by_short_terms() -> None:
    first, second = (attribute_term("n", "x" * 5000 + end) for end in "ab")
    assert first != second
    assert len(first) <= LONGEST_TERM_CHARS


def test_terms_come_sorted() -> None:
    assert attribute_terms({"b": 1, "a": "x"}) == ["a\x1fx", "b\x1f1"]
