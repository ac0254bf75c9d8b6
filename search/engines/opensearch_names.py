"""Names of indices and aliases. A name is built here or nowhere: never empty, never a pattern, never another tenant's.

| thing | form |
|---|---|
| tenant alias, for reading | ``{prefix}-{tenant}`` |
| month alias, for writing | ``{prefix}-{tenant}-{yyyymm}`` |
| month index | ``{prefix}-{tenant}-{yyyymm}-{generation:06d}`` |
| ledger alias and index | ``{prefix}-{tenant}-ledger`` and ``….{generation:06d}`` |
| state, and the model everything under the prefix was made with | ``{prefix}_state`` |

A tenant's ``-`` becomes ``.``, which no tenant may hold, so that the number of ``-`` tells the kinds apart and no two tenants meet. Names common
to all tenants use ``_`` after the prefix, which a prefix cannot hold.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant, tenant_named

_PREFIX = re.compile(r"[a-z][a-z0-9]{0,15}\Z")
_MONTH = re.compile(r"[0-9]{6}\Z")


def month_of(instant: datetime) -> str:
    """``yyyymm`` of an instant in UTC."""
    return f"{instant.year:04d}{instant.month:02d}"


def encoded(tenant: Tenant) -> str:
    """The tenant as it stands in names."""
    return tenant_named(tenant).replace("-", ".")


def checked_prefix(prefix: str) -> str:
    """The prefix itself.

    Raises:
        InvalidRequest: it is not 1 to 16 lower-case letters and digits that begin with a letter.
    """
    if not _PREFIX.match(prefix):
        raise InvalidRequest("must be 1 to 16 lower-case letters and digits, beginning with a letter", field="index_prefix")
    return prefix


def state_index(prefix: str) -> str:
    """The index of the state store; its mapping remembers the model and dimension of every vector under the prefix."""
    return f"{checked_prefix(prefix)}_state"


def every_month(prefix: str) -> str:
    """The pattern of all month indices; for templates and for reading mappings, never for searching."""
    return f"{checked_prefix(prefix)}-*-*-*"


def is_month_index(prefix: str, index: str) -> bool:
    """True when ``index`` has the form of a month index of some tenant."""
    return re.fullmatch(rf"{re.escape(prefix)}-[a-z0-9][a-z0-9_.]*-[0-9]{{6}}-[0-9]{{6}}", index) is not None


def is_behind(alias: str, index: str) -> bool:
    """True when ``index`` has the form of an index of ours behind ``alias``: a month of its tenant, a generation of its month or of its ledger, or the
    state index itself. No index of another tenant has. An index is behind its own name."""
    kind = alias.count("-")
    if kind not in (1, 2):
        return index == alias
    generation = r"-[0-9]{6}-[0-9]{6}" if kind == 1 else r"\.[0-9]{6}" if alias.endswith("-ledger") else r"-[0-9]{6}"
    return re.fullmatch(re.escape(alias) + generation, index) is not None


@dataclass(frozen=True, slots=True)
class Names:
    """All names of one tenant."""

    prefix: str
    tenant: Tenant

    @property
    def alias(self) -> str:
        """What searches read."""
        return f"{checked_prefix(self.prefix)}-{encoded(self.tenant)}"

    @property
    def ledger(self) -> str:
        """The alias of the ledger."""
        return f"{self.alias}-ledger"

    def ledger_index(self, generation: int = 1) -> str:
        """The index behind the ledger's alias."""
        return f"{self.ledger}.{generation:06d}"

    def next_ledger_index(self, index: str) -> str:
        """The one that replaces ``index``."""
        return self.ledger_index(int(index.removeprefix(f"{self.ledger}.")) + 1)

    def month_alias(self, month: str) -> str:
        """What writes of one month address."""
        if not _MONTH.match(month):
            raise InvalidRequest("must be a month as yyyymm", field="month")
        return f"{self.alias}-{month}"

    def month_index(self, month: str, generation: int = 1) -> str:
        """The index behind a month alias."""
        return f"{self.month_alias(month)}-{generation:06d}"

    def holds(self, index: str) -> bool:
        """True when ``index`` is a month index of this tenant."""
        return re.fullmatch(rf"{re.escape(self.alias)}-[0-9]{{6}}-[0-9]{{6}}", index) is not None

    def month_of(self, index: str) -> str:
        """``2026-01`` of a month index of this tenant; empty for any other name."""
        if not self.holds(index):
            return ""
        month = index.removeprefix(f"{self.alias}-")[:6]
        return f"{month[:4]}-{month[4:]}"
