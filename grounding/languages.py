"""Which language a text is in: by script, else by its small words. Enough to say so in a refusal; never used to decide."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from grounding.words import STOP_WORDS, words

_LISTED = {
    "es": "el la los las de que y en un una es por con no se del al lo como más pero sus le ha me si mi alguien algún alguna qué cómo cuándo está nadie muy "
    "puedo puede hay dónde",
    "fr": "le la les de des et en un une est que qui dans pour pas sur avec au ce il je ne se sont du mais ou mon ma quel quelle comment pourquoi très plus",
    "de": "der die das und ist nicht ein eine zu den mit von auf für im dem sich des es ich war wie was wer wann warum sind auch bei noch kein keine "
    "mein meine meinem meinen wir ihr wo wieso haben kann gibt",
    "it": "il lo la gli le di che e un una è per con non si del della al come più ma mi sono questo quando perché ho ha nel nella alla chi molto",
    "pt": "o a os as de que e em um uma é por com não se do da no na ao como mais mas meu minha foi está quem quando ele ela muito para",
    "nl": "de het een en is van ik niet te dat die in op met voor zijn er maar om aan ook als wie wat waar waarom hoe naar geen bij nog wordt",
}
SMALL_WORDS: Mapping[str, frozenset[str]] = {code: frozenset(listed.split()) for code, listed in _LISTED.items()}
"""Language → words that carry grammar and no topic."""

_SCRIPTS = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CJK": "zh",
    "CYRILLIC": "ru",
    "ARABIC": "ar",
    "HEBREW": "he",
    "GREEK": "el",
    "THAI": "th",
    "DEVANAGARI": "hi",
}
_NAMES = {
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "de": "German",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "ja": "Japanese",
    "ko": "Korean",
    "zh": "Chinese",
    "ru": "Russian",
    "ar": "Arabic",
    "he": "Hebrew",
    "el": "Greek",
    "th": "Thai",
    "hi": "Hindi",
}

LANGUAGE_NAMES = tuple(_NAMES.values())


_ALL_SMALL = frozenset().union(*SMALL_WORDS.values())


def language_of(text: str) -> str:
    """The two-letter code of the language, empty when it cannot be told."""
    if text.isascii():
        return _by_small_words(text)
    scripts = Counter(_script(sign) for sign in text[:400] if sign.isalpha())
    total = sum(scripts.values())
    if scripts["ja"] and scripts["ja"] + scripts["zh"] > total / 2:
        return "ja"
    foreign, count = max(((code, number) for code, number in scripts.items() if code), key=lambda item: (item[1], item[0]), default=("", 0))
    return foreign if count > total / 2 else _by_small_words(text)


def main_language(texts: Iterable[tuple[str | None, str]]) -> str:
    """The language of most of the texts; each comes with the language it is stored with, if any."""
    codes = Counter(known[:2].lower() if known else language_of(text) for known, text in texts)
    del codes[""]
    return min(codes, key=lambda code: (-codes[code], code), default="")


def language_name(code: str) -> str:
    """``Spanish (es)``; the code alone for languages without a name here."""
    return f"{_NAMES[code]} ({code})" if code in _NAMES else code


def _by_small_words(text: str) -> str:
    """The language with most small words; English unless another has more, since short words are shared by many."""
    found = [word.lower for word in words(text[:400])]
    english = sum(word in STOP_WORDS for word in found)
    shared = [word for word in found if word in _ALL_SMALL]
    scores = {code: sum(word in small for word in shared) for code, small in SMALL_WORDS.items()}
    best = max(scores, key=lambda code: (scores[code], code))
    if scores[best] > english:
        rivals = [code for code in scores if code != best and scores[code] == scores[best]]
        return "" if rivals else best
    return "en" if english else ""


def _script(sign: str) -> str:
    if sign.isascii():
        return ""
    name = unicodedata.name(sign, "").partition(" ")[0]
    return _SCRIPTS.get(name, "")
