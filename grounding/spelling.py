"""Words that a question misspells: *batery* where the documents write *battery*."""

from collections.abc import Iterable

from grounding.words import SPEAKER_WORDS, STOP_WORDS, Word, rarity, stemmed, words

SHORTEST = 4
"""Letters below which nearly every word is one letter from another."""


_ALIKE = (frozenset("aeiy"), frozenset("cksqz"), frozenset("mn"))


def respelled(question: str, texts: Iterable[str]) -> str:
    """The question with words that are in no text, and that few people use, spelled like the one word of the texts that is a slip of the finger away. Names
    and codes stay as they are."""
    suspects = [word for word in words(question) if _suspect(question, word)]
    if not suspects:
        return question
    used = {word.lower for text in texts for word in words(text) if len(word.lower) >= SHORTEST and word.lower.isalpha()}
    stems = {stemmed(word) for word in used}
    for word in reversed(suspects):
        meant = (
            {stemmed(other): other for other in sorted(used, reverse=True) if _slip(word.lower, other)} if word.stem not in stems else {}
        )
        if len(meant) == 1:
            question = question[: word.start] + next(iter(meant.values())) + question[word.end :]
    return question


def _suspect(question: str, word: Word) -> bool:
    written = question[word.start : word.end]
    plain = written.isascii() and written.isalpha() and (written.islower() or question.isupper()) and len(written) >= SHORTEST
    return plain and word.lower not in STOP_WORDS | SPEAKER_WORDS and rarity(word.lower) == 1.0 and rarity(word.stem) == 1.0


def _slip(word: str, other: str) -> bool:
    """One letter too many or too few, two that changed places, or one for another that sounds alike. First letters are seldom wrong, and a last one more makes
    another word (*tone*, *toner*)."""
    if word[0] != other[0] or abs(len(word) - len(other)) > 1:
        return False
    at = next((at for at, (mine, theirs) in enumerate(zip(word, other, strict=False)) if mine != theirs), min(len(word), len(other)))
    mine, theirs = word[at:], other[at:]
    if len(word) == len(other):
        alike = any(mine[0] in sounds and theirs[0] in sounds for sounds in _ALIKE)
        return (mine[:2] == theirs[1::-1] and mine[2:] == theirs[2:]) or (alike and mine[1:] == theirs[1:])
    return word[-1] == other[-1] and (mine[1:] == theirs or mine == theirs[1:])
