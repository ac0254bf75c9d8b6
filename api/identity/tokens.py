"""From a bearer token (JWT) of an identity provider to a principal."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import jwt

from api.identity.issuer_keys import IssuerKeys
from api.identity.key_credentials import INVALID
from api.identity.principal import SCOPES, Principal, Scope
from runtime.errors import Forbidden, InvalidRequest, Misconfigured, Unauthenticated
from runtime.resilience import Guard
from runtime.settings import Settings
from runtime.tenancy import Tenant, tenant_named

Door = Literal["web", "mcp"]
"""Doors with an audience of their own."""

MAX_TOKEN_CHARS = 16_384
REQUIRED = ("exp", "iat", "iss", "aud", "sub")

OTHER_TENANT = "this credential is not for the tenant that x-tenant-id names"


class Tokens:
    """Verifies tokens. Safe to share between threads."""

    def __init__(self, settings: Settings, keys: IssuerKeys) -> None:
        self._settings = settings
        self._keys = keys
        self._audiences = audiences_of(settings)
        self._algorithms = settings.oidc_algorithms.split(",")

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What calls to the identity provider go through."""
        return self._keys.guards

    def principal(self, token: str, door: Door, tenant: str | None) -> Principal:
        """Whoever the token is of; ``tenant`` is the one that was asked for, of those it grants.

        Raises:
            Unauthenticated: it is not a valid token of the issuer for this door.
            Forbidden: it grants no tenant, or not the one asked for.
            InvalidRequest: on ``tenant``, when it grants several and none was asked for.
            Unavailable: the issuer's keys cannot be read.
        """
        claims = self._verified(token, self._audiences[door])
        granted = _tenants(claims.get(self._settings.oidc_tenant_claim))
        return Principal(
            _chosen(granted, tenant),
            str(claims["sub"]),
            _scopes(claims.get(self._settings.oidc_scope_claim), self._settings.oidc_scope_prefix),
            valid_until=datetime.fromtimestamp(float(claims["exp"]), UTC),
        )

    def _verified(self, token: str, audience: str) -> Mapping[str, Any]:
        if len(token) > MAX_TOKEN_CHARS:
            raise Unauthenticated(INVALID)
        try:
            header = jwt.get_unverified_header(token)
            key_id = header.get("kid")
            if header.get("alg") not in self._algorithms or not isinstance(key_id, str):
                raise Unauthenticated(INVALID)
            key = self._keys.key(key_id)
            if key is None:
                raise Unauthenticated(INVALID)
            return self._decoded(token, key, audience)
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise Unauthenticated(INVALID) from error

    def _decoded(self, token: str, key: jwt.PyJWK, audience: str) -> Mapping[str, Any]:
        return jwt.decode(
            token,
            key,
            algorithms=self._algorithms,
            issuer=self._settings.oidc_issuer,
            audience=audience,
            leeway=self._settings.oidc_leeway_s,
            options={"require": list(REQUIRED)},
        )


def audiences_of(settings: Settings) -> Mapping[Door, str]:
    """The audience of each door.

    Raises:
        Misconfigured: the issuer or one of them is not set.
    """
    mcp = settings.oidc_mcp_audience or (f"{settings.public_url.rstrip('/')}/mcp" if settings.public_url else "")
    for value, name in (
        (settings.oidc_issuer, "WA_OIDC_ISSUER"),
        (settings.oidc_audience, "WA_OIDC_AUDIENCE"),
        (mcp, "WA_OIDC_MCP_AUDIENCE (or WA_PUBLIC_URL)"),
    ):
        if not value:
            raise Misconfigured(f"{name} is not set, and WA_AUTH=oidc needs it")
    return {"web": settings.oidc_audience, "mcp": mcp}


def _tenants(claim: Any) -> tuple[Tenant, ...]:
    names = claim if isinstance(claim, list) else [claim]
    try:
        return tuple(tenant_named(name) for name in names)
    except InvalidRequest as error:
        raise Forbidden("this token grants no tenant") from error


def _chosen(granted: Sequence[Tenant], asked: str | None) -> Tenant:
    if not granted:
        raise Forbidden("this token grants no tenant")
    if asked is not None:
        found = next((tenant for tenant in granted if tenant == asked), None)
        if found is None:
            raise Forbidden(OTHER_TENANT)
        return found
    if len(granted) > 1:
        raise InvalidRequest(f"this token grants {len(granted)} tenants; name one of them in x-tenant-id", field="tenant")
    return granted[0]


def _scopes(claim: Any, prefix: str) -> frozenset[Scope]:
    words = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return frozenset(scope for scope in SCOPES if prefix + scope in words)
