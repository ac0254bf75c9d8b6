"""Whether a text holds a phrase, whatever its spacing, punctuation, capitals and forms of characters."""

import unicodedata


def holds(text: str, phrase: str) -> bool:
    """Whether ``phrase`` stands in ``text`` from the beginning of a word to the end of one; ``a|b`` asks for either.

    Letters and digits are compared alone, so that ``it 's`` equals ``it's``. A phrase without any is compared as it is.
    """
    letters, edges = _letters(text)
    return any(_stands(letters, edges, wanted) if _letters(wanted)[0] else wanted in text for wanted in phrase.split("|") if wanted.strip())


def _stands(letters: str, edges: frozenset[int], wanted: str) -> bool:
    sought = _letters(wanted)[0]
    at = letters.find(sought)
    while at >= 0:
        if at in edges and at + len(sought) in edges:
            return True
        at = letters.find(sought, at + 1)
    return False


def _letters(text: str) -> tuple[str, frozenset[int]]:
    """The letters and digits alone, and the places in them where a word begins or ends."""
    kept: list[str] = []
    edges = {0}
    for char in unicodedata.normalize("NFKC", text).casefold():
        if char.isalnum() or unicodedata.category(char) == "Mn":
            kept.append(char)
        else:
            edges.add(len(kept))
    return "".join(kept), frozenset({*edges, len(kept)})
