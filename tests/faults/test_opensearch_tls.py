"""TLS and credentials towards OpenSearch: a real node behind a real TLS server, and every way in which the two may not agree."""

import base64
import ssl
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.errors import Misconfigured, ServiceError, Unavailable
from runtime.settings import Settings, read_settings
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.opensearch import open_opensearch
from search.engines.opensearch_connection import address_of, connected
from search.ranking import LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written
from tests.faults.certificates import Authority, Pair
from tests.faults.fronting import fronting

TENANT = tenant_named("a-tenant")
PASSWORD = "correct horse: bättery"
BASIC = "Basic " + base64.b64encode(f"wisdom:{PASSWORD}".encode()).decode()
TOKEN = "eyJhbGciOiJub25lIn0.secret-token.x"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def pair(authority: Authority) -> Pair:
    return authority.issued("node")


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    return held(tmp_path / "password", PASSWORD + "\n")


def held(file: Path, text: str) -> Path:
    file.write_text(text, "utf-8")
    return file


def with_user(url: str, user: str = "wisdom") -> str:
    return url.replace("://", f"://{user}@")


def failure(settings: Settings) -> ServiceError:
    """What opening comes to."""
    with pytest.raises(ServiceError) as raised, open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()):
        pass
    text = f"{raised.value} {raised.value!r} {settings.describe()}"
    for secret in (PASSWORD, BASIC.removeprefix("Basic "), TOKEN):
        assert secret not in text
    return raised.value


def refusal(url: str, **changes: object) -> str:
    """Why settings are refused before anything is sent."""
    with pytest.raises(Misconfigured) as raised:
        connected(read_settings({}, engine_url=url, **changes), SystemClock())
    for secret in (PASSWORD, "hunter2", TOKEN):
        assert secret not in str(raised.value)
    return str(raised.value)


@pytest.mark.live("opensearch")
@pytest.mark.parametrize("kind", ["password", "token", "api key", "certificate"])
def test_documents_are_written_and_found_over_tls_by_who_may(
    opensearch_url: str, opensearch_prefix: str, authority: Authority, pair: Pair, password_file: Path, kind: str, tmp_path: Path
) -> None:
    ours = authority.issued("wisdom-agent")
    wanted, clients = {
        "password": (BASIC, None),
        "token": (f"Bearer {TOKEN}", None),
        "api key": (f"ApiKey {TOKEN}", None),
        "certificate": ("", authority.file),
    }[kind]
    changes: dict[str, object] = {
        "password": {"engine_password_file": password_file},
        "token": {"engine_token_file": held(tmp_path / "token", TOKEN)},
        "api key": {"engine_token_file": held(tmp_path / "key", f"ApiKey {TOKEN}\n")},
        "certificate": {"engine_client_cert_file": ours.certificate, "engine_client_key_file": ours.key},
    }[kind]
    with fronting(opensearch_url, tls=pair.server(clients=clients), authorization=wanted) as front:
        url = with_user(front.url) if kind == "password" else front.url
        settings = read_settings({}, engine_url=url, index_prefix=opensearch_prefix, engine_ca_file=authority.file, **changes)
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
            engine.write(TENANT, [written("a", "late fees")])
            engine.refresh(TENANT)
            assert engine.legs(TENANT, LegQuery("late fees", unit_vector("late fees"), EVERYTHING)).scope == 1
            described = str(dict(engine.describe())) + str(settings.describe())
    assert len(front.calls) > 5
    for secret in (PASSWORD, TOKEN, BASIC):
        assert secret not in described


@pytest.mark.live("opensearch")
def test_a_password_that_was_changed_is_read_again(
    opensearch_url: str, opensearch_prefix: str, authority: Authority, pair: Pair, password_file: Path
) -> None:
    with fronting(opensearch_url, tls=pair.server(), authorization=BASIC) as front:
        settings = read_settings(
            {},
            engine_url=with_user(front.url),
            index_prefix=opensearch_prefix,
            engine_ca_file=authority.file,
            engine_password_file=password_file,
        )
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
            front.authorization = "Basic " + base64.b64encode(b"wisdom:a longer new one than before").decode()
            with pytest.raises(Misconfigured, match="WA_ENGINE_PASSWORD_FILE"):
                engine.stored(TENANT, ["a"])
            held(password_file, "a longer new one than before")
            assert engine.stored(TENANT, ["a"]) == {}


def test_an_authority_we_do_not_trust_is_named_with_the_setting(authority: Authority, pair: Pair, tmp_path: Path) -> None:
    other = Authority(tmp_path, "another authority")
    with fronting("http://127.0.0.1:1", tls=pair.server()) as front:
        for trusted in (None, other.file):
            found = failure(read_settings({}, engine_url=front.url, engine_ca_file=trusted))
            assert isinstance(found, Misconfigured)
            assert "not trusted; set WA_ENGINE_CA_FILE" in str(found)
    assert front.calls == []


@pytest.mark.parametrize(
    ("hosts", "ends_in", "says"),
    [
        (("127.0.0.1",), timedelta(hours=-1), "has expired"),
        (("search.example.com",), timedelta(days=1), "issued for another name"),
        (("127.0.0.2", "localhost"), timedelta(days=1), "issued for another name"),
    ],
)
def test_a_certificate_that_is_old_or_of_another_host_is_refused(
    authority: Authority, password_file: Path, hosts: tuple[str, ...], ends_in: timedelta, says: str
) -> None:
    pair = authority.issued("wrong", hosts=hosts, ends_in=ends_in)
    with fronting("http://127.0.0.1:1", tls=pair.server(), authorization=BASIC) as front:
        found = failure(
            read_settings({}, engine_url=with_user(front.url), engine_ca_file=authority.file, engine_password_file=password_file)
        )
    assert isinstance(found, Misconfigured)
    assert says in str(found)
    assert front.calls == []


def test_a_cluster_that_wants_a_certificate_of_ours_says_so(authority: Authority, pair: Pair, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "another authority").issued("stranger")
    with fronting("http://127.0.0.1:1", tls=pair.server(clients=authority.file)) as front:
        given: dict[str, object] = {"engine_url": front.url, "engine_ca_file": authority.file}
        assert "WA_ENGINE_CLIENT_CERT_FILE" in str(failure(read_settings({}, **given)))
        given |= {"engine_client_cert_file": stranger.certificate, "engine_client_key_file": stranger.key}
        assert "does not trust the certificate in WA_ENGINE_CLIENT_CERT_FILE" in str(failure(read_settings({}, **given)))


def test_a_missing_or_wrong_credential_says_which_settings_it_comes_from(authority: Authority, pair: Pair, tmp_path: Path) -> None:
    with fronting("http://127.0.0.1:1", tls=pair.server(), authorization=BASIC) as front:
        for changes in (
            {"engine_url": front.url},
            {"engine_url": with_user(front.url), "engine_password_file": held(tmp_path / "wrong", "wrong")},
            {"engine_url": front.url, "engine_token_file": held(tmp_path / "token", TOKEN)},
        ):
            found = failure(read_settings({}, engine_ca_file=authority.file, **changes))
            assert isinstance(found, Misconfigured)
            for name in ("WA_ENGINE_URL", "WA_ENGINE_PASSWORD_FILE", "WA_ENGINE_TOKEN_FILE"):
                assert name in str(found)
    assert front.calls == []


def test_http_and_https_that_do_not_meet_are_told_apart(authority: Authority, pair: Pair) -> None:
    with fronting("http://127.0.0.1:1") as plain:
        found = failure(read_settings({}, engine_url=plain.url.replace("http:", "https:"), engine_ca_file=authority.file))
        assert "does not speak TLS" in str(found)
    with fronting("http://127.0.0.1:1", tls=pair.server()) as secured:
        assert isinstance(failure(read_settings({}, engine_url=secured.url.replace("https:", "http:"), retry_attempts=1)), Unavailable)


def test_settings_that_cannot_work_are_refused_by_name(tmp_path: Path, authority: Authority, pair: Pair, password_file: Path) -> None:
    absent, garbage, empty = tmp_path / "absent", held(tmp_path / "garbage", "no PEM"), held(tmp_path / "empty", "\n")
    token = held(tmp_path / "token", TOKEN)
    two_lines = held(tmp_path / "two", "ApiKey a\r\nx-injected: b")
    https, user = "https://search.example.com:9200", "https://wisdom@search.example.com:9200"
    expected: list[tuple[str, dict[str, object], str]] = [
        (user, {}, "names a user and no password"),
        (user, {"engine_password_file": absent}, "WA_ENGINE_PASSWORD_FILE cannot be read: No such file"),
        (user, {"engine_password_file": empty}, "WA_ENGINE_PASSWORD_FILE names an empty file"),
        (user, {"engine_token_file": token}, "keep one of them"),
        (https, {"engine_password_file": password_file}, "needs a user in WA_ENGINE_URL"),
        (https, {"engine_token_file": two_lines}, "must hold one token"),
        (https, {"engine_ca_file": absent}, "WA_ENGINE_CA_FILE"),
        (https, {"engine_ca_file": garbage}, "no certificate in PEM form"),
        (https, {"engine_client_key_file": pair.key}, "needs WA_ENGINE_CLIENT_CERT_FILE"),
        (https, {"engine_client_cert_file": pair.certificate}, "WA_ENGINE_CLIENT_CERT_FILE"),
        (https, {"engine_client_cert_file": pair.certificate, "engine_client_key_file": garbage}, "WA_ENGINE_CLIENT_KEY_FILE"),
        ("http://search.example.com:9200", {"engine_ca_file": authority.file}, "are for https://"),
        ("http://wisdom:hunter2@search.example.com:9200", {}, "travel to search.example.com unencrypted"),
        ("http://localhost:9200,search.example.com:9200", {"engine_token_file": token}, "travel to search.example.com unencrypted"),
        ("https://wisdom:hunter2@a:9200,wisdom:hunter2@b:9200", {}, "WA_ENGINE_URL must be"),
        ("https://wisdom:hunter2@a:port", {}, "WA_ENGINE_URL must be"),
        ("https://wisdom:hunter2@a:9200?pretty", {}, "WA_ENGINE_URL must be"),
        ("https://a:9200,,b:9200", {}, "WA_ENGINE_URL must be"),
        ("https://", {}, "WA_ENGINE_URL must be"),
    ]
    for url, changes, says in expected:
        assert says in refusal(url, **changes), (url, changes)


def test_an_address_may_name_several_hosts_of_one_cluster() -> None:
    address = address_of("https://wis%40dom:p%3Aw@a:9201,b,[::1]:9203/path/")
    assert address.hosts == (("a", 9201), ("b", 443), ("::1", 9203))
    assert (address.user, address.password, address.path) == ("wis@dom", "p:w", "/path")
    assert address.location == "https://a:9201,b:443,[::1]:9203/path"


def test_nothing_switches_the_checks_off(authority: Authority) -> None:
    names = [name for name in Settings.model_fields if name.startswith("engine_")]
    assert not [name for name in names if "verify" in name or "insecure" in name or "check" in name]
    cluster = connected(read_settings({}, engine_url="https://a:9200,b:9200", engine_ca_file=authority.file), SystemClock())
    contexts = [connection.pool.conn_kw["ssl_context"] for connection in cluster._client.transport.connection_pool.connections]
    assert [(each.verify_mode, each.check_hostname) for each in contexts] == [(ssl.CERT_REQUIRED, True)] * 2
    assert all(each.minimum_version >= ssl.TLSVersion.TLSv1_2 for each in contexts)
    cluster.close()
