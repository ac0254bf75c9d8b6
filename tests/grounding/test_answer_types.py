"""What a question of fact demands of a sentence beyond its topic."""

import pytest

from grounding.answer_types import keeps_demands
from grounding.answers import RefusalReason
from tests.grounding.desk import Desk, cited, record


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does the warranty not cover?", "The warranty covers the screen and the battery."),
        ("What did the kit never include?", "The kit included two screwdrivers and a hammer."),
        ("Who did not have access to the archive?", "Members of the club had access to the archive."),
        ("Who has not got a refund?", "I got a refund within three days."),
        ("Which gate is unsafe for visitors?", "The north gate is safe for visitors."),
        ("What is the oldest part of the house?", "By far the most famous part of the house is the tower."),
        ("What did the second law state?", "The first law stated that goods are taxed."),
        ("What was built after the fire of the town hall?", "The bridge was built before the fire of the town hall."),
        ("How many of the 30 rooms were renovated in 2019?", "The 30 rooms were renovated in 2019."),
    ],
)
def test_a_sentence_on_the_topic_may_lack_what_is_asked(question: str, sentence: str) -> None:
    assert not keeps_demands(question, sentence, 0.8)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does the warranty not cover?", "The warranty does not cover scratches."),
        ("What does the warranty not cover?", "Scratches are excluded from the warranty."),
        ("Who still has not got a refund?", "My refund has not arrived, and I am unsure why."),
        ("Whose card has not come yet?", "I still have not received my card."),
        ("Who does not have a key?", "The key is missing."),
        ("Which gate is closed to visitors?", "The north gate is closed to visitors."),
        ("What is the oldest part of the house?", "The tower is the oldest part of the house."),
        ("Where is the west gate?", "The west gate is behind the church."),
        ("What was built after the fire of the town hall?", "The bridge was built after the fire of the town hall."),
        ("How many of the 30 rooms were renovated in 2019?", "Of the 30 rooms 12 were renovated in 2019."),
        ("How long did standard delivery take?", "Standard delivery took nine days instead of three."),
        ("On which phone does the basket empty itself?", "On Android the basket empties itself when I switch apps."),
        ("Was kostet die Lieferung?", "Die Lieferung kostet nicht mehr als fünf Euro."),
    ],
)
def test_one_that_holds_it_stays(question: str, sentence: str) -> None:
    assert keeps_demands(question, sentence, 0.8)


def test_a_denial_put_into_the_question_is_not_answered_by_its_opposite(desk: Desk) -> None:
    desk.load(
        [record("cover", "The warranty of the camera covers the screen and the battery."), record("price", "The camera costs 300 EUR.")]
    )
    assert cited(desk.ask("What does the warranty of the camera cover?")) == {"cover"}
    refusal = desk.ask("What does the warranty of the camera not cover?").refusal
    assert refusal is not None
    assert refusal.reason is RefusalReason.NOT_ANSWERED
