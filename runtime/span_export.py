"""Sending spans to a collector from a thread of its own: bounded in memory and time, and never anybody's problem but its own."""

import gzip
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runtime.clock import Clock
from runtime.errors import ServiceError, Unavailable
from runtime.resilience import Guard, RetryPolicy
from runtime.settings import Settings
from runtime.tracing import Told, quiet
from runtime.wire import keep_to_deadlines

if TYPE_CHECKING:
    import httpx

COLLECTOR = "collector"
PATH = "/v1/traces"
MOST_WAITING = 4096
"""Spans kept while the collector is slow; what comes beyond them is dropped and counted."""
BATCH = 256
LONGEST_WAIT_S = 1.0
"""How long a span waits for others to be sent with."""
TIMEOUT_S = 5.0
FLUSH_S = 3.0
"""How long the end of the process waits for spans to be sent."""
_LATER = frozenset({408, 425, 429})

Log = Callable[[str], None]
"""Told of changes: why spans do not arrive any more, or ``""`` when they do again."""


class SpanSender:
    """Takes encoded-to-be things with :meth:`put` and posts them in batches. ``encode`` makes the body of a request of them."""

    def __init__(self, url: str, guard: Guard, encode: Callable[[Sequence[object]], bytes], told: Told, log: Log) -> None:
        self._url = url
        self._guard = guard
        self._encode = encode
        self._told = told
        self._log = log
        self._waiting: queue.Queue[object] = queue.Queue(MOST_WAITING)
        self._stopping = threading.Event()
        self._ends_s = 0.0
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="span-export", daemon=True)
        self._thread.start()

    def put(self, item: object) -> None:
        """Have it sent. Never waits, never fails."""
        if self._stopping.is_set():
            self._told("dropped", 1)
            return
        try:
            self._waiting.put_nowait(item)
        except queue.Full:
            self._told("dropped", 1)

    def close(self, within_s: float = FLUSH_S) -> None:
        """Send what waits, at most this long; the rest is dropped."""
        self._ends_s = time.monotonic() + within_s
        self._stopping.set()
        self._thread.join(within_s)
        if left := self._waiting.qsize():
            self._told("dropped", left)

    def _run(self) -> None:
        import httpx

        with quiet(), httpx.Client(timeout=TIMEOUT_S, trust_env=False, follow_redirects=False) as client:
            keep_to_deadlines(client)
            while not self._stopping.is_set() or (not self._waiting.empty() and self._left_s() > 0):
                if batch := self._batch():
                    self._send(client, batch)

    def _batch(self) -> list[object]:
        """What came within a short while, at most a batch of it."""
        found: list[object] = []
        until_s = time.monotonic() + LONGEST_WAIT_S
        while len(found) < BATCH:
            wait_s = 0.0 if self._stopping.is_set() else min(0.1, until_s - time.monotonic())
            try:
                found.append(self._waiting.get(timeout=wait_s) if wait_s > 0 else self._waiting.get_nowait())
            except queue.Empty:
                if self._stopping.is_set() or time.monotonic() >= until_s:
                    break
        return found

    def _send(self, client: "httpx.Client", batch: Sequence[object]) -> None:
        try:
            body = gzip.compress(self._encode(batch), compresslevel=1)
            self._guard.call(lambda timeout_s: self._post(client, body, timeout_s), repeatable=not self._stopping.is_set())
        except Exception as error:  # noqa: BLE001 (the end of a thread that nobody watches: whatever it is, it is counted and told once)
            self._told("failed", len(batch))
            self._changed(type(error).__name__)
        else:
            self._told("exported", len(batch))
            self._changed("")

    def _post(self, client: "httpx.Client", body: bytes, timeout_s: float) -> None:
        import httpx

        headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
        limit_s = min(timeout_s, max(0.1, self._left_s())) if self._stopping.is_set() else timeout_s
        try:
            with client.stream("POST", self._url, content=body, headers=headers, timeout=limit_s) as response:  # its body is not read
                status = response.status_code
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise Unavailable(f"the collector does not answer ({type(error).__name__})", dependency=COLLECTOR) from error
        if status in _LATER or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise Unavailable(f"the collector answered {status}", dependency=COLLECTOR)
        if not httpx.codes.is_success(status):
            raise ServiceError(f"the collector answered {status}")

    def _left_s(self) -> float:
        return self._ends_s - time.monotonic()

    def _changed(self, trouble: str) -> None:
        if bool(trouble) != bool(self._trouble):
            self._log(trouble)
        self._trouble = trouble


def collector_guard(settings: Settings, clock: Clock) -> Guard:
    """What every export goes through."""
    return Guard(
        COLLECTOR,
        timeout_s=TIMEOUT_S,
        clock=clock,
        bulkhead_calls=1,
        retry=RetryPolicy(attempts=2),
        breaker_failures=settings.breaker_failures,
        breaker_open_s=settings.breaker_open_s,
    )


def traces_url(endpoint: str) -> str:
    """Where spans are posted: the path of the protocol below the endpoint, unless the endpoint names it already."""
    path = urlsplit(endpoint).path
    return endpoint if path.endswith(PATH) else endpoint.rstrip("/") + PATH
