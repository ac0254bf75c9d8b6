"""The worker's /metrics, on loopback like every port of the development mode."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server

from runtime.errors import Misconfigured
from runtime.settings import Settings


@contextmanager
def serving_metrics(settings: Settings, registry: CollectorRegistry) -> Iterator[None]:
    """Serve the registry as long as the body lasts; nothing with port 0.

    Raises:
        Misconfigured: the port is taken.
    """
    port = settings.worker_metrics_port
    if not port:
        yield
        return
    try:
        server, thread = start_http_server(port, "127.0.0.1", registry)
    except OSError as error:
        raise Misconfigured(f"WA_WORKER_METRICS_PORT: port {port} cannot be served ({error.strerror}); choose another, or 0") from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
