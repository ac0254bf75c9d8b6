"""E-mail addresses, phone numbers, card numbers and IBANs of incoming rows, replaced by fixed tokens before anything else sees them.

A token says what stood there and nothing of it: there is no key, no hash and no store to look it up in. What is found is checked, so that order
numbers, versions, dates and amounts stay: cards by issuer, length and check digit, IBANs by country and check digits, phone numbers by the numbering
plan of their country. Every step reads a text once.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from runtime.errors import InvalidRequest
from runtime.settings import Settings
from search.ingest.cleaning import cleaned
from search.ingest.personal import Span, cards, emails, ibans, phones
from search.ingest.rows import Problem, Row

MaskKind = Literal["email", "phone", "card", "iban"]
MASK_KINDS: tuple[MaskKind, ...] = get_args(MaskKind)

DROPPED_ID = "holds an e-mail address, an IBAN or a phone number; an id derived from the masked content stands for it"
DROPPED_ACCOUNT = "holds an e-mail address, an IBAN or a phone number and was left out"

_DOC_IDS = frozenset({"doc_id", "docId", "id"})
_ACCOUNTS = frozenset({"account_id", "accountId"})
_KEPT = frozenset({"version", "rating"})
_DEEPEST = 24
"""Deeper than any list or object that an attribute may hold; what is below is left out, and the row is rejected for its depth."""
_CARD_DIGITS = 13


@dataclass(frozen=True, slots=True)
class Masking:
    """What is masked. ``region`` is the country (``DE``) whose numbers are also found without their country code; blank: numbers with + alone."""

    kinds: frozenset[str] = frozenset()
    region: str = ""

    @classmethod
    def of(cls, settings: Settings, kinds: str | None = None) -> "Masking":
        """The masking of this service; ``kinds``, comma separated, may add to it and never takes away.

        Raises:
            InvalidRequest: on ``mask``.
        """
        return cls(kinds_of(settings.mask) | kinds_of(kinds or ""), settings.mask_region)

    @property
    def on(self) -> bool:
        """Whether anything is masked."""
        return bool(self.kinds)

    def text(self, text: str, counts: Counter[str] | None = None) -> str:
        """The text with everything that was found replaced; what was replaced is added to ``counts`` by kind."""
        spans = [span for span in self._spans(text) if span.kind in self.kinds]
        if not spans:
            return text
        parts, end = [], 0
        for span in spans:
            parts += [text[end : span.start], f"[{span.kind}]"]
            end = span.end
        if counts is not None:
            counts.update(span.kind for span in spans)
        return "".join([*parts, text[end:]])

    def row(self, row: Row) -> "MaskedRow":
        """The row as everything behind this point sees it."""
        if not self.on:
            return MaskedRow(row)
        masked = _Masked(self)
        problem = None if row.problem is None else Problem(row.problem.field, self.text(row.problem.reason))
        values = {masked.name(key, used): masked.field(key, value) for used in [set[str]()] for key, value in row.values.items()}
        return MaskedRow(Row(row.number, values, problem), masked.counts, tuple(masked.dropped))

    def personal(self, text: str) -> bool:
        """Whether an id holds what must not be kept. Card numbers and numbers without + are not looked for: ids are full of digits."""
        return any(span.kind in self.kinds for span in (*emails(text), *ibans(text), *phones(text, "")))

    def _spans(self, text: str) -> Iterator[Span]:
        """Without overlaps, in order; where two overlap, the kind that is named first here stays."""
        found = [*emails(text)] if "email" in self.kinds or "phone" in self.kinds else []
        found += [*ibans(text)] if "iban" in self.kinds else []
        found += [*cards(text)] if "card" in self.kinds else []
        found += [*phones(text, self.region)] if "phone" in self.kinds else []
        rank = {kind: place for place, kind in enumerate(("email", "iban", "card", "phone"))}
        end = 0
        for span in _untangled(sorted(found, key=lambda span: (span.start, rank[span.kind])), rank):
            if span.start >= end:
                end = span.end
                yield span


OFF = Masking()


@dataclass(frozen=True, slots=True)
class MaskedRow:
    """A row, how often what was masked in it, and the ids that were dropped, as pairs of field and reason."""

    row: Row
    counts: Counter[str] = field(default_factory=Counter)
    dropped: tuple[tuple[str, str], ...] = ()


def kinds_of(text: str) -> frozenset[str]:
    """The kinds that a comma separated list names.

    Raises:
        InvalidRequest: on ``mask``.
    """
    named = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
    if unknown := sorted(named - {*MASK_KINDS}):
        raise InvalidRequest(f"{unknown[0]!r} cannot be masked; name any of {', '.join(MASK_KINDS)}", field="mask")
    return named


@dataclass(slots=True)
class _Masked:
    """One row while it is masked."""

    masking: Masking
    counts: Counter[str] = field(default_factory=Counter)
    dropped: list[tuple[str, str]] = field(default_factory=list)

    def name(self, key: str, used: set[str]) -> str:
        """The name of a column or attribute; two that mask to the same are told apart."""
        plain = masked = self.text(key) if isinstance(key, str) else key
        place = 2
        while masked in used:
            masked, place = f"{plain} {place}", place + 1
        used.add(masked)
        return masked

    def field(self, key: str, value: Any) -> Any:
        """The value of a field or column."""
        if key in _KEPT and not isinstance(value, str):
            return value
        if key in _DOC_IDS | _ACCOUNTS and isinstance(value, str):
            return self._id(key, value)
        if key == "attributes" and isinstance(value, str):
            return self.value(_from_json(value), 1)
        return self.value(value, 1)

    def value(self, value: Any, depth: int) -> Any:
        """Any JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value)
        if depth > _DEEPEST and isinstance(value, Mapping | list | tuple):
            return [[]] if depth == _DEEPEST + 1 else []
        if isinstance(value, Mapping):
            used: set[str] = set()
            return {self.name(key, used): self.value(item, depth + 1) for key, item in value.items()}
        return [self.value(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value

    def text(self, text: str) -> str:
        """What is found is looked for as it would be stored, so that no control character inside hides it."""
        storable = cleaned(text).text
        masked = self.masking.text(storable, self.counts)
        return text if masked == storable else masked

    def _number(self, value: float) -> Any:
        digits = str(int(value)) if abs(value) < 1e20 and value == int(value) else ""
        return self.text(digits) if len(digits) >= _CARD_DIGITS and self.masking.text(digits) != digits else value

    def _id(self, key: str, value: str) -> str | None:
        if not self.masking.personal(cleaned(value).text):
            return value
        self.text(value)
        self.dropped.append(("account_id", DROPPED_ACCOUNT) if key in _ACCOUNTS else ("doc_id", DROPPED_ID))
        return None


def _untangled(spans: list[Span], rank: Mapping[str, int]) -> Iterator[Span]:
    """Of neighbours that overlap, the one of the kind that comes first."""
    held: Span | None = None
    for span in spans:
        if held is None or span.start >= held.end:
            if held is not None:
                yield held
            held = span
        elif rank[span.kind] < rank[held.kind]:
            held = span
    if held is not None:
        yield held


def _from_json(text: str) -> Any:
    """Attributes given as JSON text, so that no escape inside hides anything; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
