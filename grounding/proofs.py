"""Numbers rest on aggregations that are run again before the number leaves."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, cast

from grounding.answers import Citation, ClaimKind, Draft, Proof, Verdict
from grounding.quantities import quantities
from grounding.sentences import sentences
from grounding.significance import wilson
from grounding.trends import direction_of
from runtime.tenancy import Tenant
from search.aggregation import Interval, interval_bounds
from search.documents import Document, Filters
from search.filters import narrowed, zone_named
from search.listing import Listing, cursor_of
from search.ports import Engine
from search.ranking import Bucket, BucketQuery, Buckets

NUMERIC = frozenset({ClaimKind.COUNT, ClaimKind.TREND, ClaimKind.COMPARISON})
"""Kinds of claims that rest on aggregations."""

Field = Literal["theme", "source", "account", "day", "week", "month"]
EXAMPLES = 3
"""Documents quoted beside a number; the proof pages through all of them."""

LONGEST_EXAMPLE = 300
MOST_FREQUENT = "The most frequent"
"""How a claim begins that says a bucket is larger than every other."""

_UNCOUNTED = re.compile(r"“[^”]*”|\b\d{4}-\d{2}(?:-\d{2})?\b")
"""Names from the store, and the keys of intervals."""


@dataclass(frozen=True, slots=True)
class Counted:
    """An aggregation that was run: the question it answers, and what it gave."""

    aggregation: str
    filters: Filters
    match: str | None
    time_zone: str
    found: Buckets

    def proof(self, bucket: str | None = None) -> Proof:
        """The proof of one bucket, or of all matching documents."""
        part = _bucket(self.found, bucket) if bucket is not None else None
        value, whole = (self.found.total, self.found.scope) if bucket is None else (part.count if part else 0, self.found.total)
        ids = part.doc_ids if part else _newest_ids(self.found) if bucket is None else ()
        return Proof(
            aggregation=self.aggregation,
            filters=self.filters,
            match=self.match,
            time_zone=self.time_zone,
            value=value,
            denominator=whole,
            doc_ids=ids,
            cursor=cursor_of(Listing(self._limited(bucket), self.match)),
            generation=self.found.generation,
            bucket=bucket,
        )

    def series(self) -> Proof:
        """The proof of a whole trend."""
        return replace(self.proof(), counts=tuple((bucket.key, bucket.count) for bucket in self.found.buckets))

    def _limited(self, bucket: str | None) -> Filters:
        if bucket is None:
            return self.filters
        if self.aggregation in ("day", "week", "month"):
            return narrowed(self.filters, *interval_bounds(bucket, cast("Interval", self.aggregation), zone_named(self.time_zone)))
        if self.aggregation == "theme":
            return replace(self.filters, theme_ids=(bucket,))
        return replace(self.filters, sources=(bucket,)) if self.aggregation == "source" else replace(self.filters, account_ids=(bucket,))


def counted(
    engine: Engine, tenant: Tenant, aggregation: str, filters: Filters, match: str | None = None, time_zone: str = "UTC"
) -> Counted:
    """Run an aggregation; ``documents`` counts all that match."""
    field = "source" if aggregation == "documents" else cast("Field", aggregation)
    found = engine.aggregate(tenant, BucketQuery(field, filters, match=match, time_zone=time_zone))
    return Counted(aggregation, filters, match, time_zone, found)


def check(engine: Engine, tenant: Tenant, drafts: Sequence[Draft], *, moved: bool = False) -> tuple[Verdict, ...]:
    """Run the aggregation of each draft again. A verdict is supported when the value, the denominator and the index generation are the same and the text
    states nothing else; with ``moved`` another generation is accepted as long as the numbers agree."""
    runs: dict[tuple[object, ...], Counted] = {}
    return tuple(_checked(engine, tenant, draft, runs, moved=moved) for draft in drafts)


def _checked(engine: Engine, tenant: Tenant, draft: Draft, runs: dict[tuple[object, ...], Counted], *, moved: bool) -> Verdict:
    if draft.proof is None:
        return _refused("a number needs the aggregation it rests on")
    problem = ""
    explained: set[Fraction] = set()
    for proof in _sides(draft.proof):
        key = (proof.aggregation, proof.filters, proof.match, proof.time_zone)
        if key not in runs:
            runs[key] = counted(engine, tenant, *key)
        again = runs[key]
        problem = problem or _difference(proof, again, moved=moved) or _superlative(draft.text, proof, again)
        explained |= _explained(again.series() if proof.counts else again.proof(proof.bucket), again.found)
    told = _as_share(draft.kind, draft.proof)
    explained |= _shares(told)
    problem = problem or _unexplained(draft.text, explained) or _loose_word(draft.text, told)
    if problem:
        return _refused(problem)
    return Verdict(supported=True, contradicted=False, score=1.0, citations=examples(engine, tenant, draft.proof))


def examples(engine: Engine, tenant: Tenant, proof: Proof, limit: int = EXAMPLES) -> tuple[Citation, ...]:
    """The first documents behind a number, each quoted by its first sentence."""
    wanted = proof.doc_ids[:limit]
    if not wanted:
        return ()
    page = engine.documents(tenant, Filters(doc_ids=wanted), first=len(wanted))
    return tuple(_quoted(document) for document in page.documents)


def _sides(proof: Proof) -> tuple[Proof, ...]:
    return (proof,) if proof.against is None else (proof, *_sides(proof.against))


def _difference(proof: Proof, again: Counted, *, moved: bool) -> str:
    now = again.series() if proof.counts else again.proof(proof.bucket)
    if (proof.value, proof.denominator, proof.counts) != (now.value, now.denominator, now.counts):
        return f"{proof.value} of {proof.denominator} was claimed; counted again it is {now.value} of {now.denominator}"
    if proof.generation != now.generation and not moved:
        return f"the documents changed while it was counted (generation {proof.generation}, now {now.generation})"
    return ""


def _as_share(kind: ClaimKind, proof: Proof) -> Proof:
    """The proof as the claim tells it: what is counted against all documents, when it is a count of a part of them."""
    return proof if kind is not ClaimKind.COUNT or proof.against is None else replace(proof, denominator=proof.against.value)


def _shares(proof: Proof) -> set[Fraction]:
    """The share of a proof and its interval, in percent to the nearest whole; and the rest."""
    if not proof.denominator:
        return set()
    low, high = wilson(proof.value, proof.denominator)
    numbers = {percent(part) for part in (proof.value / proof.denominator, low, high)} | {95, proof.denominator - proof.value}
    return {Fraction(number) for number in numbers}


def _superlative(text: str, proof: Proof, again: Counted) -> str:
    if not text.startswith(MOST_FREQUENT):
        return ""
    buckets = again.found.buckets
    first = bool(buckets) and buckets[0].key == proof.bucket and (len(buckets) == 1 or buckets[1].count < buckets[0].count)
    return "" if first else f"{proof.bucket} is not more frequent than every other"


def _explained(proof: Proof, found: Buckets) -> set[Fraction]:
    """Every number that a sentence about this proof may state; shares count in percent, to the nearest whole."""
    numbers = {proof.value, proof.denominator, proof.denominator - proof.value, found.without, found.scope, found.total, len(found.buckets)}
    numbers |= {sum(bucket.count == proof.value for bucket in found.buckets) - 1} | {count for _, count in proof.counts}
    half = len(proof.counts) // 2
    numbers |= {half, len(proof.counts) - half, sum(n for _, n in proof.counts[:half]), sum(n for _, n in proof.counts[half:])}
    ratings = {Fraction(str(round(bound, 3))) for bound in (proof.filters.rating_min, proof.filters.rating_max) if bound is not None}
    return {Fraction(number) for number in numbers} | ratings | _shares(proof)


def percent(share: float) -> int:
    """A share as a whole number of percent, halves rounded up."""
    return int(share * 100 + 0.5)


def _unexplained(text: str, explained: set[Fraction]) -> str:
    """A number of the text that the aggregation does not give, outside quotation marks; or that it states none."""
    plain = _UNCOUNTED.sub(" ", text)
    stated = quantities(plain)
    for quantity in stated:
        if not quantity.values & explained:
            return f"“{plain[quantity.start : quantity.end].strip()}” is not what the aggregation counts"
    return "" if stated else "it states no number"


def _loose_word(text: str, proof: Proof) -> str:
    """A word about amounts that the numbers do not bear out."""
    plain = _UNCOUNTED.sub(" ", text)
    half = re.search(r"(?<!not )\b(?:most(?! frequent)|majority|more than half)\b", plain, re.IGNORECASE)
    if half and 2 * proof.value <= proof.denominator:
        return "it is not more than half"
    if re.search(r"\b(?:all|every|everyone)\b", plain, re.IGNORECASE) and proof.value < proof.denominator:
        return "it is not all"
    for word, wanted in (("rising", 1), ("falling", -1)):
        if re.search(rf"\b{word}\b", plain, re.IGNORECASE) and "neither" not in plain and direction_of(proof) != wanted:
            return f"the counts are not {word} beyond chance"
    return ""


def _bucket(found: Buckets, key: str) -> Bucket | None:
    return next((bucket for bucket in found.buckets if bucket.key == key), None)


def _newest_ids(found: Buckets) -> tuple[str, ...]:
    """First ids of all buckets together, in the order of the buckets."""
    return tuple(dict.fromkeys(doc_id for bucket in found.buckets for doc_id in bucket.doc_ids))[:10]


def _quoted(document: Document) -> Citation:
    first = sentences(document.text)[0]
    end = min(first.end, first.start + LONGEST_EXAMPLE)
    return Citation(document.doc_id, document.version, first.start, end, document.text[first.start : end], 1.0)


def _refused(reason: str) -> Verdict:
    return Verdict(supported=False, contradicted=False, score=0.0, citations=(), because="aggregate", reason=reason)
