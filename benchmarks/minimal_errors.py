"""Claims about real customer messages, right ones and ones with a small error put in: made from BANKING77 (CC BY 4.0) with a fixed seed."""

import csv
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.claim_sets import Pair, split_up
from grounding.clauses import clauses
from grounding.sentences import sentences
from grounding.words import Word, rarity, words

_FILLERS = frozenset("please just really still very also even".split())
_TELLING = 0.35


def minimal_errors(folder: Path, count: int = 3_000, seed: int = 0) -> list[Pair]:
    """Right claims retell a message, or its longest clause, of the customer instead of *I*. Wrong ones have a telling word replaced by one from another
    message of the same intent, or words of it added, or retell the other message. Every second message stands beside an unrelated one. Folds by intent."""
    rows = _messages(folder)
    by_intent: dict[str, list[str]] = defaultdict(list)
    for text, intent in rows:
        by_intent[intent].append(text)
    generator = random.Random(seed)
    made = [_pair(generator, number, text, intent, by_intent) for number, (text, intent) in enumerate(generator.sample(rows, count))]
    return [pair for pair in made if pair is not None]


def _messages(folder: Path) -> list[tuple[str, str]]:
    with (folder / "banking77" / "banking_data__train.csv").open(encoding="utf-8", newline="") as lines:
        return [(row["text"].strip(), row["category"]) for row in csv.DictReader(lines)]


def _pair(generator: random.Random, number: int, text: str, intent: str, by_intent: Mapping[str, Sequence[str]]) -> Pair | None:
    telling = _telling(text)
    other = generator.choice([message for message in by_intent[intent] if message != text])
    foreign = [word for word in _telling(other) if word.stem not in {known.stem for known in telling}]
    if len(telling) < 3 or not foreign:
        return None
    kind = number % 6
    claim = (_retold, _longest, _without_fillers, _swapped, _other, _extended)[kind](generator, text, other, telling, foreign)
    unrelated = (generator.choice(by_intent[generator.choice(sorted(by_intent))]),) if number % 2 else ()
    return Pair(_third_person(claim), (*split_up(text), *unrelated), "supports" if kind < 3 else "neither", intent)


def _telling(text: str) -> list[Word]:
    return [word for word in words(text) if word.content and word.lower.isalpha() and rarity(word.lower) > _TELLING]


def _retold(_generator: random.Random, text: str, _other: str, _telling_words: Sequence[Word], _foreign: Sequence[Word]) -> str:
    return text


def _longest(_generator: random.Random, text: str, _other: str, _telling_words: Sequence[Word], _foreign: Sequence[Word]) -> str:
    return max((clause.of(sentence.of(text)) for sentence in sentences(text) for clause in clauses(sentence.of(text))), key=len)


def _without_fillers(_generator: random.Random, text: str, _other: str, _telling_words: Sequence[Word], _foreign: Sequence[Word]) -> str:
    return " ".join(word for word in text.split() if word.lower().strip(".,?!") not in _FILLERS)


def _swapped(generator: random.Random, text: str, _other: str, telling: Sequence[Word], foreign: Sequence[Word]) -> str:
    word = generator.choice(telling)
    return text[: word.start] + generator.choice(foreign).lower + text[word.end :]


def _other(_generator: random.Random, _text: str, other: str, _telling_words: Sequence[Word], _foreign: Sequence[Word]) -> str:
    return other


def _extended(generator: random.Random, text: str, _other_text: str, _telling_words: Sequence[Word], foreign: Sequence[Word]) -> str:
    added = generator.sample(list(foreign), min(len(foreign), 1 + generator.randrange(2)))
    return f"{text.rstrip('.?! ')} {generator.choice(['and', 'because of', 'with', 'for the'])} {' '.join(word.lower for word in added)}"


def _third_person(text: str) -> str:
    told = re.sub(r"\bI'm\b", "The customer is", text)
    return re.sub(r"\bI\b", "the customer", re.sub(r"\b[Mm]y\b", "the customer's", told))
