"""Names of indices and aliases. A name is built here or nowhere: never empty, never a pattern, never another tenant's.

| thing | form |
|---|---|
| tenant alias, for reading | ``{prefix}-{tenant}`` |
| month alias, for writing | ``{prefix}-{tenant}-{yyyymm}`` |
| month index | ``{prefix}-{tenant}-{yyyymm}-{generation:06d}`` |
| the same for a tenant in the pool | ``{prefix}-{tenant}-{yyyymm}.pool.{era:06d}`` |
| month of the pool, and its alias | ``{prefix}-_pool-{yyyymm}-{generation:06d}``, ``{prefix}-_pool-{yyyymm}`` |
| ledger alias and index | ``{prefix}-{tenant}-ledger`` and ``….{generation:06d}`` |
| marks of the ledger: where the tenant is | ``{prefix}-{tenant}-ledger.own`` and others of :mod:`search.engines.opensearch_placement` |
| state, and the model everything under the prefix was made with | ``{prefix}_state`` |
| a further generation of all records | all of the above under ``{prefix}{2…9}``, where ``_state`` says whose generation it is and holds nothing |
| which generation is served, when it is not the first | alias ``{prefix}_live`` |

A tenant's ``-`` becomes ``.``, which no tenant may hold, so that the number of ``-`` tells the kinds apart and no two tenants meet. Names common
to all tenants use ``_`` where no prefix and no tenant can begin with it.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant, tenant_named

_PREFIX = re.compile(r"[a-z][a-z0-9]{0,15}[0-9]?\Z")
"""As it can be set, and the number of a generation behind it."""
_MONTH = re.compile(r"[0-9]{6}\Z")
_POOL = "_pool"
_POOL_INDEX = re.compile(r"([a-z][a-z0-9]{0,16})-_pool-([0-9]{6})-[0-9]{6}\Z")
_LEDGER = re.compile(r"-[^-]+-ledger(\.[0-9]{6})?\Z")
_LEDGER_INDEX = re.compile(r"-[^-]+-ledger\.[0-9]{6}\Z")
_POOLED_ALIAS = re.compile(r"([a-z][a-z0-9]{0,16})-[a-z0-9][a-z0-9_.]*-([0-9]{6})\.pool\.[0-9]{6}\Z")

_LONGEST_KEY_BYTES = 500
_HASHED = "sha256:"


def record_key(text: str) -> str:
    """``text`` as an ``_id``, which is at most 512 bytes: hashed when it is longer, or looks like a hash."""
    if len(text.encode("utf-8", "replace")) <= _LONGEST_KEY_BYTES and not text.startswith(_HASHED):
        return text
    return _HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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


def live_alias(prefix: str) -> str:
    """What stands on the marker of the generation that is served."""
    return f"{checked_prefix(prefix)}_live"


def closing_alias(prefix: str, token: str) -> str:
    """What stands on a marker while that generation takes no writes because another is about to be served."""
    return f"{checked_prefix(prefix)}_closing_{token}"


def opening_alias(prefix: str, token: str) -> str:
    """What stands on a marker while that generation is made to take writes again."""
    return f"{checked_prefix(prefix)}_opening_{token}"


def generation_prefixes(prefix: str) -> tuple[str, ...]:
    """Where records of the generations of this prefix are: the prefix itself, and eight more."""
    return (checked_prefix(prefix), *(f"{prefix}{number}" for number in range(2, 10)))


def every_ledger(prefix: str) -> str:
    """The pattern of all ledger indices; for listing them and for what new ones are made like."""
    return f"{checked_prefix(prefix)}-*-ledger*"


def every_month(prefix: str) -> str:
    """The pattern of all month indices; for templates and for reading mappings, never for searching."""
    return f"{checked_prefix(prefix)}-*-*-*"


def is_month_index(prefix: str, index: str) -> bool:
    """True when ``index`` has the form of a month index of some tenant, or of the pool."""
    return re.fullmatch(rf"{re.escape(prefix)}-([a-z0-9][a-z0-9_.]*|{_POOL})-[0-9]{{6}}-[0-9]{{6}}", index) is not None


def pool_alias(prefix: str, month: str) -> str:
    """What tells the index of a month of the pool; nobody reads or writes by it."""
    return f"{checked_prefix(prefix)}-{_POOL}-{checked_month(month)}"


def pool_index(prefix: str, month: str, generation: int = 1) -> str:
    """A month of all tenants in the pool."""
    return f"{pool_alias(prefix, month)}-{generation:06d}"


def every_pool_month(prefix: str) -> str:
    """The pattern of the pool's months; for listing them, never for searching."""
    return f"{checked_prefix(prefix)}-{_POOL}-*"


def is_pool_index(index: str) -> bool:
    """True when ``index`` has the form of a month of a pool: whose a record of it is, only the record says."""
    return _POOL_INDEX.match(index) is not None


def is_month(name: str) -> bool:
    """True for every name that has records of documents behind it, False for those of ledgers and of state."""
    return "-" in name and _LEDGER.search(name) is None


def index_month(index: str) -> str:
    """``yyyymm`` of any month index."""
    return index.rsplit("-", 2)[1]


def checked_month(month: str) -> str:
    """The month itself.

    Raises:
        InvalidRequest: it is not six digits.
    """
    if not _MONTH.match(month):
        raise InvalidRequest("must be a month as yyyymm", field="month")
    return month


@lru_cache(maxsize=4_096)
def is_behind(alias: str, index: str) -> bool:
    """True when ``index`` has the form of an index of ours behind ``alias``: a month of its tenant or of the pool, a generation of its month or of its
    ledger, or the state index itself. No index of another tenant has. An index is behind its own name."""
    kind = alias.count("-")
    if kind in (1, 2) and (pooled := _POOL_INDEX.match(index)):
        prefix, month = pooled.groups()
        if kind == 1:
            return alias.startswith(f"{prefix}-")
        return alias == f"{prefix}-{_POOL}-{month}" or _is_pooled_alias(alias, prefix, month)
    if kind not in (1, 2) or _LEDGER_INDEX.search(alias):
        return index == alias
    generation = r"-[0-9]{6}-[0-9]{6}" if kind == 1 else r"\.[0-9]{6}" if alias.endswith("-ledger") else r"-[0-9]{6}"
    return re.fullmatch(re.escape(alias) + generation, index) is not None


def _is_pooled_alias(alias: str, prefix: str, month: str) -> bool:
    found = _POOLED_ALIAS.match(alias)
    return found is not None and found.groups() == (prefix, month)


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

    def month_alias(self, month: str) -> str:
        """What writes of one month address."""
        return f"{self.alias}-{checked_month(month)}"

    def month_index(self, month: str, generation: int = 1) -> str:
        """The index behind a month alias."""
        return f"{self.month_alias(month)}-{generation:06d}"

    def holds(self, index: str) -> bool:
        """True when ``index`` is a month index of this tenant."""
        return re.fullmatch(rf"{re.escape(self.alias)}-[0-9]{{6}}-[0-9]{{6}}", index) is not None

    def left_alias(self, month: str) -> str:
        """What marks a month that the tenant was moved away from."""
        return f"{self.month_alias(month)}.left"

    def owns(self, index: str, aliases: Iterable[str]) -> bool:
        """True when ``index`` is a month index of this tenant alone and has an alias that we give them."""
        if not self.holds(index):
            return False
        month = index_month(index)
        return not {self.alias, self.month_alias(month), self.left_alias(month)}.isdisjoint(aliases)

    def month_of(self, index: str) -> str:
        """``2026-01`` of a month index of this tenant; empty for any other name."""
        if not self.holds(index):
            return ""
        month = index.removeprefix(f"{self.alias}-")[:6]
        return f"{month[:4]}-{month[4:]}"
