"""What a model wrote on its way to the verifier: labels become ids, and what cannot be an honest claim is turned away."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grounding.addressing import gives_orders
from grounding.answers import ClaimKind, Draft
from grounding.drafting import MAX_CITED
from grounding.language_models.figures import figures
from grounding.language_models.shapes import WrittenClaim
from grounding.language_models.showing import Shown
from search.identity import normalised

MAX_CHARS = 400
MAX_SEEN = 100
"""Documents a trace names beside a draft; a passage of many copies has more, with the same words."""

_LABEL = re.compile(r"[\s\[(（【]*E?(\d{1,3})[\])）】.\s]*\Z", re.IGNORECASE)
_INLINE = re.compile(r"\s*[\[(（【]\s*E\d{1,3}(?:\s*[,;、]\s*E\d{1,3})*\s*[\])）】]")
_MARKUP = re.compile(
    r"(?:https?|ftp|data|javascript|file|mailto):|\bwww\.|!?\[[^\]]*\]\s*\(|</?[a-z!][^>]*>|&#?\w+;|```|`[^`]+`|\{\{|\}\}|\b[\w.+-]+@[\w-]+\.\w+|<\||\|>"
    r"|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|example|dev|app|info|xyz|ru|cn|de|fr|es|jp|co)\b/?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Admitted:
    """Drafts that may go to the verifier, and how many were turned away for which reason."""

    drafts: tuple[Draft, ...]
    turned_away: Mapping[str, int]


def admitted(claims: Sequence[WrittenClaim], shown: Mapping[str, Shown], writer: str) -> Admitted:
    """Judge each claim by its form alone; what is true the verifier decides."""
    drafts: dict[str, Draft] = {}
    reasons: Counter[str] = Counter()
    seen = tuple(dict.fromkeys(doc_id for passage in shown.values() for doc_id in passage.doc_ids))[:MAX_SEEN]
    for claim in claims:
        text = " ".join(_INLINE.sub("", claim.text).split())
        cited = _cited(claim.cites, shown)
        reason = _reason(text, cited)
        key = normalised(text)
        if reason or key in drafts:
            reasons[reason or "repeated"] += 1
        else:
            drafts[key] = replace(_draft(text, cited, writer), seen=seen)
    return Admitted(tuple(drafts.values()), dict(sorted(reasons.items())))


def _cited(cites: Sequence[str], shown: Mapping[str, Shown]) -> tuple[Shown, ...]:
    """The passages behind the labels; a label that was never given out is nothing."""
    labels = (f"E{int(match.group(1))}" for cite in cites if (match := _LABEL.match(cite)))
    return tuple(shown[label] for label in dict.fromkeys(labels) if label in shown)


def _reason(text: str, cited: Sequence[Shown]) -> str:
    if not any(map(str.isalnum, text)):
        return "no_words"
    if len(text) > MAX_CHARS:
        return "too_long"
    if not cited:
        return "unknown_label"
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cn", "Cs") for sign in text):
        return "hidden_signs"
    if _MARKUP.search(text):
        return "link_or_markup"
    if gives_orders(text):
        return "order"
    there = frozenset().union(*(figures(passage.text) for passage in cited))
    return "number" if figures(text) - there else ""


def _draft(text: str, cited: Sequence[Shown], writer: str) -> Draft:
    ids = tuple(dict.fromkeys(doc_id for passage in cited for doc_id in passage.doc_ids))
    documents = max(sum({passage.doc_ids[0]: passage.documents for passage in cited}.values()), len(ids))
    kind = ClaimKind.FINDING if documents > 1 else ClaimKind.QUOTE
    return Draft(text, kind, ids[:MAX_CITED], document_count=documents, writer=writer)
