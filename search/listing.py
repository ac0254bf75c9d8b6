"""A listing of documents, and cursors that carry it, so that whoever was shown a count can page through all the documents behind it."""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, DocumentPage, Filters
from search.ports import Engine

PREFIX = "all."
_FIELDS = ("sources", "theme_ids", "account_ids", "doc_ids")


@dataclass(frozen=True, slots=True)
class Listing:
    """The documents that pass ``filters`` and hold every word of ``match``; ``after`` is where to go on, None at the first page."""

    filters: Filters
    match: str | None = None
    after: str | None = None


def cursor_of(listing: Listing) -> str:
    """A cursor that :func:`page` understands. It grants nothing: the tenant is never in it."""
    body = {"f": filters_as_json(listing.filters), "m": listing.match, "a": listing.after}
    text = json.dumps({key: value for key, value in body.items() if value}, separators=(",", ":"), sort_keys=True)
    return PREFIX + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def listing_of(cursor: str) -> Listing:
    """The listing behind a cursor.

    Raises:
        InvalidRequest: on ``after``, when it is not one of ours.
    """
    try:
        text = cursor.removeprefix(PREFIX)
        body = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return Listing(filters_from_json(body.get("f", {})), body.get("m"), body.get("a"))
    except (ValueError, TypeError, AttributeError, KeyError, binascii.Error):
        raise InvalidRequest("is not a cursor of an earlier answer", field="after") from None


def page(
    engine: Engine, tenant: Tenant, filters: Filters = EVERYTHING, *, match: str | None = None, first: int = 50, after: str | None = None
) -> DocumentPage:
    """A page of documents, newest first. ``after`` is the cursor of an earlier page, or the one beside a count, which brings its own filters.

    Raises:
        InvalidRequest: on ``after``, also when a count's cursor comes together with other filters.
    """
    if after is None or not after.startswith(PREFIX):
        return engine.documents(tenant, filters, match=match, first=first, after=after)
    listing = listing_of(after)
    if (filters, match) not in ((EVERYTHING, None), (listing.filters, listing.match)):
        raise InvalidRequest("carries the filters of its count; leave other filters out", field="after")
    found = engine.documents(tenant, listing.filters, match=listing.match, first=first, after=listing.after)
    following = None if found.cursor is None else cursor_of(Listing(listing.filters, listing.match, found.cursor))
    return DocumentPage(found.documents, found.total, following)


def filters_as_json(filters: Filters) -> dict[str, Any]:
    """Filters as plain JSON, without the fields that set no limit."""
    body: dict[str, Any] = {name: list(value) for name in _FIELDS if (value := getattr(filters, name)) is not None}
    for name in ("rating_min", "rating_max"):
        if getattr(filters, name) is not None:
            body[name] = getattr(filters, name)
    for name in ("since", "before"):
        if getattr(filters, name) is not None:
            body[name] = getattr(filters, name).isoformat()
    if filters.attributes:
        body["attributes"] = [list(pair) for pair in filters.attributes]
    return body


def filters_from_json(body: dict[str, Any]) -> Filters:
    """The inverse of :func:`filters_as_json`. Raises ``ValueError``, ``TypeError`` or ``KeyError`` on anything else."""
    pairs = tuple((str(key), value) for key, value in body.get("attributes", ()))
    if not all(isinstance(value, str | int | float | bool) for _, value in pairs):
        raise TypeError("attributes")
    return Filters(
        since=_moment(body.get("since")),
        before=_moment(body.get("before")),
        sources=_texts(body.get("sources")),
        theme_ids=_texts(body.get("theme_ids")),
        account_ids=_texts(body.get("account_ids")),
        doc_ids=_texts(body.get("doc_ids")),
        rating_min=_number(body.get("rating_min")),
        rating_max=_number(body.get("rating_max")),
        attributes=pairs,
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _texts(values: list[Any] | None) -> tuple[str, ...] | None:
    if values is None:
        return None
    if not values or not all(isinstance(value, str) for value in values):
        raise TypeError("a list of texts")
    return tuple(values)
