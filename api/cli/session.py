"""The service as one command uses it: settings from environment and options, logs on standard error, everything closed at the end."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from api.cli.declaring import invoked
from api.cli.options import Common
from runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from api.cli.screen import Screen
    from runtime.settings import Settings
    from runtime.tenancy import Tenant
    from worker.opening import Service


@dataclass(frozen=True, slots=True)
class Session:
    """An open service, whose documents it is about, and where to print."""

    service: "Service"
    tenant: "Tenant"
    screen: "Screen"


def settings_of(common: Common, **overrides: Any) -> "Settings":
    """The settings of this process under these options. Unless asked otherwise, only errors are logged: what a command has to say
    it says itself, and the libraries below it warn at length.

    Raises:
        InvalidRequest: an option is not usable.
        Misconfigured: a ``WA_`` variable is not.
    """
    from runtime.settings import read_settings

    if common.engine is not None:
        overrides["engine_url"] = _engine(common.engine)
    if common.tenant is not None:
        overrides["default_tenant"] = _tenant(common.tenant)
    if not os.environ.get("WA_LOG_LEVEL"):
        overrides.setdefault("log_level", "ERROR")
    return read_settings(**overrides)


def server_log_level() -> dict[str, str]:
    """What stays open logs what it does, unlike a command, unless the environment says otherwise."""
    return {} if os.environ.get("WA_LOG_LEVEL") else {"log_level": "INFO"}


@contextmanager
def session(common: Common, **overrides: Any) -> Iterator[Session]:
    """Everything a command needs, opened from its options."""
    settings = settings_of(common, **overrides)

    from api.cli.screen import screen
    from runtime.telemetry import configure_logging, correlated, correlation_id
    from runtime.tenancy import tenant_named
    from runtime.tracing import ROOT, span
    from worker.opening import open_service

    configure_logging(settings)
    with (
        correlated(correlation_id()),
        open_service(settings) as service,
        service.held(),
        span(invoked.get(), parent=ROOT, command=invoked.get().replace(" ", ".")),
    ):
        yield Session(service, tenant_named(settings.default_tenant), screen(as_json=common.as_json, quiet=common.quiet))


def _engine(url: str) -> str:
    if not url.startswith(("sqlite:///", "http://", "https://")):
        raise InvalidRequest(f"{url!r} is neither sqlite:///FILE nor http(s)://host:9200", field="engine")
    return url


def _tenant(name: str) -> str:
    from runtime.tenancy import tenant_named

    return tenant_named(name)
