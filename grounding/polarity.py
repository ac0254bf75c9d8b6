"""Which words of a text are denied, and which are only wished for, promised or expected. Scope decides, not presence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grounding.opposites import QUALITIES
from grounding.words import Word

_CONTRACTED = "do does did is are was were have has had ca wo would could should must might need ai sha".split()
_NOT = frozenset(
    [f"{stem}{ending}" for stem in _CONTRACTED for ending in ("n't", "nt")]
    + ["not", "cannot", "never", "hardly", "barely", "scarcely", "rarely", "seldom"]
) - {"need", "dont't"}
_NO = frozenset("no without zero lacks lack lacked lacking minus".split())
_NOBODY = frozenset("nobody none nothing noone nowhere neither".split())
_DENYING_VERBS = frozenset(
    "fail fails failed failing unable refuse refuses refused refusing forgot forgets forget impossible neglected neglects declined declines "
    "stop stops stopped prevents prevent prevented avoid avoids avoided quit denies denied deny".split()
)
_OTHER_LANGUAGES = frozenset(
    "no non ne nicht kein keine keinen keinem keiner nie niemals niemand ohne pas jamais aucun aucune rien sans nunca jamás nadie ningún ninguna ninguno "
    "tampoco nessun nessuno nessuna mai senza não nem nenhum nenhuma ninguém sem niet geen nooit niemand zonder inte ingen aldrig ikke nie не нет "
    "никогда никто без nie nikt nigdy bez".split()
)
_OTHER_SCRIPTS = re.compile(r"[不没沒未无無非]|ません|ない|なかった|ぬ|않|못|없")
_ENGLISH = frozenset(
    "the and is to of it my with for that this i not are have were in when after how what where why who which does did could would there from they your".split()
)
_FOREIGN = frozenset(
    "el la los las un una en y que por con ha der die das ist und ein eine nicht mit auf le les des est et il je mon ma lo di che ho per os um uma "
    "het een van ik och jag det jeg".split()
)
_WISHES = frozenset(
    "wish wishes hope hopes hoped hoping supposed expected expecting expect expects promised promises promise advertised should thought "
    "wanted wants want wanting please requested requests requesting assumed pretend pretends pretended".split()
)
_REPORTING = frozenset("said says told claimed claims promised announced wrote".split())
_AUXILIARIES = frozenset("is are was were be been am can could will would shall should may might must do does did has have had".split())
PASSING_VERBS = frozenset("seem seems seemed appear appears appeared".split())
"""Verbs that pass a denial on to what follows, so that their own tone says nothing."""
FAILING_VERBS = frozenset("fail fails failed failing unable".split())
"""Verbs that only deny what follows them: whoever states the opposite does not use them."""

_LIGHT = frozenset(
    "have has had having take takes took taken make makes made give gives gave given seem seems seemed want wants wanted need needs "
    "needed use experience experienced see saw seen think able allow allows allowed let lets find "
    "provide provides provided show shows offer offers encounter encountered face faced notice noticed".split()
)
_ADVERBS = frozenset("ever yet anymore longer always all exactly quite that so too much enough even still again also".split())
_BREAKS = frozenset("but because although though while whereas however except so when if unless until since which who where".split())
_PREPOSITIONS = frozenset("on of in at from with for among about inside within by".split())
_DENYING = _NOBODY | _NOT | _NO | _DENYING_VERBS | {"anything", "far", "instead", "rather", "less"}
_DISTANCING = _WISHES | {"told", "used", "instead", "rather", "if", "would", "will", "could"}
"""The words with which a denial, and those with which a wish or a promise, can begin: all others are passed over."""

_PUNCTUATION = re.compile(r"[.,;:!?()\n–—]|\s-\s")
_REACH = 9


@dataclass(frozen=True, slots=True)
class Tone:
    """How a text stands to one of its words: said, or denied, or not said to be real."""

    denied: bool
    unreal: bool


_TONES = {(denied, unreal): Tone(denied, unreal) for denied in (False, True) for unreal in (False, True)}


def tones(text: str, words: Sequence[Word]) -> tuple[Tone, ...]:
    """One tone per word. A denial reaches the predicate it governs, not the rest of the sentence; two denials cancel."""
    denied = [False] * len(words)
    cancelled: set[int] = set()
    for index, word in enumerate(words):
        if word.lower not in _DENYING or index in cancelled:
            continue
        for head in _heads(text, words, index):
            denied[head] = not denied[head]
            if words[head].lower in _DENYING_VERBS and _denying_verb(text, words, head):
                cancelled.add(head)
                for complement in _heads(text, words, head):
                    denied[complement] = False
    unreal = _unreal(text, words)
    return tuple(_TONES[denied[index], index in unreal] for index in range(len(words)))


def _heads(text: str, words: Sequence[Word], index: int) -> list[int]:
    """The words denied by the word at ``index``, if it denies any."""
    lower = words[index].lower
    following = words[index + 1].lower if index + 1 < len(words) else ""
    reach = list(_reach(text, words, index))
    if lower in {"no", "not"} and following in {"one", "body"} and lower == "no":
        return _subject_heads(words, reach[1:])
    if (lower, following) in {("anything", "but"), ("far", "from"), ("no", "means")}:
        return _predicate_heads(words, list(_after(text, words, index + 1)))
    if lower in _NOBODY:
        return _subject_heads(words, reach)
    if lower in _NOT and _denies(words, index):
        return _predicate_heads(words, reach)
    if lower in _NO and following not in {"longer", "doubt", "matter", "wonder"}:
        return _noun_heads(text, words, index)
    if lower == "no" and following == "longer":
        return _predicate_heads(words, reach[1:])
    if lower in {"instead", "rather"} and following in {"of", "than"}:
        return _noun_heads(text, words, index + 1)
    if lower == "less" and reach and not _number_follows(words, index):
        return reach[:1] if words[reach[0]].content else []
    return _predicate_heads(words, _complement(text, words, index)) if _denying_verb(text, words, index) else []


def _denies(words: Sequence[Word], index: int) -> bool:
    """Not *not only*, *couldn't be happier*, *cannot complain*, *not all*."""
    following = [word.lower for word in words[index + 1 : index + 4]]
    if not following:
        return False
    if following[0] in {"only", "just", "merely", "simply", "all", "every", "everyone", "everything", "least", "sure"}:
        return False
    if words[index].lower in {"can't", "cannot", "cant", "couldn't", "couldnt"}:
        return following[0] not in {"complain", "fault", "wait", "praise", "recommend", "thank"} and not _superlative(following)
    return True


def _superlative(following: Sequence[str]) -> bool:
    return len(following) > 1 and following[0] == "be" and (following[1] in {"more", "any"} or following[1].endswith("er"))


def _denying_verb(text: str, words: Sequence[Word], index: int) -> bool:
    """*fails to*, *unable to*, *stopped working*, *prevented us from*."""
    lower = words[index].lower
    if lower not in _DENYING_VERBS or index + 1 >= len(words):
        return False
    if _PUNCTUATION.search(text, words[index].end, words[index + 1].start):
        return False
    following = [word.lower for word in words[index + 1 : index + 5]]
    if lower.startswith(("prevent", "stop", "avoid", "quit")):
        return following[0].endswith("ing") or "from" in following[:3]
    return following[0] == "to"


def _complement(text: str, words: Sequence[Word], index: int) -> list[int]:
    return [at for at in _reach(text, words, index) if words[at].lower not in {"to", "from"}]


def _reach(text: str, words: Sequence[Word], index: int) -> Iterator[int]:
    """Indices after ``index`` up to the end of its clause."""
    for at in range(index + 1, min(len(words), index + 1 + _REACH)):
        if _PUNCTUATION.search(text, words[at - 1].end, words[at].start) or words[at].lower in _BREAKS:
            return
        yield at


def _after(text: str, words: Sequence[Word], index: int) -> Iterator[int]:
    """Like :func:`_reach`, past a first word that would end the clause."""
    if index + 1 < len(words) and not _PUNCTUATION.search(text, words[index].end, words[index + 1].start):
        yield index + 1
        yield from _reach(text, words, index + 1)


def _predicate_heads(words: Sequence[Word], reach: Sequence[int]) -> list[int]:
    """The first word that says something; light verbs pass the denial on to what they carry, *or* to the next alternative."""
    heads: list[int] = []
    for position, at in enumerate(reach):
        word = words[at]
        if word.lower in {"and", "nor"} and heads:
            break
        if word.lower == "or" and heads:
            heads.extend(_predicate_heads(words, reach[position + 1 :])[:1])
            break
        if not word.content or word.lower in _ADVERBS or _mere_adverb(words, reach, position):
            if heads and word.lower in _PREPOSITIONS:
                break
            continue
        if heads and words[heads[-1]].lower not in _LIGHT:
            continue
        heads.append(at)
    return heads


def _mere_adverb(words: Sequence[Word], reach: Sequence[int], position: int) -> bool:
    word = words[reach[position]]
    later = any(words[at].content for at in reach[position + 1 : position + 3])
    return word.lower.endswith("ly") and later and QUALITIES.get(word.lower, ("", 0))[0] not in {"manners", "punctual"}


def _subject_heads(words: Sequence[Word], reach: Sequence[int]) -> list[int]:
    """What *nobody on my team can …* denies: the predicate after the auxiliary, or the first word outside a prepositional phrase."""
    for position, at in enumerate(reach):
        if words[at].lower in _AUXILIARIES or words[at].lower.endswith("n't"):
            return _predicate_heads(words, reach[position + 1 :])
    skipping = False
    for position, at in enumerate(reach):
        if words[at].lower in _PREPOSITIONS:
            skipping = True
        elif words[at].content:
            if not skipping:
                return _predicate_heads(words, reach[position:])
            skipping = False
    return []


def _noun_heads(text: str, words: Sequence[Word], index: int) -> list[int]:
    """Up to two words in a row after *no* or *without*, and those joined by *and* or *or*."""
    heads: list[int] = []
    run = 0
    for at in _reach(text, words, index):
        word = words[at]
        if word.lower in {"or", "and"} and heads:
            run = 0
        elif word.content and word.lower not in _ADVERBS and run < 2:
            heads.append(at)
            run += 1
        elif heads:
            break
    return heads


def _number_follows(words: Sequence[Word], index: int) -> bool:
    return [word.lower for word in words[index + 1 : index + 2]] == ["than"]


def _unreal(text: str, words: Sequence[Word]) -> set[int]:
    """Words in the reach of a wish, a promise, an expectation or *instead of*, or said of the past only (*used to*)."""
    found: set[int] = set()
    lowers = [word.lower for word in words]
    for index, lower in enumerate(lowers):
        if lower not in _DISTANCING:
            continue
        following = lowers[index + 1] if index + 1 < len(lowers) else ""
        told = lower == "told" and index > 0 and lowers[index - 1] in {"was", "were", "been"}
        past = lower == "used" and following == "to" and (index == 0 or lowers[index - 1] not in _AUXILIARIES | {"got", "get", "getting"})
        instead = (lower, following) in {("instead", "of"), ("rather", "than")}
        wished = (lower == "if" and "would" in lowers[:index]) or (lower == "would" and following in {"like", "love", "appreciate"})
        reported = lower in {"would", "will"} and bool(_REPORTING & set(lowers[max(0, index - 6) : index]))
        better = lower == "could" and following == "be"
        if lower in _WISHES or told or past or instead or wished or reported or better:
            found.update(_reach(text, words, index))
    return found


def in_english(words: Sequence[Word]) -> bool:
    """A guess by function words; a few words of plain letters without any of either kind count as English."""
    lowers = {word.lower for word in words}
    return bool(lowers & _ENGLISH) or (all(lower.isascii() for lower in lowers) and not lowers & _FOREIGN)


def denials_elsewhere(text: str, words: Sequence[Word]) -> int:
    """How many words of denial a text in another language than English holds; scope is not read there."""
    return sum(word.lower in _OTHER_LANGUAGES for word in words) + len(_OTHER_SCRIPTS.findall(text))
