"""How soon a subscriber sees a digest: ``python -m benchmarks.subscription [--digests 20]``.

A real ``wisdom serve`` over an embedded store, a WebSocket that subscribes to ``digestPublished``, and evaluations in another process, as a worker does
them. Measured from the moment the evaluation has returned there to the moment the message is read here: both clocks are the machine's.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from websockets.sync.client import connect
from websockets.typing import Subprotocol

from benchmarks.hostile.server import serving
from benchmarks.monitors import Measure
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from worker.monitors.reading import monitor_from
from worker.opening import Service, open_service

TENANT = tenant_named("subscriber")
LIMIT_S = 2.0
HEARS_WITHIN_S = 60.0
SUBSCRIBE = "subscription { digestPublished { digestId monitorId } }"


def main() -> None:
    """Measure and print a table. As ``--evaluate``, the other process: evaluates one monitor for each line read, and says when it was done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--digests", type=int, default=20)
    parser.add_argument("--evaluate", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.evaluate:
        _evaluate(arguments.evaluate)
        return
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'store.db'}"
        with open_service(read_settings({}, engine_url=store)) as service:
            _lay_out(service, arguments.digests)
        with serving(Path(folder), {"WA_ENGINE_URL": store}) as served, _evaluating(store) as other:
            for measure in _measures(served.url, other, arguments.digests):
                print(measure.line(), flush=True)


def _measures(url: str, other: "subprocess.Popen[str]", digests: int) -> Iterator[Measure]:
    assert other.stdin is not None
    assert other.stdout is not None
    delays = []
    with connect(url.replace("http://", "ws://") + "/graphql", subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
        socket.send(json.dumps({"type": "connection_init", "payload": {"x-tenant-id": TENANT}}))
        socket.recv(HEARS_WITHIN_S)
        socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": SUBSCRIBE}}))
        time.sleep(1.0)  # the subscription begins with what is published from now on
        for number in range(digests):
            other.stdin.write(f"m-{number}\n")
            other.stdin.flush()
            told = json.loads(socket.recv(HEARS_WITHIN_S))
            seen = time.time()
            assert told["payload"]["data"]["digestPublished"]["monitorId"] == f"m-{number}", told
            delays.append(max(0.0, seen - float(other.stdout.readline())))
    yield Measure(f"a subscriber sees a digest, median of {digests}", statistics.median(delays), "s", LIMIT_S)
    yield Measure(f"the slowest of {digests}", max(delays), "s", LIMIT_S)


def _lay_out(service: Service, monitors: int) -> None:
    now = service.clock.now()
    happened = (now - timedelta(hours=2)).isoformat()
    texts = ("My card was declined at the till.", "The card was declined again today.")
    service.ingester.ingest(TENANT, rows_of([{"source": "chat", "text": text, "occurredAt": happened} for text in texts]))
    for number in range(monitors):
        given = {
            "id": f"m-{number}",
            "name": f"Monitor {number}",
            "question": "How many documents say that a card was declined?",
            "condition": {"count_at_least": 2},
        }
        service.monitors.save(TENANT, monitor_from(given, now))


def _evaluate(store: str) -> None:
    with open_service(read_settings({}, engine_url=store)) as service:
        for line in sys.stdin:
            done = service.evaluator.evaluate_latest(TENANT, line.strip())
            assert done.digest is not None, done.because
            print(time.time(), flush=True)


@contextmanager
def _evaluating(store: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "benchmarks.subscription", "--evaluate", store]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:  # noqa: S603 (our own module)
        yield other
        assert other.stdin is not None
        other.stdin.close()


if __name__ == "__main__":
    main()
