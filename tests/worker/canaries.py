"""Words that only erased documents held, and everything that a store keeps, as bytes to look for them in."""

import base64
import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from runtime.clock import SettableClock
from worker.opening import Service

CANARY = "zorblatine"
ACCOUNT = "acct-quixley77"
WORDS = (CANARY, "quixley77")


def decoded(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, those too that are packed or in a cursor."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from decoded(item)
    elif isinstance(value, list):
        for item in value:
            yield from decoded(item)
    elif isinstance(value, str):
        yield value
        with contextlib.suppress(ValueError, zlib.error):
            yield zlib.decompress(base64.b64decode(value, validate=True)).decode()
        with contextlib.suppress(ValueError):
            body = value.removeprefix("all.")
            yield base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()
        if value[:1] in "{[":
            with contextlib.suppress(ValueError):
                yield from decoded(json.loads(value))


def found_in_file(path: Path) -> list[str]:
    """Where a word is in a SQLite store: raw bytes of the file and its log, and every value of every row."""
    found = [f"{each.name}: {word}" for each in path.parent.glob(f"{path.name}*") for word in WORDS if word.encode() in each.read_bytes()]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for row in connection.execute(f"SELECT * FROM {table}").fetchall():
                said = " ".join(text for value in row if isinstance(value, str) for text in decoded(value))
                found += [f"{table} {row[:3]}: {word}" for word in WORDS if word in said.lower()]
    return found


def found_in_cluster(url: str, prefix: str) -> list[str]:
    """Where a word is in any document of any index under this prefix."""
    body = {"size": 10_000, "query": {"match_all": {}}}
    httpx.post(f"{url}/{prefix}*/_refresh", params={"expand_wildcards": "all"}).raise_for_status()
    answer = httpx.post(f"{url}/{prefix}*/_search", params={"expand_wildcards": "all"}, json=body).raise_for_status().json()
    hits = answer["hits"]["hits"]
    assert len(hits) == answer["hits"]["total"]["value"] > 0
    return [
        f"{hit['_index']} {hit['_source'].get('kind')}: {word}" for hit in hits for word in WORDS if word in " ".join(decoded(hit)).lower()
    ]


def until_quiet(service: Service, clock: SettableClock, rounds: int = 40) -> None:
    """Do everything the worker has to do, with time going on, until a round of all duties has nothing to do."""
    from datetime import timedelta

    for _ in range(rounds):
        waiting = [work for duty in service.duties.values() for work in duty.due(clock.now())]
        if not waiting:
            return
        while waiting:
            work = waiting.pop(0)
            waiting += service.duties[work.duty].do(work)
        clock.instant += timedelta(seconds=1)
    raise AssertionError(f"there is always something to do: {waiting}")
