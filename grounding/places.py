"""What a comparison sets against one another when it is not themes or words: times, accounts, sources, ratings."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from grounding.attributes import Attribute
from grounding.channels import Mention
from grounding.periods import Period, periods_in
from grounding.question_parts import Place
from grounding.ratings import RatingRange
from search.documents import Filters, Scalar

_BETWEEN = re.compile(r"(?<=\s)between(?=\s)", re.IGNORECASE)


def compared_times(text: str, today: date) -> tuple[Period, ...]:
    """The ranges of time that a comparison names, when there are several; *between June and July* names two of them."""
    found = periods_in(_BETWEEN.sub("       ", text), today)
    return found if len(found) > 1 else ()


def of_accounts(filters: Filters, accounts: Sequence[str]) -> tuple[Place, ...]:
    """One place for each account; none when there are not several."""
    places = tuple(Place(account, replace(filters, account_ids=(account,))) for account in dict.fromkeys(accounts))
    return places if len(places) > 1 else ()


def of_sources(filters: Filters, sources: Sequence[Mention]) -> tuple[Place, ...]:
    """One place for each source; none when there are not several."""
    places = tuple(Place(name, replace(filters, sources=(name,))) for name in dict.fromkeys(source.name for source in sources))
    return places if len(places) > 1 else ()


def of_ratings(filters: Filters, ranges: Sequence[RatingRange]) -> tuple[Place, ...]:
    """One place for each range of ratings."""
    return tuple(Place(one.worded, replace(filters, rating_min=one.low, rating_max=one.high)) for one in ranges)


def of_attributes(filters: Filters, attributes: Sequence[Attribute]) -> tuple[Place, ...]:
    """One place for each value of the attribute that has several, all limited to the others; none when each has one."""
    values: dict[str, dict[Scalar, str]] = {}
    for attribute in attributes:
        values.setdefault(attribute.key, {})[attribute.value] = attribute.spelled
    several = [key for key, named in values.items() if len(named) > 1]
    if len(several) != 1:
        return ()
    rest = tuple((key, next(iter(named))) for key, named in values.items() if key not in several)
    key = several[0]
    return tuple(
        Place(label, replace(filters, attributes=(*filters.attributes, *rest, (key, value)))) for value, label in values[key].items()
    )
