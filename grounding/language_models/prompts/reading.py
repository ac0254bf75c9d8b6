"""Prompt files: a version, a text for the system and a text for the user, with named gaps."""

import functools
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass

_GAP = re.compile(r"\{\{(\w+)\}\}")
_FILE = re.compile(r"version: (\d+)\n+## system\n+(.*?)\n+## user\n+(.*?)\n*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file. Change its text and you change its version, so that a trace says what was asked."""

    name: str
    version: int
    system: str
    user: str

    def messages(self, values: Mapping[str, str]) -> tuple[dict[str, str], ...]:
        """Both texts with their gaps filled, once: what looks like a gap inside a value stays as it is."""
        return (
            {"role": "system", "content": _filled(self.system, values)},
            {"role": "user", "content": _filled(self.user, values)},
        )


@functools.cache
def prompt(name: str) -> Prompt:
    """The prompt that is shipped as ``NAME.md``."""
    stored = importlib.resources.files(__package__).joinpath(f"{name}.md").read_text("utf-8")
    found = _FILE.match(stored)
    assert found is not None, f"{name}.md is no prompt file"
    return Prompt(name, int(found.group(1)), found.group(2), found.group(3))


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _GAP.sub(lambda gap: values[gap.group(1)], text)
