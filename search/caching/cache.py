"""The port of the cache: bytes by name, for a while."""

from typing import Protocol

from runtime.tenancy import Tenant

MAX_ENTRY_BYTES = 512 * 1024
"""Longest entry that is kept or read."""


class Cache(Protocol):
    """Entries may vanish at any time, and whoever reads one checks it: it may be anybody's. Safe to share between threads."""

    @property
    def shared(self) -> bool:
        """Whether other processes, and people, can write to it."""
        ...

    def get(self, tenant: Tenant, name: str) -> bytes | None:
        """The entry of that name, or None; at most one byte more than ``MAX_ENTRY_BYTES`` of one that is longer.

        Raises:
            Unavailable: the cache does not serve us.
        """
        ...

    def put(self, tenant: Tenant, name: str, value: bytes) -> None:
        """Keep an entry for ``WA_CACHE_TTL_S``; one that is too long is not kept.

        Raises:
            Unavailable: the cache does not serve us.
        """
        ...

    def forget(self, tenant: Tenant) -> int:
        """Remove every entry of the tenant; returns how many there were.

        Raises:
            Unavailable: the cache does not serve us. What is left ends by itself, and nobody asks for it once the documents changed.
        """
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class NoCache:
    """Implements :class:`Cache`, and keeps nothing."""

    shared = False

    def get(self, tenant: Tenant, name: str) -> bytes | None:  # noqa: ARG002 (signature of the port)
        """See :class:`Cache`."""
        return None

    def put(self, tenant: Tenant, name: str, value: bytes) -> None:
        """See :class:`Cache`."""

    def forget(self, tenant: Tenant) -> int:  # noqa: ARG002 (signature of the port)
        """See :class:`Cache`."""
        return 0

    def close(self) -> None:
        """See :class:`Cache`."""
