"""The keys of an identity provider, on a real socket: read when they are needed, again when they may have changed, and never in a storm."""

from collections.abc import Iterator
from datetime import UTC, datetime

import jwt
import pytest

from api.identity.issuer_keys import BETWEEN_READS_S, FRESH_S, STALE_S, IssuerKeys, issuer_keys
from api.identity.tokens import Tokens
from runtime.clock import SettableClock
from runtime.errors import Misconfigured, Unauthenticated, Unavailable
from runtime.settings import Settings, read_settings
from tests.doors.issuing import MCP, WEB, Issuer, issuing, private_key


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as found:
        yield found


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime.now(UTC))


@pytest.fixture
def settings(issuer: Issuer) -> Settings:
    given = {"oidc_issuer": issuer.url, "oidc_jwks_url": f"{issuer.url}/jwks", "oidc_audience": WEB, "oidc_mcp_audience": MCP}
    return read_settings({}, auth="oidc", retry_attempts=1, **given)


@pytest.fixture
def keys(settings: Settings, clock: SettableClock) -> IssuerKeys:
    return issuer_keys(settings, clock)


def test_keys_are_read_at_the_first_token_and_kept(keys: IssuerKeys, issuer: Issuer) -> None:
    assert issuer.asked == 0
    assert all(keys.key("k1") is not None for _ in range(10))
    assert issuer.asked == 1


def test_a_storm_of_unknown_keys_asks_once_a_minute(keys: IssuerKeys, issuer: Issuer, clock: SettableClock) -> None:
    for number in range(100):
        assert keys.key(f"unknown-{number}") is None
    assert issuer.asked == 1
    clock.elapsed_s += BETWEEN_READS_S
    for number in range(100):
        assert keys.key(f"unknown-{number}") is None
    assert issuer.asked == 2


def test_a_new_key_is_found_and_the_old_one_is_gone_once_they_are_read_again(
    keys: IssuerKeys, issuer: Issuer, clock: SettableClock, settings: Settings
) -> None:
    tokens, old = Tokens(settings, keys), issuer.token()
    assert tokens.principal(old, "web", None).subject == "user-7"
    issuer.key, issuer.kid = private_key(), "k2"
    clock.elapsed_s += BETWEEN_READS_S
    assert tokens.principal(issuer.token(), "web", None).tenant == "acme"
    with pytest.raises(Unauthenticated):
        tokens.principal(old, "web", None)


def test_a_shared_secret_in_the_key_set_is_no_key(keys: IssuerKeys) -> None:
    assert keys.key("shared") is None


@pytest.mark.parametrize("broken", ["status", "garbage", "empty", "large"])
def test_without_keys_nobody_can_tell_and_that_is_not_the_callers_fault(keys: IssuerKeys, issuer: Issuer, broken: str) -> None:
    issuer.status = 500 if broken == "status" else 200
    issuer.garbage = {"garbage": b"<html>", "empty": b'{"keys": []}', "large": b" " * 2_000_000}.get(broken)
    with pytest.raises(Unavailable):
        keys.key("k1")


def test_kept_keys_are_used_while_the_provider_is_away_but_not_for_ever(keys: IssuerKeys, issuer: Issuer, clock: SettableClock) -> None:
    assert keys.key("k1") is not None
    issuer.status = 503
    clock.elapsed_s += FRESH_S
    assert keys.key("k1") is not None
    assert issuer.asked == 2
    assert keys.key("k1") is not None
    assert issuer.asked == 2
    clock.elapsed_s += STALE_S
    with pytest.raises(Unavailable):
        keys.key("k1")


def test_an_outage_opens_the_circuit_and_recovers_unaided(keys: IssuerKeys, issuer: Issuer, clock: SettableClock) -> None:
    issuer.status = 500
    for _ in range(10):
        with pytest.raises(Unavailable):
            keys.key("k1")
    issuer.status = 200
    clock.elapsed_s += 60
    assert keys.key("k1") is not None


@pytest.mark.parametrize("url", ["http://issuer.example", "file:///etc/passwd", "issuer.example", "ftp://issuer.example"])
def test_an_issuer_is_reached_by_tls_or_on_this_machine(url: str, clock: SettableClock) -> None:
    with pytest.raises(Misconfigured, match="WA_OIDC_ISSUER"):
        issuer_keys(read_settings({}, auth="oidc", oidc_issuer=url, oidc_audience=WEB, oidc_mcp_audience=MCP), clock)


def test_every_symmetric_algorithm_is_refused_by_the_settings() -> None:
    for name in ("HS256", "none", "RS256,HS512", ""):
        if name:
            with pytest.raises(Misconfigured, match="WA_OIDC_ALGORITHMS"):
                read_settings({"WA_OIDC_ALGORITHMS": name})
    assert {"RS256", "ES256"} <= jwt.algorithms.get_default_algorithms().keys()
