"""``wisdom worker``, below the command line: which kind of worker runs over the whole service."""

from collections.abc import Sequence
from functools import partial

from runtime.settings import Settings
from worker.opening import open_service


def run(settings: Settings, queues: Sequence[str], *, local: bool, beat: bool, work: bool) -> int:
    """Until stopped; returns the exit code.

    Raises:
        Misconfigured: the settings name no broker where one is needed, or contradict each other.
    """
    opening = partial(open_service, role="worker")
    if local:
        from worker.queues.local import run_local

        return run_local(settings, opening, queues=queues)
    from worker.queues.celery_worker import run_beat, run_worker

    return run_worker(settings, opening, queues=queues, beat=beat) if work else run_beat(settings)
