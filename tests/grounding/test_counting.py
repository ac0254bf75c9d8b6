"""Numbers: what is claimed, the proof it rests on, and what happens when the proof no longer holds."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest

from grounding.answers import ClaimKind, Draft, RefusalReason
from grounding.proofs import check, counted
from grounding.significance import slope, wilson
from grounding.trends import direction_of
from search.documents import EVERYTHING, Filters
from search.ingest.erasure import delete_documents
from search.listing import page
from tests.grounding.desk import ACME, Desk, cited, record


def late(count: int, *, prefix: str = "L", day: int = 1, **fields: object) -> list[dict[str, object]]:
    return [
        record(f"{prefix}-{n:03d}", f"Parcel number {n} came late", f"2026-11-{day + n % 20:02d}", theme_id="late_delivery", **fields)
        for n in range(count)
    ]


def damaged(count: int, **fields: object) -> list[dict[str, object]]:
    return [
        record(f"D-{n:03d}", f"Lamp {n} was damaged", f"2026-11-{1 + n % 20:02d}", theme_id="damaged_goods", **fields) for n in range(count)
    ]


def texts(outcome: object) -> list[str]:
    return [claim.text for claim in outcome.answer.claims]  # type: ignore[attr-defined]


def test_a_theme_is_counted_over_all_documents(desk: Desk) -> None:
    desk.load([*late(57), *damaged(23)])
    outcome = desk.ask("How many messages are about late delivery?", top_k=5)
    assert outcome.answer is not None
    (claim,) = outcome.answer.claims
    assert claim.kind is ClaimKind.COUNT
    assert claim.proof is not None
    assert (claim.proof.value, claim.proof.denominator, claim.document_count) == (57, 80, 57)
    assert len(claim.proof.doc_ids) == 10
    assert claim.proof.cursor is not None
    assert page(desk.service.engine, ACME, after=claim.proof.cursor).total == 57
    assert cited(outcome) <= {f"L-{n:03d}" for n in range(57)}
    assert "57 of 80 documents" in outcome.answer.text


def test_words_are_counted_where_no_theme_is_named(desk: Desk) -> None:
    desk.load([*late(3), record("x", "Checkout rejects SAVE20"), record("y", "SAVE20 is expired")])
    assert texts(desk.ask("How many customers mention SAVE20?")) == ["2 of 5 documents contain “SAVE20”."]
    assert texts(desk.ask("How many customers mention SAVE99?")) == ["0 of 5 documents contain “SAVE99”."]
    assert texts(desk.ask('How many reviews mention "came late"?')) == ["3 of 5 documents contain “came late”."]


def test_alternatives_are_counted_one_by_one(desk: Desk) -> None:
    desk.load([record("a", "The wifi is slow"), record("b", "Parking is full"), record("c", "Parking and wifi cost extra")])
    assert texts(desk.ask("How many messages mention wifi or parking?")) == [
        "2 of 3 documents contain “wifi”.",
        "2 of 3 documents contain “parking”.",
    ]


def test_a_code_is_counted_as_it_stands(desk: Desk) -> None:
    desk.load([record("a", "Export fails with ERR-4012"), record("b", "ERR-4021 again"), record("c", "4012 files, no err")])
    assert texts(desk.ask("How many tickets mention ERR-4012?")) == ["1 of 3 documents contains “ERR-4012”."]


def test_an_account_need_not_be_called_one(desk: Desk) -> None:
    desk.load([*late(3, account_id="north"), *damaged(2, account_id="south")])
    assert texts(desk.ask("How many tickets did north write?")) == ["There are 3 documents of account “north”."]


def test_a_share_of_ratings_is_one_of_all_documents(desk: Desk) -> None:
    desk.load([record(f"r{n}", f"Review {n}", rating=1 + n % 5) for n in range(10)])
    assert texts(desk.ask("What percentage of reviews have 5 stars?")) == [
        "2 of 10 documents have a rating of 5 (20 %, 95 % interval 6 % to 51 %).",
    ]


def test_months_are_no_numbers_to_be_proven(desk: Desk) -> None:
    desk.load([record(f"m{n}", f"Message {n}", f"2026-{7 + n % 4:02d}-10") for n in range(12)])
    assert texts(desk.ask("How many messages per month?"))[0].endswith("3, 3, 3, 3 per month from 2026-07 to 2026-10.")


def test_a_theme_in_other_words_is_found_by_its_meaning(desk: Desk) -> None:
    desk.load([*late(4), *damaged(2), record("o", "Refund please", theme_id="refund_request")])
    assert texts(desk.ask("How many messages are about delayed deliveries?")) == ["4 of 7 documents have the theme “late_delivery”."]


def test_the_day_and_the_source_limit_a_count(desk: Desk) -> None:
    desk.load([*late(10, day=1), *late(4, prefix="R", day=1, source="app_review")])
    assert texts(desk.ask("How many app reviews are about late delivery?")) == [
        "4 of 4 documents from source “app_review” have the theme “late_delivery”."
    ]
    assert "since 2026-11-05" in texts(desk.ask("How many messages are about late delivery since 5 November?"))[0]


def test_a_share_comes_with_its_interval(desk: Desk) -> None:
    desk.load([*late(57), *damaged(23)])
    assert texts(desk.ask("What share of messages are about late delivery?")) == [
        "57 of 80 documents have the theme “late_delivery” (71 %, 95 % interval 61 % to 80 %)."
    ]


def test_most_needs_more_than_half(desk: Desk) -> None:
    desk.load([*late(6), *damaged(6)])
    assert texts(desk.ask("Are most messages about late delivery?"))[0].startswith("No, not more than half: 6 of 12")
    desk.load(late(1, prefix="M"))
    assert texts(desk.ask("Are most messages about late delivery?"))[0].startswith("Yes, more than half: 7 of 13")


@pytest.mark.parametrize(
    "question", ["What share of messages are about late delivery?", "What are the most common themes?", "Is late delivery rising?"]
)
def test_too_few_documents_bear_no_share_no_ranking_and_no_trend(desk: Desk, question: str) -> None:
    desk.load(late(4))
    refusal = desk.ask(question).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.score, refusal.threshold) == (RefusalReason.TOO_FEW, 4, 5)
    assert refusal.nearest


def test_a_plain_count_of_few_documents_is_fine(desk: Desk) -> None:
    desk.load(late(2))
    assert texts(desk.ask("How many messages are about late delivery?")) == ["2 of 2 documents have the theme “late_delivery”."]


def test_themes_are_ranked_with_the_leader_named(desk: Desk) -> None:
    desk.load([*late(6), *damaged(3), record("n", "Nothing to report")])
    first, second = texts(desk.ask("What are the most common themes?"))
    assert first.startswith("The most frequent theme is “late_delivery”: 6 of 10 documents (60 %")
    assert "1 of them carries no theme" in first
    assert second == "Theme “damaged_goods”: 3 of 10 documents."


def test_a_tie_names_no_leader(desk: Desk) -> None:
    desk.load([*late(4), *damaged(4)])
    assert texts(desk.ask("What are the most common themes?")) == [
        "Theme “damaged_goods”: 4 of 8 documents.",
        "Theme “late_delivery”: 4 of 8 documents.",
    ]


def test_sources_and_accounts_can_be_ranked_too(desk: Desk) -> None:
    desk.load([*late(5, account_id="north"), *damaged(2, account_id="south", source="email")])
    assert texts(desk.ask("Which source has the most complaints?"))[0].startswith("The most frequent source is “support_ticket”: 5 of 7")
    assert texts(desk.ask("Which account has the most complaints?"))[0].startswith("The most frequent account is “north”: 5 of 7")


def test_two_counts_are_compared_with_both_proofs(desk: Desk) -> None:
    desk.load([*late(6), *damaged(3)])
    outcome = desk.ask("Are there more complaints about late delivery than about damaged goods?")
    assert outcome.answer is not None
    claim = outcome.answer.claims[0]
    assert claim.kind is ClaimKind.COMPARISON
    assert claim.text == "“late_delivery” has more documents than “damaged_goods”: 6 against 3."
    assert claim.proof is not None
    assert claim.proof.against is not None
    assert claim.proof.against.value == 3


def by_source() -> list[dict[str, object]]:
    return [
        *late(6, prefix="E", source="email", account_id="north"),
        *late(3, prefix="C", source="chat", account_id="south"),
        *damaged(5, source="chat", account_id="south"),
    ]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Did more messages come by chat or by email?", "“chat” has more documents than “email”: 8 against 6."),
        (
            "Do more people complain about late delivery by email or in the chat?",
            "“email” has more documents that have the theme “late_delivery” than “chat”: 6 against 3.",
        ),
        ("Did account north write more messages than account south?", "“south” has more documents than “north”: 8 against 6."),
        (
            "Were there more messages in November 2026 than in October 2026?",
            "The time from 2026-11-01 to 2026-11-30 has more documents than the time from 2026-10-01 to 2026-10-31: 14 against 0.",
        ),
        (
            "Are there more messages about late delivery or about damaged goods?",
            "“late_delivery” has more documents than “damaged_goods”: 9 against 5.",
        ),
    ],
)
def test_sources_accounts_times_and_themes_are_compared(desk: Desk, question: str, said: str) -> None:
    desk.load(by_source())
    outcome = desk.ask(question)
    assert texts(outcome)[0] == said
    assert outcome.answer is not None
    first = outcome.answer.claims[0]
    assert first.kind is ClaimKind.COMPARISON
    assert first.proof is not None
    assert first.proof.against is not None
    assert len(outcome.answer.claims) == 3


def test_documents_are_counted_by_source(desk: Desk) -> None:
    desk.load(by_source())
    outcome = desk.ask("How many messages are there by source?")
    assert texts(outcome) == ["14 documents by source: “chat” 8, “email” 6."]
    assert outcome.answer is not None
    proof = outcome.answer.claims[0].proof
    assert proof is not None
    assert proof.counts == (("chat", 8), ("email", 6))
    assert texts(desk.ask("How many late delivery messages per account?")) == [
        "9 documents that have the theme “late_delivery” by account: “north” 6, “south” 3."
    ]


def test_a_share_is_of_all_the_documents_asked_about(desk: Desk) -> None:
    desk.load(by_source())
    assert texts(desk.ask("What share of messages came by email?"))[0].startswith("6 of 14 documents come from source “email” (43 %")
    assert texts(desk.ask("What share of messages did account north send?"))[0].startswith("6 of 14 documents come from account “north”")
    assert texts(desk.ask("What share of late delivery messages came by chat?"))[0].startswith(
        "3 of 9 documents that have the theme “late_delivery” come from source “chat”"
    )
    desk.load([record("p", "A letter came", source="post", account_id="north")])
    assert texts(desk.ask("What share of messages came by chat or email?")) == [
        "There are 14 documents from source “chat” or “email”.",
        "There are 15 documents.",
    ]
    assert texts(desk.ask("What share of messages from account north came by post?"))[0].startswith(
        "1 of 7 documents of account “north” come"
    )
    assert texts(desk.ask("What share of chat messages is about late delivery?"))[0].startswith("3 of 8 documents from source “chat” have")
    assert texts(desk.ask("Do most messages come by chat?"))[0].startswith("Yes, more than half: 8 of 15 documents come from")


@pytest.mark.parametrize(
    "question", ["What percentage of messages is about delivery?", "What share of messages is about late delivery or damaged goods?"]
)
def test_a_share_of_several_themes_needs_as_many_documents(desk: Desk, question: str) -> None:
    desk.load([*late(1), *damaged(1), record("o", "Delivery", theme_id="delivery_fee")])
    refusal = desk.ask(question).refusal
    assert refusal is not None
    assert refusal.reason is RefusalReason.TOO_FEW


def test_a_trend_says_of_which_source_it_is(desk: Desk) -> None:
    desk.load(by_source())
    assert texts(desk.ask("How did chat messages develop?"))[0].startswith("Documents from source “chat” are ")


def test_a_theme_is_counted_by_words_of_its_name(desk: Desk) -> None:
    desk.load([record(f"t{n}", f"Payment {n} was taken two times", theme_id="transaction_charged_twice") for n in range(6)])
    assert texts(desk.ask("How many people were charged twice?")) == ["6 of 6 documents have the theme “transaction_charged_twice”."]


def weekly(counts: Sequence[int], theme: str = "late_delivery") -> list[dict[str, object]]:
    """So many documents in each week from 8 September 2026."""
    first = date(2026, 9, 8)
    return [
        record(f"{theme}-{week}-{n}", f"{theme} {week} {n}", (first + timedelta(weeks=week)).isoformat(), theme_id=theme)
        for week, count in enumerate(counts)
        for n in range(count)
    ]


def test_a_rise_beyond_chance_is_called_rising(desk: Desk) -> None:
    desk.load([*weekly([1, 1, 2, 4, 6, 9]), *weekly([3, 3, 3, 3, 3, 3], "other")])
    outcome = desk.ask("Is late delivery rising?")
    assert outcome.answer is not None
    assert outcome.answer.claims[0].kind is ClaimKind.TREND
    assert "are rising: 1, 1, 2, 4, 6, 9 per week" in outcome.answer.claims[0].text
    assert outcome.answer.claims[0].proof is not None
    assert direction_of(outcome.answer.claims[0].proof) == 1


def test_a_wobble_is_neither_rising_nor_falling(desk: Desk) -> None:
    desk.load(weekly([3, 4, 3, 2, 4, 3]))
    assert "neither rising nor falling" in texts(desk.ask("Is late delivery rising?"))[0]


def test_silence_before_the_first_document_of_a_theme_counts(desk: Desk) -> None:
    desk.load([*weekly([3, 3, 3, 3, 3, 3], "other"), *weekly([0, 0, 0, 0, 4, 5])])
    assert "are rising" in texts(desk.ask("Is late delivery rising?"))[0]


def test_an_account_is_summed_up(desk: Desk) -> None:
    desk.load([*late(6, account_id="north"), *damaged(3, account_id="south")])
    claims = texts(desk.ask("What does account north say?"))
    assert claims[0] == "6 of 9 documents come from account “north”."
    assert "from account “north”" in claims[1]


class TestChecking:
    def draft(self, desk: Desk, text: str, kind: ClaimKind = ClaimKind.COUNT, bucket: str | None = "late_delivery") -> Draft:
        desk.load([*late(6), *damaged(3)])
        return Draft(text, kind, (), counted(desk.service.engine, ACME, "theme", EVERYTHING).proof(bucket))

    @pytest.mark.parametrize(
        "text",
        [
            "6 of 9 documents are about late delivery.",
            "Six messages concern “late_delivery”.",
            "Most documents, 6 of 9, are about late delivery.",
            "67 % are about late delivery.",
            "The most frequent theme is “late_delivery”: 6 documents.",
        ],
    )
    def test_what_the_aggregation_gives_is_supported(self, desk: Desk, text: str) -> None:
        (verdict,) = check(desk.service.engine, ACME, [self.draft(desk, text)])
        assert verdict.supported, verdict.reason
        assert verdict.citations

    @pytest.mark.parametrize(
        ("text", "bucket"),
        [
            ("10 messages are about late delivery.", "late_delivery"),
            ("Seven messages are about late delivery.", "late_delivery"),
            ("Many messages are about late delivery.", "late_delivery"),
            ("All 6 of 9 documents are about late delivery.", "late_delivery"),
            ("Most of the 9 documents, 3, are about damaged goods.", "damaged_goods"),
            ("The most frequent theme is “damaged_goods”: 3 of 9 documents.", "damaged_goods"),
            ("Rising: 6 of 9 documents are about late delivery.", "late_delivery"),
            ("40 % of documents are about late delivery.", "late_delivery"),
        ],
    )
    def test_what_it_does_not_give_is_not(self, desk: Desk, text: str, bucket: str) -> None:
        (verdict,) = check(desk.service.engine, ACME, [self.draft(desk, text, bucket=bucket)])
        assert (verdict.supported, verdict.because) == (False, "aggregate")
        assert verdict.reason

    def test_a_number_without_proof_is_no_claim(self, desk: Desk) -> None:
        (verdict,) = check(desk.service.engine, ACME, [Draft("6 documents", ClaimKind.COUNT, ())])
        assert (verdict.supported, verdict.because) == (False, "aggregate")

    def test_a_proof_of_other_documents_does_not_hold(self, desk: Desk) -> None:
        draft = self.draft(desk, "6 of 9 documents have the theme “late_delivery”.")
        assert draft.proof is not None
        forged = replace(draft, proof=replace(draft.proof, filters=Filters(theme_ids=("damaged_goods",))))
        assert not check(desk.service.engine, ACME, [forged])[0].supported

    def test_documents_that_change_meanwhile_break_the_proof(self, desk: Desk) -> None:
        draft = self.draft(desk, "6 of 9 documents have the theme “late_delivery”.")
        delete_documents(desk.service.engine, desk.service.state, ACME, doc_ids=["L-000"])
        assert not check(desk.service.engine, ACME, [draft], moved=True)[0].supported

    def test_an_unrelated_change_needs_a_second_count_and_no_more(self, desk: Desk) -> None:
        desk.load([*late(6), record("other", "Something else", theme_id="x")])
        proof = counted(desk.service.engine, ACME, "documents", Filters(theme_ids=("late_delivery",))).proof()
        draft = Draft("6 documents have the theme “late_delivery”.", ClaimKind.COUNT, (), proof)
        delete_documents(desk.service.engine, desk.service.state, ACME, doc_ids=["other"])
        assert not check(desk.service.engine, ACME, [draft])[0].supported
        assert check(desk.service.engine, ACME, [draft], moved=True)[0].supported


def test_wilson_keeps_to_the_unit_interval() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    low, high = wilson(57, 80)
    assert (round(low, 3), round(high, 3)) == (0.605, 0.8)


def test_slope_is_zero_for_even_counts_and_signed_otherwise() -> None:
    assert slope([3, 3, 3], [7, 7, 7]) == 0.0
    assert slope([0, 0], [7, 7]) == 0.0
    assert slope([1, 2, 9], [7, 7, 7]) > 1.96
    assert slope([9, 2, 1], [7, 7, 7]) < -1.96
    assert abs(slope([7, 7, 1], [7, 7, 1])) < 0.01


def test_a_joined_word_is_counted_though_its_parts_say_nothing(desk: Desk) -> None:
    desk.load([record("t-1", "My top-up failed."), record("t-2", "The top up is pending."), record("t-3", "The card is late.")])
    assert desk.ask("How many messages are about top-up?").answer.claims[0].proof.value == 2


def test_words_of_the_frame_after_about_are_counted_as_they_stand(desk: Desk) -> None:
    desk.load([record("t-1", "We want new things."), record("t-2", "The card is late.")])
    assert desk.ask("How many messages mention new things?").answer.claims[0].proof.value == 1


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How many reviews are in German?", "language"),
        ("How many reviews are written in Spanish?", "language"),
        ("What is the average rating?", "averaged"),
    ],
)
def test_what_documents_are_not_stored_by_is_refused_with_what_can_be_asked(desk: Desk, question: str, told: str) -> None:
    desk.load([record("r-1", "Das ist gut.", language="de", rating=5), record("r-2", "The German manual is missing.", rating=1)])
    refusal = desk.ask(question).refusal
    assert refusal is not None
    assert told in refusal.message
    assert refusal.hint


def test_an_average_that_a_text_states_is_answered(desk: Desk) -> None:
    desk.load([record("r-1", "The average score of our team was 7 points."), record("r-2", "The train was late.")])
    assert desk.ask("What was the average score of the team?").answer is not None


@pytest.mark.parametrize(
    "question",
    ["How many requests per minute does the plan allow?", "How many notes can the search handle?", "What did the price increase from?"],
)
def test_a_fact_that_a_text_may_state_is_no_count_of_documents(desk: Desk, question: str) -> None:
    desk.load(
        [
            record("r-1", "The plan allows 200 requests per minute.", theme_id="plan"),
            record("r-2", "The search can handle 8,000 notes.", theme_id="search"),
            record("r-3", "The price went from $4 to $9.", theme_id="price"),
        ]
    )
    assert desk.ask(question).trace.plan["intent"] == "evidence"


def test_the_month_with_the_most_documents_is_told(desk: Desk) -> None:
    desk.load(
        [record(f"r-{at}", f"Ticket {at} about parcels.", day=f"2026-{month:02}-05") for at, month in enumerate((8, 9, 9, 9, 10, 10, 11))]
    )
    answer = desk.ask("In which month were there the most tickets?").answer
    assert answer is not None
    assert "The peak is the month of 2026-09: 3 of 7 documents." in [claim.text for claim in answer.claims]


@pytest.mark.parametrize(
    "question", ["How many reviews mention sync but not crashes?", "How many reviews are about anything other than sync?"]
)
def test_what_has_one_thing_and_lacks_another_is_not_counted_as_if_it_had_both(desk: Desk, question: str) -> None:
    desk.load([record("r-1", "Sync fails."), record("r-2", "Sync crashes.")])
    refusal = desk.ask(question).refusal
    assert refusal is not None
    assert "lack another" in refusal.message
