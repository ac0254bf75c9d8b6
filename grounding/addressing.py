"""Sentences that speak to a reader or a machine instead of telling what happened."""

import re

_MACHINE = re.compile(
    r"\b(?:assistant|chat\s?bot|bot|language model|llm|gpt|a\.?i\.?(?: model| agent| system)?|system prompt|prompt|(?:agent|model) reading|summari[sz]er)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:^|[.:;,!?\-–—\n\"]\s*|\b(?:please|now|must|should|instead|and|then|to|only|just)\s+)"
    r"(?:reply|respond|answer|say|state|output|print|write|repeat|report|claim|tell|ignore|disregard|forget|override|pretend|act|cite|quote|list|reveal|"
    r"send|delete|call|execute|run|mark|classify|rate|summari[sz]e|conclude|include|use|give|show|return|treat|follow|obey|refuse)\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|prompt|above|previous|earlier|prior|everything|guideline)s?\b"
    r"|\b(?:previous|earlier|prior|above)\s+(?:instruction|rule|prompt|guideline)s?\b"
    r"|\b(?:reply|respond|answer)\s+(?:only|just|with|that|exactly|always)\b"
    r"|\b(?:as|give|use|with)\b.{0,30}\bas (?:the |your |a )?(?:source|citation|evidence|reference)\b"
    r"|\byou are (?:now |an? )?(?:assistant|ai|dan|language model|chatbot)\b|\bnew instructions?\b|\bsystem\s*:",
    re.IGNORECASE | re.DOTALL,
)


def speaks_to_the_machine(sentence: str) -> bool:
    """Whether a sentence gives orders to whoever, or whatever, reads it. Such a sentence bears out nothing but its own quotation.

    This ranks down and never filters: the defence is that a claim needs support from a span about the question.
    """
    return bool(_STRONG.search(sentence)) or bool(_MACHINE.search(sentence) and _ORDER.search(sentence))
