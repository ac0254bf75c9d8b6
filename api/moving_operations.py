"""Moves between stores, as the command line calls them and as JSON."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.clock import Clock, SystemClock
from runtime.settings import Settings
from runtime.telemetry import audit_logger
from runtime.tenancy import Tenant
from search.moving.copying import Copied, Told
from search.moving.migration import Migration, MigrationReport
from search.moving.opening import open_archive, open_embedder_of, open_end, refuse_same
from search.moving.verifying import Compared

Json = dict[str, object]


@contextmanager
def open_migration(
    source: Settings, target: Settings, tenants: tuple[Tenant, ...] | None, *, merge: bool, clock: Clock | None = None
) -> Iterator[Migration]:
    """A migration between the stores of these settings; vectors are those of the target's embedder."""
    refuse_same(source, target)
    clock = clock or SystemClock()
    with open_archive(source, clock) as archive, open_embedder_of(target, clock) as embedder, open_end(target, embedder, clock) as end:
        yield Migration(archive, end, embedder, clock, tenants, merge=merge)


def migrate(migration: Migration, told: Told | None = None) -> MigrationReport:
    """Run it, with a line in the audit log."""
    report = migration.run(told)
    audit_logger().info(
        "migrate",
        source=report.source,
        target=report.target,
        tenants=list(report.tenants[:100]),
        documents=report.copied.documents,
        verified=report.verified,
    )
    return report


def settings_at(settings: Settings, url: str, prefix: str | None, password_file: Path | None) -> Settings:
    """The settings of another place."""
    changed: Json = {"engine_url": url}
    changed |= {} if prefix is None else {"index_prefix": prefix}
    changed |= {} if password_file is None else {"engine_password_file": password_file}
    return settings.model_copy(update=changed)


def rendered(report: MigrationReport) -> Json:
    """A report."""
    return {
        "from": report.source,
        "to": report.target,
        "vectors": report.vectors,
        "verified": report.verified,
        "copied": rendered_copied(report.copied),
        "compared": [rendered_line(line) for line in report.compared],
        "seconds": round(report.seconds, 3),
    }


def rendered_copied(copied: Copied) -> Json:
    """What a run wrote."""
    refused = [{"docId": doc_id, "reason": reason} for doc_id, reason in copied.refused]
    counts = {"documents": copied.documents, "tombstones": copied.tombstones, "entries": copied.entries, "events": copied.events}
    return {**counts, "refused": refused}


def rendered_line(line: Compared) -> Json:
    """One line of the comparison."""
    return {"tenant": line.tenant, "part": line.part, "from": line.source, "to": line.target, "same": line.same, "kept": line.kept}
