"""Receipts of erasures: what was asked, by whom and when, and what was removed, in numbers. Neither words nor ids nor the account are in them.

They are kept under the house's own tenant, so that a tenant's receipts outlive the tenant.
"""

import hashlib
import secrets
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from runtime.errors import Conflict, NotFound
from runtime.tenancy import HOUSE, Tenant
from search.ports import StateEntry, StateStore

KIND = "erasure_receipt"
Scope = Literal["ids", "account", "tenant"]
ReceiptState = Literal["begun", "deleted", "complete"]
SCOPES: tuple[str, ...] = get_args(Scope)
STATES: tuple[str, ...] = get_args(ReceiptState)
MAX_NAME_CHARS = 200
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Receipt:
    """One erasure. ``account_hash`` is SHA-256 over ``salt`` and the account, empty unless an account was erased: who knows the account can look for
    it. ``removed`` counts by kind, ``left`` counts what still names the account because its owner wrote it.

    ``begun``: it may not have ended. ``deleted``: the documents are gone, their words are withheld, and are being taken out of what was kept.
    ``complete``: they were.
    """

    receipt_id: str
    at: datetime
    scope: Scope
    by: str
    state: ReceiptState
    removed: Mapping[str, int]
    left: Mapping[str, int]
    account_hash: str = ""
    salt: str = ""
    epoch: int = 0
    completed_at: datetime | None = None

    def of_account(self, account_id: str) -> bool:
        """Whether this account was erased."""
        return bool(self.account_hash) and secrets.compare_digest(self.account_hash, _hash(self.salt, account_id))


@dataclass(frozen=True, slots=True)
class ReceiptPage:
    """Some receipts, newest first, and where to go on."""

    receipts: tuple[Receipt, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Receipts:
    """The receipts of all tenants; each method is about one."""

    state: StateStore

    def open(self, tenant: Tenant, scope: Scope, by: str, account_id: str | None = None, *, epoch: int = 0) -> Receipt:
        """Write a receipt before anything is deleted. ``epoch`` is the one that begins with the erasure."""
        salt = secrets.token_hex(8) if account_id is not None else ""
        body: dict[str, Any] = {
            "tenant": tenant,
            "scope": scope,
            "by": by[:MAX_NAME_CHARS],
            "state": "begun",
            "removed": {},
            "left": {},
            "account_hash": _hash(salt, account_id) if account_id is not None else "",
            "salt": salt,
            "epoch": epoch,
            "completed_at": None,
        }
        entry = self.state.put(HOUSE, KIND, uuid.uuid4().hex, body, labels={"tenant": tenant, "scope": scope}, expected=0)
        return _receipt(entry)

    def add(
        self,
        tenant: Tenant,
        receipt_id: str,
        removed: Mapping[str, int],
        *,
        left: Mapping[str, int] | None = None,
        state: ReceiptState | None = None,
        at: datetime | None = None,
    ) -> Receipt:
        """Add what more was removed, and how far it is; ``at`` is when it was complete.

        Raises:
            NotFound: the tenant has none of that id.
            Conflict: it is being changed by others all the time.
        """
        for _ in range(_ATTEMPTS):
            entry = self._entry(tenant, receipt_id)
            body = {
                **entry.body,
                "removed": dict(Counter(entry.body["removed"]) + Counter(removed)),
                "left": dict(left) if left is not None else entry.body["left"],
                "state": state or entry.body["state"],
                "completed_at": at.isoformat() if at is not None else entry.body["completed_at"],
            }
            try:
                return _receipt(self.state.put(HOUSE, KIND, receipt_id, body, labels=entry.labels, expected=entry.version))
            except Conflict:
                continue
        raise Conflict("the receipt is being changed by others all the time; try again")

    def get(self, tenant: Tenant, receipt_id: str) -> Receipt:
        """One receipt.

        Raises:
            NotFound: the tenant has none of that id.
        """
        return _receipt(self._entry(tenant, receipt_id))

    def list(self, tenant: Tenant, *, scope: Scope | None = None, first: int = 50, after: str | None = None) -> ReceiptPage:
        """Receipts, newest first."""
        labels = {"tenant": tenant} | ({"scope": scope} if scope else {})
        entries, cursor = self.state.entries(HOUSE, KIND, labels=labels, first=first, after=after)
        return ReceiptPage(tuple(map(_receipt, entries)), cursor)

    def accounts_after(self, tenant: Tenant, epoch: int) -> tuple[Receipt, ...]:
        """Erasures of accounts that began after this epoch."""
        found: list[Receipt] = []
        after: str | None = None
        while True:
            page = self.list(tenant, scope="account", first=200, after=after)
            later = [receipt for receipt in page.receipts if receipt.epoch > epoch]
            found += later
            after = page.cursor
            if after is None or not later:
                return tuple(found)

    def _entry(self, tenant: Tenant, receipt_id: str) -> StateEntry:
        entry = self.state.get(HOUSE, KIND, receipt_id)
        if entry is None or entry.body["tenant"] != tenant:
            raise NotFound("no receipt with this id; list the receipts to see which there are")
        return entry


def _hash(salt: str, account_id: str) -> str:
    return hashlib.sha256(f"{salt}\x1f{account_id}".encode("utf-8", "surrogatepass")).hexdigest()


def _receipt(entry: StateEntry) -> Receipt:
    body: Mapping[str, Any] = entry.body
    named = {name: body[name] for name in ("scope", "by", "state", "removed", "left", "account_hash", "salt")}
    ended = body["completed_at"]
    completed_at = datetime.fromisoformat(ended) if ended else None
    return Receipt(entry.entry_id, entry.created_at, epoch=body.get("epoch", 0), completed_at=completed_at, **named)
