"""The worker's /metrics, on loopback unless asked otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server

from runtime.errors import Misconfigured
from runtime.settings import Settings


@contextmanager
def serving_metrics(settings: Settings, registry: CollectorRegistry) -> Iterator[None]:
    """Serve the registry as long as the body lasts; nothing with port 0.

    Raises:
        Misconfigured: the port is taken, or the address is none of this machine's.
    """
    host, port = settings.worker_metrics_host, settings.worker_metrics_port
    if not port:
        yield
        return
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Misconfigured(
            f"WA_WORKER_METRICS_PORT: port {port} of {host} (WA_WORKER_METRICS_HOST) cannot be served ({reason}); choose another, or 0"
        ) from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
