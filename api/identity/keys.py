"""API keys: ``wa_<id>_<secret>``. The secret is shown once; what is kept is its HMAC under a pepper that is not in the store."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from api.identity.principal import RATE_CLASSES, SCOPES, RateClass, Scope
from runtime.clock import Clock
from runtime.errors import Conflict, InvalidRequest, Misconfigured, NotFound
from runtime.settings import Settings
from runtime.tenancy import HOUSE, Tenant, tenant_named
from search.ports import StateEntry, StateStore

KIND = "api_key"
SECRET_BYTES = 32
MIN_PEPPER_CHARS = 32
MAX_NAME_CHARS = 100
MAX_KEYS = 1000
"""Of one tenant."""

_WRITTEN = re.compile(r"wa_([a-z0-9]{16})_([0-9a-f]{64})\Z")
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key; its secret is not. ``last_used`` is a day, as ``2026-03-01``, or empty."""

    key_id: str
    tenant: Tenant
    name: str
    scopes: tuple[Scope, ...]
    rate_class: RateClass
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used: str = ""
    digest: str = ""

    def ended(self, now: datetime) -> bool:
        """Whether it no longer opens anything."""
        return self.revoked_at is not None or (self.expires_at is not None and self.expires_at <= now)


def pepper_of(settings: Settings) -> bytes:
    """The secret that keys are hashed with.

    Raises:
        Misconfigured: there is none, or a short one.
    """
    text = settings.key_pepper.get_secret_value()
    if len(text) < MIN_PEPPER_CHARS:
        problem = f"has fewer than {MIN_PEPPER_CHARS} characters" if text else "is not set"
        raise Misconfigured(f"WA_KEY_PEPPER (or WA_KEY_PEPPER_FILE) {problem}; API keys need one, such as from: openssl rand -hex 32")
    return text.encode()


def has_pepper(settings: Settings) -> bool:
    """Whether keys can be used here."""
    return bool(settings.key_pepper.get_secret_value())


def parts_of(written: str) -> tuple[str, str] | None:
    """Id and secret of a key as it was shown, None when it cannot be one."""
    found = _WRITTEN.match(written)
    return (found[1], found[2]) if found else None


class Keys:
    """The keys of all tenants. They are kept under a tenant of the house, so that they can be looked up by id alone and stay when the documents and
    state of theirs are erased."""

    def __init__(self, state: StateStore, clock: Clock, pepper: bytes) -> None:
        self._state = state
        self._clock = clock
        self._pepper = pepper

    def create(
        self, tenant: Tenant, *, name: str, scopes: Iterable[str], rate_class: str = "standard", expires_at: datetime | None = None
    ) -> tuple[ApiKey, str]:
        """A new key, and how it is written; nobody can be told that again.

        Raises:
            InvalidRequest: on ``name``, ``scopes``, ``rate_class`` or ``expires_at``.
            Conflict: the tenant has too many.
        """
        now = self._clock.now()
        if expires_at is not None and expires_at <= now:
            raise InvalidRequest("lies in the past", field="expires_at")
        if len(self.list(tenant)) >= MAX_KEYS:
            raise Conflict(f"the tenant has {MAX_KEYS} keys; nothing was created")
        return self._made(
            ApiKey(_new_id(), tenant, _checked_name(name), _checked_scopes(scopes), _checked_class(rate_class), now, expires_at)
        )

    def list(self, tenant: Tenant) -> tuple[ApiKey, ...]:
        """The tenant's keys, newest first, ended ones too."""
        entries, _ = self._state.entries(HOUSE, KIND, labels={"tenant": tenant}, first=MAX_KEYS)
        return tuple(key_of(entry) for entry in entries)

    def rotate(self, tenant: Tenant, key_id: str, *, overlap_s: float = 0.0) -> tuple[ApiKey, str]:
        """A new key with the same rights in place of this one, which ends after ``overlap_s``.

        Raises:
            NotFound: the tenant has no such key.
            Conflict: it has ended.
            InvalidRequest: on ``overlap_s``.
        """
        if not 0 <= overlap_s <= 30 * 86_400:
            raise InvalidRequest("must be between 0 and 30 days, in seconds", field="overlap_s")
        old, now = self.get(tenant, key_id), self._clock.now()
        if old.ended(now):
            raise Conflict("the key has ended; create a new one")
        made = self._made(replace(old, key_id=_new_id(), created_at=now, last_used=""))
        end = now + timedelta(seconds=overlap_s)
        self._change(key_id, lambda key: replace(key, expires_at=min(key.expires_at or end, end)))
        return made

    def revoke(self, tenant: Tenant, key_id: str) -> ApiKey:
        """End a key: for good, within seconds, in every process. Revoking it again changes nothing.

        Raises:
            NotFound: the tenant has no such key.
        """
        self.get(tenant, key_id)
        now = self._clock.now()
        return self._change(key_id, lambda key: key if key.revoked_at else replace(key, revoked_at=now))

    def get(self, tenant: Tenant, key_id: str) -> ApiKey:
        """One key.

        Raises:
            NotFound: the tenant has none of that id, whoever else may.
        """
        found = self.known(key_id)
        if found is None or found.tenant != tenant:
            raise NotFound("no key with this id; list the keys to see which there are")
        return found

    def known(self, key_id: str) -> ApiKey | None:
        """The key of that id, whosever it is. For finding out who asks; no door may show it."""
        entry = self._state.get(HOUSE, KIND, key_id)
        return None if entry is None else key_of(entry)

    def fits(self, key: ApiKey | None, key_id: str, secret: str) -> bool:
        """Whether this is the key's secret; takes as long when there is no such key."""
        return hmac.compare_digest(self._digest(key_id, secret), key.digest if key else "0" * 64) and key is not None

    def used(self, key: ApiKey) -> None:
        """Remember the day on which it was used."""
        today = self._clock.now().date().isoformat()
        if key.last_used != today:
            with suppress(Conflict):
                self._change(key.key_id, lambda found: replace(found, last_used=today))

    def _made(self, key: ApiKey) -> tuple[ApiKey, str]:
        secret = secrets.token_hex(SECRET_BYTES)
        key = replace(key, digest=self._digest(key.key_id, secret))
        self._state.put(HOUSE, KIND, key.key_id, _body(key), labels={"tenant": key.tenant}, expected=0)
        return key, f"wa_{key.key_id}_{secret}"

    def _digest(self, key_id: str, secret: str) -> str:
        return hmac.new(self._pepper, f"{key_id}:{secret}".encode(), hashlib.sha256).hexdigest()

    def _change(self, key_id: str, change: Any) -> ApiKey:
        for _ in range(_ATTEMPTS):
            entry = self._state.get(HOUSE, KIND, key_id)
            if entry is None:
                raise NotFound("no key with this id; list the keys to see which there are")
            before = key_of(entry)
            after: ApiKey = change(before)
            if after == before:
                return before
            with suppress(Conflict):
                self._state.put(HOUSE, KIND, key_id, _body(after), labels={"tenant": after.tenant}, expected=entry.version)
                return after
        raise Conflict("the key is being changed by others all the time; repeat")


def key_of(entry: StateEntry) -> ApiKey:
    """The key that an entry holds."""
    body = dict(entry.body)
    instants = {name: _instant(body[name]) for name in ("created_at", "expires_at", "revoked_at")}
    return ApiKey(**{**body, **instants, "tenant": tenant_named(body["tenant"]), "scopes": tuple(body["scopes"])})


def _body(key: ApiKey) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(key).items()}


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _new_id() -> str:
    return secrets.token_hex(8)


def _checked_name(name: str) -> str:
    if not 1 <= len(name.strip()) <= MAX_NAME_CHARS:
        raise InvalidRequest(f"must have 1 to {MAX_NAME_CHARS} characters", field="name")
    return name.strip()


def _checked_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    asked = {scope.strip() for scope in scopes}
    if not asked or not asked <= set(SCOPES):
        raise InvalidRequest(f"must be one or more of {', '.join(SCOPES)}", field="scopes")
    return tuple(scope for scope in SCOPES if scope in asked)


def _checked_class(name: str) -> RateClass:
    found = next(_named(RATE_CLASSES, name), None)
    if found is None:
        raise InvalidRequest(f"must be one of {', '.join(RATE_CLASSES)}", field="rate_class")
    return found


def _named(classes: tuple[RateClass, ...], name: str) -> Iterator[RateClass]:
    return (each for each in classes if each == name)
