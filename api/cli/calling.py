"""Commands to paste: this program as it was called, on the store and tenant that were named."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from api.cli.options import Common

Calling = Callable[..., str]
"""Words of a command to a line that can be pasted."""


def plainly(*words: str) -> str:
    """The line where nothing is known of how the program was called."""
    return shlex.join(["wisdom", *words])


def calling(common: Common) -> Calling:
    """Lines that reach the same store again."""
    engine = ["--engine", common.engine] if common.engine else []
    tenant = ["--tenant", common.tenant] if common.tenant else []

    def line(*words: str) -> str:
        return shlex.join([*program(), *words, *engine, *tenant])

    return line


def program() -> list[str]:
    """How this program is called from here: by its name where the shell finds it, by its path otherwise."""
    called = Path(sys.argv[0])
    if called.suffix == ".py":
        return [_nearby(Path(sys.executable)), "-m", "api.cli.main"]
    found = shutil.which(called.name)
    if found is not None and called.exists() and Path(found).samefile(called):
        return [called.name]
    return [_nearby(called)]


def _nearby(path: Path) -> str:
    """The path from the working folder when it lies in there, the whole path otherwise."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (resolving links would leave the virtual environment)
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)
