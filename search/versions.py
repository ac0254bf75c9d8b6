"""Which of two versions of a document stays: one pure rule, used by the ingest pipeline and by every engine."""

from dataclasses import dataclass

from search.documents import StoredVersion, WriteKind


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with an incoming document; ``version`` is the one to store, or the one that stays."""

    kind: WriteKind
    version: int
    reason: str = ""
    field: str = ""

    @property
    def writes(self) -> bool:
        """True when the store changes."""
        return self.kind in ("indexed", "updated")


def decide(stored: StoredVersion | None, asked_version: int | None, content_hash: str) -> Decision:
    """Compare an incoming document with what is stored under its id.

    With an asked version, the higher version wins, and equal versions must agree in content. Without one, content decides: equal
    content is unchanged, other content is one version newer. A deleted document comes back only with a version above the deleted one, or,
    without versions, with content it did not have.
    """
    if stored is None:
        return Decision("indexed", asked_version or 1)
    if stored.deleted:
        return _after_deletion(stored, asked_version, content_hash)
    same = stored.content_hash == content_hash
    if asked_version is None:
        return Decision("unchanged", stored.version) if same else Decision("updated", stored.version + 1)
    if asked_version < stored.version:
        return Decision(
            "stale",
            stored.version,
            f"version {asked_version} is older than the stored version {stored.version}",
            "version",
        )
    if asked_version > stored.version:
        return Decision("updated", asked_version)
    if same:
        return Decision("unchanged", stored.version)
    return Decision("rejected", stored.version, f"version {asked_version} is already stored with other content", "version")


def _after_deletion(stored: StoredVersion, asked_version: int | None, content_hash: str) -> Decision:
    if asked_version is None and content_hash != stored.content_hash:
        return Decision("indexed", stored.version + 1)
    if asked_version is not None and asked_version > stored.version:
        return Decision("indexed", asked_version)
    return Decision(
        "deleted_earlier",
        stored.version,
        f"was deleted at version {stored.version}; only a higher version brings it back",
        "version",
    )


def is_behind(stored: StoredVersion | None, other: StoredVersion) -> bool:
    """True when ``other``, of another store, is what should be here: a later version, or the same one deleted since."""
    if stored is None or other.version != stored.version:
        return stored is None or other.version > stored.version
    return other.deleted and not stored.deleted
