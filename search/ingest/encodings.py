"""Which encoding a file is in: UTF-8 if it can be, UTF-16 if it says so, else a guess that is named."""

import codecs
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import charset_normalizer

from runtime.errors import InvalidRequest
from search.ingest.cleaning import shown

BLOCK_BYTES = 1 << 20
MARK_BROKEN = "wisdomagent.mark-broken"
"""Error handler for decoding: puts ``BROKEN`` where bytes mean nothing, so that their row can be named."""

BROKEN = "\udcff"
"""No decoder makes this character of sound bytes."""

_SAMPLE_BYTES = 1 << 18
_NULS_OF_UTF16 = 0.2
_WESTERN = "cp1252"
_NEIGHBOURS = ("cp1250", "cp1254", "cp1257")
_USED = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "koi8_r"),
    *("cp932", "euc_jp", "iso2022_jp", "cp949", "gb18030", "big5", "mac_roman", "cp437", "cp850", "cp866", "iso8859_2"),
)
"""What files that are not Unicode are in."""

_AS_GOOD = 0.05
_OTHERS_NAMED = 3
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_ACCENTED = re.compile("[À-ÖØ-öø-ÿŒœ]")
_BESIDE_PLAIN = re.compile("(?<=[A-Za-z])[À-ÖØ-öø-ÿŒœ]|[À-ÖØ-öø-ÿŒœ](?=[A-Za-z])")
_WESTERN_SIGNS = frozenset("€£§°«»¡¿´·ªº„“”‘’‚–—…•™®©¹²³½¼¾±×\xa0")
_SIGN_IN_WORD = re.compile("[A-Za-z][¹²³ªº¼½¾£¿¡][A-Za-z]")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec, to be used with ``MARK_BROKEN``, and a warning when it was guessed."""

    codec: str
    warning: str = ""


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return BROKEN, error.end


codecs.register_error(MARK_BROKEN, _mark)


def named_encoding(name: str) -> Encoding:
    """The encoding that a user asked for.

    Raises:
        InvalidRequest: on ``encoding``; there is no such text encoding.
    """
    try:
        "".encode(name)
        codec = codecs.lookup(name).name
    except (LookupError, ValueError) as error:
        raise InvalidRequest(f"{shown(name)} is not an encoding such as utf-8, cp1252 or utf-16", field="encoding") from error
    return Encoding("utf-8-sig" if codec == "utf-8" else codec)


def detected_encoding(blocks: Iterable[bytes]) -> Encoding:
    """The encoding of a file, given as blocks of bytes.

    A byte order mark decides, then UTF-8 without a fault anywhere. Where only some lines are not UTF-8, it is still UTF-8, and those rows will be
    rejected; where most are not, the encoding is guessed from them.
    """
    blocks = iter(blocks)
    head = next(blocks, b"")
    marked = next((codec for mark, codec in _MARKS if head.startswith(mark)), None) or _unmarked_utf16(head)
    if marked:
        return Encoding(marked)
    sample = _Sample()
    for line in _lines(itertools.chain([head], blocks)):
        sample.add(line)
    if sample.broken == 0 or sample.broken < sample.sound:
        return Encoding("utf-8")
    return _guessed(bytes(sample.kept)).encoding()


@dataclass(slots=True)
class _Sample:
    """Lines with bytes beyond ASCII: how many are UTF-8, and what they look like."""

    sound: int = 0
    broken: int = 0
    kept: bytearray = field(default_factory=bytearray)

    def add(self, line: bytes) -> None:
        try:
            line.decode()
            self.sound += 1
        except UnicodeDecodeError:
            self.broken += 1
            if len(self.kept) < _SAMPLE_BYTES:
                self.kept += line[:_SAMPLE_BYTES] + b"\n"


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines that hold a byte beyond ASCII; of a very long line, pieces that end between characters."""
    rest = b""
    for block in blocks:
        if not rest and block.isascii():
            continue
        *lines, rest = (rest + block).split(b"\n")
        if len(rest) > BLOCK_BYTES:
            cut = _between_characters(rest)
            lines.append(rest[:cut])
            rest = rest[cut:]
        yield from (line for line in lines if not line.isascii())
        rest = b"" if rest.isascii() else rest
    if not rest.isascii():
        yield rest


def _between_characters(line: bytes) -> int:
    for cut in range(len(line) - 1, len(line) - 5, -1):
        if line[cut] & 0xC0 != 0x80:
            return cut
    return len(line)


def _unmarked_utf16(head: bytes) -> str | None:
    even, odd = head[:4096:2].count(0), head[1:4096:2].count(0)
    half = max(1, len(head[:4096]) // 2)
    if odd / half > _NULS_OF_UTF16 and odd > even * 10:
        return "utf-16-le"
    return "utf-16-be" if even / half > _NULS_OF_UTF16 and even > odd * 10 else None


@dataclass(frozen=True, slots=True)
class _Guess:
    """The likeliest codec, and others that are about as likely where the sample says too little."""

    codec: str
    others: tuple[str, ...] = ()

    def encoding(self) -> Encoding:
        """The codec with its warning."""
        guess = f"encoding: the file is not UTF-8; read as {self.codec}, which is"
        if not self.others:
            return Encoding(self.codec, f"{guess} a guess; say it with --encoding if that is wrong")
        return Encoding(self.codec, f"{guess} a weak guess: {_listed(self.others)} fit as well; say which it is with --encoding")


def _guessed(sample: bytes) -> _Guess:
    """The likeliest encoding of those that people use. Short samples mislead the detector, so text that makes sense as Western European is that,
    unless a neighbour of that code page suits its language better, and text with kana is Japanese."""
    matches = list(charset_normalizer.from_bytes(sample, cp_isolation=list(_USED)))
    western = next((match for match in matches if _WESTERN in match.could_be_from_charset), None)
    if not matches:
        return _Guess(_WESTERN)
    best = next((match for match in matches if _has_kana(str(match))), matches[0])
    if _looks_western(sample):
        neighbour = best.encoding in _NEIGHBOURS and (western is None or best.coherence > western.coherence)
        return _Guess(best.encoding if neighbour else _WESTERN)
    if best.coherence > 0.0:
        return _Guess(best.encoding)
    others = [match.encoding for match in matches if match is not best and match.chaos <= best.chaos + _AS_GOOD]
    return _Guess(best.encoding, tuple(others[:_OTHERS_NAMED]))


def _listed(codecs_named: tuple[str, ...]) -> str:
    return " and ".join([", ".join(codecs_named[:-1]), codecs_named[-1]]) if len(codecs_named) > 1 else codecs_named[0]


def _has_kana(text: str) -> bool:
    """True when much of what is beyond ASCII is hiragana or katakana, which no other script turns into by accident."""
    foreign = [character for character in text if not character.isascii()]
    return len(_KANA.findall(text)) > 0.2 * len(foreign)


def _looks_western(sample: bytes) -> bool:
    """True when nearly every accented letter stands beside a plain one, and everything else beyond ASCII is a sign of Western typography, none of
    them in the middle of a word."""
    text = sample.decode(_WESTERN, "replace")
    if _SIGN_IN_WORD.search(text):
        return False
    foreign = [character for character in text if not character.isascii() and character not in _WESTERN_SIGNS]
    accented = len(_ACCENTED.findall(text))
    return accented == len(foreign) and len(_BESIDE_PLAIN.findall(text)) >= 0.7 * accented
