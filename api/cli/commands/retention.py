"""``wisdom retention plan|apply``: documents of old months leave together."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED
from api.cli.options import Common
from api.cli.session import Session, session
from runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from search.moving.retention import RetentionPlan


@dataclass(frozen=True, slots=True)
class Age:
    """Options that say what is old."""

    keep_months: Annotated[
        int | None, typer.Option("--keep-months", metavar="N", min=1, max=1200, help="Keep the present month and the N-1 before it.")
    ] = None
    before: Annotated[str | None, typer.Option(metavar="MONTH", help="Keep this month and all later ones: 2026-01.")] = None


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="retention", help="Remove documents of old months, by when they occurred (UTC), and old records.")
    _plan(group)
    _apply(group)
    _records(group)


def _plan(group: typer.Typer) -> None:
    @command(group, "retention plan", example="wisdom retention plan --keep-months 24\nwisdom retention plan --before 2025-01 --json")
    def plan_retention(age: Age, common: Common) -> None:
        """Show which months would go, with documents and size. Nothing is changed."""
        from api import retention_operations as operations
        from api.cli.views.retention import plan_view

        with session(common) as opened:
            plan = operations.plan_retention(opened.service, opened.tenant, keep_months=age.keep_months, before=age.before)
            opened.screen.show(lambda: plan_view(plan), lambda: operations.rendered(plan))
            _warn_of_foreign(opened, plan)


def _apply(group: typer.Typer) -> None:
    @command(group, "retention apply", example="wisdom retention apply --keep-months 24 --yes")
    def apply_retention(
        age: Age,
        common: Common,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    ) -> int | None:
        """Delete the documents of old months, as documents delete does, and give their space back.

        It asks first, unless --yes is given. Interrupted, it can be run again. An index that this program did not make is named and left.
        """
        from rich.text import Text

        from api import retention_operations as operations

        with session(common) as opened:
            plan = operations.plan_retention(opened.service, opened.tenant, keep_months=age.keep_months, before=age.before)
            _warn_of_foreign(opened, plan)
            if plan.months and not yes and not _confirmed(plan):
                opened.screen.warn("nothing was deleted")
                return FAILED
            deleted = operations.apply_retention(opened.service, plan, lambda *how_far: _tell(opened, *how_far))
            opened.screen.show(
                lambda: Text(f"deleted {deleted:,} {'document' if deleted == 1 else 'documents'}"),
                lambda: operations.rendered(plan, deleted),
            )
        return None


def _records(group: typer.Typer) -> None:
    @command(
        group, "retention records", example="wisdom retention records --keep-days 90\nwisdom retention records --keep-days 90 --apply --yes"
    )
    def old_records(
        common: Common,
        keep_days: Annotated[int, typer.Option("--keep-days", metavar="N", min=1, max=36500, help="Keep what is at most this old.")],
        apply: Annotated[bool, typer.Option("--apply", help="Remove it; without this it is only counted.")] = False,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    ) -> int | None:
        """Count or remove old traces of questions and old records of ingests.

        They are kept for ever otherwise. Documents, digests, reports and the numbers of wisdom stats stay; boards lose what is removed.
        """
        from rich.text import Text

        from api import retention_operations as operations
        from api.cli.views.retention import records_view

        with session(common) as opened:
            found = operations.old_records(opened.service, opened.tenant, keep_days)
            if apply and found.total and not yes and not _asked(f"removing {records_view(found)}"):
                opened.screen.warn("nothing was removed")
                return FAILED
            shown = operations.remove_records(opened.service, found) if apply else found
            verb = "removed" if apply else "would remove"
            opened.screen.show(lambda: Text(f"{verb} {records_view(shown)}"), lambda: operations.rendered_records(shown, applied=apply))
        return None


def _tell(opened: Session, month: str, deleted: int, documents: int) -> None:
    opened.screen.note(f"{month}: {deleted:,} of {documents:,} documents deleted")


def _warn_of_foreign(opened: Session, plan: "RetentionPlan") -> None:
    if plan.foreign:
        opened.screen.warn(f"left alone, as this program did not make it: {', '.join(plan.foreign[:20])}")


def _confirmed(plan: "RetentionPlan") -> bool:
    from api.cli.views.retention import does

    return _asked(does(plan))


def _asked(what: str) -> bool:
    """Ask on standard error; without a terminal to ask on, insist on ``--yes``."""
    if not typer.get_text_stream("stdin").isatty():
        raise InvalidRequest(f"{what}; there is no terminal to ask on, so add --yes")
    return typer.confirm(f"{what.capitalize()}. This cannot be undone. Go on?", err=True)
