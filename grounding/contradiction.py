"""Spans about the same thing that say the opposite, or give another figure of the same kind. Evidence, not noise."""

from grounding.matching import shared
from grounding.polarity import FAILING_VERBS
from grounding.presence import agreement
from grounding.reading import Meaning, Reading
from grounding.vetoes import number_missing, opposing

_ABOUT = 0.5
_SAME_TOPIC = 0.8


def contradicts(claim: Reading, span: Reading, *, figures: bool) -> bool:
    """Whether the span denies the claim, or (with ``figures``) states another figure: half of the rest must be shared for an opposite, four fifths for
    another figure."""
    return _opposite(claim, span) or (figures and _other_figure(claim, span))


def _opposite(claim: Reading, span: Reading) -> bool:
    differing = agreement(claim, span).differing
    against = {meaning.word.start for meaning in opposing(claim, span) if meaning.word.start in differing or _stated(meaning, span)}
    if not against:
        return False
    rest = [meaning for meaning in claim.topic if meaning.word.start not in against and meaning.word.lower not in FAILING_VERBS]
    return shared(rest, span.held) >= _ABOUT or (not rest and bool(differing))


def _stated(meaning: Meaning, span: Reading) -> bool:
    """Neither side only wishes for it, expects or promises it."""
    return not meaning.tone.unreal and any(not other.tone.unreal for other in span.meanings if not meaning.kin.isdisjoint(other.kin))


def _other_figure(claim: Reading, span: Reading) -> bool:
    if not any(figure.same_kind(said) for figure in claim.quantities for said in span.quantities) or not number_missing(claim, span):
        return False
    figures = [(figure.start, figure.end) for figure in claim.quantities]
    rest = [meaning for meaning in claim.topic if not any(start <= meaning.word.start < end for start, end in figures)]
    return shared(rest, span.held) >= _SAME_TOPIC
