"""Whoever can answer first: the first endpoint, then the second, then nobody. Every attempt is on record and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import ValidationError

from grounding.budget import tokens_in
from grounding.language_models.dialect import Request
from grounding.language_models.endpoint import Endpoint
from grounding.language_models.failing import SAID, NotUsable, Why, why_of
from grounding.language_models.prompts.reading import Prompt
from grounding.language_models.receiving import Reply
from grounding.language_models.shapes import Shape, schema_of
from grounding.talk import Talk
from runtime.clock import Clock, Stopwatch
from runtime.errors import BudgetExceeded, Unavailable
from runtime.settings import Settings
from runtime.telemetry import Metrics

S = TypeVar("S", bound=Shape)
_PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Heard(Generic[S]):
    """An answer of the right shape, and which model gave it."""

    said: S
    model: str


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What one endpoint made of one request: ``said`` is JSON, or ``why`` it is not."""

    said: str
    why: Why | None
    detail: str
    input_tokens: int
    output_tokens: int


class Speakers:
    """The endpoints in the order in which they are asked."""

    def __init__(self, endpoints: Sequence[Endpoint], settings: Settings, metrics: Metrics, clock: Clock) -> None:
        self.endpoints = tuple(endpoints)
        self._settings = settings
        self._metrics = metrics
        self._clock = clock

    def ask(self, role: str, prompt: Prompt, values: Mapping[str, str], shape: type[S], talk: Talk, *, without: str) -> Heard[S] | None:
        """The first answer of the right shape, or None. ``without`` says what the run does when there is none."""
        request = Request(prompt.messages(values), role, schema_of(shape), self._settings.llm_max_output_tokens)
        failed: list[str] = []
        for endpoint in self.endpoints:
            answer, why = self._asked(role, prompt, endpoint, request, shape, talk)
            if answer is not None:
                if failed:
                    talk.lose(role, f"{', '.join(failed)}; {endpoint.model} did instead")
                return Heard(answer, endpoint.model)
            failed.append(f"{endpoint.model} ({endpoint.name}) {SAID[why]}" if why else endpoint.model)
        talk.lose(role, f"{', '.join(failed)}; {without}")
        return None

    def _asked(
        self, role: str, prompt: Prompt, endpoint: Endpoint, request: Request, shape: type[S], talk: Talk
    ) -> tuple[S | None, Why | None]:
        watch = Stopwatch.start(self._clock)
        attempt = self._attempt(role, endpoint, request, talk)
        answer, why, detail = None, attempt.why, attempt.detail
        if why is None:
            answer, why, detail = _of_shape(attempt.said, shape)
        talk.spending.said(attempt.input_tokens + attempt.output_tokens)
        talk.attempts.append(
            {
                "role": role,
                "prompt": prompt.name,
                "prompt_version": prompt.version,
                "endpoint": endpoint.name,
                "model": endpoint.model,
                "outcome": why or "ok",
                "error": detail,
                "ms": round(watch.elapsed_s() * 1000, 3),
                "input_tokens": attempt.input_tokens,
                "output_tokens": attempt.output_tokens,
                "cost": self._cost(attempt),
            }
        )
        self._count(role, endpoint, why, attempt, watch.elapsed_s())
        return answer, why

    def _attempt(self, role: str, endpoint: Endpoint, request: Request, talk: Talk) -> _Attempt:
        estimate = sum(tokens_in(message["content"]) for message in request.messages)
        try:
            talk.spending.about_to_say(estimate)
            talk.spending.call(f"llm_{role}")
            reply = endpoint.reply(request, talk.deadline(self._settings.llm_timeout_s))
        except BudgetExceeded as error:
            return _Attempt("", "no_budget", str(error), 0, 0)
        except NotUsable as error:
            return _Attempt("", error.why, str(error), error.input_tokens, error.output_tokens)
        except Unavailable as error:
            return _Attempt("", why_of(error), str(error), 0, 0)
        return _judged(reply, estimate)

    def _cost(self, attempt: _Attempt) -> float:
        settings = self._settings
        spent = attempt.input_tokens * settings.llm_input_price + attempt.output_tokens * settings.llm_output_price
        return round(spent / _PER_MILLION, 8)

    def _count(self, role: str, endpoint: Endpoint, why: Why | None, attempt: _Attempt, seconds: float) -> None:
        self._metrics.count("wa_llm_calls_total", role=role, endpoint=endpoint.name, outcome=why or "ok")
        self._metrics.observe("wa_llm_duration_seconds", seconds, role=role)
        self._metrics.count("wa_llm_tokens_total", attempt.input_tokens, role=role, direction="input")
        self._metrics.count("wa_llm_tokens_total", attempt.output_tokens, role=role, direction="output")


def _judged(reply: Reply, estimate: int) -> _Attempt:
    """A reply as an attempt; where the server counted no tokens, they are estimated."""
    given, taken = reply.input_tokens or estimate, reply.output_tokens or (tokens_in(reply.text) if reply.text else 0)
    why: Why | None = None
    if reply.refusal or reply.finish == "content_filter":
        why = "refused"
    elif reply.finish == "length":
        why = "too_long"
    elif not reply.text.strip():
        why = "empty"
    return _Attempt(reply.text, why, f"finished with {reply.finish}" if why else "", given, taken)


def _of_shape(said: str, shape: type[S]) -> tuple[S | None, Why | None, str]:
    """The answer, or why it is none. Only kinds of faults are told, never the model's words: those may be a document's."""
    text = _bare(said)
    try:
        return shape.model_validate_json(text), None, ""
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)
    kinds = sorted({str(fault["type"]) for fault in faults})
    why: Why = "malformed" if kinds == ["json_invalid"] else "wrong_schema"
    return None, why, ", ".join(kinds)


def _bare(said: str) -> str:
    """Without the thinking some models put in front, and without the marks of a code block."""
    text = said.strip()
    if text.startswith("<think>"):
        text = text.partition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removesuffix("```").partition("\n")[2].strip()
    return text
