"""What a person sees, from values alone."""

import io
from datetime import UTC, datetime

from rich.console import Console, RenderableType

from api.cli.screen import console
from api.cli.views.aggregates import themes_counted, themes_view, trend_view
from api.cli.views.answer import outcome_view
from api.cli.views.documents import document_view, documents_view
from api.cli.views.ranking import contributions, retrieval_view, searched
from api.cli.views.runs import explanation, trace_view, traces_view
from api.cli.views.text import span_in_context
from grounding.answers import (
    Answer,
    Citation,
    Claim,
    ClaimKind,
    Grounding,
    Nearest,
    Outcome,
    Proof,
    Refusal,
    RefusalReason,
    Step,
    Trace,
    Verdict,
)
from search.aggregation import ThemeAggregate, ThemeCount, Trend, TrendPoint
from search.documents import EVERYTHING, Document, Passage, Source
from search.ranking import Candidate, Feature, Fused, Hit, Retrieval

WHEN = datetime(2026, 3, 4, 9, 12, tzinfo=UTC)
TEXT = "I tried twice. My card was declined at the shop. Please \x1b[31mhelp\x1b[0m [bold]me[/bold]."
DOCUMENT = Document("t-1", Source("zendesk"), TEXT, WHEN, theme_id="declined", account_id="a-7", rating=2.0, attributes={"plan": "pro"})


def cite(doc_id: str = "t-1", start: int = 15, end: int = 48) -> Citation:
    return Citation(doc_id, 1, start, end, TEXT[start:end], 0.91)


def hit() -> Hit:
    candidate = Candidate(Passage("t-1#000000", "t-1", 0, 0, len(TEXT), TEXT), Source("zendesk"), WHEN, "g", 1)
    fused = Fused(candidate, 0.03, 4.2, 1, 0.016, None, None, 0.0)
    return Hit(candidate, 1, 0.8, fused, (Feature("relevance", 0.5, 1.0, 0.5), Feature("recency", 0.3, 1.0, 0.3)), group_size=3)


def trace(refusal: Refusal | None = None, claims: tuple[Claim, ...] = ()) -> Trace:
    steps = (Step("retrieve", 0.0, 4.25, "ok", {"hits": 1}), Step("relevance", 4.3, 0.1, "passed", {"score": 0.8123, "threshold": 0.3}))
    return Trace("run-1", "Why?", {"intent": "evidence"}, steps, {"steps": 2}, WHEN, "answered", claims, refusal, ("t-9",))


def outcome(answer: Answer | None = None, refusal: Refusal | None = None, degraded: dict[str, str] | None = None) -> Outcome:
    grounding = Grounding(1.0, 1.0, 1.0, accepted=True, failure_reason=None, verdicts=(Verdict(True, False, 0.9, (cite(),)),))
    return Outcome("run-1", "Why?", answer, refusal, grounding, (hit(),), trace(refusal), degraded or {}, 0.0123)


def plain(view: RenderableType) -> str:
    stream = io.StringIO()
    console(stream).print(view)
    return stream.getvalue()


def on_terminal(view: RenderableType, width: int = 80) -> str:
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=width, markup=False, highlight=False, emoji=False).print(view)
    return stream.getvalue()


QUOTED = Claim("My card was declined at the shop.", ClaimKind.QUOTE, 0.91, (cite(), cite("t-2")), (cite("t-3"),), document_count=14)
COUNTED = Claim(
    "14 of 35 documents mention declined cards.",
    ClaimKind.COUNT,
    1.0,
    (),
    proof=Proof("by_theme", EVERYTHING, "declined", "UTC", 14, 35, ("t-1", "t-2"), None, 7),
    document_count=14,
)


def test_an_answer_shows_each_claim_with_numbered_citations() -> None:
    shown = plain(outcome_view(outcome(Answer("…", (QUOTED,), "extractive", 0.8)), {"t-1": DOCUMENT}))
    assert "1.  My card was declined at the shop. [1][2]" in shown
    assert "[1]  t-1 · v1 · 2026-03-04 · zendesk · support 0.91" in shown
    assert "said in 14 documents" in shown
    assert "but 1 document says the opposite: [3]" in shown
    assert "confidence 0.80 · extractive · run run-1" in shown


def test_a_number_shows_the_documents_behind_it() -> None:
    shown = plain(outcome_view(outcome(Answer("…", (COUNTED,), "extractive")), {}))
    assert "documents: t-1, t-2 and 12 more" in shown
    assert "over 35 documents" in shown
    assert "confidence uncalibrated" in shown


def test_the_same_span_keeps_its_number_across_claims() -> None:
    shown = plain(outcome_view(outcome(Answer("…", (QUOTED, QUOTED), "extractive")), {"t-1": DOCUMENT}))
    assert shown.count("[1]  t-1") == 1


def test_the_cited_words_stand_underlined_in_their_context() -> None:
    shown = span_in_context(TEXT, 15, 48)
    assert shown.plain.startswith("“I tried twice. My card was declined at the shop. Please")
    assert [shown.plain[span.start : span.end] for span in shown.spans if "underline" in str(span.style)] == [TEXT[15:48]]


def test_long_context_is_cut_between_words() -> None:
    text = "before " * 40 + "HERE" + " after" * 40
    shown = span_in_context(text, text.index("HERE"), text.index("HERE") + 4).plain
    assert shown.startswith("“… before")
    assert shown.endswith("after …”")


def test_a_span_of_code_points_beyond_the_basic_plane_is_cut_exactly() -> None:
    text = "👩‍💻🎉 it broke 🎉"
    start = text.index("it broke")
    shown = span_in_context(text, start, start + 8)
    assert [shown.plain[span.start : span.end] for span in shown.spans if "underline" in str(span.style)] == ["it broke"]


def test_document_text_cannot_drive_the_terminal_or_the_markup() -> None:
    for view in (document_view(DOCUMENT), documents_view([DOCUMENT]), retrieval_view(Retrieval("q", EVERYTHING, (hit(),), 10, "rrf"))):
        for shown in (plain(view), on_terminal(view, 120)):
            assert "\x1b[31m" not in shown
            assert "␛[31mhelp" in shown
            assert "[bold]me[/bold]" in shown.replace("\n", "")


def test_hostile_ids_and_themes_cannot_either() -> None:
    hostile = Document("id\x1b]0;title\x07", Source("s\x1b[2J"), "text", WHEN, theme_id="t\x9b31m", attributes={"k\x1b[1m": "v\x1b[1m"})
    for view in (document_view(hostile), documents_view([hostile])):
        assert not {"\x1b", "\x07", "\x9b"} & set(plain(view))


def test_a_refusal_says_why_with_its_numbers_and_what_would_help() -> None:
    refusal = Refusal(
        RefusalReason.OFF_TOPIC,
        "The documents are not about this.",
        "relevance",
        0.12,
        0.3,
        (Nearest("t-1", 0.12, TEXT),),
        "ask about cards",
    )
    shown = plain(outcome_view(outcome(refusal=refusal), {}))
    assert "No answer: OFF_TOPIC" in shown
    assert "The documents are not about this." in shown
    assert "gate relevance: 0.12, needs 0.30" in shown
    assert "t-1 · similarity 0.12" in shown
    assert "Try:  ask about cards" in shown


def test_what_was_lost_is_said() -> None:
    shown = plain(outcome_view(outcome(Answer("…", (QUOTED,), "extractive"), degraded={"vector_leg": "words only"}), {}))
    assert "without vector_leg: words only" in shown


def test_an_explanation_shows_gates_contributions_and_verdicts() -> None:
    shown = plain(explanation(outcome(Answer("…", (QUOTED,), "extractive"))))
    assert "relevance\tpassed\t4.3\t0.1\tscore=0.812 threshold=0.3" in shown
    assert "#\tdocument\trelevance\trecency\tsum" in shown
    assert "1\tt-1\t0.5000\t0.3000\t0.8000" in shown
    assert "1\tsupported\t0.90\t1" in shown


def test_a_ranking_shows_both_legs_and_the_fused_score() -> None:
    found = Retrieval("q", EVERYTHING, (hit(),), 10, "rrf")
    shown = plain(retrieval_view(found))
    assert "1\tt-1\t2026-03-04\t0.8000\t4.200 (#1)\t–\t0.0300\t3\t" in shown
    assert searched(found) == "1 hit of 10 documents searched, fusion rrf"
    assert "t-1" in on_terminal(contributions(found.hits))


def test_a_search_without_a_hit_says_so() -> None:
    assert plain(retrieval_view(Retrieval("q", EVERYTHING, (), 10, "rrf"))) == "no document matches\n"


def test_themes_are_bars_with_shares_and_ids() -> None:
    themes = (ThemeCount("billing", 30, 0.6, ("t-1", "t-2", "t-3", "t-4"), "c"), ThemeCount("login", 15, 0.3, ("t-9",), "c"))
    found = ThemeAggregate(None, 50, 60, 5, themes, 3, EVERYTHING, 1)
    assert "billing\t30\t60.0%\tt-1, t-2, t-3 and 27 more" in plain(themes_view(found))
    assert "█" * 16 in on_terminal(themes_view(found), 100)
    told = themes_counted(found)
    assert "50 matching documents of 60" in told
    assert "5 of them without a theme" in told
    assert "1 more theme with --limit 3" in told


def test_a_trend_shows_empty_intervals() -> None:
    points = (TrendPoint("2026-06-01", 4, ("t-1",), "c"), TrendPoint("2026-06-08", 0, (), "c"), TrendPoint("2026-06-15", 8, ("t-2",), "c"))
    found = Trend(None, "week", "UTC", points, 12, 12, EVERYTHING, 1)
    assert "2026-06-08\t0\t" in plain(trend_view(found))
    assert "▅▁█" in on_terminal(trend_view(found))


def test_runs_are_listed_and_shown_step_by_step() -> None:
    shown = plain(trace_view(trace(claims=(QUOTED,))))
    assert "1.  My card was declined at the shop. [t-1, t-2]" in shown
    assert "deleted since, words withheld: t-9" in shown
    assert "retrieve\tok\t0.0\t4.2" in shown
    assert "run-1\t2026-03-04 09:12Z\tanswered\t0\t2\tWhy?" in plain(traces_view([trace()]))
    assert plain(traces_view([])) == "no runs yet\n"


def test_nothing_is_wider_than_the_terminal() -> None:
    answer = Answer("…", (QUOTED, COUNTED), "extractive")
    for width in (40, 60, 80, 100):
        for view in (outcome_view(outcome(answer), {"t-1": DOCUMENT}), explanation(outcome(answer)), documents_view([DOCUMENT])):
            stream = io.StringIO()
            Console(file=stream, force_terminal=True, width=width, markup=False, color_system=None).print(view)
            assert max(len(line) for line in stream.getvalue().splitlines()) <= width


def test_a_pipe_gets_no_colours() -> None:
    assert "\x1b" not in plain(outcome_view(outcome(Answer("…", (QUOTED,), "extractive")), {"t-1": DOCUMENT}))
