"""Which language models the settings ask for, each behind a guard of its own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from grounding.language_models.endpoint import NO_KEY, Endpoint, checked_url
from grounding.language_models.failing import DEPENDENCY
from grounding.language_models.judging import AskingJudge
from grounding.language_models.planning import AskingPlanner
from grounding.language_models.speaking import Speakers
from grounding.language_models.writing import WritingDrafter
from grounding.models import NO_MODELS, Models
from runtime.clock import Clock
from runtime.errors import Misconfigured
from runtime.resilience import Guard, RetryPolicy
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.wire import keep_to_deadlines

LONGEST_WAIT_S = 0.5
"""Between two attempts at one endpoint: the other endpoint, or the documents themselves, answer sooner than a server recovers."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one model is, by the settings."""

    name: str
    url: str
    model: str
    key: str
    variable: str


def places(settings: Settings) -> tuple[Place, ...]:
    """The endpoints that are configured, in the order in which they are asked; none without a language model.

    Raises:
        Misconfigured: a URL without a model, no URL, or a second endpoint without a first.
    """
    if not settings.llm_base_url:
        if settings.llm_fallback_base_url:
            raise Misconfigured("WA_LLM_FALLBACK_BASE_URL is set and WA_LLM_BASE_URL is not: set the first endpoint first")
        return ()
    if not settings.llm_model:
        raise Misconfigured("WA_LLM_BASE_URL is set and WA_LLM_MODEL is not: name the model that server is asked for")
    found = [_place("primary", settings.llm_base_url, settings.llm_model, settings.llm_api_key, "WA_LLM_BASE_URL")]
    if settings.llm_fallback_base_url:
        model = settings.llm_fallback_model or settings.llm_model
        found.append(_place("fallback", settings.llm_fallback_base_url, model, settings.llm_fallback_api_key, "WA_LLM_FALLBACK_BASE_URL"))
    return tuple(found)


@contextmanager
def open_language_models(settings: Settings, clock: Clock, metrics: Metrics) -> Iterator[Models]:
    """The models in the roles of ``settings.llm_roles``; nobody is asked anything yet, and connections are closed at the end.

    Raises:
        Misconfigured: see :func:`places`.
    """
    with open_endpoints(settings, clock, metrics) as endpoints:
        if not endpoints:
            yield NO_MODELS
            return
        speakers, roles = Speakers(endpoints, settings, metrics, clock), set(settings.llm_roles.split(","))
        yield Models(
            planner=AskingPlanner(speakers) if "plan" in roles else None,
            writer=WritingDrafter(speakers, settings) if "draft" in roles else None,
            judge=AskingJudge(speakers) if "judge" in roles else None,
        )


@contextmanager
def open_endpoints(settings: Settings, clock: Clock, metrics: Metrics) -> Iterator[tuple[Endpoint, ...]]:
    """Every configured endpoint."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(_open(place, settings, clock, metrics)) for place in places(settings))


@contextmanager
def _open(place: Place, settings: Settings, clock: Clock, metrics: Metrics) -> Iterator[Endpoint]:
    import httpx2
    from openai import OpenAI

    from grounding.language_models.wire import BoundedTransport

    guard = Guard(
        f"{DEPENDENCY}_{place.name}",
        timeout_s=settings.llm_timeout_s,
        clock=clock,
        bulkhead_calls=settings.bulkhead_calls,
        retry=RetryPolicy(attempts=settings.retry_attempts, longest_wait_s=LONGEST_WAIT_S),
        breaker_failures=settings.breaker_failures,
        breaker_open_s=settings.breaker_open_s,
    )
    transport = BoundedTransport(settings.llm_max_output_tokens)
    with httpx2.Client(transport=transport, headers={"accept-encoding": "identity"}, follow_redirects=False) as http:
        keep_to_deadlines(http)
        client = OpenAI(
            base_url=place.url, api_key=place.key or NO_KEY, max_retries=0, http_client=http, default_headers=_nothing_of_ours()
        )
        endpoint = Endpoint(place.name, place.model, client, guard, key=place.key)
        metrics.watch(endpoint)
        yield endpoint


def _nothing_of_ours() -> dict[str, str]:
    """The driver would send the organisation and project it finds in the environment to whatever server it is pointed at."""
    from openai import Omit

    return {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}  # type: ignore[dict-item]


def _place(name: str, url: str, model: str, key: SecretStr, variable: str) -> Place:
    return Place(name, checked_url(url, variable), model, key.get_secret_value(), variable)
