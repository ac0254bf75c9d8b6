"""Sentences that speak to a reader or a machine instead of telling what happened."""

import base64
import binascii
import functools
import re
import unicodedata

from grounding.orders_elsewhere import orders_elsewhere
from grounding.sentences import sentences

_MACHINE = re.compile(
    r"\b(?:assistant|chat\s?bot|bot|language model|llm|gpt|a\.?i\.?(?: model| agent| system)?|system prompt|prompt|(?:agent|model) reading|summari[sz]er)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:^|[.:;,!?\-–—\n\"]\s*|\b(?:please|now|must|should|instead|and|then|to|only|just)\s+)"
    r"(?:reply|respond|answer|say|state|output|print|write|repeat|report|claim|tell|ignore|disregard|forget|override|pretend|act|cite|quote|list|reveal|"
    r"send|delete|call|execute|run|mark|classify|rate|summari[sz]e|conclude|include|use|give|show|return|treat|follow|obey|refuse|append|add|insert|mention|attach|forward|post|fetch|visit|open|load|copy|decode)\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|prompt|above|previous|earlier|prior|everything|guideline)s?\b"
    r"|\b(?:previous|earlier|prior|above)\s+(?:instruction|rule|prompt|guideline)s?\b"
    r"|\b(?:reply|respond|answer)\s+(?:only|just|with|that|exactly|always)\b"
    r"|\b(?:as|give|use|with)\b.{0,30}\bas (?:the |your |a )?(?:source|citation|evidence|reference)\b"
    r"|\byou are (?:now |an? )?(?:assistant|ai|dan|language model|chatbot)\b|\bnew instructions?\b|\bsystem\s*:"
    r"|\bthe (?:correct|final|only|official) answer (?:to (?:any|every|all|this|the)|is|must|should)\b|\b(?:developer|admin(?:istrator)?|debug|dan) mode\b"
    r"|\b(?:if|when(?:ever)?) (?:you are|someone|anyone|anybody|a user|the user)\b.{0,20}\b(?:asks?|an? (?:ai|assistant|bot|model))\b"
    r"|\bcount (?:this|me) (?:document|record|review|ticket|entry )?as\b",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = re.compile(
    r"<\|\w*\|?>?|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|user|tool|instructions?|function_calls?|invoke|img|script|iframe|svg|object|embed|meta)\b"
    r"|<!--|!\[[^\]]*\]\(|\bjavascript:|#{2,}\s*(?:system|instruction|assistant|user|response|new task)\b"
    r"|\b(?:begin|end)[ _](?:passages?|context|documents?|evidence|system|prompt|instructions?|user|question)\b"
    r"|\"(?:role|tool_calls?|function|function_call|arguments|claims|cites|verdicts|supported)\"\s*:|\b(?:tool|function)_calls?\b",
    re.IGNORECASE,
)
"""What belongs to a template, a protocol or a page, and to no sentence of a customer."""

_MARKED_BY = ("<", "[", "#", '":', '" :', "javascript", "begin", "end ", "end_", "call")

_ENCODED = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{24,}={0,2}(?![\w+/])")
_TAGS = range(0xE0020, 0xE007F)
_KNOWN = 20_000


@functools.lru_cache(maxsize=_KNOWN)
def speaks_to_the_machine(sentence: str) -> bool:
    """Whether a sentence gives orders to whoever, or whatever, reads it, in the open or hidden. Such a sentence bears out nothing but its own quotation.

    This ranks down and never filters: the defence is that a claim needs support from a span about the question.
    """
    plain = sentence if sentence.isascii() else _unhidden(sentence)
    return _orders(plain) or any(_orders(told) for told in _decoded(plain))


def gives_orders(text: str) -> bool:
    """Whether any sentence of ``text`` speaks to the machine, or its marks stand anywhere in it."""
    return _marked(_unhidden(text)) or any(speaks_to_the_machine(span.of(text)) for span in sentences(text))


def _orders(sentence: str) -> bool:
    return (
        bool(_STRONG.search(sentence))
        or bool(_MACHINE.search(sentence) and _ORDER.search(sentence))
        or _marked(sentence)
        or orders_elsewhere(sentence)
    )


def _marked(text: str) -> bool:
    lower = text.lower()
    return any(sign in lower for sign in _MARKED_BY) and bool(_MARKS.search(text))


def _unhidden(text: str) -> str:
    """Look-alike letters as plain ones, tags as the letters they stand for, and without signs that show nothing."""
    shown = (chr(ord(sign) - 0xE0000) if ord(sign) in _TAGS else sign for sign in unicodedata.normalize("NFKC", text))
    return "".join(sign for sign in shown if unicodedata.category(sign) != "Cf")


def _decoded(sentence: str) -> list[str]:
    """What long runs of base64 spell, where it is text."""
    found = []
    for match in _ENCODED.finditer(sentence):
        try:
            run = match.group().rstrip("=")
            found.append(base64.b64decode(run + "=" * (-len(run) % 4)).decode("utf-8"))
        except (binascii.Error, UnicodeDecodeError):
            continue
    return found
