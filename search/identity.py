"""Keys derived from content: the same document has the same keys on every machine and in every release."""

import hashlib
import json
import re
import unicodedata

from search.documents import Document

_INSIDE_NUMBER = r"(?<=\d)[.,:/-](?=\d)"
_NOISE = re.compile(rf"(?!{_INSIDE_NUMBER})[^\w\s%$€£+#@]", re.UNICODE)
_SPACE = re.compile(r"\s+")


def normalised(text: str) -> str:
    """Text without what does not change its meaning: NFKC, case folded, punctuation and extra space removed.

    Signs inside numbers stay (``1.5`` is not ``15``), and so do currency and percent signs. Text of nothing but symbols is kept whole.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    plain = _SPACE.sub(" ", _NOISE.sub(" ", folded)).strip()
    return plain or _SPACE.sub(" ", folded).strip()


def group_key(text: str) -> str:
    """32 hexadecimal digits, equal for texts that are equal once normalised."""
    return _digest("group", normalised(text))[:32]


def derived_doc_id(document: Document) -> str:
    """The id of a document that came without one: equal for rows that say the same, of the same thing, from the same source.

    The theme is left out, because labels are often assigned later: a relabelled row is the same document.
    """
    said = _content(document)
    del said["theme_id"]
    said["text"] = normalised(document.text)
    return "d-" + _digest("document", _canonical(said))[:24]


def content_hash(document: Document) -> str:
    """64 hexadecimal digits over everything but id and version."""
    return _digest("content", _canonical(_content(document)))


def _content(document: Document) -> dict[str, object]:
    return {
        "source": [document.source.kind, document.source.name, document.source.weight],
        "text": document.text,
        "occurred_at": document.occurred_at.isoformat(timespec="milliseconds"),
        "title": document.title,
        "theme_id": document.theme_id,
        "account_id": document.account_id,
        "rating": document.rating,
        "language": document.language,
        "url": document.url,
        "attributes": dict(sorted(document.attributes.items())),
    }


def _canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _digest(purpose: str, text: str) -> str:
    return hashlib.sha256(f"{purpose}\x1f{text}".encode("utf-8", "surrogatepass")).hexdigest()
