"""Every way in which a language model can fail leads to the second one, then to the documents themselves; and the answer says so."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from api import rendering
from grounding.answers import Outcome
from tests.faults.sockets import nobody_listening
from tests.grounding.desk import Desk, cited
from tests.grounding.language_models import misbehaving_server as servers_that
from tests.grounding.language_models.conftest import QUESTION, OpenDesk
from tests.grounding.language_models.misbehaving_server import Behaviour, ModelServer, as_draft, complains_about, fails, says, says_whole

Servers = Callable[..., ModelServer]

WRITTEN = "The app crashes each time a receipt is scanned."
GOOD = as_draft((WRITTEN, ["E1"]))
QUOTED = "sentences of the documents are quoted instead"

FAILURES: dict[str, tuple[Behaviour, str]] = {
    "never answers": (servers_that.stalls, "timeout"),
    "falls silent midway": (servers_that.stalls_midway, "timeout"),
    "ends midway": (servers_that.cut_midway, "cut"),
    "breaks midway": (servers_that.resets_midway, "unavailable"),
    "sends less than it promised": (servers_that.cut_whole, "unavailable"),
    "429": (fails(429, "slow down"), "rate_limited"),
    "500": (fails(500), "unavailable"),
    "503": (fails(503), "unavailable"),
    "an error inside the stream": (servers_that.error_midway, "unavailable"),
    "401": (fails(401, "bad key"), "misconfigured"),
    "403": (fails(403), "misconfigured"),
    "404": (fails(404, "no such model"), "misconfigured"),
    "400": (fails(400, "context length exceeded"), "rejected"),
    "moved": (fails(302, "elsewhere", {"location": "http://127.0.0.1:9/v1"}), "misconfigured"),
    "prose": (says("I think the app crashes a lot."), "malformed"),
    "prose, whole": (says_whole("I think the app crashes a lot."), "malformed"),
    "half of a JSON text": (says('{"claims": [{"text": "The app'), "malformed"),
    "events that are no JSON": (servers_that.garbage_events, "malformed"),
    "events of another protocol": (servers_that.odd_members, "cut"),
    "a web page": (servers_that.garbage_whole, "malformed"),
    "nothing": (says(""), "empty"),
    "nothing, whole": (says_whole(""), "empty"),
    "blanks": (says("  \n "), "empty"),
    "another shape": (says('{"answer": "The app crashes."}'), "wrong_schema"),
    "another type": (says('{"claims": "The app crashes."}'), "wrong_schema"),
    "a list": (says("[]"), "wrong_schema"),
    "declines": (servers_that.declines, "refused"),
    "declines, whole": (servers_that.declines_whole, "refused"),
    "filtered": (says("", finish="content_filter"), "refused"),
    "stopped at the limit": (says('{"claims": [', finish="length"), "too_long"),
    "never stops": (servers_that.floods, "too_long"),
    "one line without end": (servers_that.floods_one_line, "too_long"),
    "megabytes, whole": (servers_that.floods_whole, "too_long"),
}


def _patience(why: str) -> float:
    """Short only where nothing is waited for but the end of it."""
    return 0.5 if why == "timeout" else 30.0


def attempts(outcome: Outcome, role: str = "draft") -> list[dict[str, Any]]:
    """Every attempt of a role on record."""
    return [attempt for step in outcome.trace.steps for attempt in step.detail.get("llm", []) if attempt["role"] == role]


def metric(desk: Desk, name: str, **labels: str) -> float:
    value = desk.service.metrics.registry.get_sample_value(name, labels)
    return value or 0.0


@pytest.mark.parametrize("failure", FAILURES)
def test_the_documents_answer_when_the_only_model_fails(failure: str, servers: Servers, desk_with: OpenDesk) -> None:
    behaviour, why = FAILURES[failure]
    desk = desk_with(servers(behaviour), llm_timeout_s=_patience(why), llm_max_output_tokens=200)
    outcome = desk.ask(QUESTION)
    assert outcome.answer is not None
    assert outcome.answer.model == "extractive"
    assert {"c1", "c3"} <= cited(outcome)
    assert [(attempt["endpoint"], attempt["outcome"]) for attempt in attempts(outcome)] == [("primary", why)]
    assert outcome.degraded["llm"].startswith("small (primary) ")
    assert QUOTED in outcome.degraded["llm"]
    assert metric(desk, "wa_llm_calls_total", role="draft", endpoint="primary", outcome=why) == 1


@pytest.mark.parametrize("failure", FAILURES)
def test_the_second_model_answers_when_the_first_fails(failure: str, servers: Servers, desk_with: OpenDesk) -> None:
    behaviour, why = FAILURES[failure]
    desk = desk_with(servers(behaviour), servers(says(GOOD)), llm_timeout_s=_patience(why), llm_max_output_tokens=200)
    outcome = desk.ask(QUESTION)
    assert outcome.answer is not None
    assert outcome.answer.model == "other"
    assert outcome.answer.claims[0].text == WRITTEN
    assert [(attempt["endpoint"], attempt["outcome"]) for attempt in attempts(outcome)] == [("primary", why), ("fallback", "ok")]
    assert outcome.degraded["llm"].endswith("; other did instead")


def test_both_fail_and_both_are_named(servers: Servers, desk_with: OpenDesk) -> None:
    outcome = desk_with(servers(fails(429)), servers(says("no"))).ask(QUESTION)
    assert outcome.answer is not None
    assert outcome.answer.model == "extractive"
    assert outcome.degraded["llm"] == (
        "small (primary) takes no more requests for now, other (fallback) did not answer with JSON; " + QUOTED
    )


def test_nobody_listens(servers: Servers, desk_with: OpenDesk) -> None:
    desk = desk_with(ModelServer(url=nobody_listening() + "/v1"), servers(says(GOOD)))
    assert [attempt["outcome"] for attempt in attempts(desk.ask(QUESTION))] == ["unavailable", "ok"]


def test_an_open_circuit_asks_nobody_and_closes_again(servers: Servers, desk_with: OpenDesk) -> None:
    server = servers(fails(500))
    desk = desk_with(server, breaker_failures=2, breaker_open_s=10.0)
    desk.ask(QUESTION)
    desk.ask(QUESTION)
    asked = len(server.requests)
    outcome = desk.ask(QUESTION)
    assert [attempt["outcome"] for attempt in attempts(outcome)] == ["circuit_open"]
    assert "failed too often lately" in outcome.degraded["llm"]
    assert len(server.requests) == asked
    server.will(says(GOOD))
    desk.clock.elapsed_s += 11.0
    again = desk.ask(QUESTION)
    assert again.answer is not None
    assert again.answer.model == "small"
    assert not again.degraded


def test_answers_of_no_use_do_not_open_the_circuit(servers: Servers, desk_with: OpenDesk) -> None:
    server = servers(says("prose"))
    desk = desk_with(server, breaker_failures=1)
    desk.ask(QUESTION)
    assert [attempt["outcome"] for attempt in attempts(desk.ask(QUESTION))] == ["malformed"]
    assert len(server.requests) == 2


def test_a_passing_failure_is_repeated_before_the_second_model_is_asked(servers: Servers, desk_with: OpenDesk) -> None:
    first, second = servers(fails(503), says(GOOD)), servers(says(GOOD))
    desk = desk_with(first, second, retry_attempts=2)
    outcome = desk.ask(QUESTION)
    assert outcome.answer is not None
    assert outcome.answer.model == "small"
    assert (len(first.requests), len(second.requests)) == (2, 0)
    assert not outcome.degraded
    assert metric(desk, "wa_retries_total", dependency="llm_primary") == 1


def test_a_server_that_asks_for_a_longer_wait_than_there_is_is_left_alone(servers: Servers, desk_with: OpenDesk) -> None:
    first = servers(fails(429, headers={"retry-after": "3600"}))
    assert desk_with(first, servers(says(GOOD)), retry_attempts=3).ask(QUESTION).answer.model == "other"  # type: ignore[union-attr]
    assert len(first.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [says(GOOD), says_whole(GOOD), says(f"```json\n{GOOD}\n```"), says(f"<think>hm</think>\n{GOOD}"), says_whole(GOOD, finish="")],
)
def test_streamed_whole_fenced_or_thought_about_an_answer_is_an_answer(answer: Behaviour, servers: Servers, desk_with: OpenDesk) -> None:
    outcome = desk_with(servers(answer)).ask(QUESTION)
    assert outcome.answer is not None
    assert (outcome.answer.model, outcome.answer.claims[0].text) == ("small", WRITTEN)
    assert not outcome.degraded


@pytest.mark.parametrize("member", ["response_format", "stream_options", "temperature", "max_tokens"])
def test_what_a_server_does_not_know_is_left_out_and_remembered(member: str, servers: Servers, desk_with: OpenDesk) -> None:
    message = "Unsupported parameter: use max_completion_tokens" if member == "max_tokens" else ""

    def answer(exchange: servers_that.Exchange) -> None:
        refuse = fails(400, message) if message and member in exchange.body else complains_about(member, says(GOOD))
        refuse(exchange)

    server = servers(answer)
    desk = desk_with(server)
    for _ in range(2):
        outcome = desk.ask(QUESTION)
        assert outcome.answer is not None
        assert outcome.answer.model == "small"
    assert [member in request for request in server.requests] == [True, False, False]


def test_with_no_time_left_for_two_models_the_documents_still_answer(servers: Servers, desk_with: OpenDesk) -> None:
    """Half of what is left is the most that one answer may take."""
    desk = desk_with(servers(servers_that.stalls), servers(servers_that.stalls), llm_timeout_s=300.0, ask_timeout_s=2.0)
    outcome = desk.ask(QUESTION)
    assert outcome.answer is not None
    assert [attempt["outcome"] for attempt in attempts(outcome)] == ["timeout", "timeout"]


def test_the_budget_of_tokens_holds_for_models_and_takes_nothing_from_evidence(servers: Servers, desk_with: OpenDesk) -> None:
    server = servers(says(GOOD))
    outcome = desk_with(server, ask_max_tokens=200).ask(QUESTION)
    assert outcome.answer is not None
    assert outcome.answer.model == "extractive"
    assert not server.requests
    assert "no passage fits the budget" in outcome.degraded["llm"]


def test_calls_are_counted_against_the_budget(servers: Servers, desk_with: OpenDesk) -> None:
    outcome = desk_with(servers(says("prose")), servers(says("prose")), ask_max_calls_per_tool=1).ask(QUESTION)
    assert [attempt["outcome"] for attempt in attempts(outcome)] == ["malformed", "no_budget"]
    assert outcome.answer is not None


def test_tokens_and_cost_are_on_record(servers: Servers, desk_with: OpenDesk) -> None:
    desk = desk_with(servers(says(GOOD, usage=(1000, 200))), llm_input_price=2.0, llm_output_price=10.0)
    outcome = desk.ask(QUESTION)
    (attempt,) = attempts(outcome)
    assert (attempt["input_tokens"], attempt["output_tokens"], attempt["cost"]) == (1000, 200, 0.004)
    assert (attempt["prompt"], attempt["prompt_version"], attempt["model"]) == ("draft", 1, "small")
    assert outcome.trace.budget["used"]["llmTokens"] == 1200
    assert metric(desk, "wa_llm_tokens_total", role="draft", direction="input") == 1000
    assert metric(desk, "wa_llm_tokens_total", role="draft", direction="output") == 200


def test_tokens_are_estimated_where_the_server_counts_none(servers: Servers, desk_with: OpenDesk) -> None:
    (attempt,) = attempts(desk_with(servers(says(GOOD, usage=None))).ask(QUESTION))
    assert attempt["input_tokens"] > 200
    assert attempt["output_tokens"] > 10


def test_the_key_goes_to_its_server_and_nowhere_else(servers: Servers, desk_with: OpenDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-somebody-else")
    first, second = servers(fails(401, "Incorrect API key provided: sk-first-secret")), servers(says(GOOD))
    keys = {"llm_api_key": SecretStr("sk-first-secret"), "llm_fallback_api_key": SecretStr("sk-second-secret")}
    outcome = desk_with(first, second, **keys).ask(QUESTION)
    assert first.headers[0]["authorization"] == "Bearer sk-first-secret"
    assert second.headers[0]["authorization"] == "Bearer sk-second-secret"
    assert "of-somebody-else" not in json.dumps([first.headers, second.headers])
    assert "secret" not in json.dumps(rendering.trace(outcome.trace))
    assert "secret" not in outcome.degraded["llm"]


def test_without_a_model_nothing_changes(servers: Servers, desk_with: OpenDesk) -> None:
    """The answer by documents alone is the same, byte for byte, whether a model is configured and fails or there is none."""
    plain, fallen = desk_with(None).ask(QUESTION), desk_with(servers(fails(500))).ask(QUESTION)
    assert not plain.degraded
    assert "llm" not in json.dumps(rendering.trace(plain.trace))
    assert plain.answer == fallen.answer
    assert plain.grounding == fallen.grounding
