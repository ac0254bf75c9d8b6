"""Text of strangers on a terminal: nothing in a document may move the cursor, set a colour or reverse the reading order."""

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff\ud800-\udfff]")
_SPACE = re.compile(r"\s+")


def visible(text: str) -> str:
    """The text with every control character shown instead of obeyed: ``ESC`` as ``␛``, others as ``\\x9b`` or ``\\u202e``. Tabs and line ends stay."""
    return _CONTROLS.sub(_shown, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int | None = None) -> str:
    """The text as one visible line, cut with an ellipsis to at most ``limit`` characters."""
    line = visible(_SPACE.sub(" ", text).strip())
    if limit is not None and len(line) > limit:
        return line[: limit - 1].rstrip() + "…"
    return line


def json_safe(encoded: str) -> str:
    """JSON text in which those characters are written as ``\\uXXXX``; it means the same."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", encoded)


def _shown(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
