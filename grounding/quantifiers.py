"""How much a text says holds: some, many, most or all. A claim may not say more than its source."""

import re

_ALL = re.compile(
    r"\b(?:all(?!\s+(?:day|night|week|month|year|time|along|over|right|of a sudden|i|in all|the best|the time))|every(?:one|body|thing|where)?|always|never|"
    r"each(?!\s+other)|none|no\s?one|nobody|whenever|entire(?:ly)?|constantly|whole|without exception|any\s?time|consistently|invariably|only ever)\b",
    re.IGNORECASE,
)
_NOT_ALL = re.compile(
    r"\b(?:not|n't|at|after|above|hardly|almost|nearly)\s+(?:all|every(?:one|body|thing)?|always|each|entirely)\b", re.IGNORECASE
)
_MOST = re.compile(
    r"\b(?:most(?:ly)?(?!\s+(?:\w+ly|recent|important|likely))|(?:more than|over) half|two thirds|majority|usually|generally|typically"
    r"|(?:almost|nearly) (?:all|always|every\w*)|largely)\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:many|often|frequent(?:ly)?|lots? of|numerous|several|common(?:ly)?|regularly|repeatedly|multiple|various|widespread|plenty)\b",
    re.IGNORECASE,
)
_REPEATED = re.compile(
    r"\b(?:each time|every time|whenever|keeps? \w+ing|kept \w+ing|again and again|time and again|over and over|constantly)\b",
    re.IGNORECASE,
)

SOME, MANY, MOST, ALL = 0, 1, 2, 3


def strength(text: str) -> int:
    """0 some, 1 many or often, 2 most, 3 all or always; the strongest the text says. *Not all* says some, *almost all* most."""
    plain = _NOT_ALL.sub(" ", text)
    if _ALL.search(plain) or _REPEATED.search(plain):
        return ALL
    if _MOST.search(text):
        return MOST
    return MANY if _MANY.search(text) or _REPEATED.search(text) else SOME


def stronger(claim: str, span: str) -> bool:
    """Whether the claim says it holds for more, or more often, than the span does."""
    claimed = strength(claim)
    return claimed > SOME and claimed > strength(span)
