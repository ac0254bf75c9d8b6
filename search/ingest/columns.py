"""Which column of the input feeds which field of a document: as told, by name, or by a well-known other name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runtime.errors import InvalidRequest
from search.ingest.cleaning import one_line, shown
from search.ingest.parsing import FIELDS

ALIASES: Mapping[str, tuple[str, ...]] = {
    "text": (
        "text",
        "body",
        "content",
        "review",
        "message",
        "comment",
        "review_text",
        "review_body",
        "comment_text",
        "feedback",
        "verbatim",
        "description",
    ),
    "occurred_at": (
        "occurred_at",
        "date",
        "created_at",
        "timestamp",
        "created",
        "datetime",
        "submitted_at",
        "review_date",
        "date_created",
        "created_date",
        "time",
    ),
    "doc_id": ("doc_id", "id", "document_id", "ticket_id", "review_id"),
    "source": ("source", "channel"),
    "title": ("title", "subject", "summary", "headline"),
    "rating": ("rating", "stars"),
    "theme_id": ("theme_id", "theme", "topic", "category"),
    "account_id": ("account_id", "account", "customer_id"),
    "language": ("language", "lang"),
    "url": ("url", "link", "permalink"),
    "version": ("version",),
    "attributes": ("attributes",),
}
"""Names a column may have to be taken for a field when nothing else is; the first present one wins. The report says which was taken."""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_NAMED = 40


@dataclass(frozen=True, slots=True)
class Columns:
    """Field to column, with what had to be chosen. ``names`` is column to the names its value goes under."""

    mapping: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def apply(self, raw: Mapping[str, object]) -> dict[str, object]:
        """The row under field names; columns that feed no field keep their own names."""
        names = self.names
        return {name: value for column, value in raw.items() for name in names.get(column, (column,))}


def choose(columns: Sequence[str], told: Mapping[str, str], *, complete: bool) -> Columns:
    """The mapping for these columns.

    Args:
        told: field to column, from ``--map``.
        complete: whether ``columns`` are all there are; then a missing text column is an error at once.

    Raises:
        InvalidRequest: on ``map``; names the columns there are, or the fields.
    """
    mapping = _told(columns, told)
    warnings = []
    plain = {column: _plain(column) for column in columns}
    for name in FIELDS:
        if name in mapping:
            continue
        found = [column for alias in ALIASES[name] for column in columns if plain[column] == alias and column not in mapping.values()]
        if found:
            mapping[name] = found[0]
        if len(found) > 1 and plain[found[0]] != name:
            others = ", ".join(shown(other) for other in found[1:])
            warnings.append(
                f"{name}: taken from column {shown(found[0])}, not from {others}; say so with --map {name}=COLUMN if that is wrong"
            )
    if complete and "text" not in mapping:
        raise InvalidRequest(f"no column holds the text: use --map text=COLUMN. {_available(columns)}", field="map")
    return Columns(mapping, tuple(warnings), _names(mapping))


def _names(mapping: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Column to fields; a column that is called like a field which another column feeds gets ``column `` before its name."""
    names: dict[str, tuple[str, ...]] = {}
    for name, column in mapping.items():
        own = (name, _camel(name))
        if column not in own:
            names.update({each: (f"column {each}",) for each in own})
    for column in mapping.values():
        names[column] = tuple(name for name in mapping if mapping[name] == column)
    return names


def _camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)


def _told(columns: Sequence[str], told: Mapping[str, str]) -> dict[str, str]:
    mapping = {}
    for given, wanted in told.items():
        name = _plain(given)
        if name not in FIELDS:
            raise InvalidRequest(f"{shown(given)} is no field of a document; the fields are {', '.join(FIELDS)}", field="map")
        column = wanted if wanted in columns else next((each for each in columns if _plain(each) == _plain(wanted)), None)
        if column is None:
            raise InvalidRequest(f"there is no column {shown(wanted)}. {_available(columns)}", field="map")
        mapping[name] = column
    return mapping


def _plain(column: str) -> str:
    """``Created At``, ``createdAt`` and ``created-at`` as ``created_at``."""
    return re.sub(r"[\s_-]+", "_", _WORD_START.sub("_", one_line(column).text)).strip("_").lower()


def _available(columns: Sequence[str]) -> str:
    named = ", ".join(shown(column) for column in columns[:_MAX_NAMED])
    more = f" and {len(columns) - _MAX_NAMED} more" if len(columns) > _MAX_NAMED else ""
    return f"The columns are {named}{more}" if columns else "There are no columns"
