"""Who is asking: the one place that turns the headers of a request into a principal, and so decides the tenant."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers

from runtime.errors import InvalidRequest, Misconfigured
from runtime.settings import Settings
from runtime.tenancy import Tenant, tenant_named

TENANT_HEADER = "x-tenant-id"

EVERY_SCOPE = frozenset({"wa:read", "wa:ask", "wa:write", "wa:admin"})


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller: which tenant's documents, under what name, with which rights."""

    tenant: Tenant
    subject: str
    scopes: frozenset[str]


Authenticate = Callable[[Headers], Principal]


def authenticator(settings: Settings) -> Authenticate:
    """The function that decides the principal of a request.

    Development mode (``WA_AUTH=none``) takes the tenant from ``x-tenant-id``, or the default tenant without it, and grants every scope. It raises
    ``InvalidRequest`` on ``tenant`` for a name that is none, or for two of them.
    """
    default = development_principal(settings)

    def authenticate(headers: Headers) -> Principal:
        names = headers.getlist(TENANT_HEADER)
        if len(names) > 1:
            raise InvalidRequest(f"{TENANT_HEADER} was sent {len(names)} times; send it once", field="tenant")
        return Principal(tenant_named(names[0]), "development", EVERY_SCOPE) if names else default

    return authenticate


def development_principal(settings: Settings) -> Principal:
    """The principal of the default tenant: of requests without a tenant in development mode, and of the stdio door."""
    return Principal(tenant_named(settings.default_tenant), "development", EVERY_SCOPE)


def check_binding(settings: Settings) -> None:
    """Refuse to open development mode to a network.

    Raises:
        Misconfigured: ``WA_HOST`` is not a loopback address while anybody may name any tenant.
    """
    if settings.auth == "none" and not _is_loopback(settings.host):
        raise Misconfigured(
            f"WA_HOST={settings.host} is not a loopback address, and WA_AUTH=none is development mode: whoever can connect may read and delete "
            "every tenant's documents. Set WA_HOST=127.0.0.1 and put an authenticating proxy on the same machine in front."
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
