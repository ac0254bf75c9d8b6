"""API keys: what is kept of them, and when they end. On the embedded state store; the same on OpenSearch where one can be had."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from api.identity.key_credentials import KEPT_S, KeyCredentials
from api.identity.keys import KIND, Keys, parts_of, pepper_of
from api.identity.principal import SCOPES
from runtime.clock import SettableClock
from runtime.errors import Conflict, InvalidRequest, Misconfigured, NotFound, Unauthenticated
from runtime.settings import read_settings
from runtime.tenancy import HOUSE, tenant_named
from search.engines.embedded import open_embedded
from search.ports import StateStore

PEPPER = b"pepper-of-the-tests-0123456789abcdef"
ACME, BIRCH = tenant_named("acme"), tenant_named("birch")


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.fixture
def state(tmp_path: object, clock: SettableClock) -> Iterator[StateStore]:
    with open_embedded(tmp_path / "wisdom.db", model="m", dimension=4, clock=clock) as engine:  # type: ignore[operator]
        yield engine.state


@pytest.fixture
def keys(state: StateStore, clock: SettableClock) -> Keys:
    return Keys(state, clock, PEPPER)


@pytest.fixture
def credentials(keys: Keys, clock: SettableClock) -> KeyCredentials:
    return KeyCredentials(keys, clock)


def test_a_key_opens_its_tenant_with_its_scopes(keys: Keys, credentials: KeyCredentials) -> None:
    made, written = keys.create(ACME, name=" dashboard ", scopes=["ask", "read"], rate_class="low")
    principal = credentials.principal(written)
    assert (principal.tenant, principal.scopes, principal.key_id) == (ACME, {"read", "ask"}, made.key_id)
    assert (made.name, made.scopes, principal.rate_class) == ("dashboard", ("read", "ask"), "low")


def test_the_secret_has_256_bits_and_is_nowhere_in_the_store(keys: Keys, state: StateStore) -> None:
    made, written = keys.create(ACME, name="x", scopes=["read"])
    key_id, secret = parts_of(written) or ("", "")
    assert (key_id, len(bytes.fromhex(secret))) == (made.key_id, 32)
    entry = state.get(HOUSE, KIND, key_id)
    assert entry is not None
    assert secret not in json.dumps([entry.body, entry.labels])
    assert written not in repr(made)


def test_another_pepper_opens_nothing(keys: Keys, state: StateStore, clock: SettableClock) -> None:
    _, written = keys.create(ACME, name="x", scopes=["read"])
    with pytest.raises(Unauthenticated):
        KeyCredentials(Keys(state, clock, PEPPER + b"!"), clock).principal(written)


def test_a_revoked_key_works_for_the_few_seconds_that_it_is_remembered_and_no_longer(
    keys: Keys, credentials: KeyCredentials, clock: SettableClock
) -> None:
    made, written = keys.create(ACME, name="x", scopes=["read"])
    credentials.principal(written)
    assert keys.revoke(ACME, made.key_id).revoked_at == clock.now()
    assert keys.revoke(ACME, made.key_id) == keys.revoke(ACME, made.key_id)
    clock.elapsed_s += KEPT_S
    with pytest.raises(Unauthenticated):
        credentials.principal(written)


def test_a_key_ends_at_its_instant_even_while_it_is_remembered(keys: Keys, credentials: KeyCredentials, clock: SettableClock) -> None:
    _, written = keys.create(ACME, name="x", scopes=["read"], expires_at=clock.now() + timedelta(hours=1))
    assert credentials.principal(written).valid_until == clock.now() + timedelta(hours=1)
    clock.instant += timedelta(hours=1)
    with pytest.raises(Unauthenticated):
        credentials.principal(written)


def test_rotating_ends_the_old_key_after_the_overlap(keys: Keys, credentials: KeyCredentials, clock: SettableClock) -> None:
    old, old_written = keys.create(ACME, name="x", scopes=["read"], rate_class="high")
    new, new_written = keys.rotate(ACME, old.key_id, overlap_s=60)
    assert (new.name, new.scopes, new.rate_class) == (old.name, old.scopes, old.rate_class)
    assert {credentials.principal(each).key_id for each in (old_written, new_written)} == {old.key_id, new.key_id}
    clock.instant += timedelta(seconds=60)
    assert credentials.principal(new_written).key_id == new.key_id
    with pytest.raises(Unauthenticated):
        credentials.principal(old_written)
    with pytest.raises(Conflict):
        keys.rotate(ACME, old.key_id)


def test_the_day_of_the_last_use_is_remembered(keys: Keys, credentials: KeyCredentials, clock: SettableClock) -> None:
    made, written = keys.create(ACME, name="x", scopes=["read"])
    credentials.used(credentials.principal(written))
    assert keys.get(ACME, made.key_id).last_used == "2026-03-01"


def test_a_tenant_sees_and_ends_its_own_keys_alone(keys: Keys, state: StateStore) -> None:
    made, _ = keys.create(ACME, name="x", scopes=["read"])
    assert keys.list(BIRCH) == ()
    for call in (lambda: keys.get(BIRCH, made.key_id), lambda: keys.revoke(BIRCH, made.key_id), lambda: keys.rotate(BIRCH, made.key_id)):
        with pytest.raises(NotFound) as caught:
            call()
        assert made.key_id not in str(caught.value)
    state.erase(ACME)
    assert [each.key_id for each in keys.list(ACME)] == [made.key_id]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["read", "root"]}, "scopes"),
        ({"rate_class": "unlimited"}, "rate_class"),
        ({"expires_at": datetime(2026, 1, 1, tzinfo=UTC)}, "expires_at"),
    ],
)
def test_what_no_key_can_have_is_named(keys: Keys, given: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        keys.create(ACME, **{"name": "x", "scopes": list(SCOPES), **given})  # type: ignore[arg-type]
    assert caught.value.field == field


def test_no_door_can_name_the_tenant_of_the_house() -> None:
    with pytest.raises(InvalidRequest):
        tenant_named(HOUSE)


def test_keys_need_a_long_pepper(tmp_path: object) -> None:
    file = tmp_path / "pepper"  # type: ignore[operator]
    file.write_text(PEPPER.decode() + "\n")
    assert pepper_of(read_settings({"WA_KEY_PEPPER_FILE": str(file)})) == PEPPER
    for given in ({}, {"key_pepper": "short"}):
        with pytest.raises(Misconfigured, match="WA_KEY_PEPPER"):
            pepper_of(read_settings({}, **given))
