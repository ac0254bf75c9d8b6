"""When a text names those a claim names: whole names, not single words of them."""

from collections.abc import Sequence

from grounding.opposites import EXCLUSIVE
from grounding.reading import Reading
from grounding.words import Word


def share_of_names_missing(claim: Reading, *spans: Reading) -> float:
    """Share of those named in the claim who are named in none of the spans. A name of several words is there when half of them are, and none of these
    belongs to somebody else (*Anna Jones* for *Anna Smith*)."""
    groups = _name_groups(claim)
    there = [any(_group_named(group, span) for span in spans) for group in groups]
    return there.count(False) / len(groups) if groups else 0.0


def _name_groups(claim: Reading) -> list[list[Word]]:
    """Names that stand side by side are one."""
    groups: list[list[Word]] = []
    for name in claim.names:
        if groups and not claim.text[groups[-1][-1].end : name.start].strip(" -"):
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _group_named(group: Sequence[Word], span: Reading) -> bool:
    there = [name for name in group if any(same_name(name, word) for word in span.words)]
    if len(there) * 2 < len(group):
        return False
    return len(there) == len(group) or not any(_somebody_else(name, group, span) for name in there)


def _somebody_else(name: Word, group: Sequence[Word], span: Reading) -> bool:
    """Everywhere in the span the name stands beside another one that the claim does not have."""
    names = span.names
    beside = [
        any(
            not span.text[min(one.end, other.end) : max(one.start, other.start)].strip(" -")
            for other in names
            if other is not one and not _in(other, group)
        )
        for one in names
        if same_name(name, one)
    ]
    return bool(beside) and all(beside)


def _in(word: Word, group: Sequence[Word]) -> bool:
    return any(same_name(name, word) for name in group)


def same_name(name: Word, word: Word) -> bool:
    """Equal, one inside the other, or one made from the other (Libya, Libyan), or of one kind (iPhone, iOS)."""
    if name.stem == word.stem or (len(name.lower) > 3 and name.lower in word.lower):
        return True
    shortest = min(len(name.lower), len(word.lower))
    if shortest > 4 and abs(len(name.lower) - len(word.lower)) <= 3 and name.lower[: shortest - 1] == word.lower[: shortest - 1]:
        return True
    return name.lower in EXCLUSIVE and EXCLUSIVE[name.lower] == EXCLUSIVE.get(word.lower)
