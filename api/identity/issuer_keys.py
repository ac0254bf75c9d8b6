"""The public keys of an identity provider: read over HTTP, kept, and read again when they may have changed, but never as often as strangers like."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt

from runtime.clock import Clock
from runtime.errors import Misconfigured, Unavailable
from runtime.resilience import Guard, RetryPolicy, asked_wait_s
from runtime.settings import Settings
from runtime.wire import keep_to_deadlines

DEPENDENCY = "identity provider"
TIMEOUT_S = 5.0
FRESH_S = 300.0
"""After this long the keys are read again."""
BETWEEN_READS_S = 60.0
"""Once there are keys, they are not read again sooner, whatever tokens say."""
STALE_S = 86_400.0
"""While the provider is away, its keys are used no longer than this."""
MAX_BYTES = 1_048_576
DISCOVERY = "/.well-known/openid-configuration"


class IssuerKeys:
    """Safe to share between threads; one of them reads at a time, and those that have usable keys do not wait for it."""

    def __init__(self, settings: Settings, guard: Guard, clock: Clock) -> None:
        self._issuer = settings.oidc_issuer
        self._url = settings.oidc_jwks_url
        self._algorithms = frozenset(settings.oidc_algorithms.split(","))
        self._guard = guard
        self._clock = clock
        self._reading = threading.Lock()
        self._failed = 0
        self._failure = ""
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._read_s: float | None = None
        self._tried_s: float | None = None

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What every call goes through."""
        return (self._guard,)

    def key(self, key_id: str) -> jwt.PyJWK | None:
        """The key of that id, None when the issuer has none.

        Raises:
            Unavailable: the issuer cannot be asked, and nothing usable is kept.
        """
        known_s, failed = self._read_s, self._failed
        if self._usable() and not self._due(key_id):
            return self._keys.get(key_id)
        usable = self._usable()
        if self._reading.acquire(blocking=not usable):
            try:
                if self._failed != failed and not usable:  # shared by all who waited: they must not read one after the other
                    raise Unavailable(self._failure, dependency=DEPENDENCY)
                if self._read_s == known_s:  # nobody was quicker
                    self._read_or_keep(usable=usable)
            finally:
                self._reading.release()
        return self._keys.get(key_id)

    def _usable(self) -> bool:
        return self._read_s is not None and self._clock.seconds() - self._read_s < STALE_S

    def _due(self, key_id: str) -> bool:
        now_s = self._clock.seconds()
        if self._tried_s is not None and now_s - self._tried_s < BETWEEN_READS_S:
            return False
        return key_id not in self._keys or (self._read_s is not None and now_s - self._read_s >= FRESH_S)

    def _read_or_keep(self, *, usable: bool) -> None:
        self._tried_s = self._clock.seconds()
        try:
            self._keys = self._guard.call(self._read, repeatable=True)
        except Unavailable as error:
            self._failed, self._failure = self._failed + 1, str(error)
            if not usable:
                raise
        else:
            self._read_s = self._clock.seconds()

    def _read(self, timeout_s: float) -> Mapping[str, jwt.PyJWK]:
        with httpx.Client(follow_redirects=False, trust_env=False, timeout=timeout_s) as client:
            keep_to_deadlines(client)
            url = self._url or self._discovered(client)
            given = _fetched(client, url).get("keys")
        found = dict(_usable_keys(given if isinstance(given, list) else [], self._algorithms))
        if not found:
            raise _unavailable("its key set holds no key that can be used")
        return found

    def _discovered(self, client: httpx.Client) -> str:
        told = _fetched(client, self._issuer.rstrip("/") + DISCOVERY)
        url = told.get("jwks_uri")
        if told.get("issuer") != self._issuer or not isinstance(url, str):
            raise _unavailable("its discovery document is of another issuer, or names no keys")
        if not _safe(url):
            raise _unavailable("its discovery document names keys at an address without TLS")
        return url


def issuer_keys(settings: Settings, clock: Clock, *, timeout_s: float = TIMEOUT_S) -> IssuerKeys:
    """The keys of the issuer in the settings; nothing is read before the first token.

    Raises:
        Misconfigured: an address cannot be used.
    """
    _checked_url(settings.oidc_issuer, "WA_OIDC_ISSUER")
    if settings.oidc_jwks_url:
        _checked_url(settings.oidc_jwks_url, "WA_OIDC_JWKS_URL")
    guard = Guard(
        DEPENDENCY,
        timeout_s=timeout_s,
        clock=clock,
        bulkhead_calls=settings.bulkhead_calls,
        retry=RetryPolicy(attempts=settings.retry_attempts),
        breaker_failures=settings.breaker_failures,
        breaker_open_s=settings.breaker_open_s,
    )
    return IssuerKeys(settings, guard, clock)


def _fetched(client: httpx.Client, url: str) -> dict[str, Any]:
    try:
        with client.stream("GET", url) as response:
            if response.status_code != httpx.codes.OK:
                raise _unavailable(f"it answered {response.status_code}", asked_wait_s(response.headers.get("retry-after")))
            found = json.loads(_bounded(response))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise _unavailable("it cannot be reached, or does not answer with JSON") from error
    if not isinstance(found, dict):
        raise _unavailable("it does not answer with a JSON object")
    return found


def _usable_keys(given: list[Any], algorithms: frozenset[str]) -> Iterator[tuple[str, jwt.PyJWK]]:
    """Public keys for signatures that have an id; a shared secret is none."""
    for item in given:
        if not isinstance(item, dict) or item.get("kty") == "oct" or item.get("use", "sig") != "sig" or not item.get("kid"):
            continue
        try:
            key = jwt.PyJWK(item)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            continue
        if key.algorithm_name in algorithms:
            yield str(item["kid"]), key


def _bounded(response: httpx.Response) -> bytes:
    chunks, size = [], 0
    for chunk in response.iter_bytes():
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise ValueError("too long")
    return b"".join(chunks)


def _checked_url(url: str, what: str) -> None:
    if not _safe(url):
        raise Misconfigured(f"{what} must be an https:// address (http:// on this machine only)")


def _safe(url: str) -> bool:
    parts = urlsplit(url)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and local))


def _unavailable(why: str, retry_after_s: float | None = None) -> Unavailable:
    return Unavailable(f"the identity provider's keys cannot be read: {why}", dependency=DEPENDENCY, retry_after_s=retry_after_s)
