"""Which documents of a tenant pass the filters of a call, as a mask over its columns."""

import sqlite3
from collections.abc import Iterable

import numpy as np

from search.documents import Filters
from search.engines import document_rows
from search.engines.attribute_terms import attribute_term
from search.engines.columns import Mask
from search.engines.shelf import ShelfView

_REMEMBERED_ATTRIBUTES = 32


def passing(connection: sqlite3.Connection, view: ShelfView, filters: Filters) -> Mask:
    """The documents that pass every filter."""
    mask = view.columns.passing(filters)
    if filters.doc_ids is not None:
        mask &= _among(view, document_rows.numbers_of(connection, view.tenant_no, filters.doc_ids))
    for name, value in filters.attributes:
        mask &= _with_attribute(connection, view, attribute_term(name, value))
    return mask


def _with_attribute(connection: sqlite3.Connection, view: ShelfView, term: str) -> Mask:
    """The documents with an attribute; remembered for as long as the view is the newest."""
    mask = view.attributes.get(term)
    if mask is None:
        found = connection.execute(_BY_ATTRIBUTE, (view.tenant_no, term))
        mask = _among(view, (doc_no for (doc_no,) in found))
        if len(view.attributes) < _REMEMBERED_ATTRIBUTES:
            view.attributes[term] = mask
    return mask


def _among(view: ShelfView, doc_nos: Iterable[int]) -> Mask:
    mask = np.zeros_like(view.columns.live)
    mask[view.columns.rows_of(doc_nos)] = True
    return mask


_BY_ATTRIBUTE = "SELECT doc_no FROM attributes WHERE tenant_no = ? AND term = ?"
