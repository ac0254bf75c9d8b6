import urllib.request

import pytest
from prometheus_client import CollectorRegistry, Counter

from runtime.errors import Misconfigured
from runtime.settings import read_settings
from tests.servers import free_port
from worker.queues.metrics_port import serving_metrics


def registry() -> CollectorRegistry:
    made = CollectorRegistry()
    Counter("seen_total", "Seen", registry=made).inc()
    return made


def test_metrics_are_served_on_the_address_that_is_asked_for_and_only_there() -> None:
    port = free_port()
    settings = read_settings({}, worker_metrics_host="127.0.0.2", worker_metrics_port=port)
    with serving_metrics(settings, registry()):
        with urllib.request.urlopen(f"http://127.0.0.2:{port}/metrics", timeout=30) as told:
            assert b"seen_total 1.0" in told.read()
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30)


def test_an_address_that_is_no_address_of_this_machine_is_named_at_the_start() -> None:
    settings = read_settings({}, worker_metrics_host="192.0.2.1", worker_metrics_port=free_port())
    with pytest.raises(Misconfigured, match="WA_WORKER_METRICS_HOST"), serving_metrics(settings, registry()):
        pass


def test_port_0_serves_nothing() -> None:
    with serving_metrics(read_settings({}, worker_metrics_host="192.0.2.1", worker_metrics_port=0), registry()):
        pass
