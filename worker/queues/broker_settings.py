"""What the settings say about the broker, checked before anything is loaded that speaks to it."""

from runtime.errors import Misconfigured
from runtime.settings import Settings
from worker.queues.attempts import longest_wait_s


def check_broker(settings: Settings) -> None:
    """A piece that outlived the visibility timeout would be given to a second worker while the first still runs it.

    Raises:
        Misconfigured: there is no broker, or its timeouts contradict the time limits.
    """
    if not settings.redis_url:
        raise Misconfigured("WA_REDIS_URL names no broker; set it, or run wisdom worker --local, which needs none")
    if not settings.redis_url.startswith(("redis://", "rediss://", "unix://")):
        raise Misconfigured("WA_REDIS_URL must begin with redis://, rediss:// or unix://")
    needed_s = settings.worker_time_limit_s + longest_wait_s(settings)
    if settings.worker_visibility_timeout_s <= needed_s:
        raise Misconfigured(
            f"WA_WORKER_VISIBILITY_TIMEOUT_S ({settings.worker_visibility_timeout_s:g}) must be longer than WA_WORKER_TIME_LIMIT_S "
            f"({settings.worker_time_limit_s:g}) and the longest wait before another attempt ({longest_wait_s(settings):g}) together"
        )


def key_prefix(settings: Settings) -> str:
    """First part of every key, so that deployments can share a broker."""
    return f"{settings.index_prefix}:work:"
