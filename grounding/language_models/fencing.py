"""Documents as data: signs that could end the quotation or speak to the machinery are taken out, and a fence nobody can guess stands around."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

_SPECIAL = re.compile(
    r"<\|+|\|+>|\[/?\s*INST\s*\]|<</?SYS>>|</?s>|<\s*/?\s*(?:system|assistant|user|tool|think|im_start|im_end)\b[^>]*>", re.IGNORECASE
)
_KEPT = frozenset("\u200c\u200d")
"""Joiners that Persian, Hindi and pictures need inside words; alone they hide nothing."""


def fence(run_id: str) -> str:
    """Sixteen hexadecimal digits that only this run knows."""
    return hashlib.sha256(f"fence of {run_id}".encode()).hexdigest()[:16]


def neutral(text: str) -> str:
    """``text`` on one line, without control and format characters and without what a model's template takes for a role."""
    shown = "".join(_shown(sign) for sign in text.encode("utf-8", "replace").decode())
    return " ".join(_SPECIAL.sub(" ", shown).split())


def _shown(sign: str) -> str:
    kind = unicodedata.category(sign)
    if kind in ("Cf", "Co", "Cn"):
        return sign if sign in _KEPT else ""
    return " " if kind in ("Cc", "Zl", "Zp") else sign


def as_data(rows: Sequence[Mapping[str, object]]) -> str:
    """One JSON object a line, with every text neutralised."""
    return "\n".join(json.dumps({key: _value(value) for key, value in row.items()}, ensure_ascii=False) for row in rows)


def _value(value: object) -> object:
    if isinstance(value, str):
        return neutral(value)
    return [_value(item) for item in value] if isinstance(value, list | tuple) else value
