"""``wisdom version``: what is installed, without opening anything."""

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Annotated

import typer

from api.cli.declaring import command


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "version", example="wisdom version --json")
    def version(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value.")] = False) -> None:
        """Print the version."""
        found = {"version": product_version(), "python": platform.python_version()}
        sys.stdout.write((json.dumps(found) if as_json else f"wisdom {found['version']} (Python {found['python']})") + "\n")


def product_version() -> str:
    """The installed version of this package; ``unknown`` when it runs uninstalled."""
    try:
        return installed("wisdomagent")
    except PackageNotFoundError:
        return "unknown"
