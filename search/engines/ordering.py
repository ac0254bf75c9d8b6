"""Documents in the order every list uses: newest first, then by id; pages of them, and the cursor between pages."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from runtime.errors import InvalidRequest
from search.engines.columns import ColumnsView

Place = tuple[int, str]
"""Where a page ended: instant in milliseconds, and document id."""

Rows = NDArray[np.int64]
_FARTHEST_MS = 2**60


def newest(columns: ColumnsView, rows: Rows, count: int) -> list[int]:
    """The first ``count`` of these rows, newest first, then by id."""
    if count <= 0 or not len(rows):
        return []
    instants = columns.occurred_ms[rows]
    if len(rows) > count:
        rows = rows[instants >= np.partition(instants, len(rows) - count)[len(rows) - count]]
    return sorted(rows.tolist(), key=in_order(columns))[:count]


def in_order(columns: ColumnsView) -> Callable[[int], Place]:
    """The sort key of a row."""
    return lambda row: (-int(columns.occurred_ms[row]), columns.doc_ids[row])


def after(columns: ColumnsView, rows: Rows, place: Place) -> Rows:
    """The rows that come later in the order than a place."""
    instant, doc_id = place
    instants = columns.occurred_ms[rows]
    same = rows[instants == instant]
    later = [row for row in same.tolist() if columns.doc_ids[row] > doc_id]
    return np.concatenate([rows[instants < instant], np.array(later, dtype=np.int64)])


def encoded(place: Place) -> str:
    """A place as a cursor."""
    return base64.urlsafe_b64encode(json.dumps(place, ensure_ascii=True).encode()).decode()


def decoded(cursor: str) -> Place:
    """The place of a cursor.

    Raises:
        InvalidRequest: on ``after``, for anything that :func:`encoded` did not make.
    """
    try:
        values: Sequence[object] = json.loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
        instant, doc_id = values
    except (ValueError, TypeError, binascii.Error) as error:
        raise _unreadable() from error
    if type(instant) is not int or abs(instant) > _FARTHEST_MS or not isinstance(doc_id, str):
        raise _unreadable()
    return instant, doc_id


def _unreadable() -> InvalidRequest:
    return InvalidRequest("is not a cursor of an earlier page", field="after")
