"""``wisdom doctor``: is everything there that a question needs?"""

from typing import TYPE_CHECKING

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED
from api.cli.options import Common
from api.cli.session import settings_of
from runtime.errors import Misconfigured

if TYPE_CHECKING:
    from api.cli.checks import Check


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "doctor", example="wisdom doctor\nwisdom doctor --engine http://localhost:9200 --json")
    def doctor(common: Common) -> int | None:
        """Check settings, model, engine, disk, clock and versions; exit with 1 and the next step when something is wrong."""
        from api.cli.screen import screen
        from api.cli.views.checks import checks_value, checks_view

        found = diagnosis(common)
        screen(as_json=common.as_json, quiet=common.quiet).show(lambda: checks_view(found), lambda: checks_value(found))
        return FAILED if any(check.status == "wrong" for check in found) else None


def diagnosis(common: Common) -> "tuple[Check, ...]":
    """All checks; with settings that cannot be read, those that need none."""
    from api.cli.checks import Check, checks, versions
    from runtime.clock import SystemClock
    from runtime.telemetry import configure_logging

    try:
        settings = settings_of(common)
    except Misconfigured as error:
        problems = str(error).removeprefix("settings: ").split("; ")
        wrong = tuple(
            Check("settings", "wrong", problem, "correct or unset that variable; docs/settings.md lists all") for problem in problems
        )
        return (versions(), *wrong)
    configure_logging(settings)
    return tuple(checks(settings, SystemClock()))
