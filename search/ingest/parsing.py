"""One input row to one document, or to the field that is wrong with it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from runtime.errors import InvalidRequest
from runtime.settings import Settings
from search.documents import Document, Scalar, Source
from search.identity import derived_doc_id
from search.ingest import scalars
from search.ingest.attributes import gathered
from search.ingest.cleaning import cleaned, shown, visible
from search.ingest.date_order import UNSETTLED, ColumnOrder
from search.ingest.dates import read_moment
from search.ingest.masking import OFF, Masking

FIELDS = (
    "doc_id",
    "source",
    "text",
    "occurred_at",
    "title",
    "theme_id",
    "account_id",
    "rating",
    "language",
    "url",
    "version",
    "attributes",
)
"""The fields of a document, by the names the rows use (camelCase is taken too)."""

_LARGEST_LANGUAGE = 35
_TOO_FAR_AHEAD = timedelta(days=1)
_CAMEL = {re.sub(r"_(.)", lambda found: found[1].upper(), name): name for name in FIELDS if "_" in name}
_SOURCE_KEYS = {"kind", "name", "weight"}

NO_ZONE = "has no time zone; read as local to"
IN_FUTURE = "lies more than a day in the future"


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where a row says nothing. ``now`` is what the future is measured against (None: not at all)."""

    source: Source | None = None
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    max_text_chars: int = 200_000
    order: ColumnOrder = UNSETTLED
    now: datetime | None = None
    masking: Masking = OFF

    @classmethod
    def of(cls, settings: Settings, *, source: str | None = None, time_zone: str | None = None, mask: str | None = None) -> "Defaults":
        """The defaults of this service, with what one ingest says otherwise.

        Raises:
            InvalidRequest: on ``source``, ``time_zone`` or ``mask``.
        """
        named = scalars.name(source, "source").value
        zone = _zone(time_zone or settings.time_zone)
        return cls(Source(named) if named else None, zone, settings.max_text_chars, masking=Masking.of(settings, mask))


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was assumed or changed. Few different messages exist, so that equal ones can be counted together."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A valid document (version 1 unless one was asked for), with what was noticed. ``extra`` names columns that became attributes."""

    document: Document
    asked_version: int | None
    warnings: tuple[Notice, ...] = ()
    extra: tuple[str, ...] = ()


def parse_document(raw: Mapping[str, object], defaults: Defaults) -> ParsedDocument:
    """The document that a row describes. Blank optional values are absent; what is no field of a document becomes an attribute.

    Raises:
        InvalidRequest: with the first field that is wrong.
    """
    values, columns = _sorted_out(raw)
    notices: list[Notice] = []
    text = _text(values.get("text"), defaults, notices)
    document = Document(
        doc_id=scalars.identifier(values.get("doc_id"), "doc_id") or "",
        source=_source(values.get("source"), defaults, notices),
        text=text,
        occurred_at=_occurred_at(values.get("occurred_at"), defaults, notices),
        title=_noted("title", scalars.name(values.get("title"), "title", scalars.MAX_TITLE_CHARS), notices),
        theme_id=_noted("theme_id", scalars.name(values.get("theme_id"), "theme_id"), notices),
        account_id=_noted("account_id", scalars.name(values.get("account_id"), "account_id"), notices),
        rating=scalars.number(values.get("rating"), "rating"),
        language=_noted("language", scalars.name(values.get("language"), "language", _LARGEST_LANGUAGE), notices),
        url=_noted("url", scalars.link(values.get("url"), "url"), notices),
        version=scalars.version_number(values.get("version")) or 1,
        attributes=_attributes(values.get("attributes"), columns, notices),
    )
    if not document.doc_id:
        document = replace(document, doc_id=derived_doc_id(document))
    asked = None if scalars.absent(values.get("version")) else document.version
    extra = tuple(key for key, value in columns.items() if not scalars.absent(value))
    return ParsedDocument(document, asked, tuple(notices), extra)


def claimed_doc_id(raw: Mapping[str, object]) -> str | None:
    """The id a row gives itself, as it may be shown in a report even if the row is rejected."""
    value = next((raw[key] for key in ("doc_id", "docId", "id") if not scalars.absent(raw.get(key))), None)
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    return shown(value)[1:-1]


def _attributes(given: object, columns: Mapping[str, object], notices: list[Notice]) -> dict[str, Scalar]:
    found = gathered(given, columns)
    notices += [Notice(f"attributes.{label}", message) for label, message in found.notes]
    return found.values


def blamed(field: str) -> str:
    """What a rejection blames, as one of few words: a field of a document, ``row``, or ``other``. Columns of the caller's own are never repeated."""
    head = field.partition(".")[0]
    return head if head in (*FIELDS, "row") else "other"


def _sorted_out(raw: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Known fields under their snake_case names, and all the rest. ``id`` stands in for a missing ``doc_id``."""
    values: dict[str, object] = {}
    columns: dict[str, object] = {}
    for key, value in raw.items():
        name = _CAMEL.get(key, key)
        if name not in FIELDS:
            columns[key] = value
        elif scalars.absent(values.get(name)):
            values[name] = value
        elif not scalars.absent(value) and values[name] != value:
            raise InvalidRequest(f"is given twice, as {shown(name)} and {shown(key)}, with different values", field=name)
    if scalars.absent(values.get("doc_id")) and "id" in columns:
        values["doc_id"] = columns.pop("id")
    return values, columns


def _text(value: object, defaults: Defaults, notices: list[Notice]) -> str:
    if value is None:
        raise InvalidRequest("is missing", field="text")
    if not isinstance(value, str):
        raise InvalidRequest(f"{shown(value)} is not text", field="text")
    limit = defaults.max_text_chars
    if len(value) > limit:
        raise InvalidRequest(f"has {len(value):,} characters; at most {limit:,} are taken (WA_MAX_TEXT_CHARS)", field="text")
    storable = cleaned(value)
    if not visible(storable.text):
        raise InvalidRequest("is empty" if not storable.text else "holds only invisible characters", field="text")
    notices += [Notice("text", change) for change in storable.changes]
    return storable.text


def _source(value: object, defaults: Defaults, notices: list[Notice]) -> Source:
    if isinstance(value, Mapping):
        return _described_source(value, notices)
    kind = _noted("source", scalars.name(value, "source"), notices)
    if kind is not None:
        return Source(kind)
    if defaults.source is None:
        raise InvalidRequest("is missing; give every row one, map a column to it, or name one for all rows (--source)", field="source")
    return defaults.source


def _described_source(value: Mapping[str, object], notices: list[Notice]) -> Source:
    unknown = [key for key in value if key not in _SOURCE_KEYS]
    if unknown:
        raise InvalidRequest(f"has no part {shown(unknown[0])}; its parts are kind, name and weight", field="source")
    kind = _noted("source", scalars.name(value.get("kind"), "source"), notices)
    if kind is None:
        raise InvalidRequest("has no kind", field="source")
    weight = scalars.number(value.get("weight"), "source")
    if weight is not None and not 0.0 <= weight <= 1.0:
        raise InvalidRequest(f"has the weight {weight:g}, which is not between 0 and 1", field="source")
    name = _noted("source", scalars.name(value.get("name"), "source"), notices)
    return Source(kind, name or "", Source(kind).weight if weight is None else weight)


def _occurred_at(value: object, defaults: Defaults, notices: list[Notice]) -> datetime:
    if value is None:
        raise InvalidRequest("is missing; map the column that holds the date to it (--map occurred_at=COLUMN)", field="occurred_at")
    if scalars.absent(value):
        raise InvalidRequest("is blank; give the row a date: trends, filters and months go by it", field="occurred_at")
    if isinstance(value, datetime):
        value = value.isoformat()
    moment = read_moment(value, defaults.zone, defaults.order)
    if not moment.zoned:
        notices.append(Notice("occurred_at", f"{NO_ZONE} {defaults.zone.key}"))
    if defaults.now is not None and moment.instant > defaults.now + _TOO_FAR_AHEAD:
        notices.append(Notice("occurred_at", IN_FUTURE))
    return moment.instant.astimezone(UTC)


def _noted(field_name: str, read: scalars.Read, notices: list[Notice]) -> str | None:
    notices += [Notice(field_name, change) for change in read.changes]
    return read.value


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise InvalidRequest(f"{shown(name)} is not a time zone name such as Europe/Paris", field="time_zone") from error
