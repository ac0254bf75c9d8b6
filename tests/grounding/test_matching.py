from grounding.matching import run
from grounding.reading import read


def test_a_run_is_the_longest_unbroken_stretch_of_shared_words() -> None:
    said = read("My card payment was declined abroad.").meanings
    assert run(read("card payment declined").meanings, said) == 1.0


def test_nothing_sought_is_found_nowhere() -> None:
    assert run((), read("My card payment was declined.").meanings) == 0.0
