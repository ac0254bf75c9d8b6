"""Numeric claims: how many, how much of, which most, rising or not, more or fewer. Every one carries the proof it rests on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from grounding.answers import Draft, Proof
from grounding.attributes import Attribute, Attributes
from grounding.count_sentences import (
    account_draft,
    bucket_draft,
    comparison_draft,
    count_draft,
    distinct_draft,
    grouped_draft,
    lacking_draft,
    leader_draft,
    outside_draft,
    part_draft,
    peak_drafts,
    quoted,
    rated_draft,
    scope_of,
    tie_draft,
    tied,
    trend_draft,
    without_theme_draft,
)
from grounding.intents import Intent
from grounding.leanings import HIGH_STARS, LOW_STARS, MOST_STARS
from grounding.naming import stems_of, themes_holding
from grounding.proofs import Counted, counted
from grounding.question_parts import Part, Place, Side
from grounding.ratings import RatingRange
from grounding.trends import MIN_INTERVALS
from runtime.tenancy import Tenant
from search.aggregation import INTERVALS, Interval
from search.documents import Filters
from search.filters import TICK, narrowed
from search.ports import Engine

MAX_VALUES = 50
"""Values of an attribute that are counted one by one."""

MAX_THEMES = 5
"""Themes counted for words that are in the names of several."""


@dataclass(frozen=True, slots=True)
class TooFew:
    """A share or a trend was asked of fewer documents than a share may rest on."""

    documents: int
    doc_ids: tuple[str, ...]
    wanted: str


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts for one question. ``theme_like`` finds the theme that means what the question says in other words, or None."""

    engine: Engine
    tenant: Tenant
    min_share_documents: int
    now: datetime
    themes: Callable[[], tuple[str, ...]]
    theme_like: Callable[[str], str | None]
    attributes: Callable[[], Attributes] = Attributes

    def drafts(self, part: Part) -> tuple[Draft, ...] | TooFew:
        """Numeric claims for a part, none when there is nothing countable in it."""
        if part.intent is Intent.ACCOUNT:
            return self.account(part)
        if part.intent is Intent.COUNT:
            return self._count(part)
        if part.intent is Intent.TOP:
            return self._top(part)
        if part.intent is Intent.TREND:
            return self._trend(part)
        return self._compare(part) if part.intent is Intent.COMPARE else ()

    def overview(self, part: Part, limit: int) -> tuple[Draft, ...]:
        """The theme that is asked about; else the most frequent themes, when most documents carry one and there are enough of both for a ranking to tell
        something."""
        if part.theme is not None:
            whole = replace(part, filters=replace(part.filters, theme_ids=None))
            return (count_draft(self._side_proof(part.sides[0], whole), part.sides[0], whole),)
        part = self._rated(part)
        found = self._run("theme", part.filters, None, part)
        themed = found.found.total - found.found.without
        enough = found.found.total >= self.min_share_documents and 2 * themed > found.found.total and len(found.found.buckets) > 1
        if not enough or (part.leaning == "praise" and part.rating is None):
            return ()
        if tied(found) > limit:
            return (tie_draft(found, "theme", scope_of(part)),)
        ranked = self._top(replace(part, sides=(), dimension="theme", limit=limit))
        return () if isinstance(ranked, TooFew) else ranked

    def _rated(self, part: Part) -> Part:
        """For complaints the documents of few stars, for praise those of many, where most documents carry stars; else all of them."""
        if not part.leaning or part.filters.rating_min is not None or part.filters.rating_max is not None:
            return part
        starred = self._run("documents", replace(part.filters, rating_min=0.0, rating_max=MOST_STARS), None, part).found.total
        if 2 * starred <= self._run("documents", part.filters, None, part).found.total:
            return part
        rating = RatingRange(None, LOW_STARS) if part.leaning == "complaint" else RatingRange(HIGH_STARS, None)
        return replace(part, filters=replace(part.filters, rating_min=rating.low, rating_max=rating.high), rating=rating)

    def account(self, part: Part) -> tuple[Draft, ...]:
        """How many documents an account wrote, and about which themes."""
        assert part.account is not None
        everyone = replace(part.filters, account_ids=None)
        found = self._run("account", everyone, None, part)
        proof = found.proof(part.account)
        themes = self._run("theme", part.filters, None, part)
        buckets = themes.found.buckets[: part.limit] if themes.found.total >= self.min_share_documents else ()
        by_theme = tuple(bucket_draft(themes.proof(bucket.key), "theme", f" from account “{part.account}”") for bucket in buckets)
        return (account_draft(proof, part), *by_theme) if proof.value else ()

    def side_of(self, part: Part) -> Side | None:
        """What a part counts: the theme its words name or mean, else its words; None counts every document."""
        if not part.sides or self._themes_within(part.sides[0], part):
            return part.sides[0] if part.sides else None
        return self._resolved(part.sides[0], part)

    def proof_of(self, side: Side | None, part: Part) -> Proof:
        """How many documents under the filters of ``part`` are of that side."""
        return self._side_proof(side, part)

    def _count(self, part: Part) -> tuple[Draft, ...] | TooFew:
        if part.distinct and (distinct := self._distinct(part)):
            return distinct
        if part.share_of:
            return self._share_of(part, part.share_of)
        if (part.share or part.majority) and (few := self._too_few(part)):
            return few
        if part.lacking and (lacking := self._lacking(part)):
            return lacking
        if part.grouped:
            return self._by_attribute(part, part.by_attribute) if part.by_attribute else self._grouped(part)
        return self._limited_count(part) or self._plain_count(part)

    def _distinct(self, part: Part) -> tuple[Draft, ...]:
        """How many themes, sources or accounts the documents have that are counted; none when these have none."""
        side = self.side_of(part)
        found = self._run(part.dimension, _with_theme(part.filters, side), side.match if side else None, part)
        return (distinct_draft(found, part.dimension, side, part),) if found.found.buckets or not part.sides else ()

    def _limited_count(self, part: Part) -> tuple[Draft, ...]:
        """Counts of a question that wants several places, or the share of what its own limits leave; none for another."""
        whole = part.share or part.majority
        if whole and not part.sides and (shares := self._rated_shares(part)):
            return shares
        if part.places:
            apart = part if part.sides else replace(part, share=False, majority=False)
            counted = tuple(count_draft(*each) for each in _of_any(self._in_places(apart)))
            return (*counted, self._everyone(part)) if whole else counted
        if part.attributes and whole and (part.told or not part.sides):
            part, side = replace(part, share=False, majority=False), self.side_of(part)
            return (count_draft(self._side_proof(side, part), side, part), self._everyone(part))
        return ()

    def _rated_shares(self, part: Part) -> tuple[Draft, ...]:
        """What share of documents has the ratings that the question names; none when it names none."""
        limited = [replace(part, filters=place.filters) for place in part.places] or [part]
        if all(each.filters.rating_min is None and each.filters.rating_max is None for each in limited) or not (part.places or part.rating):
            return ()
        everyone = replace(part, filters=replace(part.filters, rating_min=None, rating_max=None), rating=None, places=())
        whole = self._side_proof(None, everyone)
        counted = [(self._side_proof(None, each), each) for each in limited]
        some = [each for each in counted if each[0].value] or counted[:1]
        return tuple(rated_draft(proof, whole, each, everyone) for proof, each in some)

    def _plain_count(self, part: Part) -> tuple[Draft, ...] | TooFew:
        if len(part.sides) > 1:
            return tuple(count_draft(self._side_proof(side, part), side, part) for side in self._sides(part))
        if part.sides and (several := self._themes_within(part.sides[0], part)):
            return tuple(count_draft(self._side_proof(side, part), side, part) for side in (part.sides[0], *several))
        side = self.side_of(part)
        proof = self._side_proof(side, part)
        if (part.share or part.majority) and proof.denominator < self.min_share_documents:
            return TooFew(proof.denominator, proof.doc_ids, "a share")
        if proof.value == 0 and side is not None and (meant := self._attribute_instead(side, part)):
            return meant
        return (count_draft(proof, side, part),)

    def _attribute_instead(self, side: Side, part: Part) -> tuple[Draft, ...]:
        """Documents with an attribute of that value, when none holds the word itself: *complaints about Swift*, the courier."""
        called = [one for one in self.attributes().seen if one.spelled.lower() == side.label.lower()]
        if side.theme is not None or len(called) != 1 or '"' in (side.match or "") or _asks_for_words(part.question):
            return ()
        valued = _valued(part, called[0])
        return (count_draft(self._side_proof(None, valued), None, valued),)

    def _lacking(self, part: Part) -> tuple[Draft, ...]:
        """How many documents do not have what is counted; also where that is a limit (*not from Berlin*)."""
        if not part.sides and not (part.attributes or part.filters.sources):
            return (without_theme_draft(self._run("theme", part.filters, None, part), part),)
        if part.sides:
            side = self.side_of(part)
            return (lacking_draft(self._side_proof(side, part), side, part),) if side else ()
        limited = replace(part, lacking=False)
        everyone = replace(self._unlimited(part), lacking=False)
        return (outside_draft(self._side_proof(None, limited), self._side_proof(None, everyone), limited, everyone),)

    def _unlimited(self, part: Part) -> Part:
        """The part without attributes and sources that the question names."""
        kept = tuple(attribute for attribute in part.filters.attributes if attribute not in part.attributes)
        return replace(part, filters=replace(part.filters, attributes=kept, sources=None))

    def _everyone(self, part: Part) -> Draft:
        """How many documents there are, whatever attributes the question names."""
        kept = tuple(attribute for attribute in part.filters.attributes if attribute not in part.attributes)
        every = replace(part, filters=replace(part.filters, attributes=kept), share=False, majority=False)
        side = self.side_of(every)
        return count_draft(self._side_proof(side, every), side, every)

    def _by_attribute(self, part: Part, key: str) -> tuple[Draft, ...]:
        """How many documents each value of an attribute has, the most frequent first; none when a value that was not seen may have more."""
        side = self.side_of(part)
        values = [_valued(part, one) for one in self.attributes().of(key)[:MAX_VALUES]]
        counted = [(self._side_proof(side, each), side, each) for each in values]
        counted = sorted((each for each in counted if each[0].value), key=lambda each: -each[0].value)
        if not counted or not self._ranked(key, counted[0][0].value, sum(each[0].value for each in counted), side, part):
            return ()
        first = (comparison_draft(counted[0], counted[1]),) if len(counted) > 1 and part.intent is Intent.TOP else ()
        return (*first, *(count_draft(*each) for each in counted[: part.limit if part.intent is Intent.TOP else MAX_VALUES]))

    def _ranked(self, key: str, highest: int, seen: int, side: Side | None, part: Part) -> bool:
        """Whether no other value can have more documents than the first."""
        known = self.attributes()
        every = known.complete and len(known.of(key)) <= MAX_VALUES
        return every or self._side_proof(side, part).value - seen < highest

    def _too_few(self, part: Part) -> TooFew | None:
        """Whether a share would be of too few documents, whatever is counted among them."""
        whole = replace(part.filters, rating_min=None, rating_max=None) if part.rating else part.filters
        if part.told or not part.sides:
            whole = replace(whole, attributes=tuple(each for each in whole.attributes if each not in part.attributes))
        found = self._run("documents", whole, None, part)
        return TooFew(found.found.total, found.proof().doc_ids, "a share") if 0 < found.found.total < self.min_share_documents else None

    def _share_of(self, part: Part, dimension: Literal["source", "account"]) -> tuple[Draft, ...] | TooFew:
        """How many of the documents that are counted are of the source or account in the filters."""
        filters = part.filters
        names = (filters.sources if dimension == "source" else filters.account_ids) or ()
        everyone = replace(filters, sources=None) if dimension == "source" else replace(filters, account_ids=None)
        whole = replace(part, filters=everyone)
        side = self.side_of(whole)
        if len(names) > 1:
            return tuple(
                count_draft(self._side_proof(side, each), side, each) for each in (replace(part, share=False), replace(whole, share=False))
            )
        proof = self._run(dimension, _with_theme(everyone, side), side.match if side else None, whole).proof(names[0])
        if proof.denominator < self.min_share_documents:
            return TooFew(proof.denominator, proof.doc_ids, "a share")
        return (part_draft(proof, dimension, side, whole),)

    def _grouped(self, part: Part) -> tuple[Draft, ...]:
        """How many documents there are by theme, source or account."""
        side = self.side_of(part)
        found = self._run(part.dimension, _with_theme(part.filters, side), side.match if side else None, part)
        return (grouped_draft(found, part.dimension, side, part),) if found.found.buckets else ()

    def _top(self, part: Part) -> tuple[Draft, ...] | TooFew:
        if part.by_attribute:
            return self._by_attribute(part, part.by_attribute)
        match = part.sides[0].match if part.sides else None
        theme = part.sides[0].theme if part.sides else None
        if theme is not None and part.dimension == "theme":
            return ()  # what is said within one theme is a matter of evidence
        found = self._run(part.dimension, replace(part.filters, theme_ids=(theme,)) if theme else part.filters, match, part)
        buckets = found.found.buckets[: part.limit]
        if not buckets:
            return ()
        if found.found.total < self.min_share_documents:
            return TooFew(found.found.total, found.proof().doc_ids, "a ranking")
        scope = scope_of(part) + (f" that contain {quoted(match)}" if match else "")
        drafts = [bucket_draft(found.proof(bucket.key), part.dimension, scope) for bucket in buckets]
        if tied(found) > part.limit:
            return (tie_draft(found, part.dimension, scope), *drafts)
        if tied(found) == 1:
            drafts[0] = leader_draft(found, part.dimension, scope)
        return tuple(drafts)

    def _trend(self, part: Part) -> tuple[Draft, ...] | TooFew:
        side = self._measured(part.sides[0], part) if part.sides else None
        limited = replace(part, filters=self._span(part.filters))
        filters = _with_theme(limited.filters, side)
        match = side.match if side else None
        for interval in _finer(part.interval):
            found = self._run(interval, filters, match, limited)
            if len(found.found.buckets) >= MIN_INTERVALS:
                break
        proof = found.series()
        if proof.value < self.min_share_documents:
            return TooFew(proof.value, proof.doc_ids, "a trend")
        return (trend_draft(proof, side, part), *peak_drafts(found))

    def _compare(self, part: Part) -> tuple[Draft, ...]:
        counted = self._in_places(part) if part.places else [(self._side_proof(side, part), side, part) for side in self._alike(part)]
        counted.sort(key=lambda each: -each[0].value)
        counts = tuple(count_draft(*each) for each in counted)
        comparable = len(counted) == 2 and _same_measure([side for _, side, _ in counted])
        return (comparison_draft(counted[0], counted[1]), *counts) if comparable else counts

    def _sides(self, part: Part) -> list[Side]:
        return [self._resolved(side, part) for side in part.sides]

    def _alike(self, part: Part) -> list[Side]:
        """The sides of a comparison, all counted by theme or else all by words; as they are when the words of one occur nowhere."""
        sides = [self._measured(side, part) for side in part.sides]
        if _same_measure(sides):
            return sides
        by_words = [Side(None, side.label, side.label) if side.theme is not None else side for side in part.sides]
        return by_words if all(self._side_proof(side, part).value for side in by_words) else sides

    def _measured(self, side: Side, part: Part) -> Side:
        """A side of a trend or comparison: a theme that it names; one that it means only where no document beyond that theme has its words."""
        found = self.side_of(replace(part, sides=(side,)))
        if found is None or found.theme is None or self._named(side, found.theme):
            return found or side
        by_words, within = (self._side_proof(each, part).value for each in (side, replace(side, theme=found.theme)))
        return found if by_words == within else side

    def _named(self, side: Side, theme: str) -> bool:
        """Whether a side names a theme, or says two words or more that are in its name and in no other."""
        stems = stems_of(side.label)
        return side.theme == theme or (len(stems) > 1 and themes_holding(stems, self.themes()) == (theme,))

    def _in_places(self, part: Part) -> list[tuple[Proof, Side | None, Part]]:
        """The same counted in each place, under the filters of that place."""
        side = self.side_of(part)
        narrowed = [replace(part, filters=place.filters, period=place.period or part.period, places=(place,)) for place in part.places]
        return [(self._side_proof(side, each), side, each) for each in narrowed]

    def _resolved(self, side: Side, part: Part) -> Side:
        """The side with the theme its words mean, when it names none and no word is quoted or a code."""
        if self._exact(side, part):
            return side
        stems = stems_of(side.label)
        holding = themes_holding(stems, self.themes()) if len(stems) > 1 else ()
        theme = holding[0] if len(holding) == 1 else self.theme_like(side.label)
        return side if theme is None else Side(theme, None, side.label)

    def _exact(self, side: Side, part: Part) -> bool:
        """Whether the side says itself what is to be counted: a theme, a quotation, a code, or documents that *mention* something."""
        literal = side.match is None or '"' in side.match or any(letter.isdigit() for letter in side.match)
        return side.theme is not None or literal or part.filters.theme_ids is not None or _asks_for_words(part.question)

    def _themes_within(self, side: Side, part: Part) -> tuple[Side, ...]:
        """The themes whose names hold every word of a side that names none itself, when there are several: *cash withdrawals* is in four of them."""
        if self._exact(side, part):
            return ()
        within = themes_holding(stems_of(side.label), self.themes())
        return tuple(Side(theme, None, side.label) for theme in within[:MAX_THEMES]) if len(within) > 1 else ()

    def _side_proof(self, side: Side | None, part: Part) -> Proof:
        if side is not None and side.theme is not None and side.match is None:
            return self._run("theme", part.filters, None, part).proof(side.theme)
        return self._run("documents", _with_theme(part.filters, side), side.match if side else None, part).proof()

    def _run(self, aggregation: str, filters: Filters, match: str | None, part: Part) -> Counted:
        return counted(self.engine, self.tenant, aggregation, filters, match, part.time_zone)

    def _span(self, filters: Filters) -> Filters:
        """The filters with both ends set, so that intervals without any document count as well."""
        corpus = self.engine.corpus(self.tenant)
        last = None if corpus.last_occurred_at is None else min(self.now, corpus.last_occurred_at) + TICK
        return narrowed(filters, corpus.first_occurred_at, last)


def _same_measure(sides: Sequence[Side | None]) -> bool:
    """Whether all are counted by theme or all by words: a count of one kind tells nothing about one of the other."""
    return len({side is None or side.theme is None for side in sides}) == 1


def _of_any(counted: Sequence[tuple[Proof, Side | None, Part]]) -> Sequence[tuple[Proof, Side | None, Part]]:
    """Those of places with any documents; all where none has some."""
    return [each for each in counted if each[0].denominator] or counted


def _asks_for_words(question: str) -> bool:
    lowered = question.lower()
    return any(word in lowered for word in (" mention", " contain", " the word", " include the", " say "))


def _valued(part: Part, attribute: Attribute) -> Part:
    """The part limited to one value of an attribute."""
    filters = replace(part.filters, attributes=(*part.filters.attributes, (attribute.key, attribute.value)))
    return replace(part, filters=filters, places=(Place(attribute.spelled, filters),), share=False, majority=False)


def _finer(interval: Interval) -> tuple[Interval, ...]:
    return tuple(reversed(INTERVALS[: INTERVALS.index(interval) + 1]))


def _with_theme(filters: Filters, side: Side | None) -> Filters:
    return replace(filters, theme_ids=(side.theme,)) if side is not None and side.theme is not None else filters
