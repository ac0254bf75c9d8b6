"""A Celery worker as this program runs it: prefork, the service opened after each fork, beat inside unless asked otherwise, metrics of all processes
on one port."""

import logging
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery import platforms, signals
from celery.apps.beat import Beat
from prometheus_client import CollectorRegistry, values

from runtime.settings import Settings
from runtime.telemetry import configure_logging
from worker.duties import QUEUES
from worker.queues.celery_app import TICKS, celery_app
from worker.queues.counts import CountsOfAllProcesses
from worker.queues.guard_notes import FOLDER
from worker.queues.metrics_port import serving_metrics
from worker.queues.performing import Opening
from worker.queues.tasks import PoolProcess, register_tasks


def run_worker(settings: Settings, opening: Opening, *, queues: Sequence[str] = QUEUES, beat: bool = True) -> int:
    """Work until SIGTERM, which lets running pieces finish, or SIGQUIT, which gives them a few seconds and puts them back; returns the exit code.

    Raises:
        Misconfigured: the settings contradict each other, or the metrics port is taken.
    """
    app = celery_app(settings)
    warnings.filterwarnings("ignore", category=platforms.SecurityWarning)  # about root and pickle; our messages are JSON only
    with _metrics_of_all_processes(settings):
        process = PoolProcess(settings, opening)
        register_tasks(app, process)
        with _connected(settings, process):
            worker = app.Worker(
                queues=[*queues, TICKS],
                beat=beat,
                quiet=True,
                without_gossip=True,
                without_mingle=True,
                without_heartbeat=True,
                task_events=False,
            )
            worker.start()
    return int(worker.exitcode or 0)


def run_beat(settings: Settings) -> int:
    """Only tick, for workers that run without beat; two of these do no harm. Until SIGTERM."""
    app = celery_app(settings)
    with _connected(settings, None):
        Beat(app=app, quiet=True, remote_control=False).run()
    return 0


@contextmanager
def _connected(settings: Settings, process: PoolProcess | None) -> Iterator[None]:
    """Our answers to the library's signals; they are process-wide, so they end with the worker."""

    def log(**_: Any) -> None:
        configure_logging(settings)
        for chatty in ("celery.worker.strategy", "celery.app.trace", "celery.beat"):  # three lines a tick; work is logged by ourselves
            logging.getLogger(chatty).setLevel(logging.WARNING if settings.log_level != "DEBUG" else logging.DEBUG)

    def opened(**_: Any) -> None:
        if process is not None:
            process.try_to_open()

    def closed(**_: Any) -> None:
        if process is not None:
            process.close()

    def die_with_parent(**_: Any) -> None:
        platforms.set_pdeathsig("SIGKILL")  # a beat that outlives its killed worker would tick for ever, unseen

    connections = (
        (signals.setup_logging, log),
        (signals.worker_process_init, opened),
        (signals.worker_process_shutdown, closed),
        (signals.beat_embedded_init, die_with_parent),
    )
    for signal, receiver in connections:
        signal.connect(receiver, weak=False)
    try:
        yield
    finally:
        for signal, receiver in connections:
            signal.disconnect(receiver)


@contextmanager
def _metrics_of_all_processes(settings: Settings) -> Iterator[None]:
    """Each process of the pool counts in a file of its own; the parent serves their sum, those of ended processes included."""
    kept = values.ValueClass
    with tempfile.TemporaryDirectory(prefix="wisdom-metrics-") as folder:
        os.environ[FOLDER] = folder
        values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]
        registry = CollectorRegistry()
        registry.register(CountsOfAllProcesses(Path(folder)))
        try:
            with serving_metrics(settings, registry):
                yield
        finally:
            values.ValueClass = kept
            del os.environ[FOLDER]
