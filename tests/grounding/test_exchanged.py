"""Words of a question for which a sentence has others in the same place."""

import pytest

from grounding.answers import RefusalReason
from grounding.exchanged import exchanged
from grounding.question_kinds import read_question
from grounding.reading import read
from tests.grounding.desk import Desk, cited, record


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What do public bills refer to?", "Private bills refer to large projects."),
        ("Who can raise the delivery fee?", "Only the shop can raise the cancellation fee."),
        ("Who was elected by a minority vote?", "The chair was elected by a majority vote."),
        ("Which tickets were sold in the 18th century?", "The tickets were sold in the 19th century."),
        ("Who was wounded in Oslo?", "Forty people were wounded in Bergen."),
        ("Who left the parcel in the snow?", "The driver Tom left the parcel in the rain."),
        ("Are dogs allowed in the gym?", "Dogs are not allowed in the pool area."),
    ],
)
def test_another_word_in_the_same_place_tells_of_something_else(question: str, sentence: str) -> None:
    assert exchanged(read_question(question), read(sentence))


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What do private bills refer to?", "Private bills refer to large projects."),
        ("Who can raise the fee?", "Only the shop can raise the cancellation fee."),
        ("Which courier company was late?", "The DHL company was late."),
        ("What was the price of the mobile app?", "The price of the Android app was 3 EUR."),
        ("When did Britain take control of the port?", "Britain took control of the port in 1830."),
        ("When did it return to the global market?", "It returned to the worldwide market in May."),
        ("Who runs the archive in Oslo?", "Lena runs the archive in the city."),
        ("Why did the Warsaw stock exchange close?", "The Warszaw stock exchange closed for lack of money."),
        ("How many members of the EU council voted?", "Nine members of the European Union council voted."),
        ("When did troops attack the fort?", "In May troops besieged the fort."),
    ],
)
def test_the_same_word_or_one_of_another_sort_is_no_exchange(question: str, sentence: str) -> None:
    assert not exchanged(read_question(question), read(sentence))


def test_a_question_about_another_of_a_kind_is_refused(desk: Desk) -> None:
    desk.load(
        [record("parcel", "The driver left the parcel in the rain, all wet."), record("pool", "Dogs are not allowed in the pool area.")]
    )
    assert cited(desk.ask("Who left the parcel in the rain?")) == {"parcel"}
    assert cited(desk.ask("Are dogs allowed in the pool area?")) == {"pool"}
    for question in ("Who left the parcel in the snow?", "Are dogs allowed in the gym?"):
        refusal = desk.ask(question).refusal
        assert refusal is not None, question
        assert refusal.reason is RefusalReason.NOT_ANSWERED
