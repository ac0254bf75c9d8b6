"""Celery, set up from our settings. Each choice has its reason beside it."""

from datetime import UTC, datetime
from typing import Any

from celery import Celery
from kombu.entity import Queue
from kombu.transport.redis import Channel

from runtime.redis_client import TimedConnection
from runtime.settings import Settings
from worker.duties import QUEUES
from worker.queues.broker_settings import check_broker, key_prefix

TICKS = "ticks"
"""Ticks, heartbeats and the spreading of what a tick found: a queue of their own, so that no backlog delays them. Every worker serves it."""
DO, SPREAD, TICK, HEARTBEAT = "wisdom.do", "wisdom.spread", "wisdom.tick", "wisdom.heartbeat"
SOFT_SHARE = 0.9
STARTS_WITHIN_S = 120.0


def celery_app(settings: Settings) -> Any:
    """An application that can publish; a worker registers the tasks too. Nothing connects yet.

    Raises:
        Misconfigured: as :func:`worker.queues.broker_settings.check_broker`.
    """
    check_broker(settings)
    Channel.connection_class = TimedConnection  # the library has no setting for it, and its own waits for each byte anew
    app = Celery("wisdomagent", set_as_current=False)
    app.conf.update(
        broker_url=settings.redis_url,
        broker_transport_options=_transport(settings),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,  # a broker that is down is waited for, without a restart
        **_messages(settings),
        **_pool(settings),
        **_schedule(settings),
    )
    return app


def _transport(settings: Settings) -> dict[str, Any]:
    return {
        "global_keyprefix": key_prefix(settings),
        "visibility_timeout": settings.worker_visibility_timeout_s,
        "unacked_restore_interval": 5,  # the default sweep, every 100 s, would leave the work of a killed worker lying
        "unacked_restore_throttle": 1,
        "max_retries": 1,  # publishing to a broker that is down fails within a second
        "interval_start": 0,
        "interval_step": 0.1,
        "interval_max": 0.2,
        "socket_connect_timeout": settings.redis_timeout_s,
        "socket_timeout": settings.redis_timeout_s,  # a broker that takes connections and says nothing would hold a publisher for ever
        "socket_keepalive": True,
    }


def _messages(settings: Settings) -> dict[str, Any]:
    return {
        "task_serializer": "json",
        "accept_content": ["json"],  # pickle would let whoever writes to the broker run code
        "task_ignore_result": True,
        "result_backend": None,  # results are entries of the state store; a backend would only delay publishing when it is down
        "task_queues": [
            Queue(name)  # type: ignore[no-untyped-call]
            for name in (*QUEUES, TICKS)
        ],
        "task_default_queue": TICKS,
        "task_create_missing_queues": False,
        "task_publish_retry_policy": {"max_retries": 1, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2},
        "task_acks_late": True,  # acknowledged when done, so that a killed process loses nothing
        "task_reject_on_worker_lost": True,  # back into the queue at once
        "task_acks_on_timeout": False,  # killed at the hard limit is a lost attempt, and counted as one
        "task_time_limit": settings.worker_time_limit_s,
        "task_soft_time_limit": settings.worker_time_limit_s * SOFT_SHARE,
    }


def _pool(settings: Settings) -> dict[str, Any]:
    return {
        "worker_concurrency": settings.worker_concurrency,
        "worker_prefetch_multiplier": 1,  # nothing is reserved behind a long piece
        "worker_pool": "prefork",  # the only pool whose time limits hold
        "worker_proc_alive_timeout": STARTS_WITHIN_S,  # a process opens the service, with its model, before it reports for work
        "worker_cancel_long_running_tasks_on_connection_loss": True,  # it could not be acknowledged, and will be delivered again
        "worker_soft_shutdown_timeout": min(10.0, settings.worker_time_limit_s),  # SIGQUIT gives running pieces this long
        "worker_enable_remote_control": False,  # it answers although every process is busy; a heartbeat task tells more
        "worker_send_task_events": False,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "timezone": "UTC",
        "enable_utc": True,
    }


def _schedule(settings: Settings) -> dict[str, Any]:
    interval_s = settings.monitor_interval_s
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)  # the first tick comes at once; it costs nothing if another beat has ticked
    tick = {"task": TICK, "schedule": interval_s, "options": {"expires": interval_s, "queue": TICKS}, "last_run_at": long_ago}
    return {
        "beat_schedule": {"tick": tick},
        "beat_scheduler": "celery.beat:Scheduler",  # one entry needs no file of its own
        "beat_max_loop_interval": min(interval_s, 5.0),
    }
