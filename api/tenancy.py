"""Who is asking: the one place that turns the headers of a request into a principal, and so decides the tenant."""

import ipaddress
from typing import Protocol

from starlette.datastructures import Headers

from api.identity.challenge import NoCredential
from api.identity.issuer_keys import issuer_keys
from api.identity.key_credentials import INVALID, KeyCredentials
from api.identity.keys import Keys, has_pepper, pepper_of
from api.identity.principal import EVERY_SCOPE, Principal
from api.identity.tokens import OTHER_TENANT, Door, Tokens, audiences_of
from runtime.clock import Clock
from runtime.errors import Forbidden, InvalidRequest, Misconfigured, Unauthenticated
from runtime.resilience import Guard
from runtime.settings import Settings
from runtime.tenancy import tenant_named
from search.ports import StateStore

TENANT_HEADER = "x-tenant-id"
CREDENTIAL_HEADER = "authorization"


class Authenticate(Protocol):
    """The function that decides the principal of a request; it may wait for the store or for the identity provider."""

    def __call__(self, headers: Headers, door: Door = "web") -> Principal:
        """Whoever sent these headers.

        Raises:
            Unauthenticated: no usable credential is among them.
            Forbidden: the credential is not for the tenant that was named.
            InvalidRequest: on ``tenant``.
            Unavailable: nobody can tell right now.
        """
        ...


def authenticator(settings: Settings, credentials: "Credentials | None" = None) -> Authenticate:
    """How requests say who sends them under these settings.

    Development mode (``WA_AUTH=none``) takes the tenant from ``x-tenant-id``, or the default tenant without it, and grants every scope. Otherwise the
    credential is in ``authorization``, and ``x-tenant-id`` only chooses among the tenants that it grants.
    """
    if settings.auth == "none":
        return _development(settings)
    if credentials is None:
        raise Misconfigured(f"WA_AUTH={settings.auth} needs something that can verify credentials")
    return credentials.authenticate


def _development(settings: Settings) -> Authenticate:
    default = development_principal(settings)

    def authenticate(headers: Headers, door: Door = "web") -> Principal:  # noqa: ARG001 (every door is the same)
        name = _tenant_asked(headers)
        return default if name is None else Principal(tenant_named(name), "development", EVERY_SCOPE, limited=False)

    return authenticate


class Credentials:
    """API keys, tokens, or both."""

    def __init__(self, keys: KeyCredentials | None, tokens: Tokens | None) -> None:
        self._keys = keys
        self._tokens = tokens

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What calls to the identity provider go through."""
        return self._tokens.guards if self._tokens else ()

    def authenticate(self, headers: Headers, door: Door = "web") -> Principal:
        """See :class:`Authenticate`."""
        credential, asked = _bearer(headers), _tenant_asked(headers)
        if self._keys is not None and (self._tokens is None or credential.startswith("wa_")):
            return self._by_key(self._keys, credential, asked)
        assert self._tokens is not None
        return self._tokens.principal(credential, door, asked)

    def _by_key(self, keys: KeyCredentials, credential: str, asked: str | None) -> Principal:
        principal = keys.principal(credential)
        if asked is not None and asked != principal.tenant:
            raise Forbidden(OTHER_TENANT)
        keys.used(principal)
        return principal


def credentials_of(settings: Settings, state: StateStore, clock: Clock) -> Credentials | None:
    """What verifies credentials under these settings; None in development mode.

    Raises:
        Misconfigured: a setting is missing; names it.
    """
    check_credentials(settings)
    if settings.auth == "none":
        return None
    keys = KeyCredentials(Keys(state, clock, pepper_of(settings)), clock) if settings.auth == "keys" or has_pepper(settings) else None
    return Credentials(keys, Tokens(settings, issuer_keys(settings, clock)) if settings.auth == "oidc" else None)


def development_principal(settings: Settings) -> Principal:
    """The principal of the default tenant: of requests without a tenant in development mode, and of the stdio door."""
    return Principal(tenant_named(settings.default_tenant), "development", EVERY_SCOPE, limited=False)


def check_credentials(settings: Settings) -> None:
    """Refuse to serve where nobody could be recognised.

    Raises:
        Misconfigured: a setting that ``WA_AUTH`` needs is missing; names it.
    """
    if settings.auth == "oidc":
        audiences_of(settings)
    if settings.auth == "keys" or has_pepper(settings):
        pepper_of(settings)


def check_binding(settings: Settings) -> None:
    """Refuse to open development mode to a network.

    Raises:
        Misconfigured: ``WA_HOST`` is not a loopback address while anybody may name any tenant.
    """
    if settings.auth == "none" and not _is_loopback(settings.host):
        raise Misconfigured(
            f"WA_HOST={settings.host} is not a loopback address, and WA_AUTH=none is development mode: whoever can connect may read and delete "
            "every tenant's documents. Set WA_AUTH=keys or WA_AUTH=oidc, or WA_HOST=127.0.0.1 with an authenticating proxy on the same machine in front."
        )


def _tenant_asked(headers: Headers) -> str | None:
    names = headers.getlist(TENANT_HEADER)
    if len(names) > 1:
        raise InvalidRequest(f"{TENANT_HEADER} was sent {len(names)} times; send it once", field="tenant")
    return names[0] if names else None


def _bearer(headers: Headers) -> str:
    sent = headers.getlist(CREDENTIAL_HEADER)
    if not sent:
        raise NoCredential
    scheme, _, credential = sent[0].partition(" ")
    if len(sent) > 1 or scheme.lower() != "bearer" or not credential.strip():
        raise Unauthenticated(INVALID)
    return credential.strip()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
