"""Arguments as the doors receive them, turned into what the core takes. Names are snake_case here; each door converts its own."""

from collections.abc import Mapping
from typing import Any

from api.casing import snake
from grounding.budget import Budget, budget_of
from runtime.errors import InvalidRequest
from runtime.settings import Settings
from search.documents import EVERYTHING, Filters
from search.filters import filters_of

PAGE_MAX = 1000
"""Most documents or traces on one page."""


def filters_from(given: Mapping[str, Any] | None, time_zone: str) -> Filters:
    """Exact filters from a door's ``filters`` object, in either casing; None and absent members set no limit.

    Raises:
        InvalidRequest: on ``filters.NAME``.
    """
    members = {snake(name): value for name, value in (given or {}).items() if value is not None}
    if not members:
        return EVERYTHING
    if "attributes" in members:
        members["attributes"] = _pairs(members["attributes"])
    try:
        return filters_of(**members, time_zone=time_zone)
    except InvalidRequest as error:
        raise _under("filters", error) from error


def budget_from(given: Mapping[str, Any] | None, settings: Settings) -> Budget | None:
    """The ceilings of one run, or None for the server's own.

    Raises:
        InvalidRequest: on ``budget.NAME``.
    """
    members = {snake(name): value for name, value in (given or {}).items() if value is not None}
    try:
        return budget_of(settings, **members) if members else None
    except InvalidRequest as error:
        raise _under("budget", error) from error


def top_k_from(asked: int | None, settings: Settings) -> int:
    """How many hits: the default for None, and never more than the server's maximum.

    Raises:
        InvalidRequest: on ``top_k``, below 1.
    """
    return settings.default_top_k if asked is None else min(_at_least_one(asked, "top_k"), settings.max_top_k)


def page_from(asked: int, field: str = "first") -> int:
    """How many items on a page, at most :data:`PAGE_MAX`.

    Raises:
        InvalidRequest: on ``field``, below 1.
    """
    return min(_at_least_one(asked, field), PAGE_MAX)


def _at_least_one(asked: int, field: str) -> int:
    if asked < 1:
        raise InvalidRequest("must be a whole number of at least 1", field=field)
    return asked


def _pairs(attributes: Any) -> Any:
    if isinstance(attributes, Mapping):
        return attributes
    return tuple((item["key"], item["value"]) for item in attributes)


def _under(parent: str, error: InvalidRequest) -> InvalidRequest:
    return InvalidRequest(error.reason, field=f"{parent}.{error.field}" if error.field else parent)
