"""The keys of an identity provider behind a proxy that breaks what passes, asked for by many callers at once."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import jwt
import pytest

from api.identity.issuer_keys import BETWEEN_READS_S, FRESH_S, IssuerKeys, issuer_keys
from runtime.errors import Unavailable
from runtime.settings import Settings, read_settings
from runtime.telemetry import Metrics
from tests.doors.issuing import MCP, WEB, Issuer, issuing
from tests.faults.enduring import PAUSE_S, QUICK, Dependency, LeapingClock, at_once, endures, piles_nothing_up, time_limit_s
from tests.faults.proxy import HTTP_FAULTS, Fault, Proxy, proxied


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as found:
        yield found


@pytest.fixture
def proxy(issuer: Issuer) -> Iterator[Proxy]:
    with proxied("127.0.0.1", urlsplit(issuer.url).port or 0) as opened:
        yield opened


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock()


@pytest.fixture
def settings(proxy: Proxy, issuer: Issuer) -> Settings:
    given = {"oidc_issuer": issuer.url, "oidc_jwks_url": f"http://localhost:{proxy.port}/jwks", "oidc_audience": WEB}
    return read_settings({}, auth="oidc", oidc_mcp_audience=MCP, **given, **QUICK)


@pytest.fixture
def keys(settings: Settings, clock: LeapingClock, fault: Fault) -> IssuerKeys:
    return issuer_keys(settings, clock, timeout_s=time_limit_s(fault))


@pytest.fixture
def reading(keys: IssuerKeys, settings: Settings, clock: LeapingClock) -> Dependency:
    """Each call reads the keys for the first time, through the one guard of the process."""
    metrics = Metrics()
    metrics.watch(keys)
    (guard,) = keys.guards
    named = ("identity provider",)
    return Dependency("identity provider", lambda: IssuerKeys(settings, guard, clock).key("k1"), clock, metrics, named, told=_is_none)


def _is_none(key: object) -> bool:
    return key is None


@pytest.mark.parametrize("fault", HTTP_FAULTS)
def test_without_keys_a_token_is_neither_good_nor_bad_and_the_caller_is_told_so(fault: Fault, reading: Dependency, proxy: Proxy) -> None:
    endures(reading, proxy, fault)


@pytest.mark.parametrize("fault", ["reset", "half_open", "garbage"])
def test_failed_readings_pile_nothing_up(fault: Fault, reading: Dependency, proxy: Proxy) -> None:
    piles_nothing_up(reading, proxy, fault)


@pytest.mark.parametrize("fault", ["half_open", "refused", "http_503"])
def test_known_keys_serve_on_while_their_issuer_is_away(fault: Fault, keys: IssuerKeys, clock: LeapingClock, proxy: Proxy) -> None:
    assert keys.key("k1") is not None
    proxy.fail(fault)
    clock.leapt_s += FRESH_S
    assert all(isinstance(key, jwt.PyJWK) for key in at_once(lambda: keys.key("k1")))
    proxy.heal()
    clock.leapt_s += BETWEEN_READS_S + PAUSE_S
    assert keys.key("k1") is not None


@pytest.mark.parametrize("fault", ["half_open"])
def test_many_who_wait_for_the_first_keys_share_one_reading(fault: Fault, keys: IssuerKeys, proxy: Proxy) -> None:
    """Otherwise the last of them would wait for the time of all."""
    proxy.fail(fault)
    outcomes = at_once(lambda: keys.key("k1"))
    assert all(isinstance(outcome, Unavailable) for outcome in outcomes), outcomes
    assert proxy.accepted <= 2
