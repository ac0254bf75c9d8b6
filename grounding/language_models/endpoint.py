"""One model behind one server."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from grounding.language_models.dialect import Dialect, Request
from grounding.language_models.failing import NotServed, NotUsable, translated
from grounding.language_models.receiving import Reply, received
from runtime.clock import Deadline
from runtime.errors import Misconfigured
from runtime.resilience import Guard

if TYPE_CHECKING:
    from openai import OpenAI

SHOWN_CHARS = 200
NO_KEY = "none"
"""Sent where a server wants no key; the driver insists on one."""


class Endpoint:
    """Thread-safe. Every call goes through the guard; the driver itself repeats nothing."""

    def __init__(self, name: str, model: str, client: "OpenAI", guard: Guard, *, key: str = "") -> None:
        """``name`` is ``primary`` or ``fallback``."""
        self.name, self.model, self.guard = name, model, guard
        self._client, self._key = client, key
        self._dialect = Dialect()

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What every call goes through."""
        return (self.guard,)

    def reply(self, request: Request, deadline: Deadline) -> Reply:
        """What the model says before ``deadline``.

        Raises:
            Unavailable: no answer, after bounded repetitions; or the circuit is open.
            NotUsable: an answer of no use.
        """
        return self.guard.call(lambda timeout_s: self._sent(request, timeout_s, deadline), deadline=deadline, repeatable=True)

    def names(self, deadline: Deadline) -> tuple[str, ...]:
        """The models the server lists; for the doctor.

        Raises:
            Unavailable: it does not answer.
            NotUsable: it refuses the key, or lists nothing.
        """
        return self.guard.call(self._listed, deadline=deadline, repeatable=True)

    def _listed(self, timeout_s: float) -> tuple[str, ...]:
        import httpx2
        import openai

        try:
            return tuple(model.id for model in self._client.models.list(timeout=timeout_s).data)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise translated(error, self._shown(str(error))) from error

    def _sent(self, request: Request, timeout_s: float, deadline: Deadline) -> Reply:
        """Once, in as many dialects as it takes; the one that was understood is remembered."""
        dialect = self._dialect
        while True:
            try:
                reply = self._once(dialect, request, timeout_s, deadline)
            except NotUsable as error:
                simpler = dialect.simpler(str(error)) if error.why == "rejected" else None
                if simpler is None:
                    raise
                dialect = simpler
            else:
                self._dialect = dialect
                return reply

    def _once(self, dialect: Dialect, request: Request, timeout_s: float, deadline: Deadline) -> Reply:
        import httpx2
        import openai

        def check() -> None:
            if deadline.remaining_s() <= 0:
                raise NotServed("timeout", "the answer took too long")

        try:
            create = self._client.chat.completions.with_raw_response.create
            raw = create(model=self.model, timeout=timeout_s, **dialect.body(request))
            return received(raw, request.max_output_tokens, check)
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
            raise translated(error, self._shown(str(error))) from error

    def _shown(self, text: str) -> str:
        """Somebody else's words, short, on one line, and without the key."""
        text = text.replace(self._key, "********") if self._key else text
        return " ".join(text.split())[:SHOWN_CHARS]


def checked_url(url: str, variable: str) -> str:
    """``url`` as the driver wants it.

    Raises:
        Misconfigured: it is no URL of a server.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Misconfigured(f"{variable} must be the base URL of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1")
    return url
