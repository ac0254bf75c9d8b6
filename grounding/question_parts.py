"""A question taken apart: its parts, and what each counts or looks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grounding.intents import Form, Intent, Leaning
from grounding.periods import Period
from grounding.ratings import RatingRange
from search.aggregation import Interval
from search.documents import Filters, Scalar
from search.listing import filters_as_json

Uncountable = Literal["", "feelings", "language", "average", "exclusion", "ratings", "bounds", "denial"]
Dimension = Literal["theme", "source", "account"]


@dataclass(frozen=True, slots=True)
class Side:
    """One thing that is counted: documents of a theme, or documents that hold words, or both; ``label`` is how the question calls it."""

    theme: str | None
    match: str | None
    label: str


@dataclass(frozen=True, slots=True)
class Place:
    """Documents that are set against others for where or when they come from: how the question calls that, and the filters they pass."""

    label: str
    filters: Filters
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One question with one answer.

    ``filters`` are those of the request, narrowed by what the question names; ``subject`` is the question without the account and the time that
    became filters. ``theme`` is what the whole question is about, and one of ``filters``. ``distinct`` asks how many themes, sources or accounts there
    are; ``grouped`` for a number of documents by each of them; ``uncountable`` names what is counted by nothing here: feelings, the language of
    texts, an average, what is not so. ``attributes`` are those of the filters that the
    question names, ``told`` when it says them of what is counted (*what share of crashes is from
    Berlin*), ``by_attribute`` the name of one by whose values it wants documents told apart. ``lacking`` asks for documents that do *not* have what is
    counted, or that carry no theme. ``places`` are compared instead of ``sides``,
    which then say what is counted in each. ``share_of`` marks a share of documents that are of the source or account in the filters. ``search`` is
    another wording that a planner wants searched beside ``subject``, never instead of it; ``ruled`` is the part as the rules read it, when a planner
    read it otherwise.
    """

    question: str
    intent: Intent
    form: Form
    filters: Filters
    subject: str = ""
    sides: tuple[Side, ...] = ()
    dimension: Dimension = "theme"
    interval: Interval = "week"
    limit: int = 5
    share: bool = False
    majority: bool = False
    leaning: Leaning = ""
    account: str | None = None
    theme: str | None = None
    rating: RatingRange | None = None
    distinct: bool = False
    grouped: bool = False
    places: tuple[Place, ...] = ()
    share_of: Literal["source", "account"] | None = None
    uncountable: Uncountable = ""
    attributes: tuple[tuple[str, Scalar], ...] = ()
    by_attribute: str | None = None
    told: bool = False
    lacking: bool = False
    period: Period | None = None
    time_zone: str = "UTC"
    search: str = ""
    ruled: "Part | None" = None

    def as_json(self) -> Mapping[str, Any]:
        """The part as plain JSON, for the trace."""
        body: dict[str, Any] = {"question": self.question, "intent": self.intent.value, "form": self.form.value}
        if self.sides:
            body["counts"] = [{"theme": side.theme, "match": side.match, "label": side.label} for side in self.sides]
        if self.places:
            body["compares"] = [place.label for place in self.places]
        if self.period:
            body["period"] = {"text": self.period.text, "timeZone": self.time_zone}
        if self.account:
            body["account"] = self.account
        if self.theme:
            body["theme"] = self.theme
        if self.by_attribute:
            body["byAttribute"] = self.by_attribute
        if self.leaning:
            body["leaning"] = self.leaning
        if self.search:
            body["search"] = self.search
        if self.ruled:
            body["ruled"] = self.ruled.intent.value
        return body | {"filters": filters_as_json(self.filters)}


@dataclass(frozen=True, slots=True)
class Plan:
    """A question taken apart; one part for most."""

    question: str
    parts: tuple[Part, ...]

    @property
    def small_talk(self) -> bool:
        """Whether there is nothing to look up."""
        return all(part.intent is Intent.SMALL_TALK for part in self.parts)

    def as_json(self) -> Mapping[str, Any]:
        """The plan as plain JSON, for the trace."""
        return {"intent": self.parts[0].intent.value, "parts": [part.as_json() for part in self.parts]}
