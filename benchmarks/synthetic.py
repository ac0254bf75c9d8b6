"""A large synthetic corpus out of the sample's real messages: pairs of them, with vectors that are the mean of the pair's, slightly moved.

Called synthetic wherever a number comes from it. The vectors stand in for embedding 100,000 texts, which would measure the model and not the engine.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from api.sample import sample_documents
from search.documents import Document, DocumentWrite, Source, Vectors
from search.identity import content_hash, group_key
from search.passages import split
from search.ports import Embedder

_START = datetime(2026, 1, 1, tzinfo=UTC)


def messages(count: int) -> list[dict[str, object]]:
    """The first messages of the sample."""
    return list(sample_documents())[:count]


def synthetic_writes(embedder: Embedder, count: int, seed: int = 7) -> Iterator[DocumentWrite]:
    """``count`` documents of about twenty words, one passage each, over 300 days, 500 accounts and the sample's themes."""
    rng = np.random.default_rng(seed)
    base = messages(3000)
    texts = [str(message["text"]) for message in base]
    vectors = embedder.embed(texts)
    for number in range(count):
        one, other = rng.integers(0, len(base), size=2)
        yield _write(number, base[one], texts[one], texts[other], _between(vectors[one], vectors[other], rng))


def _between(one: Vectors, other: Vectors, rng: np.random.Generator) -> Vectors:
    mixed = one + other + rng.normal(0.0, 0.01, size=one.shape).astype(np.float32)
    return np.asarray(mixed / np.linalg.norm(mixed), dtype=np.float32)


def _write(number: int, message: dict[str, object], first: str, second: str, vector: Vectors) -> DocumentWrite:
    document = Document(
        doc_id=f"s-{number:07d}",
        source=Source(("chat", "email", "app")[number % 3]),
        text=f"{first} {second} (case {number})",
        occurred_at=_START + timedelta(minutes=(number * 37) % (300 * 24 * 60)),
        theme_id=str(message.get("themeId") or message.get("theme_id")),
        account_id=f"a-{number % 500:03d}",
        rating=float(number % 5 + 1),
    )
    passages = split(document)
    return DocumentWrite(
        document=document,
        asked_version=None,
        content_hash=content_hash(document),
        group_key=group_key(document.text),
        passages=passages,
        vectors=np.repeat(vector[None, :], len(passages), axis=0),
    )
