"""From an API key as it was sent to a principal. What is read of a key is kept for a few seconds: that long a revoked one may still work."""

import threading
from collections import OrderedDict
from contextlib import suppress

from api.identity.keys import ApiKey, Keys, parts_of
from api.identity.principal import Principal
from runtime.clock import Clock
from runtime.errors import ServiceError, Unauthenticated
from runtime.telemetry import audit_logger

KEPT_S = 3.0
MAX_KEPT = 10_000

INVALID = "the credential is not valid"
"""For every credential that opens nothing, whatever is wrong with it."""


class KeyCredentials:
    """Safe to share between threads."""

    def __init__(self, keys: Keys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, ApiKey | None]] = OrderedDict()

    def principal(self, written: str) -> Principal:
        """Whoever holds this key.

        Raises:
            Unauthenticated: there is no such key, or it has ended.
            Unavailable: the state store does not answer.
        """
        key_id, secret = parts_of(written) or ("", "")
        key = self._read(key_id) if key_id else None
        if not self._keys.fits(key, key_id, secret) or key is None or key.ended(self._clock.now()):
            audit_logger().info("key_refused", **({"key_id": key_id} if key_id else {}))
            raise Unauthenticated(INVALID)
        return Principal(key.tenant, f"key:{key.key_id}", frozenset(key.scopes), key.key_id, key.rate_class, key.expires_at)

    def _read(self, key_id: str) -> ApiKey | None:
        now_s = self._clock.seconds()
        with self._lock:
            kept = self._kept.get(key_id)
        if kept is not None and now_s - kept[0] < KEPT_S:
            return kept[1]
        key = self._keys.known(key_id)
        with self._lock:
            self._kept[key_id] = (now_s, key)
            self._kept.move_to_end(key_id)
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return key

    def used(self, principal: Principal) -> None:
        """Remember the day; a store that cannot be written to stops nobody."""
        key = self._read(principal.key_id)
        if key is not None:
            with suppress(ServiceError):
                self._keys.used(key)
