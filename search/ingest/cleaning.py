"""Text as people send it, made storable: no control characters, no half characters, nothing else changed."""

import re
import unicodedata
from dataclasses import dataclass

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SPACES = re.compile(r"[\s\ufeff]+")
_OUTER = "".join(character for character in map(chr, range(0x3001)) if character.isspace()) + "\ufeff"
_BLANK_CHARACTERS = frozenset("\u2800\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"})
_SHOWN_CHARS = 60

SURROGATES_REPLACED = "half of a character (a lone surrogate) was replaced by U+FFFD"
CONTROLS_REMOVED = "control characters were removed"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Storable text, and what had to be changed for it."""

    text: str
    changes: tuple[str, ...] = ()


def cleaned(text: str) -> Cleaned:
    """``text`` with line ends as ``\\n``, without outer white space, NUL and other control characters but tab and line end."""
    changes = []
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # joins proper pairs
        changes += [SURROGATES_REPLACED] if "\ufffd" in text else []
    if _CONTROL.search(text):
        text = _LINE_END.sub("\n", text)
        without = _CONTROL.sub("", text)
        changes += [CONTROLS_REMOVED] if without != text else []
        text = without
    return Cleaned(text.strip(_OUTER), tuple(changes))


def one_line(text: str) -> Cleaned:
    """As :func:`cleaned`, with every run of white space made one space: for names and titles."""
    result = cleaned(text)
    return Cleaned(_SPACES.sub(" ", result.text).strip(), result.changes)


def visible(text: str) -> bool:
    """True when at least one character leaves a mark: not only spaces, format characters, zero-width and blank letters."""
    return any(unicodedata.category(character) not in _INVISIBLE and character not in _BLANK_CHARACTERS for character in text)


def has_control(text: str) -> bool:
    """True when a control character (line ends and tabs included) or half a character is inside."""
    return bool(_CONTROL.search(text) or _SURROGATE.search(text) or "\n" in text or "\t" in text)


def shown(value: object) -> str:
    """``value`` as it may stand in a message: short, quoted, on one line, without control characters."""
    text = value if isinstance(value, str) else _named(value)
    line = one_line(text[: _SHOWN_CHARS * 2]).text
    return f"'{line if len(line) <= _SHOWN_CHARS else line[:_SHOWN_CHARS] + '…'}'"


def _named(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > _SHOWN_CHARS:
        return "a very large number"
    return str(value) if value is None or isinstance(value, int | float) else f"a value of type {type(value).__name__}"
