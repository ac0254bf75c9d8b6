"""The names a tenant uses, asked of the store when a question needs them, and the theme that means what a question says in other words."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Literal

from grounding.attributes import Attributes, attributes_of
from grounding.budget import Spending
from grounding.naming import Vocabulary, spoken
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Document, Filters
from search.ports import Embedder, Engine
from search.ranking import BucketQuery

SAME_MEANING = 0.6
"""Cosine between a theme's words and the question's from which the theme is taken to be meant."""

CLEARLY_NEAREST = 0.05
"""How much nearer the meant theme must be than the next one."""


ATTRIBUTES_READ = 2_000
"""The newest documents whose attributes a question may name."""

_PAGE = 1_000
_TENANTS_KEPT = 64


class Names:
    """Themes, sources and accounts of tenants."""

    def __init__(self, engine: Engine, embedder: Embedder) -> None:
        self._engine = engine
        self._embedder = embedder
        self._attributes: OrderedDict[Tenant, tuple[int, Attributes]] = OrderedDict()

    def vocabulary(self, tenant: Tenant, spending: Spending) -> Vocabulary:
        """The tenant's names; each list is asked for once in a run and counted as a call of ``aggregate``."""

        @cache
        def listed(field: Literal["theme", "source"]) -> tuple[str, ...]:
            spending.call(f"{field}s")
            found = self._engine.aggregate(tenant, BucketQuery(field, EVERYTHING, ids_per_bucket=0))
            return tuple(bucket.key for bucket in found.buckets)

        @cache
        def has_account(account_id: str) -> bool:
            return self._engine.documents(tenant, Filters(account_ids=(account_id,)), first=1).total > 0

        def dated() -> tuple[date, date] | None:
            corpus = self._engine.corpus(tenant)
            if corpus.first_occurred_at is None or corpus.last_occurred_at is None:
                return None
            return corpus.first_occurred_at.date(), corpus.last_occurred_at.date()

        @cache
        def attributes() -> Attributes:
            spending.call("attributes")
            return self._attributes_of(tenant)

        return Vocabulary(lambda: listed("theme"), lambda: listed("source"), has_account, dated, attributes)

    def _attributes_of(self, tenant: Tenant) -> Attributes:
        """Those of the newest documents, kept until one of the tenant's documents changes, so that nothing deleted is named from then on."""
        generation = self._engine.generation(tenant)
        kept = self._attributes.get(tenant)
        if kept is None or kept[0] != generation:
            kept = generation, self._read_attributes(tenant)
        self._attributes[tenant] = kept
        self._attributes.move_to_end(tenant)
        while len(self._attributes) > _TENANTS_KEPT:
            self._attributes.popitem(last=False)
        return kept[1]

    def _read_attributes(self, tenant: Tenant) -> Attributes:
        documents: list[Document] = []
        after: str | None = None
        while len(documents) < ATTRIBUTES_READ:
            page = self._engine.documents(tenant, EVERYTHING, first=_PAGE, after=after)
            documents += page.documents
            after = page.cursor
            if after is None:
                break
        return attributes_of(documents, complete=after is None)

    def like(self, themes: Callable[[], tuple[str, ...]]) -> Callable[[str], str | None]:
        """A function from words to the one theme that means the same, or None."""

        def nearest(label: str) -> str | None:
            named = themes()
            if not named or not label:
                return None
            asked, *vectors = self._embedder.embed([label, *(spoken(theme) for theme in named)])
            ranked = sorted(((round(float(asked @ vector), 3), theme) for vector, theme in zip(vectors, named, strict=True)), reverse=True)
            clear = len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= CLEARLY_NEAREST
            return ranked[0][1] if ranked[0][0] >= SAME_MEANING and clear else None

        return nearest
