"""The stemmer of Lucene's ``porter_stem`` filter, which differs from the textbook and from Snowball in a few rules.

Porter, 1980, "An algorithm for suffix stripping", with Lucene's departures: ``bli`` becomes ``ble``, ``logi`` becomes ``log``, any doubled
consonant but l, s and z is undoubled, and words of one or two letters are left alone.
"""

from functools import lru_cache

_VOWELS = "aeiou"

_DOUBLE_SUFFIXES = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
)
_SINGLE_SUFFIXES = (("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""))
_LAST_SUFFIXES = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou"),
    *("ism", "ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=131_072)
def stem(word: str) -> str:
    """The stem of one lower-case word: ``grokked`` gives ``grok``, ``possibly`` gives ``possibl``."""
    if len(word) < 3 and _units(word) < 3:
        return word
    word = _without_inflection(_without_plural(word))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    if len(word) > 1:
        word = _replaced(word, _DOUBLE_SUFFIXES)
    word = _replaced(word, _SINGLE_SUFFIXES)
    if len(word) > 1:
        word = _without_last_suffix(word)
    return _without_final_letters(word)


def _units(word: str) -> int:
    """Length as Lucene sees it: a letter beyond the basic plane counts twice."""
    return len(word.encode("utf-16-le", "surrogatepass")) // 2


def _without_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "i"
    return word[:-1] if word.endswith("s") and word[-2] != "s" else word


def _without_inflection(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _repaired(rest) if "v" in _shape(rest) else word
    return word


def _repaired(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _doubled(word):
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _short(word) else word


def _replaced(word: str, suffixes: tuple[tuple[str, str], ...]) -> str:
    for suffix, replacement in suffixes:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if _measure(rest) > 0 else word
    return word


def _without_last_suffix(word: str) -> str:
    for suffix in _LAST_SUFFIXES:
        if word.endswith(suffix):
            rest = word[:-3] if suffix in ("sion", "tion") else word[: -len(suffix)]
            return rest if _measure(rest) > 1 else word
    return word


def _without_final_letters(word: str) -> str:
    measure = _measure(word)
    if word.endswith("e") and (measure > 1 or (measure == 1 and not _short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("l") and _doubled(word) and measure > 1 else word


def _shape(word: str) -> str:
    """``c`` for each consonant and ``v`` for each vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c" if letter < "\U00010000" else "cc"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """True for an end of consonant, vowel, consonant other than w, x, y: the words that take an e."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"
