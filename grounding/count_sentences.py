"""How numeric claims are worded. Names from the store stand in quotation marks; every number outside them is one of the proof's."""

import re
from dataclasses import replace

from grounding.answers import ClaimKind, Draft, Proof
from grounding.attributes import spelled
from grounding.naming import spoken
from grounding.periods import Period
from grounding.proofs import MOST_FREQUENT, Counted, percent
from grounding.question_parts import Part, Side
from grounding.ratings import RatingRange
from grounding.significance import wilson
from grounding.trends import MIN_INTERVALS, direction_of

SHOWN_INTERVALS = 8
SHOWN_GROUPS = 12
_PLAIN_KEY = re.compile(r"[A-Za-z]{1,20}(?:[_ -][A-Za-z]{1,20})?")


def numeric_draft(text: str, kind: ClaimKind, proof: Proof) -> Draft:
    """A draft about a number."""
    return Draft(text[0].upper() + text[1:], kind, proof.doc_ids, proof, proof.value)


def count_draft(proof: Proof, side: Side | None, part: Part) -> Draft:
    """*57 of 80 documents have the theme …*, with share and verdict on a majority where the question wants them."""
    text = f"{proof.value} of {documents(proof.denominator)}{scope_of(part)} {says(side, proof.value)}."
    if side is None:
        text = f"there {'is' if proof.value == 1 else 'are'} {documents(proof.value)}{scope_of(part)}."
    if part.majority:
        text = f"{_majority(proof)}: {text}"
    return numeric_draft(with_share(text, proof) if part.share or part.majority else text, ClaimKind.COUNT, proof)


def rated_draft(part_proof: Proof, whole: Proof, rated: Part, everyone: Part) -> Draft:
    """*24 of 48 documents have a rating of 1*, with the share: two counts, the one a part of the other."""
    filters, proof = rated.filters, replace(part_proof, denominator=whole.value)
    has = "has" if proof.value == 1 else "have"
    worded = RatingRange(filters.rating_min, filters.rating_max).worded
    text = with_share(f"{proof.value} of {documents(whole.value)}{scope_of(everyone)} {has} {worded}.", proof)
    text = f"{_majority(proof)}: {text}" if rated.majority else text
    return numeric_draft(text, ClaimKind.COUNT, replace(part_proof, against=whole))


def lacking_draft(proof: Proof, side: Side, part: Part) -> Draft:
    """*40 of 46 documents do not have the theme …; 6 do.* The proof is of those that do, so the documents that are listed are they."""
    rest = proof.denominator - proof.value
    does = "does" if rest == 1 else "do"
    text = f"{rest} of {documents(proof.denominator)}{scope_of(part)} {does} not {says(side, 2).replace(' and contain', ' or contain')}"
    listed = {0: "0 do", 1: "1 does, which is the one listed"}.get(proof.value, f"{proof.value} do, and the documents listed are of these")
    return numeric_draft(f"{text}; {listed}.", ClaimKind.COUNT, proof)


def outside_draft(part_proof: Proof, whole: Proof, limited: Part, everyone: Part) -> Draft:
    """*4 of 7 documents are not among the 3 with city “York”*: two counts, the one a part of the other; listed are those of the smaller."""
    rest = whole.value - part_proof.value
    is_not = "is not" if rest == 1 else "are not"
    text = f"{rest} of {documents(whole.value)}{scope_of(everyone)} {is_not} among the {part_proof.value}{scope_of(limited)}"
    listed = ", and the documents listed are of these" if part_proof.value else ""
    return numeric_draft(f"{text}{listed}.", ClaimKind.COUNT, replace(part_proof, against=whole))


def without_theme_draft(found: Counted, part: Part) -> Draft:
    """*Of 46 documents 6 carry no theme.*"""
    proof, without = found.proof(), found.found.without
    text = f"of {documents(proof.value)}{scope_of(part)} {without} {'carries' if without == 1 else 'carry'} no theme."
    return numeric_draft(text, ClaimKind.COUNT, proof)


def _majority(proof: Proof) -> str:
    return "yes, more than half" if 2 * proof.value > proof.denominator else "no, not more than half"


def distinct_draft(found: Counted, dimension: str, side: Side | None, part: Part) -> Draft:
    """*There are 12 accounts in 80 documents; 3 of these carry no account.*"""
    proof, number, without = found.proof(), len(found.found.buckets), found.found.without
    are = "is" if number == 1 else "are"
    said = f" that {says(side, proof.value)}" if side else ""
    rest = f"; {without} of these {'carries' if without == 1 else 'carry'} no {dimension}" if without and side else ""
    text = f"there {are} {number} {dimension}{'s' * (number != 1)} in {documents(proof.value)}{scope_of(part)}{said}{rest}."
    return numeric_draft(text, ClaimKind.COUNT, proof)


def bucket_draft(proof: Proof, dimension: str, scope: str) -> Draft:
    """*Theme “billing”: 12 of 80 documents.*"""
    text = f"{dimension.capitalize()} “{proof.bucket}”: {proof.value} of {documents(proof.denominator)}{scope}."
    return numeric_draft(text, ClaimKind.COUNT, proof)


def leader_draft(found: Counted, dimension: str, scope: str) -> Draft:
    """The first bucket of a ranking that has no equal, with its share and how many documents no bucket holds."""
    proof = found.proof(found.found.buckets[0].key)
    without = found.found.without
    rest = f"; {without} of them {'carries' if without == 1 else 'carry'} no {dimension}" if without else ""
    text = f"{MOST_FREQUENT} {dimension} is “{proof.bucket}”: {proof.value} of {documents(proof.denominator)}{scope}."
    return numeric_draft(with_share(text, proof)[:-1] + f"{rest}.", ClaimKind.COUNT, proof)


def tie_draft(found: Counted, dimension: str, scope: str) -> Draft:
    """No bucket stands out: so many share the first place that a ranking would be an accident of names."""
    proof = found.proof(found.found.buckets[0].key)
    others = tied(found) - 1
    text = (
        f"No {dimension} stands out: “{proof.bucket}” and {others} others have {proof.value} of {documents(proof.denominator)}{scope} each."
    )
    return numeric_draft(text, ClaimKind.COUNT, proof)


def tied(found: Counted) -> int:
    """How many buckets share the first place."""
    return sum(bucket.count == found.found.buckets[0].count for bucket in found.found.buckets)


def with_share(text: str, proof: Proof) -> str:
    """The sentence with the share in percent and its interval."""
    low, high = wilson(proof.value, proof.denominator)
    share = percent(proof.value / proof.denominator) if proof.denominator else 0
    return f"{text.removesuffix('.')} ({share} %, 95 % interval {percent(low)} % to {percent(high)} %)."


def trend_draft(proof: Proof, side: Side | None, part: Part) -> Draft:
    """Whether the series rises or falls, and the counts that say so."""
    direction = {1: "rising", -1: "falling", 0: "neither rising nor falling beyond chance"}[direction_of(proof)]
    about = f"documents{scope_of(replace(part, period=None, filters=replace(part.filters, since=None, before=None)))}"
    about += f" that {says(side, 2)}" if side else ""
    first, last, unit = proof.counts[0][0], proof.counts[-1][0], proof.aggregation
    shown = ", ".join(str(count) for _, count in proof.counts) + f" per {unit} from {first} to {last}"
    if len(proof.counts) > SHOWN_INTERVALS:
        half = len(proof.counts) // 2
        early, late = sum(n for _, n in proof.counts[:half]), sum(n for _, n in proof.counts[half:])
        shown = f"{early} in the first {half} {unit}s from {first}, {late} in the last {len(proof.counts) - half} up to {last}"
    return numeric_draft(f"{about} are {direction}: {shown}.", ClaimKind.TREND, proof)


def peak_drafts(found: Counted) -> tuple[Draft, ...]:
    """The interval with more documents than any other, if there is one."""
    buckets = found.found.buckets
    highest = max((bucket.count for bucket in buckets), default=0)
    at = [bucket for bucket in buckets if bucket.count == highest]
    if len(at) != 1 or len(buckets) < MIN_INTERVALS:
        return ()
    proof = found.proof(at[0].key)
    interval = f"the {found.aggregation} of {proof.bucket}" if found.aggregation != "day" else f"{proof.bucket}"
    return (numeric_draft(f"The peak is {interval}: {proof.value} of {documents(proof.denominator)}.", ClaimKind.TREND, proof),)


def comparison_draft(larger: tuple[Proof, Side | None, Part], smaller: tuple[Proof, Side | None, Part]) -> Draft:
    """Which of two counts is larger, resting on both."""
    (more, first, there), (less, second, elsewhere) = larger, smaller
    told = f" that {says(first, 2)}" if there.places and first is not None else ""
    relation = f"as many documents{told} as" if more.value == less.value else f"more documents{told} than"
    text = f"{_named(first, there)} has {relation} {_named(second, elsewhere)}: {more.value} against {less.value}."
    return Draft(
        text[0].upper() + text[1:], ClaimKind.COMPARISON, (*more.doc_ids[:2], *less.doc_ids[:2]), replace(more, against=less), more.value
    )


def part_draft(proof: Proof, dimension: str, side: Side | None, part: Part) -> Draft:
    """*500 of 2,000 documents are from source “email”*, with the share; the documents may be those of a theme or with words."""
    counted = f"{documents(proof.denominator)}{scope_of(part)}" + (f" that {says(side, proof.denominator)}" if side else "")
    come = "comes" if proof.value == 1 else "come"
    text = with_share(f"{proof.value} of {counted} {come} from {dimension} “{proof.bucket}”.", proof)
    if part.majority:
        text = f"{_majority(proof)}: {text}"
    return numeric_draft(text, ClaimKind.COUNT, proof)


def grouped_draft(found: Counted, dimension: str, side: Side | None, part: Part) -> Draft:
    """*80 documents by source: “chat” 50, “email” 30*, the most frequent first."""
    proof, buckets = found.series(), found.found.buckets
    shown = ", ".join(f"“{bucket.key}” {bucket.count}" for bucket in buckets[:SHOWN_GROUPS])
    rest = ", and others with no more than the last of these" if len(buckets) > SHOWN_GROUPS else ""
    without = f", and {found.found.without} without {dimension}" if found.found.without else ""
    counted = f"{documents(proof.value)}{scope_of(part)}" + (f" that {says(side, proof.value)}" if side else "")
    return numeric_draft(f"{counted} by {dimension}: {shown}{rest}{without}.", ClaimKind.COUNT, proof)


def account_draft(proof: Proof, part: Part) -> Draft:
    """How many documents an account wrote."""
    verb = "comes" if proof.value == 1 else "come"
    text = f"{proof.value} of {documents(proof.denominator)} {verb} from account “{part.account}”{during(part)}."
    return numeric_draft(text, ClaimKind.COUNT, proof)


def documents(count: int) -> str:
    """*1 document*, *2 documents*."""
    return f"{count} document{'s' * (count != 1)}"


def says(side: Side | None, count: int) -> str:
    """What the documents of a side do: have a theme, or contain words, or both."""
    if side is None:
        return ""
    single = count == 1
    parts = [f"{'has' if single else 'have'} the theme “{side.theme}”"] if side.theme else []
    parts += [f"{'contains' if single else 'contain'} {quoted(side.match)}"] if side.match else []
    return " and ".join(parts)


def quoted(match: str) -> str:
    """The words and phrases of a match, each in quotation marks."""
    pieces = [piece.strip() for piece in match.split('"')]
    named = [f"“{phrase}”" for phrase in pieces[1::2] if phrase] + [f"“{word}”" for piece in pieces[::2] for word in piece.split()]
    return " and ".join(named)


def scope_of(part: Part) -> str:
    """Which documents were counted, when not all of them."""
    filters, said = part.filters, ""
    if filters.account_ids:
        said += f" of account {_listed(filters.account_ids)}"
    if filters.sources:
        said += f" from source {_listed(filters.sources)}"
    if filters.theme_ids:
        said += f" with theme {_listed(filters.theme_ids)}"
    if filters.rating_min is not None or filters.rating_max is not None:
        said += f" with {RatingRange(filters.rating_min, filters.rating_max).worded}"
    said += "".join(f" with {_called(key)} “{spelled(value)}”" for key, value in filters.attributes)
    if filters.doc_ids:
        said += " that pass the filters"
    return said + during(part)


def _called(key: str) -> str:
    """The name of an attribute, in quotation marks when it is more than a plain word or two."""
    return spoken(key) if _PLAIN_KEY.fullmatch(key) else f"“{key}”"


def during(part: Part) -> str:
    """The range of time the question or the request names."""
    period = part.period
    if period is None:
        return " in the given time" if part.filters.since or part.filters.before else ""
    return f" on {period.since}" if period.since is not None and period.since == period.until else f" {_ranged(period)}"


def _ranged(period: Period) -> str:
    if period.since is not None and period.since == period.until:
        return f"{period.since}"
    if period.until is not None:
        return f"from {period.since} to {period.until}" if period.since else f"until {period.until}"
    return f"since {period.since}"


def _named(side: Side | None, part: Part) -> str:
    if part.places or side is None:
        period = part.places[0].period
        return f"“{part.places[0].label}”" if period is None else f"the time {_ranged(period)}"
    return f"“{side.theme}”" if side.match is None else quoted(side.match)


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join(f"“{name}”" for name in names)
