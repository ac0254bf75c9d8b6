"""Whether a sentence keeps to the words of a span. A verifier that weighs words by how rare they are may let *crashes are over* pass on a span about crashes;
whoever only puts into other words what a document says needs no word that is not there.
"""

import itertools

from grounding.languages import SMALL_WORDS, language_of
from grounding.matching import SYNONYM, found
from grounding.reading import Reading, read
from grounding.words import SPEAKER_WORDS, Word

_GLUE = (
    frozenset(
        "a an the this that these those there it its he his she her hers they them their theirs we us our ours i my me mine you your yours who which "
        "whose is are was were be been being am isn't aren't wasn't weren't have has had having haven't hasn't hadn't do does did doing don't doesn't "
        "didn't of in on at to for from with by as into about and also when whenever no not".split()
    )
    | SPEAKER_WORDS
) - {"one", "everyone", "everybody"}
"""Words a sentence may add: they say nothing that the verifier does not read elsewhere, or that whoever wrote the text is meant."""

_TELLING = frozenset(
    "nicht kein keine no ne pas não non niet geen nadie muy très molto más plus più mais muito noch alguien algún alguna al".split()
)
"""Small words of other languages that deny or compare."""


def keeps_to(sentence: str, quote: str) -> bool:
    """Every word of ``sentence`` is in ``quote``, or a word for the same; small words may be added. Figures are the verifier's."""
    claim, said = read(sentence), read(quote)
    stems = {word.stem for word in said.words}
    glue = _glue(sentence)
    near = {meaning.word.start for meaning in claim.meanings if found(meaning, said.held) >= SYNONYM}
    settled = _figures(claim)
    return _pairs(claim) <= _pairs(said) and all(
        word.lower in glue or word.stem in stems or word.start in near or word.start in settled for word in claim.words
    )


def _glue(sentence: str) -> frozenset[str]:
    language = language_of(sentence)
    return SMALL_WORDS[language] - _TELLING if language in SMALL_WORDS else _GLUE


def _figures(claim: Reading) -> set[int]:
    places = [(part.start, part.end) for parts in (claim.quantities, claim.dates, claim.times, claim.codes) for part in parts]
    return {word.start for word in claim.words if any(start <= word.start < end for start, end in places)}


def _pairs(reading: Reading) -> set[str]:
    """Neighbours in scripts without spaces, where a word is a run of characters."""
    return {first.lower + second.lower for first, second in itertools.pairwise(reading.words) if _joined(first, second)}


def _joined(first: Word, second: Word) -> bool:
    return first.end == second.start and min(first.lower, second.lower) >= "\u3040"
