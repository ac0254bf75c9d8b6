"""A tenant's documents at a glance, counted from the columns."""

import numpy as np

from search.documents import Corpus
from search.engines.intervals import instant
from search.engines.shelf import ShelfView


def overview(view: ShelfView, model: str, dimension: int) -> Corpus:
    """Exact counts over the live documents."""
    columns, rows = view.columns, np.flatnonzero(view.columns.live)
    instants, themes = columns.occurred_ms[rows], columns.themes[rows]
    kinds = columns.kind_coding.values
    counts = np.bincount(columns.kinds[rows], minlength=len(kinds))
    return Corpus(
        documents=len(rows),
        passages=int(np.count_nonzero(view.lexical.live)),
        groups=len(np.unique(columns.groups[rows])),
        first_occurred_at=instant(int(instants.min())) if len(rows) else None,
        last_occurred_at=instant(int(instants.max())) if len(rows) else None,
        sources={kind: int(count) for kind, count in sorted(zip(kinds, counts, strict=False)) if count},
        themes=len(np.unique(themes[themes >= 0])),
        without_theme=int(np.count_nonzero(themes < 0)),
        generation=view.generation,
        model=model,
        dimension=dimension,
    )
