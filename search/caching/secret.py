"""The secret that entries of a shared cache are signed with. It lies beside the documents, which whoever can read it can change anyway."""

import secrets
import threading

from runtime.errors import Conflict, Unavailable
from runtime.tenancy import HOUSE
from search.ports import StateEntry, StateStore

KIND = "cache_secret"
_BYTES = 32


class StoreSecret:
    """Made once for each store and read once by each process: entries made over another store are foreign here, whatever they are called."""

    def __init__(self, state: StateStore) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._known = b""

    def __call__(self) -> bytes:
        """The secret.

        Raises:
            Unavailable: the store cannot be reached, or holds something else.
        """
        with self._lock:
            self._known = self._known or _secret_in(self._entry())
            return self._known

    def _entry(self) -> StateEntry | None:
        entry = self._state.get(HOUSE, KIND, KIND)
        if entry is not None:
            return entry
        try:
            return self._state.put(HOUSE, KIND, KIND, {"secret": secrets.token_hex(_BYTES)}, expected=0)
        except Conflict:  # somebody else made it just then
            return self._state.get(HOUSE, KIND, KIND)


def _secret_in(entry: StateEntry | None) -> bytes:
    try:
        secret = bytes.fromhex(entry.body["secret"]) if entry is not None else b""
    except (KeyError, TypeError, ValueError):
        secret = b""
    if len(secret) != _BYTES:
        raise Unavailable("the store has no secret for the cache", dependency="cache")
    return secret
