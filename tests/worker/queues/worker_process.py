"""A worker, a beat or an embedded scheduler, as a process: ``python -m tests.worker.queues.worker_process KIND DUTY CHANNEL_URL NAME``, settings from
the environment. The duty is ``windows`` or ``monitors``."""

import sys
from typing import Any

from runtime.settings import read_settings
from runtime.telemetry import configure_logging
from tests.worker.queues.windows import Channel, Opening


def main(kind: str, duty: str, url: str, name: str) -> int:
    settings = read_settings()
    configure_logging(settings)
    opening: Any = Opening(Channel(url, name))
    if duty == "monitors":
        from tests.worker.queues.watching import WatchingOpening

        opening = WatchingOpening(Channel(url, name))
    if kind == "local":
        from worker.queues.local import run_local

        return run_local(settings, opening)
    from worker.queues.celery_worker import run_beat, run_worker

    return run_beat(settings) if kind == "beat" else run_worker(settings, opening, beat=kind == "both")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
