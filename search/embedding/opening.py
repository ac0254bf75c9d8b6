"""Which embedder the settings ask for."""

from collections.abc import Iterator
from contextlib import contextmanager

from runtime.clock import Clock
from runtime.settings import Settings
from search.ports import Embedder


@contextmanager
def open_embedder(settings: Settings, clock: Clock | None = None) -> Iterator[Embedder]:
    """The embedder named by ``settings.embedder``, closed at the end.

    Raises:
        Misconfigured: weights, an extra or a setting is missing; names it.
        Unavailable: the endpoint of ``openai:NAME`` was asked for its dimension and did not answer.
    """
    kind, _, name = settings.embedder.partition(":")
    if kind == "openai":
        from search.embedding.openai import open_openai

        with open_openai(name, settings, clock) as remote:
            yield remote
    elif kind == "sentence-transformers":
        from search.embedding.sentence_transformers import SentenceTransformers

        yield SentenceTransformers(name, threads=settings.embedder_threads)
    else:
        from search.embedding.minilm import MiniLM

        minilm = MiniLM(threads=settings.embedder_threads)
        try:
            yield minilm
        finally:
            minilm.close()
