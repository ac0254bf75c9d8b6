"""Real processes, a real broker and a real OTLP receiver: what a request has workers do is part of its trace, down to the delivery."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests.collector import Collector, collecting
from tests.doors.calls import graphql, posted
from tests.doors.test_monitors import MONITOR, SAVE
from tests.doors.test_tracing import environment, serving
from tests.servers import ROOT, ValkeyServer
from tests.worker.deliveries.receiving import answer, receiving

pytestmark = [pytest.mark.slow]

WORD = "quaggacanary"
SECRET = "whsec_cXVhZ2dhY2FuYXJ5LXF1YWdnYWNhbmFyeQ=="


@contextmanager
def working(store: Path, *options: str, **more: str) -> Iterator[None]:
    """``wisdom worker`` as a process of its own."""
    with (store.parent / "worker.log").open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.main", "worker", *options],
            cwd=ROOT, env=environment(store, **more), stdout=said, stderr=said,
        )  # fmt: skip
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, (store.parent / "worker.log").read_text()


def rows() -> list[dict[str, str]]:
    texts = (f"My card was declined at the till, {WORD}.", "The card was declined again today.", "Shipping took three weeks.")
    now = datetime.now(UTC)
    return [
        {"docId": f"w-{number}", "source": "ticket", "text": text, "occurredAt": (now - timedelta(hours=number + 1)).isoformat()}
        for number, text in enumerate(texts)
    ]


def save_monitor(http: httpx.Client, target: str) -> None:
    given = {**MONITOR, "receivers": [{"channel": "WEBHOOK", "target": target}]}
    saved = graphql(http, SAVE, "acme", input=given)
    assert "errors" not in saved, saved


def common(collector: Collector, **more: str) -> dict[str, str]:
    return {
        "WA_OTLP_ENDPOINT": collector.url, "WA_WEBHOOK_SECRET": SECRET, "WA_WORKER_METRICS_PORT": "0", "WA_DELIVERY_PRIVATE_NETWORKS": "true",
        "WA_WORKER_CONCURRENCY": "1", "WA_MONITOR_INTERVAL_S": "60",
    } | more  # fmt: skip


def nothing_told_of_texts_or_secrets(collector: Collector) -> None:
    exported = collector.everything()
    for word in (WORD, SECRET, "declined", "acme", "secret-path"):
        assert word.encode() not in exported, word


@pytest.mark.live("valkey")
def test_a_monitor_s_evaluation_and_its_delivery_by_celery_belong_to_the_request_that_saved_it(
    broker: ValkeyServer, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    with collecting() as collector, receiving(answer(200)) as receiver:
        chosen = common(collector, WA_REDIS_URL=broker.url)
        with serving(store, tmp_path / "log", **chosen) as url, httpx.Client(base_url=url, timeout=60) as http, working(store, **chosen):
            posted(http, "/ingest", {"documents": rows()})
            save_monitor(http, receiver.url)
            collector.awaited("deliver webhook", "task wisdom.tick", "task wisdom.heartbeat", within_s=90)
        (delivery,) = collector.named("deliver webhook")
        handed_over = ["publish wisdom.do", "task wisdom.do"]
        assert collector.path(delivery) == ["POST /graphql", *handed_over, *handed_over, *handed_over, "work deliver", "deliver webhook"]
        assert delivery.resource["service.name"] == "wisdomagent-worker"
        assert "work evaluate_monitor" in {span.name for span in collector.trace(delivery.trace_id).values()}
        (sent,) = [span for span in collector.named("call receiver") if span.parent_id == delivery.span_id]
        assert sent.attributes["wa.attempts"] == 1
        assert all((tick.parent_id, tick.failed) == ("", False) for tick in collector.named("task wisdom.tick"))
        nothing_told_of_texts_or_secrets(collector)


def test_without_a_broker_a_delivery_belongs_to_the_evaluation_it_follows_from(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with collecting() as collector, receiving(answer(200)) as receiver:
        chosen = common(collector)
        with serving(store, tmp_path / "log", **chosen) as url, httpx.Client(base_url=url, timeout=60) as http:
            posted(http, "/ingest", {"documents": rows()})
            save_monitor(http, receiver.url)
            with working(store, "--local", **chosen):
                collector.awaited("deliver webhook", within_s=90)
        (delivery,) = collector.named("deliver webhook")
        assert collector.path(delivery) == ["work evaluate_monitor", "work deliver", "work deliver", "deliver webhook"]
        nothing_told_of_texts_or_secrets(collector)
