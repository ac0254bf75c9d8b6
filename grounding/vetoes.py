"""Reasons for which a span cannot bear out a claim, however alike the two are. Any one rejects."""

from collections.abc import Callable, Sequence

from grounding.answers import Because
from grounding.entities import excludes
from grounding.name_matching import share_of_names_missing
from grounding.opposites import SYNONYMS
from grounding.polarity import denials_elsewhere, in_english
from grounding.presence import NONE, agreement
from grounding.quantifiers import SOME
from grounding.quantities import Code, Quantity
from grounding.reading import Meaning, Reading

_ASKING = frozenset(
    "is are was were do does did can could will would should has have had may am isn't aren't don't doesn't didn't can't won't couldn't".split()
)
_FAILINGS = frozenset({"working", "finding", "availability", "presence"})
_DOUBTED = 0.5
_NEAR = 5


def veto(claim: Reading, span: Reading) -> Because:
    """The class of the first reason that rejects, or ``""``."""
    for because, rejects in _VETOES:
        if rejects(claim, span):
            return because
    return ""


def wrong_kind(claim: Reading, span: Reading) -> bool:
    """The claim is about one of a kind (Android), the span about another (iPhone), or about a code, version or address that is not there."""
    return excludes(claim.kinds, span.kinds) or any(not _has_code(code, claim, span) for code in claim.codes)


def _has_code(code: Code, claim: Reading, span: Reading) -> bool:
    """The same identifier, or a well-known other name of it (COVID-19, SARS-CoV-2)."""
    if any(code.key == said.key for said in span.codes):
        return True
    groups = SYNONYMS.get(claim.text[code.start : code.end].lower(), frozenset())
    return any(groups & meaning.synonyms for meaning in span.meanings)


def number_missing(claim: Reading, span: Reading) -> bool:
    """A figure or time of day of the claim is not in the span, or only as what was promised, denied or expected."""
    stated = _real(span) if not claim.unreal else span.quantities
    figures = [quantity for quantity in claim.quantities if not _article(claim, quantity)]
    if any(not any(figure.borne_out_by(said) for said in stated) for figure in figures):
        return True
    return any(not any(time.borne_out_by(said) for said in span.times) for time in claim.times)


def _article(claim: Reading, quantity: Quantity) -> bool:
    """``a week`` asserts no figure by itself; ``over a week`` does."""
    return quantity.comparison == "equal" and claim.text[quantity.start : quantity.start + 2].lower() in {"a ", "an"}


def _real(span: Reading) -> tuple[Quantity, ...]:
    return tuple(said for said in span.quantities if not any(start < said.end and said.start < end for start, end in span.unreal))


def share_of_figures_missing(claim: Reading, *spans: Reading) -> float:
    """Of the claim's figures, dates, times and codes, how many are in none of the spans; 0..1, 0 when it states none."""
    there = [
        any(part.borne_out_by(said) for span in spans for said in span.quantities) for part in claim.quantities if not _article(claim, part)
    ]
    there += [any(part.borne_out_by(said) for span in spans for said in span.dates) for part in claim.dates]
    there += [any(part.borne_out_by(said) for span in spans for said in span.times) for part in claim.times]
    there += [any(_has_code(code, claim, span) for span in spans) for code in claim.codes]
    return there.count(False) / len(there) if there else 0.0


def date_missing(claim: Reading, span: Reading) -> bool:
    """A date, month, weekday or year of the claim is not in the span."""
    return any(not any(date.borne_out_by(said) for said in span.dates) for date in claim.dates)


def opposed(claim: Reading, span: Reading) -> bool:
    """What the claim says, the span denies or says the opposite of, or only wishes for or asks; or who does what to whom is swapped."""
    if not (in_english(claim.words) and in_english(span.words)):
        return denials_elsewhere(claim.text, claim.words) % 2 != denials_elsewhere(span.text, span.words) % 2
    return bool(opposing(claim, span)) or _doubted(claim, span) or _swapped(claim, span) or _compared_the_other_way(claim, span)


def opposing(claim: Reading, span: Reading) -> tuple[Meaning, ...]:
    """The claim's words of which the span says the opposite and nowhere the same."""
    found: tuple[Meaning, ...] = ()
    if not claim.refuted_by.isdisjoint(span.stands):
        kin = span.kin
        found = tuple(meaning for meaning in claim.asserted if not meaning.kin.isdisjoint(kin) and _contrary(meaning, span.meanings))
    there = agreement(claim, span)
    if there is not NONE:
        found = tuple(meaning for meaning in found if meaning.word.start not in there.agreed)
        missing = tuple(meaning for meaning in claim.meanings if meaning.word.start in there.differing and meaning not in found)
        return found + missing
    return () if _same_failure(claim, span, found) else found


def _contrary(meaning: Meaning, said: Sequence[Meaning]) -> bool:
    alike = [other for other in said if not meaning.kin.isdisjoint(other.kin)]
    return bool(alike) and not any(_agree(meaning, other) for other in alike)


def _agree(meaning: Meaning, other: Meaning) -> bool:
    if meaning.quality and meaning.quality == other.quality:
        return meaning.sign == other.sign and (meaning.tone.unreal or not other.tone.unreal)
    if meaning.same_word(other):
        return meaning.tone.denied == other.tone.denied
    return meaning.tone.denied != other.tone.denied


def _same_failure(claim: Reading, span: Reading, found: Sequence[Meaning]) -> bool:
    """*Export is broken* and *cannot export* say the same, though one denies a word the other asserts."""
    if not found or any(meaning.quality for meaning in found):
        return False
    if all(meaning.tone.denied for meaning in found):
        return _fails(span) and not _fails(claim)
    return _fails(claim) and not any(meaning.tone.denied for meaning in found) and not _fails(span)


def _fails(reading: Reading) -> bool:
    """Something is broken, missing, unavailable or absent."""
    return any(meaning.quality in _FAILINGS and meaning.sign < 0 for meaning in reading.meanings)


def _doubted(claim: Reading, span: Reading) -> bool:
    """Most of what matches is wished for, promised or asked in the span, but asserted in the claim."""
    if claim.unreal or claim.text.rstrip().endswith("?"):
        return False
    if _asks(span):
        return True
    matched = [(meaning.weight, [other for other in span.meanings if meaning.same_word(other)]) for meaning in claim.topic]
    total = sum(weight for weight, others in matched if others)
    unreal = sum(weight for weight, others in matched if others and all(other.tone.unreal for other in others))
    return total > 0 and unreal / total > _DOUBTED


def _asks(span: Reading) -> bool:
    """A yes-or-no question asserts neither answer."""
    return bool(span.words) and span.text.rstrip().endswith("?") and span.words[0].lower in _ASKING and span.text.count(".") == 0


def _swapped(claim: Reading, span: Reading) -> bool:
    """Around a shared word, what stood before stands after and the other way round, both in the active voice."""
    if _passive(claim) != _passive(span):
        return False
    place = {meaning.word.stem: at for at, meaning in enumerate(span.meanings)}
    shared = [meaning.word.stem for meaning in claim.meanings]
    if len(set(shared)) != len(shared):
        return False
    places = [place.get(stem) for stem in shared]
    return any(_crosses(places, pivot) for pivot in range(1, len(places) - 1))


def _crosses(places: Sequence[int | None], pivot: int) -> bool:
    middle = places[pivot]
    if middle is None:
        return False
    before = [at for at in places[:pivot] if at is not None]
    after = [at for at in places[pivot + 1 :] if at is not None]
    if not before or not after:
        return False
    return all(0 < at - middle <= _NEAR for at in before) and all(0 < middle - at <= _NEAR for at in after)


def _compared_the_other_way(claim: Reading, span: Reading) -> bool:
    """*The old one is faster than the new* against *The new one is faster than the old*."""
    first, second = _around_than(claim), _around_than(span)
    if first is None or second is None:
        return False
    (claim_before, claim_after), (before, after) = first, second
    crossed = claim_before & (after - before)
    return bool(crossed) and bool(claim_after & (before - after))


def _around_than(reading: Reading) -> tuple[set[str], set[str]] | None:
    at = next((word.start for word in reading.words if word.lower == "than"), None)
    if at is None:
        return None
    stems = [(meaning.word.start, meaning.word.stem) for meaning in reading.meanings]
    return {stem for start, stem in stems if start < at}, {stem for start, stem in stems if start > at}


def _passive(reading: Reading) -> bool:
    lowers = [word.lower for word in reading.words]
    return "by" in lowers


def overstated(claim: Reading, span: Reading) -> bool:
    """The claim says *all, always, most* or *often* where the span does not."""
    return claim.strength > SOME and claim.strength > span.strength


_VETOES: tuple[tuple[Because, Callable[[Reading, Reading], bool | float]], ...] = (
    ("entity", wrong_kind),
    ("number", number_missing),
    ("date", date_missing),
    ("negation", opposed),
    ("entity", share_of_names_missing),
    ("quantifier", overstated),
)
