"""What every door offers of API keys, once; see :mod:`api.operations`. A tenant's keys are its own business and no other's."""

from collections.abc import Sequence
from datetime import UTC, datetime

from api.identity.keys import ApiKey, Keys, pepper_of
from api.json_values import Json, moment
from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from worker.opening import Service


def keys(service: Service, tenant: Tenant) -> tuple[ApiKey, ...]:
    """The tenant's keys, newest first.

    Raises:
        Misconfigured: keys cannot be used here.
    """
    return _keys(service).list(tenant)


def create_key(
    service: Service, tenant: Tenant, *, name: str, scopes: Sequence[str], rate_class: str, expires_at: str | None
) -> tuple[ApiKey, str]:
    """A new key, and how it is written.

    Raises:
        InvalidRequest: on ``name``, ``scopes``, ``rate_class`` or ``expires_at``.
        Misconfigured: keys cannot be used here.
    """
    return _keys(service).create(tenant, name=name, scopes=scopes, rate_class=rate_class, expires_at=_instant(expires_at))


def rotate_key(service: Service, tenant: Tenant, key_id: str, overlap_s: float) -> tuple[ApiKey, str]:
    """A new key in place of this one.

    Raises:
        NotFound: the tenant has no such key.
        Conflict: it has ended.
        InvalidRequest: on ``overlap_s``.
    """
    return _keys(service).rotate(tenant, key_id, overlap_s=overlap_s)


def revoke_key(service: Service, tenant: Tenant, key_id: str) -> ApiKey:
    """End a key.

    Raises:
        NotFound: the tenant has no such key.
    """
    return _keys(service).revoke(tenant, key_id)


def rendered(key: ApiKey) -> Json:
    """What may be shown of a key."""
    return {
        "keyId": key.key_id,
        "name": key.name,
        "scopes": list(key.scopes),
        "rateClass": key.rate_class,
        "createdAt": moment(key.created_at),
        "expiresAt": moment(key.expires_at) if key.expires_at else None,
        "revokedAt": moment(key.revoked_at) if key.revoked_at else None,
        "lastUsed": key.last_used or None,
    }


def _keys(service: Service) -> Keys:
    return Keys(service.state, service.clock, pepper_of(service.settings))


def _instant(text: str | None) -> datetime | None:
    """An instant; without an offset, and a day without a time, in UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidRequest("must be an instant or a day, such as 2027-01-31", field="expires_at") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
