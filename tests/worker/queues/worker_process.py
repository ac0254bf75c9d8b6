"""A worker, a beat or an embedded scheduler over the test duty, as a process: ``python -m tests.worker.queues.worker_process KIND CHANNEL_URL NAME``,
settings from the environment."""

import sys

from runtime.settings import read_settings
from runtime.telemetry import configure_logging
from tests.worker.queues.windows import Channel, Opening


def main(kind: str, url: str, name: str) -> int:
    settings = read_settings()
    configure_logging(settings)
    opening = Opening(Channel(url, name))
    if kind == "local":
        from worker.queues.local import run_local

        return run_local(settings, opening)
    from worker.queues.celery_worker import run_beat, run_worker

    return run_beat(settings) if kind == "beat" else run_worker(settings, opening, beat=kind == "both")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
