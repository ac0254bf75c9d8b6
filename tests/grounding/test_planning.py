"""What kind of question it is, and what it names."""

from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from grounding.intents import Form, Intent, form_of
from grounding.naming import Vocabulary, named_in
from grounding.planning import parts_of, plan
from grounding.question_parts import Part, Plan
from search.documents import EVERYTHING, Filters
from search.filters import filters_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
VOCABULARY = Vocabulary(
    themes=lambda: (
        "late_delivery",
        "damaged_goods",
        "card_arrival",
        "billing",
        "delivery",
        "declined_card_payment",
        "lost_or_stolen_card",
        "pending_top_up",
    ),
    sources=lambda: ("support_ticket", "app_review", "email"),
    has_account=lambda name: name in ("north", "a-77"),
)


WRITTEN_IN_2026 = replace(VOCABULARY, dated=lambda: (date(2026, 2, 1), date(2026, 11, 30)))


def planned(question: str, filters: Filters = EVERYTHING, zone: str = "UTC", vocabulary: Vocabulary = VOCABULARY) -> Plan:
    return plan(question, filters, vocabulary, now=NOW, zone=ZoneInfo(zone))


def part(question: str, filters: Filters = EVERYTHING, zone: str = "UTC") -> Part:
    (only,) = planned(question, filters, zone).parts
    return only


@pytest.mark.parametrize(
    "text",
    [
        "hello there",
        "thanks, bye!",
        "what is it and why",
        "???",
        "",
        "   ",
        "👍👍",
        "How are you doing?",
        "Good morning!",
        "ok great thanks",
        "can you help me?",
        "who are you",
        "Hola, ¿qué?",
        "こんにちは",
        "the and of",
    ],
)
def test_small_talk_is_no_question(text: str) -> None:
    assert planned(text).small_talk


@pytest.mark.parametrize(
    "text",
    [
        "Hi! Which delivery arrived the next morning?",
        "refund",
        "Is it hard to cancel?",
        "退款一直没有到账",
        "Hello, my card is lost",
        "thanks for nothing, the refund is late",
    ],
)
def test_a_greeting_does_not_spoil_a_question(text: str) -> None:
    assert not planned(text).small_talk


def test_courtesies_are_not_searched_for() -> None:
    assert part("Hi there! Which delivery arrived the next morning, please?").question == "Which delivery arrived the next morning?"


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("How many messages are about late delivery?", Intent.COUNT),
        ("What share of reviews mention crashes?", Intent.COUNT),
        ("number of tickets about billing", Intent.COUNT),
        ("Are most messages about late delivery?", Intent.COUNT),
        ("How many days did the refund take?", Intent.EVIDENCE),
        ("How many people can use a family plan?", Intent.EVIDENCE),
        ("How many people were declined for card payment?", Intent.COUNT),
        ("How many lost or stolen card messages are there?", Intent.COUNT),
        ("How many times was I charged?", Intent.EVIDENCE),
        ("What are the most common complaints?", Intent.TOP),
        ("What do customers complain about most?", Intent.TOP),
        ("top 3 themes", Intent.TOP),
        ("What do customers complain about?", Intent.EVIDENCE),
        ("Is late delivery rising?", Intent.TREND),
        ("Are complaints about late delivery increasing since March?", Intent.TREND),
        ("How many messages per week mention delivery?", Intent.TREND),
        ("Is the renewal price going up?", Intent.EVIDENCE),
        ("Why was my card payment declined?", Intent.EVIDENCE),
        ("Are there more complaints about late delivery than about damaged goods?", Intent.COMPARE),
        ("Compare late delivery and damaged goods", Intent.COMPARE),
        ("Did more messages come by email or through app review?", Intent.COMPARE),
        ("Do more people complain about billing by email or in app reviews?", Intent.COMPARE),
        ("Were there more messages about billing or about late delivery?", Intent.COMPARE),
        ("Did account north or account a-77 write more messages?", Intent.COMPARE),
        ("Did more messages come in June or in July?", Intent.COMPARE),
        ("Are there more complaints about lost or stolen cards?", Intent.EVIDENCE),
        ("Do more or fewer people live in Lyon or in Nice?", Intent.EVIDENCE),
        ("Is the new checkout faster than the old one?", Intent.EVIDENCE),
        ("Compare the two kittens", Intent.EVIDENCE),
        ("What does account a-77 say?", Intent.ACCOUNT),
        ("Why is account north unhappy with delivery?", Intent.EVIDENCE),
        ("What do we know about account west?", Intent.EVIDENCE),
    ],
)
def test_the_intent_is_read_off_the_wording(question: str, intent: Intent) -> None:
    assert part(question).intent is intent


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What problems do reviewers report?", Form.BROAD),
        ("What should we fix first?", Form.BROAD),
        ("What do reviewers say about crashes?", Form.TOPIC),
        ("Do customers complain about crashes?", Form.TOPIC),
        ("refund problems at checkout", Form.TOPIC),
        ("Does login work after the October update?", Form.YES_NO),
        ("On which phone does the basket empty itself?", Form.FACT),
        ("Was kostet die Lieferung?", Form.FACT),
        ("¿Llegó algún pedido roto?", Form.FACT),
    ],
)
def test_the_form_says_what_would_be_an_answer(question: str, form: Form) -> None:
    assert part(question).form is form


@pytest.mark.parametrize(
    ("question", "theme", "match"),
    [
        ("How many messages are about late delivery?", "late_delivery", None),
        ("How many customers say that their cards have not arrived?", "card_arrival", None),
        ("How many customers mention SAVE20?", None, '"SAVE20"'),
        ('How many reviews mention "camera crash"?', None, '"camera crash"'),
        ("How many late delivery messages mention SAVE20?", "late_delivery", '"SAVE20"'),
        ('How many messages mention "late delivery"?', None, '"late delivery"'),
        ("How many messages about card arrival came in August?", "card_arrival", None),
        ("How many customers want to know about card arrival?", "card_arrival", None),
        ("How many lost or stolen card messages came by email?", "lost_or_stolen_card", None),
        ("How many messages are about lost or stolen cards?", "lost_or_stolen_card", None),
    ],
)
def test_what_is_counted_is_a_theme_or_words(question: str, theme: str | None, match: str | None) -> None:
    (side,) = part(question).sides
    assert (side.theme, side.match) == (theme, match)


def test_all_documents_are_counted_when_nothing_is_named() -> None:
    assert part("How many documents are there?").sides == ()


def test_two_things_are_compared() -> None:
    assert [side.theme for side in part("Are there more complaints about late delivery than about damaged goods?").sides] == [
        "late_delivery",
        "damaged_goods",
    ]


def test_a_source_is_a_filter() -> None:
    found = part("How many app reviews mention crashes?")
    assert found.filters.sources == ("app_review",)
    assert [side.match for side in found.sides] == ["crashes"]


@pytest.mark.parametrize(
    ("question", "places", "topics"),
    [
        ("Did more messages come by email or by app review?", ["email", "app_review"], []),
        ("Do more people complain about billing by email or in app reviews?", ["email", "app_review"], ["billing"]),
        ("Did account north or account a-77 write more messages?", ["north", "a-77"], []),
        ("Did a-77 write more tickets about billing than north?", ["a-77", "north"], ["billing"]),
        ("Were there more billing messages in June than in July?", ["in June", "in July"], ["billing"]),
        ("Compare June and July", ["June", "July"], []),
    ],
)
def test_places_are_compared(question: str, places: list[str], topics: list[str]) -> None:
    found = part(question)
    assert sorted(place.label for place in found.places) == sorted(places)
    assert [side.theme for side in found.sides] == topics
    assert found.filters == EVERYTHING


def test_places_keep_within_the_filters_of_the_request() -> None:
    found = part("Did more messages come in June or in July from account north?", Filters(sources=("email",)))
    assert [(place.filters.sources, place.filters.account_ids) for place in found.places] == [(("email",), ("north",))] * 2


def test_a_theme_is_named_in_whatever_form_its_words_take() -> None:
    assert part("What do people say about pending top-ups?").theme == "pending_top_up"
    assert part("What do customers want to know about pending top-up?").theme == "pending_top_up"
    assert [side.theme for side in part("How did pending top-ups develop by month?").sides] == ["pending_top_up"]
    assert [side.match for side in part("How did messages about pending top-up develop by month?").sides] == [None]


def test_a_name_with_a_word_left_out_counts_when_no_other_holds_the_rest() -> None:
    themes = ("getting_virtual_card", "virtual_card_not_working", "get_physical_card")
    assert [named.name for named in named_in("about virtual cards", themes)] == []
    assert [named.name for named in named_in("about getting a virtual card", themes)] == ["getting_virtual_card"]
    assert [named.name for named in named_in("about physical cards", themes)] == ["get_physical_card"]


def test_a_one_word_source_needs_to_be_called_a_source() -> None:
    assert part("How many complaints about email notifications?").filters.sources is None
    assert part("How many complaints came via email?").filters.sources == ("email",)


def test_time_limits_counts_in_the_zone_asked_for() -> None:
    found = part("How many messages in September 2026?", zone="Europe/Paris")
    assert found.filters.since == datetime(2026, 8, 31, 22, tzinfo=UTC)
    assert found.filters.before == datetime(2026, 9, 30, 22, tzinfo=UTC)


def test_a_month_inside_a_question_of_fact_is_part_of_the_fact() -> None:
    assert part("Who ordered a card in June?").filters == EVERYTHING


@pytest.mark.parametrize(
    "question",
    [
        "Who led the army in 1979?",
        "What happened in 1979?",
        "What was found in the tomb in 1922?",
        "Which treaty was reported in May 1979?",
        "Who has led the army since 1979?",
        "What was said before 1900?",
    ],
)
def test_a_year_nobody_wrote_in_is_part_of_the_fact(question: str) -> None:
    (found,) = planned(question, vocabulary=WRITTEN_IN_2026).parts
    assert found.filters == EVERYTHING
    assert found.subject == question


@pytest.mark.parametrize(
    "question",
    [
        "What did people complain about in March 2026?",
        "What did customers report in 2019?",
        "What happened in March 2026?",
        "What happened last week?",
        "What has happened since March?",
        "How many messages in 1979?",
        "What problems were reported since 2025?",
        "Is late delivery rising since 2019?",
    ],
)
def test_time_limits_what_was_written(question: str) -> None:
    (found,) = planned(question, vocabulary=WRITTEN_IN_2026).parts
    assert found.filters != EVERYTHING


def test_time_never_widens_the_filters_of_the_request() -> None:
    given = filters_of(since="2026-10-01")
    assert part("How many since March?", given).filters.since == datetime(2026, 10, 1, tzinfo=UTC)


def test_an_account_that_exists_is_a_filter_and_leaves_the_question() -> None:
    found = part("Why is account north unhappy with delivery?")
    assert found.filters.account_ids == ("north",)
    assert "north" not in found.subject


def test_an_account_in_the_request_is_not_replaced() -> None:
    assert part("What does account north say?", Filters(account_ids=("a-77",))).filters.account_ids == ("a-77",)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How long did standard delivery take and how much does express cost?", 2),
        ("Is there a pool? What does parking cost?", 2),
        ("Where is my card and is it coming today?", 2),
        ("Where is he and is it coming today?", 1),
        ("What do customers say about cards and payments?", 1),
        ("Hi! Which delivery arrived the next morning?", 1),
        ("Is the app slow? It crashed.", 1),
    ],
)
def test_questions_are_taken_apart_where_each_can_stand_alone(question: str, parts: int) -> None:
    assert len(planned(question).parts) == parts


def test_the_plan_is_plain_json() -> None:
    import json

    text = json.dumps(planned("How many late delivery messages since March and what does account north say?").as_json())
    assert "late_delivery" in text


def test_a_later_part_names_what_it_refers_to() -> None:
    assert parts_of("When does the gym open and who owns it?") == ("When does the gym open?", "who owns the gym?")
    assert parts_of("Is the app slow and does it crash?") == ("Is the app slow?", "does the app crash?")


def test_whoever_was_kind_is_asked_for_by_that_word() -> None:
    assert form_of("Who was kind?") is Form.FACT
    assert form_of("What kind of problems are there?") is Form.BROAD
