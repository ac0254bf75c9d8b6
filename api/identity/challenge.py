"""What a refused caller is told to bring: the header ``WWW-Authenticate`` (RFC 6750, RFC 9728) and the document it points to."""

from typing import Any

from api.identity.principal import SCOPES
from api.identity.rights import MissingScope
from runtime.errors import ServiceError, Unauthenticated
from runtime.settings import Settings

METADATA_PATH = "/.well-known/oauth-protected-resource"
MCP_METADATA_PATH = f"{METADATA_PATH}/mcp"


class NoCredential(Unauthenticated):
    """Nothing was sent that could say who asks."""

    def __init__(self) -> None:
        super().__init__("no credential was sent; send one as Authorization: Bearer …")


def challenge(error: ServiceError, settings: Settings, metadata_url: str = "") -> str:
    """The value of ``WWW-Authenticate``, empty where another credential would change nothing."""
    if isinstance(error, MissingScope):
        said = ['error="insufficient_scope"', f'scope="{named_scope(settings, error.scope)}"'] if error.scope else []
    elif isinstance(error, Unauthenticated):
        said = [] if isinstance(error, NoCredential) else ['error="invalid_token"']
    else:
        return ""
    said += [f'resource_metadata="{metadata_url}"'] if metadata_url else []
    return f"Bearer {', '.join(said)}" if said else "Bearer"


def metadata(settings: Settings, base_url: str) -> dict[str, Any]:
    """What an MCP client reads to find out where tokens come from (RFC 9728). API keys come from whoever runs the service, so no server is named."""
    named = {"authorization_servers": [settings.oidc_issuer]} if settings.auth == "oidc" else {}
    return {
        "resource": f"{base_url}/mcp",
        **named,
        "scopes_supported": [named_scope(settings, scope) for scope in SCOPES],
        "bearer_methods_supported": ["header"],
        "resource_name": "WisdomAgent",
    }


def named_scope(settings: Settings, scope: str) -> str:
    """The scope as tokens spell it."""
    return f"{settings.oidc_scope_prefix}{scope}" if settings.auth == "oidc" else scope


def base_url(settings: Settings, scheme: str, host: str) -> str:
    """Where callers reach this service: as it is set, otherwise as they did."""
    return settings.public_url.rstrip("/") or f"{scheme}://{host}"
