"""Vectors from an OpenAI-compatible ``/embeddings`` endpoint: a hosted model, or a server on one's own machine."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from runtime.clock import Clock, Deadline, SystemClock
from runtime.errors import Misconfigured, Unavailable
from runtime.resilience import Guard, RetryPolicy, asked_wait_s
from runtime.settings import Settings
from runtime.wire import keep_to_deadlines
from search.documents import Vectors

DEPENDENCY = "embedder"
TIMEOUT_S = 30.0
MAX_CHARS = 8_000
"""Longer text is cut here: about what a limit of 8,191 tokens holds."""

_BATCH_TEXTS, _BATCH_CHARS = 64, 64_000
_SHOWN_CHARS = 200
_TRANSIENT = frozenset({408, 409, 425, 429})


class OpenAICompatible:
    """One model behind one endpoint. Thread-safe. Every call goes through a guard: bounded retries, circuit breaker, bulkhead, deadline."""

    def __init__(self, name: str, client: httpx.Client, guard: Guard, *, key: str = "", dimension: int = 0) -> None:
        """``client`` has the base URL. With ``dimension`` 0 the server is asked once, now."""
        self._name, self._client, self._guard, self._key = name, client, guard, key
        self._dimension = dimension
        if not dimension:
            self._dimension = len(self._asked(["dimension"], None)[0])

    @property
    def model(self) -> str:
        """``openai:`` and the model's name."""
        return f"openai:{self._name}"

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What every call goes through."""
        return (self._guard,)

    @property
    def dimension(self) -> int:
        """As set, or as the server's first answer had it."""
        return self._dimension

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:
        """See :class:`search.ports.Embedder`. Text is cut at 8,000 characters; a text that comes twice is sent once.

        Raises:
            Unavailable: the endpoint did not answer, or not with vectors of this model.
            Misconfigured: it refuses the key, or does not know the model.
        """
        sent = {text: _sendable(text) for text in texts}
        rows: dict[str, list[float]] = {}
        for batch in _batches(list(dict.fromkeys(sent.values()))):
            rows.update(zip(batch, self._asked(batch, deadline), strict=True))
        vectors = np.array([rows[sent[text]] for text in texts], np.float32).reshape(len(texts), self._dimension)
        return self._unit(vectors)

    def _unit(self, vectors: Vectors) -> Vectors:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise self._not_vectors("a vector without a direction")
        unit: Vectors = vectors / lengths
        return unit

    def _asked(self, texts: Sequence[str], deadline: Deadline | None) -> list[list[float]]:
        body = {"model": self._name, "input": list(texts), "encoding_format": "float"}
        response = self._guard.call(lambda timeout_s: self._post(body, timeout_s), deadline=deadline, repeatable=True)
        if response.status_code >= httpx.codes.MULTIPLE_CHOICES:
            raise self._refused(response)
        return self._rows(response, len(texts))

    def _post(self, body: dict[str, Any], timeout_s: float) -> httpx.Response:
        """One attempt. What may be better next time is raised here, where the guard sees it; the rest is the caller's to judge."""
        try:
            response = self._client.post("embeddings", json=body, timeout=timeout_s)
        except httpx.TimeoutException as error:
            raise Unavailable(f"{self._where} did not answer within {timeout_s:.1f} s", dependency=DEPENDENCY) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(f"{self._where} cannot be reached: {self._shown(str(error))}", dependency=DEPENDENCY) from error
        if response.status_code in _TRANSIENT or response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise Unavailable(
                f"{self._where} answered {response.status_code}: {self._reason(response)}",
                dependency=DEPENDENCY,
                retry_after_s=asked_wait_s(response.headers.get("retry-after")),
            )
        return response

    def _refused(self, response: httpx.Response) -> Misconfigured | Unavailable:
        status, reason = response.status_code, self._reason(response)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return Misconfigured(f"{self._where} refused the key ({status}): {reason}; set WA_EMBEDDER_KEY")
        if status == httpx.codes.NOT_FOUND or httpx.codes.is_redirect(status):
            return Misconfigured(
                f"{self._where} has no embeddings of {self._name} ({status}): {reason}; set WA_EMBEDDER_URL and WA_EMBEDDER"
            )
        return Unavailable(f"{self._where} refused the request ({status}): {reason}", dependency=DEPENDENCY)

    def _rows(self, response: httpx.Response, wanted: int) -> list[list[float]]:
        try:
            entries = sorted(response.json()["data"], key=lambda entry: entry["index"])
            rows = [[float(value) for value in entry["embedding"]] for entry in entries]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise self._not_vectors(self._shown(response.text)) from error
        if [entry["index"] for entry in entries] != list(range(wanted)) or not all(rows):
            raise self._not_vectors(f"{len(rows)} vectors for {wanted} texts")
        if not all(math.isfinite(value) for row in rows for value in row):
            raise self._not_vectors("a number that is not finite")
        lengths = {len(row) for row in rows}
        if lengths != {self._dimension or len(rows[0])}:
            raise self._not_vectors(
                f"vectors of {', '.join(map(str, sorted(lengths)))} numbers where {self._dimension or len(rows[0])} are expected"
            )
        return rows

    def _not_vectors(self, what: str) -> Unavailable:
        return Unavailable(f"{self._where} did not answer with vectors of {self._name}: {what}", dependency=DEPENDENCY)

    @property
    def _where(self) -> str:
        return f"the embedding server at {self._client.base_url.host}"

    def _reason(self, response: httpx.Response) -> str:
        try:
            error = response.json()["error"]
            return self._shown(str(error["message"] if isinstance(error, dict) else error))
        except (ValueError, TypeError, KeyError, RecursionError):
            return self._shown(response.text) or "no reason given"

    def _shown(self, text: str) -> str:
        """Somebody else's words, short, on one line, and without the key."""
        text = text.replace(self._key, "********") if self._key else text
        return " ".join(text.split())[:_SHOWN_CHARS]


@contextmanager
def open_openai(name: str, settings: Settings, clock: Clock | None = None) -> Iterator[OpenAICompatible]:
    """The model ``name`` behind ``settings.embedder_url``; connections are closed at the end.

    Raises:
        Misconfigured: the URL is missing or no URL, the key is refused, or the model is unknown there.
        Unavailable: the dimension had to be asked for and nothing answered.
    """
    key = settings.embedder_key.get_secret_value()
    guard = Guard(
        DEPENDENCY,
        timeout_s=TIMEOUT_S,
        clock=clock or SystemClock(),
        bulkhead_calls=settings.bulkhead_calls,
        retry=RetryPolicy(attempts=settings.retry_attempts),
        breaker_failures=settings.breaker_failures,
        breaker_open_s=settings.breaker_open_s,
    )
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx.Client(base_url=_base_url(settings.embedder_url), headers=headers) as client:
        keep_to_deadlines(client)
        yield OpenAICompatible(name, client, guard, key=key, dimension=settings.embedder_dimension)


def _base_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Misconfigured("WA_EMBEDDER_URL must be the base URL of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1")
    return url.rstrip("/") + "/"


def _sendable(text: str) -> str:
    """Servers refuse an empty text, and JSON in UTF-8 has no half characters."""
    cut = text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8").replace("\x00", " ")
    return cut if cut.strip() else " ."


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _BATCH_TEXTS or size + len(text) > _BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
