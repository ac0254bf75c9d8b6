"""Attributes as terms for exact filters: one spelling per value, the same in every engine."""

import hashlib
from collections.abc import Mapping

from search.documents import Scalar

LONGEST_TERM_CHARS = 1000


def attribute_term(name: str, value: Scalar) -> str:
    """One attribute as one term. A number and its usual spelling as text are equal (``5``, ``5.0`` and ``"5"``), and so are ``true`` and ``"true"``:
    values typed at a command line have no type."""
    term = f"{name}\x1f{spelling(value)}"
    return term if len(term) <= LONGEST_TERM_CHARS else "\x1f" + hashlib.sha256(term.encode("utf-8", "surrogatepass")).hexdigest()


def attribute_terms(attributes: Mapping[str, Scalar]) -> list[str]:
    """The terms of all attributes, sorted."""
    return sorted(attribute_term(name, value) for name, value in attributes.items())


def spelling(value: Scalar) -> str:
    """A scalar as text: ``true``, ``5`` (also for 5.0), ``1.5``; text as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)
