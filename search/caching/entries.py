"""Values in a cache, checked before anybody sees them: signed, about exactly what was asked, of the right type, and not made later than now."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from runtime.errors import ServiceError, Unavailable
from runtime.telemetry import Metrics, logger
from runtime.tenancy import Tenant
from search.caching.cache import Cache
from search.caching.sealing import Rejected, opened, sealed
from search.caching.strict import as_json, from_json

T = TypeVar("T")

Kind = Literal["answer", "aggregate"]
How = Literal["hit", "miss", "error", "rejected"]
HOWS: tuple[How, ...] = ("hit", "miss", "error", "rejected")


@dataclass(frozen=True, slots=True)
class Key:
    """What an entry is about: ``text`` holds everything that decides its value, the tenant and the generation of its documents among it."""

    kind: Kind
    tenant: Tenant
    generation: int
    text: str

    @classmethod
    def of(cls, kind: Kind, tenant: Tenant, generation: int, **what: Any) -> "Key":
        """A key; ``what`` are plain JSON values."""
        text = json.dumps([kind, tenant, generation, what], sort_keys=True, separators=(",", ":"), allow_nan=False)
        return cls(kind, tenant, generation, text)

    @property
    def name(self) -> str:
        """What the entry is called in the cache."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What a look into the cache brought: a value on a hit, else why there is none."""

    how: How
    value: T | None = None
    reason: str = ""


class Entries:
    """Reads and keeps values; never raises because of the cache. ``secret`` is what entries are signed with."""

    def __init__(self, cache: Cache, secret: Callable[[], bytes], metrics: Metrics, *, sharing: str) -> None:
        self.cache = cache
        self._secret = secret
        self._metrics = metrics
        self._sharing = sharing

    def key(self, kind: Kind, tenant: Tenant, generation: int, **what: Any) -> Key:
        """A key among what this deployment shares."""
        return Key.of(kind, tenant, generation, sharing=self._sharing, **what)

    def recall(self, key: Key, kind: type[T], now: datetime, sound: Callable[[T], bool]) -> Found[T]:
        """The value kept for ``key``. ``sound`` has the last word on it, and what it raises is not about the cache."""
        value: T | None = None
        try:
            value = self._value(key, kind, now)
            found: Found[T] = Found("miss")
        except Unavailable as error:
            found = Found("error", reason=str(error))
        except Rejected as error:
            found = Found("rejected", reason=str(error))
        if value is not None:
            found = Found("hit", value) if sound(value) else Found("rejected", reason="the store does not bear it out")
        if found.how == "rejected":
            logger(__name__).warning("cache_entry_rejected", kind=key.kind, reason=found.reason)
        self._metrics.count("wa_cache_total", kind=key.kind, outcome=found.how)
        return found

    def keep(self, key: Key, value: object, now: datetime) -> None:
        """Keep a value that was worked out at ``now``; one that cannot be written as JSON, or is too long, is left."""
        try:
            entry = sealed(self._secret(), key.text, [now.isoformat(), as_json(value)])
        except (ValueError, TypeError):
            return
        except ServiceError as error:
            self._failed(key, error)
            return
        try:
            self.cache.put(key.tenant, key.name, entry)
        except Unavailable as error:
            self._failed(key, error)

    def _value(self, key: Key, kind: type[T], now: datetime) -> T | None:
        entry = self.cache.get(key.tenant, key.name)
        if entry is None:
            return None
        content = opened(self._secret(), key.text, entry)
        try:
            made, body = content
            if from_json(datetime, made) > now:  # by a clock ahead of ours: what it says of the time is not true here yet
                return None
            return from_json(kind, body)
        except (ValueError, TypeError, RecursionError) as error:
            raise Rejected("it holds another type") from error

    def _failed(self, key: Key, error: ServiceError) -> None:
        self._metrics.count("wa_cache_total", kind=key.kind, outcome="error")
        logger(__name__).info("cache_entry_not_kept", kind=key.kind, reason=str(error))
