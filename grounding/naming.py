"""Which themes and accounts a question names, and how ids are written in a sentence."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from grounding.attributes import Attributes
from grounding.frames import subject_words
from grounding.words import STOP_WORDS, words

_PIECES = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_ACCOUNT = re.compile(
    r"\b(?:account|customer|client|company|tenant)\s+(?:(?:id|number|no\.?|called|named)\s+)?[“\"']?(\w[\w.@:/-]*\w|\w)[”\"']?",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?<![\w.@:/-])[^\W_]\w*(?:[.@:/_-]+\w+)+(?![\w@])")
_ID_LIKE = re.compile(r"(?<![\w-])(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[\w][\w.-]*\w")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names a tenant uses. ``has_account`` asks the store about one id; ``dated`` gives the first and last day of the documents (UTC), None when there
    are none; ``attributes`` those of the newest documents."""

    themes: Callable[[], tuple[str, ...]]
    sources: Callable[[], tuple[str, ...]]
    has_account: Callable[[str], bool]
    dated: Callable[[], tuple[date, date] | None] = lambda: None
    attributes: Callable[[], Attributes] = Attributes


@dataclass(frozen=True, slots=True)
class Named:
    """An id that a question names, with the stems that named it."""

    name: str
    stems: frozenset[str]

    @property
    def every_stem(self) -> frozenset[str]:
        """Also those of words without content: the *up* of ``pending_top_up``."""
        return frozenset(word.stem for word in words(spoken(self.name)))


def spoken(name: str) -> str:
    """An id as words: ``late_delivery`` → ``late delivery``."""
    return " ".join(piece for piece in _PIECES.split(name) if piece).lower() or name


@lru_cache(maxsize=10_000)
def stems_of(name: str) -> frozenset[str]:
    """Stems of the content words of an id; of all its words when it has no content word."""
    found = words(spoken(name))
    return frozenset(word.stem for word in found if word.lower not in STOP_WORDS) or frozenset(word.stem for word in found)


def named_in(text: str, names: Iterable[str]) -> tuple[Named, ...]:
    """The names all of whose stems occur in ``text``, in the order of the text. A name inside a longer one that is named too does not count, nor one of
    which the text leaves out a word (the *getting* of ``getting_virtual_card``) when the rest is in the name of another as well."""
    order = {word.stem: position for position, word in reversed(tuple(enumerate(words(text))))}
    listed = tuple(names)
    hits = [Named(name, stems) for name in listed if (stems := stems_of(name)) and stems <= order.keys()]
    kept = [hit for hit in hits if not any(hit.stems < other.stems for other in hits)]
    kept = [hit for hit in kept if hit.every_stem <= order.keys() or len(themes_holding(hit.stems, listed)) == 1]
    return tuple(sorted(kept, key=lambda hit: (min(order[stem] for stem in hit.stems), hit.name)))


def themes_holding(stems: frozenset[str], themes: Iterable[str]) -> tuple[str, ...]:
    """The themes whose names hold all of these words."""
    return tuple(theme for theme in themes if stems and stems <= stems_of(theme))


def names_theme(text: str, themes: Iterable[str]) -> bool:
    """Whether ``text`` names a theme, or says in two words or more nothing that is not in the name of one (*charged twice*)."""
    listed = tuple(themes)
    said = frozenset(word.stem for word in subject_words(text))
    return bool(named_in(text, listed)) or (len(said) > 1 and bool(themes_holding(said, listed)))


def joined_in(text: str) -> tuple[str, ...]:
    """What is written as one word with signs inside: *acme-gmbh*, *anna@example.com*."""
    return tuple(dict.fromkeys(_JOINED.findall(text)))


def account_meant(text: str, lowers: frozenset[str] | None, has_account: Callable[[str], bool]) -> str | None:
    """The one account that the subject of ``text`` names without calling it so; of its words only those in ``lowers``, or every one."""
    joined = joined_in(text)
    loose = [text[word.start : word.end] for word in subject_words(text) if lowers is None or word.lower in lowers]
    pieces = {word.lower for name in joined for word in words(name)}
    tried = [name for name in joined if lowers is None or lowers & {word.lower for word in words(name)}]
    tried += [name for name in loose if name.lower() not in pieces]
    known = [name for name in dict.fromkeys(tried[:_TRIED]) if has_account(name)]
    return known[0] if len(known) == 1 else None


_TRIED = 5


def accounts_in(text: str, has_account: Callable[[str], bool]) -> tuple[str, ...]:
    """Accounts of the tenant that ``text`` names: behind the word *account* or *customer*, or written as an id."""
    candidates = [*(match.group(1) for match in _ACCOUNT.finditer(text)), *_ID_LIKE.findall(text)]
    likely = [name for name in dict.fromkeys(candidates) if name.lower() not in STOP_WORDS]
    return tuple(name for name in likely[:8] if has_account(name))
