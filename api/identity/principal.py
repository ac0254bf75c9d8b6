"""The caller of a request, as every door knows it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from runtime.tenancy import Tenant

Scope = Literal["read", "ask", "write", "monitor", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
EVERY_SCOPE: frozenset[Scope] = frozenset(SCOPES)

RateClass = Literal["low", "standard", "high"]
RATE_CLASSES: tuple[RateClass, ...] = get_args(RateClass)


@dataclass(frozen=True, slots=True)
class Principal:
    """Which tenant's documents, under what name, with which rights.

    ``key_id`` is empty where no API key was shown. ``valid_until`` is when the credential ends by itself, None when it does not.
    """

    tenant: Tenant
    subject: str
    scopes: frozenset[Scope]
    key_id: str = ""
    rate_class: RateClass = "standard"
    valid_until: datetime | None = None
    limited: bool = True
    """False in development mode, where nobody shows a credential that calls could be counted for."""

    @property
    def credential(self) -> str:
        """Whose calls are counted together."""
        return f"key:{self.key_id}" if self.key_id else f"subject:{self.tenant}:{self.subject}"
