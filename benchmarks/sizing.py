"""What documents take up, on both engines: ``python -m benchmarks.sizing --documents 3000 20000 [--opensearch URL]``; and, with ``--tenants 3``,
what small tenants take up in OpenSearch, one document in each of six months.

The corpus is synthetic (see ``benchmarks.synthetic``): messages of about twenty words, a passage and a vector of 384 numbers each, over the months of the
sample. Disk is what is there after everything was written: of the file, its log emptied; of OpenSearch the primary shards, without and with a merge.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import psutil

from benchmarks.synthetic import synthetic_writes
from runtime.clock import Stopwatch, SystemClock
from runtime.settings import Settings, read_settings
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, DocumentWrite
from search.embedding.opening import open_embedder
from search.engines.opening import open_engine
from search.ports import Embedder
from search.ranking import LegQuery

TENANT = Tenant("sizing")
Row = Mapping[str, Any]


def main() -> None:
    """Print a row for each engine and size; ``--json`` as JSON lines."""
    arguments = _arguments()
    if arguments.open is not None:
        print(json.dumps(_opened(arguments.open)))
        return
    if arguments.tenants:
        _print(_tenants(arguments.tenants, arguments.opensearch), as_json=arguments.json)
        return
    for count in arguments.documents:
        rows = [_embedded(count)] + ([_opensearch(count, arguments.opensearch)] if arguments.opensearch else [])
        for row in rows:
            _print(row, as_json=arguments.json)


def _print(row: Row, *, as_json: bool) -> None:
    print(json.dumps(row) if as_json else "  ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[3_000, 20_000])
    parser.add_argument("--opensearch", default="", help="URL of a cluster; what is written there is removed again")
    parser.add_argument("--tenants", type=int, default=0, help="measure so many small tenants instead")
    parser.add_argument("--open", type=Path, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _embedded(count: int) -> Row:
    with tempfile.TemporaryDirectory(prefix="sizing-") as folder:
        path = Path(folder) / "store.db"
        with open_embedder(read_settings({})) as embedder:
            texts = _fill(read_settings({}, engine_url=f"sqlite:///{path}"), embedder, count)
        size = path.stat().st_size
        command = [sys.executable, "-m", "benchmarks.sizing", "--open", str(path)]
        opened = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603 (this very module)
    return _row("embedded", count, texts, size) | {"memory_bytes": opened["bytes"], "memory_per_document": round(opened["bytes"] / count)}


def _opened(path: Path) -> Row:
    """In a process of its own: what it holds once it has searched, beyond what it held with the model alone."""
    settings = read_settings({}, engine_url=f"sqlite:///{path}")
    with open_embedder(settings) as embedder:
        vector = embedder.embed(["where is my card"])[0]
        before = psutil.Process().memory_info().rss
        with open_engine(settings, embedder, SystemClock()) as store:
            store.engine.legs(TENANT, LegQuery("where is my card", vector, EVERYTHING, 100))
            return {"bytes": psutil.Process().memory_info().rss - before}


def _opensearch(count: int, url: str) -> Row:
    settings = read_settings({}, engine_url=url, index_prefix="s" + uuid.uuid4().hex[:12])
    with httpx.Client(base_url=url, timeout=300) as client:
        try:
            with open_embedder(settings) as embedder:
                texts = _fill(settings, embedder, count)
            months = f"{settings.index_prefix}-{TENANT}"
            client.post(f"/{months}/_flush").raise_for_status()
            size, shards = _stored(client, settings)
            client.post(f"/{months}/_forcemerge", params={"max_num_segments": 1}).raise_for_status()
            client.post(f"/{months}/_refresh").raise_for_status()  # files of the old segments go with their last reader
            merged, _ = _stored(client, settings)
            return _row("opensearch", count, texts, size) | {"merged_per_document": round(merged / count), "shards": shards}
        finally:
            _remove(client, settings.index_prefix)


def _tenants(count: int, url: str) -> Row:
    settings = read_settings({}, engine_url=url, index_prefix="s" + uuid.uuid4().hex[:12])
    with httpx.Client(base_url=url, timeout=300) as client:
        try:
            with open_embedder(settings) as embedder, open_engine(settings, embedder, SystemClock()) as store:
                writes = list(synthetic_writes(embedder, 6))
                spread = [_in_month(write, month) for month, write in enumerate(writes, 1)]
                watch = Stopwatch.start(SystemClock())
                for number in range(count):
                    store.engine.write(Tenant(f"small-{number}"), spread)
                seconds = watch.elapsed_s()
            client.post(f"/{settings.index_prefix}-*/_flush").raise_for_status()
            size, shards = _stored(client, settings)
            return {
                "engine": "opensearch",
                "tenants": count,
                "shards": shards,
                "disk_per_shard": round(size / shards),
                "seconds_per_tenant": round(seconds / count, 2),
            }
        finally:
            _remove(client, settings.index_prefix)


def _in_month(write: DocumentWrite, month: int) -> DocumentWrite:
    return replace(write, document=replace(write.document, occurred_at=datetime(2026, month, 15, tzinfo=UTC)))


def _remove(client: httpx.Client, prefix: str) -> None:
    for index in client.get(f"/_resolve/index/{prefix}-*,{prefix}_*").json()["indices"]:
        client.delete(f"/{index['name']}")
    client.delete(f"/_index_template/{prefix}-months")
    client.delete(f"/_component_template/{prefix}-records")


def _stored(client: httpx.Client, settings: Settings) -> tuple[int, int]:
    """Bytes of the segments, and number, of primary shards under the prefix. Statistics of the store would be up to ten seconds old."""
    indices = client.get(f"/{settings.index_prefix}-*/_segments").raise_for_status().json()["indices"]
    copies = [copy for index in indices.values() for shard in index["shards"].values() for copy in shard if copy["routing"]["primary"]]
    return sum(segment["size_in_bytes"] for copy in copies for segment in copy["segments"].values()), len(copies)


def _fill(settings: Settings, embedder: Embedder, count: int) -> int:
    """Write the corpus; how many bytes of text it has."""
    texts = 0
    with open_engine(settings, embedder, SystemClock()) as store:
        for writes in _chunks(synthetic_writes(embedder, count), 500):
            texts += sum(len(write.document.text.encode()) for write in writes)
            store.engine.write(TENANT, writes)
        store.engine.refresh(TENANT)
    return texts


def _chunks(writes: Iterable[DocumentWrite], size: int) -> Iterator[list[DocumentWrite]]:
    rest = iter(writes)
    while chunk := list(islice(rest, size)):
        yield chunk


def _row(engine: str, count: int, texts: int, size: int) -> dict[str, Any]:
    return {
        "engine": engine,
        "documents": count,
        "text_bytes_per_document": round(texts / count),
        "disk_bytes": size,
        "disk_per_document": round(size / count),
    }


if __name__ == "__main__":
    main()
