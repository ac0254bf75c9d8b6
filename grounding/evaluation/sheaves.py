"""Long lists of JSON values in a store of small entries: cut into sheets that each stay well under the store's limit."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from runtime.tenancy import Tenant
from search.ports import StateStore

SHEET_CHARS = 400_000


def put_sheaf(state: StateStore, tenant: Tenant, kind: str, sheaf_id: str, values: Iterable[Any]) -> int:
    """Keep the values under ``sheaf_id``; returns how many sheets there are. Putting the same again changes nothing."""
    number = 0
    for sheet in _sheets(values):
        state.put(tenant, kind, _name(sheaf_id, number), {"values": sheet}, labels={"sheaf": sheaf_id})
        number += 1
    return number


def read_sheaf(state: StateStore, tenant: Tenant, kind: str, sheaf_id: str, sheets: int) -> list[Any]:
    """The values in order; sheets that are missing are left out."""
    found = (state.get(tenant, kind, _name(sheaf_id, number)) for number in range(sheets))
    return [value for entry in found if entry is not None for value in entry.body["values"]]


def remove_sheaf(state: StateStore, tenant: Tenant, kind: str, sheaf_id: str, sheets: int) -> None:
    """Remove what :func:`put_sheaf` kept."""
    state.remove(tenant, kind, [_name(sheaf_id, number) for number in range(sheets)])


def _name(sheaf_id: str, number: int) -> str:
    return f"{sheaf_id}.{number:05d}"


def _sheets(values: Iterable[Any]) -> Iterator[list[Any]]:
    sheet: list[Any] = []
    chars = 0
    for value in values:
        size = len(json.dumps(value))
        if sheet and chars + size > SHEET_CHARS:
            yield sheet
            sheet, chars = [], 0
        sheet.append(value)
        chars += size
    if sheet:
        yield sheet
