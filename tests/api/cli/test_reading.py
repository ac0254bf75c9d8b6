"""Commands that read: one JSON value each, tables for people, exit codes."""

import json
from typing import Any

import pytest

from api.cli.main import ending

ABOUT_CARDS = "What do customers say about a new card?"
OFF_TOPIC = "Which hotel in Lisbon serves the best breakfast?"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def told(store: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command on the store and return its exit code and both outputs."""

    def run(*words: str) -> tuple[int, str, str]:
        code = ending([*words, "--engine", store])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def value_of(told: Any, *words: str) -> Any:
    code, out, err = told(*words, "--json", "--quiet")
    assert code == 0, err
    return json.loads(out)


def test_an_answer_is_one_json_value_with_exact_quotes(told: Any, sample_rows: list[dict[str, Any]]) -> None:
    result = value_of(told, "ask", ABOUT_CARDS)
    assert not result["answer"]["refused"]
    texts = {row["doc_id"]: row["text"] for row in sample_rows}
    citations = [citation for claim in result["answer"]["claims"] for citation in claim["citations"]]
    assert citations
    assert all(texts[each["docId"]][each["start"] : each["end"]] == each["quote"] for each in citations)
    assert {each["docId"] for each in citations} <= {document["docId"] for document in result["documents"]}


def test_an_answer_is_readable_too(told: Any) -> None:
    code, out, _ = told("ask", ABOUT_CARDS)
    assert code == 0
    assert out.startswith("1.  ")
    assert "[1]" in out
    assert "Citations" in out


def test_a_refusal_is_a_result_unless_scripts_ask_otherwise(told: Any) -> None:
    assert value_of(told, "ask", OFF_TOPIC)["answer"]["refusal"]["reason"] == "OFF_TOPIC"
    code, out, _ = told("ask", OFF_TOPIC)
    assert code == 0
    assert "No answer: OFF_TOPIC" in out
    assert told("ask", OFF_TOPIC, "--fail-on-refusal", "--json")[0] == 3
    assert told("ask", ABOUT_CARDS, "--fail-on-refusal", "--json")[0] == 0


def test_explain_shows_steps_ranking_and_verdicts(told: Any) -> None:
    _, out, _ = told("ask", ABOUT_CARDS, "--explain")
    for section in ("Plan", "Steps and gates", "Budget", "Ranking", "What each feature added to the score"):
        assert section in out


def test_filters_narrow_an_answer_to_nothing(told: Any) -> None:
    result = value_of(told, "ask", ABOUT_CARDS, "--since", "1999-01-01", "--until", "1999-12-31")
    assert result["answer"]["refusal"]["reason"] == "NO_DOCUMENTS"


def test_a_search_carries_every_score(told: Any) -> None:
    result = value_of(told, "search", "card arrive", "--top-k", "3")
    assert len(result["hits"]) == 3
    first = result["hits"][0]
    assert first["rank"] == 1
    assert first["lexicalRank"] is not None
    assert abs(sum(feature["contribution"] for feature in first["features"]) - first["score"]) < 1e-4
    assert value_of(told, "search", "card", "--fusion", "weighted")["fusion"] == "weighted"


def test_a_search_in_a_pipe_is_tab_separated(told: Any) -> None:
    code, out, err = told("search", "card arrive", "--top-k", "2")
    assert code == 0
    header, *rows = out.splitlines()
    assert header.split("\t")[:3] == ["#", "document", "date"]
    assert [row.split("\t")[0] for row in rows] == ["1", "2"]
    assert "documents searched" in err


def test_themes_and_trends_count_all_documents(told: Any, sample_rows: list[dict[str, Any]]) -> None:
    themes = value_of(told, "themes", "--limit", "1000")
    assert themes["total"] == len(sample_rows)
    assert sum(theme["count"] for theme in themes["themes"]) + themes["withoutTheme"] == len(sample_rows)
    trend = value_of(told, "trend", "--interval", "month")
    assert sum(point["count"] for point in trend["points"]) == len(sample_rows)
    assert told("themes", "card")[1].startswith("theme\tcount\tshare\tdocuments")
    assert told("trend")[1].startswith("week\tcount\tdocuments")


def test_an_account_is_shown_or_not_found(told: Any, sample_rows: list[dict[str, Any]]) -> None:
    account = sample_rows[0]["account_id"]
    assert value_of(told, "account", account)["accountId"] == account
    assert f"Account {account}" in told("account", account)[1]
    code, out, err = told("account", "nobody")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")


def test_documents_are_paged_without_gap_or_repeat(told: Any, sample_rows: list[dict[str, Any]]) -> None:
    seen: list[str] = []
    after: list[str] = []
    while True:
        page = value_of(told, "documents", "list", "--first", "100", *after)
        seen += [document["docId"] for document in page["documents"]]
        if page["cursor"] is None:
            break
        after = ["--after", page["cursor"]]
    assert sorted(seen) == sorted(row["doc_id"] for row in sample_rows)


def test_the_cursor_beside_a_count_lists_what_was_counted(told: Any) -> None:
    theme = value_of(told, "themes", "--limit", "1")["themes"][0]
    page = value_of(told, "documents", "list", "--after", theme["cursor"], "--first", "1000")
    assert page["total"] == theme["count"]


def test_filters_by_attribute_rating_and_account_are_exact(told: Any) -> None:
    for option, value in (("--attr", "plan=pro"), ("--rating", "1..2"), ("--account", "acct-x")):
        page = value_of(told, "documents", "list", option, value)
        assert [document["docId"] for document in page["documents"]] == ["hostile-1"], option


def test_a_hostile_question_cannot_drive_the_terminal(told: Any) -> None:
    hostile = "What do customers say about \x1b[31mcards\x1b[0m \x9b2J \u202e?"
    run_id = value_of(told, "ask", hostile)["runId"]
    for words in (("ask", hostile, "--explain"), ("traces", "list"), ("traces", "show", run_id), ("search", hostile), ("themes", hostile)):
        _, out, err = told(*words)
        assert not {"\x1b", "\x9b", "\u202e"} & set(out + err), words


def test_half_a_character_in_a_question_is_no_crash(told: Any) -> None:
    code, out, err = told("ask", "cards \udcff?", "--json")
    assert code in (0, 2)
    assert "correlation id" not in err
    assert out == "" or json.loads(out)


def test_a_hostile_document_cannot_drive_the_terminal(told: Any) -> None:
    for words in (
        ("documents", "show", "hostile-1"),
        ("documents", "list"),
        ("search", "passport photo refused"),
        ("ask", "Why was my passport photo refused?"),
    ):
        for form in ((), ("--json",)):
            _, out, err = told(*words, *form)
            assert not {"\x1b", "\x9b", "\u202e"} & set(out + err), words
    assert "\u202egnp.exe" in value_of(told, "documents", "show", "hostile-1")["text"]
    shown = told("documents", "show", "hostile-1")[1]
    assert "[bold]not markup[/bold] :smile:" in shown


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("ask", "x", "--since", "soon"), "--since"),
        (("search", "x", "--until", "2026-13-01"), "--until"),
        (("themes", "--since", "2026-02-01", "--until", "2026-01-01"), "--since"),
        (("trend", "--time-zone", "Mars/Olympus"), "--time-zone"),
        (("documents", "list", "--rating", "high"), "--rating"),
        (("documents", "list", "--attr", "plan"), "--attr"),
        (("documents", "list", "--after", "gibberish"), "--after"),
        (("ask", "x" * 30_000), "QUESTION"),
    ],
)
def test_what_cannot_be_used_is_named_as_typed(told: Any, words: tuple[str, ...], named: str) -> None:
    code, out, err = told(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {named}: "), err


def test_a_document_that_is_not_there_is_not_found(told: Any) -> None:
    code, out, err = told("documents", "show", "nothing")
    assert (code, out) == (1, "")
    assert "next step: " in err


def test_runs_are_listed_and_shown(told: Any) -> None:
    run_id = value_of(told, "ask", ABOUT_CARDS)["runId"]
    refused = value_of(told, "ask", OFF_TOPIC)["runId"]
    assert run_id in [trace["runId"] for trace in value_of(told, "traces", "list", "--first", "1000")["traces"]]
    only_refused = [trace["runId"] for trace in value_of(told, "traces", "list", "--refused", "--first", "1000")["traces"]]
    assert refused in only_refused
    assert run_id not in only_refused
    assert value_of(told, "traces", "show", run_id)["question"] == ABOUT_CARDS
    assert "Steps and gates" in told("traces", "show", run_id)[1]
    assert told("traces", "show", "no-such-run")[0] == 1


def test_another_tenant_sees_nothing(told: Any) -> None:
    assert value_of(told, "documents", "list", "--tenant", "other")["total"] == 0
    assert told("documents", "show", "hostile-1", "--tenant", "other")[0] == 1
