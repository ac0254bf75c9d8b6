"""Who may come in: the same credentials at every door, good and bad, and the same answer to each."""

import base64
import hashlib
import hmac
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest
from websockets.exceptions import ConnectionClosed

from api.app import create_app
from api.identity.keys import Keys
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.telemetry import configure_logging
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.doors.calls import posted
from tests.doors.issuing import MCP, WEB, Issuer, issuing, pem, private_key, public_pem
from tests.doors.serving import running
from tests.doors.sockets import talking
from tests.worker.deliveries.digests import digest
from worker.opening import Service, open_service

PEPPER = "pepper-of-the-tests-0123456789abcdef"
ACME, BIRCH = tenant_named("acme"), tenant_named("birch")
SECRET_TEXT = "Birch negotiates with a competitor."

Answer = tuple[int, str]
"""HTTP status, or the code of GraphQL or of a close, as a status; and everything that was said."""


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as found:
        yield found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Service]:
    """A service that takes both tokens and keys, with a document and a digest of each tenant."""
    settings = read_settings(
        {},
        engine_url=f"sqlite:///{tmp_path_factory.mktemp('store') / 'wisdom.db'}",
        embedder_threads=1,
        auth="oidc",
        key_pepper=PEPPER,
        oidc_issuer=issuer.url,
        oidc_audience=WEB,
        oidc_mcp_audience=MCP,
        rate_capacity=10_000,
    )
    with open_service(settings, SettableClock(datetime.now(UTC))) as opened:
        for tenant, text in ((ACME, "The invoice is wrong."), (BIRCH, SECRET_TEXT)):
            row = {"docId": f"{tenant}-1", "source": "mail", "text": text, "occurredAt": "2026-02-01T00:00:00Z"}
            opened.ingester.ingest(tenant, rows_of([row]))
            opened.digests.publish(tenant, digest(f"dig-{tenant}"))
        yield opened


@pytest.fixture(scope="module")
def web(service: Service) -> Iterator[str]:
    with running(create_app(service)) as url:
        yield url


@pytest.fixture
def http(web: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web, timeout=30) as client:
        yield client


@pytest.fixture
def keys(service: Service) -> Keys:
    return Keys(service.state, service.clock, PEPPER.encode())


def _headers(credential: str | None, tenant: str | None = None) -> dict[str, str]:
    given = {"authorization": f"Bearer {credential}".strip()} if credential is not None else {}
    return given | ({"x-tenant-id": tenant} if tenant else {})


def rest(http: httpx.Client, headers: dict[str, str], doc_id: str = "acme-1") -> Answer:
    answer = http.get(f"/documents/{doc_id}", headers=headers)
    return answer.status_code, answer.text


def graphql(http: httpx.Client, headers: dict[str, str], doc_id: str = "acme-1") -> Answer:
    body = {"query": "query($id: ID!) { document(docId: $id) { docId text } }", "variables": {"id": doc_id}}
    answer = posted(http, "/graphql", body, **headers)
    found = answer.json()
    if answer.status_code == 200 and found.get("data") == {"document": None}:
        return 404, answer.text
    return answer.status_code, answer.text


def mcp(http: httpx.Client, headers: dict[str, str], doc_id: str = "acme-1") -> Answer:
    given = {"digest_id": f"dig-{doc_id.removesuffix('-1')}"}
    params = {"name": "get_digests", "arguments": given}
    answer = posted(http, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, **headers)
    missing = answer.json().get("result", {}).get("isError") is True
    return 404 if missing else answer.status_code, answer.text


def websocket(http: httpx.Client, headers: dict[str, str], doc_id: str = "acme-1") -> Answer:
    """Greets, listens from a digest on, and is told of the next one, or of what is wrong."""
    after = "" if doc_id == "acme-1" else f"dig-{doc_id.removesuffix('-1')}"
    with talking(str(http.base_url).rstrip("/")) as talk:
        talk.say(type="connection_init", payload=headers)
        try:
            assert talk.heard() == {"type": "connection_ack"}
        except ConnectionClosed:
            return {4401: 401, 4403: 403, 1013: 503}[talk.closed()], ""
        talk.subscribe(after=after)
        said = talk.heard()
    if said["type"] == "next":
        return 200, json.dumps(said)
    code = said["payload"][0]["extensions"]["code"]
    return {"FORBIDDEN": 403, "BAD_USER_INPUT": 404, "NOT_FOUND": 404, "RATE_LIMITED": 429}[code], json.dumps(said)


DOORS: dict[str, Callable[..., Answer]] = {"rest": rest, "graphql": graphql, "websocket": websocket, "mcp": mcp}

Case = Callable[[Issuer, Keys], str | None]


def _key(keys: Keys, *scopes: str, **given: Any) -> tuple[str, str]:
    made, written = keys.create(ACME, name="test", scopes=scopes or ("read", "ask", "write", "monitor", "admin"), **given)
    return made.key_id, written


def _revoked(_issuer: Issuer, keys: Keys) -> str:
    key_id, written = _key(keys)
    keys.revoke(ACME, key_id)
    return written


def _expired(_issuer: Issuer, keys: Keys) -> str:
    now = datetime.now(UTC)
    past = Keys(keys._state, SettableClock(now - timedelta(days=2)), PEPPER.encode())
    return _key(past, expires_at=now - timedelta(days=1))[1]


def _flipped(written: str) -> str:
    return written[:-1] + ("0" if written[-1] != "0" else "1")


def _unsigned(issuer: Issuer, _keys: Keys) -> str:
    return jwt.encode(issuer.claims(), None, "none", headers={"kid": issuer.kid})


def _hs256_trick(issuer: Issuer, _keys: Keys) -> str:
    """Signed with the public key, as if that were a shared secret."""

    def part(value: dict[str, Any]) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value, default=lambda at: int(at.timestamp())).encode()).rstrip(b"=")

    signed = part({"alg": "HS256", "typ": "JWT", "kid": issuer.kid}) + b"." + part(issuer.claims())
    seal = hmac.new(public_pem(issuer.key), signed, hashlib.sha256).digest()
    return (signed + b"." + base64.urlsafe_b64encode(seal).rstrip(b"=")).decode()


def _ago(**ago: float) -> datetime:
    return datetime.now(UTC) - timedelta(**ago)


OTHER_KEY = private_key()

BAD: dict[str, Case] = {
    "no credential": lambda _i, _k: None,
    "an empty one": lambda _i, _k: "",
    "malformed": lambda _i, _k: "not-a-token",
    "three dots": lambda _i, _k: "a.b.c",
    "expired": lambda i, _k: i.token(exp=_ago(minutes=5)),
    "not valid yet": lambda i, _k: i.token(nbf=_ago(minutes=-5)),
    "issued in the future": lambda i, _k: i.token(iat=_ago(minutes=-5)),
    "without an end": lambda i, _k: i.token(exp=None),
    "without a beginning": lambda i, _k: i.token(iat=None),
    "without a subject": lambda i, _k: i.token(sub=None),
    "another issuer": lambda i, _k: i.token(iss=f"{i.url}/"),
    "another audience": lambda i, _k: i.token(aud="https://elsewhere.example"),
    "without an audience": lambda i, _k: i.token(aud=None),
    "not signed": _unsigned,
    "signed with the public key": _hs256_trick,
    "signed with the shared key of the set": lambda i, _k: i.token(kid="shared", key="secret" * 8, algorithm="HS256"),
    "signed by somebody else": lambda i, _k: i.token(key=pem(OTHER_KEY)),
    "an unknown key": lambda i, _k: i.token(kid="k-unknown"),
    "a revoked key": _revoked,
    "an expired key": _expired,
    "the secret of no key": lambda _i, k: _flipped(_key(k)[1]),
    "the id of no key": lambda _i, _k: f"wa_{'0' * 16}_{'0' * 64}",
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", BAD)
def test_a_credential_that_is_not_good_opens_no_door(http: httpx.Client, issuer: Issuer, keys: Keys, door: str, case: str) -> None:
    status, said = DOORS[door](http, _headers(BAD[case](issuer, keys)))
    assert status == 401
    assert "invoice" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("door", DOORS)
def test_good_tokens_and_keys_open_every_door_for_their_tenant_alone(http: httpx.Client, issuer: Issuer, keys: Keys, door: str) -> None:
    for credential in (issuer.token(), issuer.token(scope=["wa:read"]), issuer.token(tenant=["acme", "birch"]), _key(keys, "read")[1]):
        tenant = "acme" if "," in str(jwt_tenants(credential)) else None
        status, said = DOORS[door](http, _headers(credential, tenant))
        assert (status, "Birch" in said) == (200, False), said


def jwt_tenants(credential: str) -> Any:
    return None if credential.startswith("wa_") else jwt.decode(credential, options={"verify_signature": False})["tenant"]


MISSING: dict[str, Case] = {
    "a token without the scope": lambda i, _k: i.token(scope="wa:ask wa:write wa:admin"),
    "a token with no scope at all": lambda i, _k: i.token(scope=None),
    "a token with scopes of somebody else": lambda i, _k: i.token(scope="read openid other:read"),
    "a key without the scope": lambda _i, k: _key(k, "ask", "write")[1],
    "a token without a tenant": lambda i, _k: i.token(tenant=None),
    "a token of a tenant that is no name": lambda i, _k: i.token(tenant="_house"),
    "a token of a tenant that is a pattern": lambda i, _k: i.token(tenant="*"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", MISSING)
def test_what_a_credential_does_not_cover_is_forbidden(http: httpx.Client, issuer: Issuer, keys: Keys, door: str, case: str) -> None:
    status, said = DOORS[door](http, _headers(MISSING[case](issuer, keys)))
    assert status == 403
    assert "invoice" not in said


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("tenant", ["birch", "nobody", "_house", "*", ""])
def test_naming_another_tenant_is_forbidden_whether_or_not_there_is_one(
    http: httpx.Client, issuer: Issuer, keys: Keys, door: str, tenant: str
) -> None:
    for credential in (issuer.token(), _key(keys)[1]):
        headers = _headers(credential) | {"x-tenant-id": tenant}
        status, said = DOORS[door](http, headers)
        assert (status, SECRET_TEXT in said) == (403, False)


@pytest.mark.parametrize("door", DOORS)
def test_another_tenants_id_is_as_good_as_one_nobody_has(http: httpx.Client, issuer: Issuer, door: str) -> None:
    headers = _headers(issuer.token()) | {"x-correlation-id": "same"}

    def seen(doc_id: str) -> Answer:
        status, said = DOORS[door](http, headers, doc_id)
        return status, said.replace(doc_id, "…")

    assert seen("birch-1") == seen("never-1")
    status, said = seen("birch-1")
    assert status == (200 if door == "websocket" else 404)  # whose place nobody remembers is told everything of its own
    assert "dig-birch" not in said


def test_a_token_for_one_door_does_not_open_the_other(http: httpx.Client, issuer: Issuer) -> None:
    assert rest(http, _headers(issuer.token(aud=MCP)))[0] == 401
    assert graphql(http, _headers(issuer.token(aud=MCP)))[0] == 401
    assert mcp(http, _headers(issuer.token(aud=WEB)))[0] == 401
    assert mcp(http, _headers(issuer.token(aud=MCP)))[0] == 200


def test_a_credential_in_the_address_or_sent_twice_is_none(http: httpx.Client, issuer: Issuer) -> None:
    token = issuer.token()
    assert http.get("/documents/acme-1", params={"access_token": token}).status_code == 401
    twice = [("authorization", f"Bearer {token}"), ("authorization", f"Bearer {token}")]
    assert http.get("/documents/acme-1", headers=twice).status_code == 401
    assert http.get("/documents/acme-1", headers={"authorization": f"Basic {token}"}).status_code == 401


def test_a_token_of_several_tenants_must_say_which(http: httpx.Client, issuer: Issuer) -> None:
    token = issuer.token(tenant=["acme", "birch"])
    assert rest(http, _headers(token))[0] == 400
    assert rest(http, _headers(token, "birch"), "birch-1")[0] == 200


def test_nothing_of_an_operation_is_done_when_one_field_of_it_is_forbidden(http: httpx.Client, issuer: Issuer, service: Service) -> None:
    body = {
        "query": 'mutation { deleteDocuments(docIds: ["acme-1"]) { deleted } ...more } fragment more on Mutation { a: revokeApiKey(keyId: "x") { keyId } }'
    }
    answer = posted(http, "/graphql", body, **_headers(issuer.token(scope="wa:write")))
    assert answer.status_code == 403
    assert answer.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert answer.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="wa:admin"'
    assert service.engine.document(ACME, "acme-1") is not None


def test_who_is_refused_is_told_what_would_help(http: httpx.Client, issuer: Issuer) -> None:
    where = f"{str(http.base_url).rstrip('/')}/.well-known/oauth-protected-resource/mcp"
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "x"}}}

    def said(**headers: str) -> str:
        return posted(http, "/mcp", call, **headers).headers["www-authenticate"]

    assert said() == f'Bearer resource_metadata="{where}"'
    assert said(authorization="Bearer a.b.c") == f'Bearer error="invalid_token", resource_metadata="{where}"'
    lacking = _headers(issuer.token(scope="wa:read"))
    assert said(**lacking) == f'Bearer error="insufficient_scope", scope="wa:ask", resource_metadata="{where}"'
    assert http.get("/documents/x").headers["www-authenticate"] == "Bearer"
    told = httpx.get(where).json()
    assert told["authorization_servers"] == [issuer.url]
    assert told["resource"] == where.replace("/.well-known/oauth-protected-resource", "")
    assert "wa:read" in told["scopes_supported"]


def test_probes_need_no_credential_and_are_told_no_tenants_numbers(http: httpx.Client) -> None:
    assert http.get("/health").status_code == 200
    ready = http.get("/ready", headers={"x-tenant-id": "birch"})
    assert ready.status_code == 200
    assert ready.json()["mode"] == "authenticated"
    assert not {"documents", "corpus", "passages"} & ready.json().keys()


def _served(service: Service, **changed: Any) -> Service:
    """The same service under other settings."""
    return replace(service, settings=service.settings.model_copy(update=changed))


@pytest.mark.parametrize("door", DOORS)
def test_while_the_identity_provider_is_away_nobody_is_called_a_stranger(service: Service, issuer: Issuer, door: str) -> None:
    away = _served(service, oidc_issuer="http://127.0.0.1:9", retry_attempts=1)
    with running(create_app(away)) as url, httpx.Client(base_url=url, timeout=30) as http:
        assert DOORS[door](http, _headers(issuer.token()))[0] == 503


def test_whoever_calls_too_often_is_told_when_to_come_back(service: Service, keys: Keys) -> None:
    limited = _served(service, rate_capacity=2, rate_refill_per_s=0.1)
    with running(create_app(limited)) as url, httpx.Client(base_url=url, timeout=30) as http:
        for door in DOORS:
            headers = _headers(_key(keys)[1])
            assert [DOORS[door](http, headers)[0] for _ in range(3)] == [200, 200, 429]
        headers = _headers(_key(keys)[1])
        twice = {"query": '{ a: document(docId: "acme-1") { docId } b: document(docId: "acme-1") { docId } }'}
        assert posted(http, "/graphql", twice, **headers).status_code == 200
        answer = http.get("/documents/acme-1", headers=headers)
        assert (answer.status_code, answer.headers["retry-after"], answer.json()["code"]) == (429, "10", "RATE_LIMITED")
        answer = posted(http, "/graphql", twice, **headers)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "20")
        assert answer.json()["errors"][0]["extensions"]["retryAfterSeconds"] == 20.0
        assert 'wa_rate_limited_total{operation="document"}' in http.get("/metrics").text


def test_a_conversation_ends_soon_after_its_credential(service: Service, keys: Keys) -> None:
    key_id, written = _key(keys)
    clock = service.clock
    assert isinstance(clock, SettableClock)
    with running(create_app(service, recognise_s=0.05)) as url, talking(url) as talk:
        talk.say(type="connection_init", payload=_headers(written))
        assert talk.heard() == {"type": "connection_ack"}
        keys.revoke(ACME, key_id)
        clock.elapsed_s += 10
        assert talk.closed() == 4401


CREATE = (
    "mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret key { keyId name scopes rateClass expiresAt lastUsed } } }"
)


def test_an_administrator_makes_rotates_and_revokes_keys_of_its_own_tenant(http: httpx.Client, issuer: Issuer, service: Service) -> None:
    admin = _headers(issuer.token(scope="wa:admin"))

    def run(query: str, **variables: Any) -> dict[str, Any]:
        answer = posted(http, "/graphql", {"query": query, "variables": variables}, **admin).json()
        assert "errors" not in answer, answer
        found: dict[str, Any] = answer["data"]
        return found

    made = run(CREATE, input={"name": "board", "scopes": ["READ"], "expiresAt": "2126-01-01T00:00:00Z"})["createApiKey"]
    assert made["key"] | {"keyId": ""} == {
        "keyId": "",
        "name": "board",
        "scopes": ["READ"],
        "rateClass": "STANDARD",
        "expiresAt": "2126-01-01T00:00:00Z",
        "lastUsed": None,
    }
    assert rest(http, _headers(made["secret"]))[0] == 200
    rotated = run(f'mutation {{ rotateApiKey(keyId: "{made["key"]["keyId"]}") {{ secret key {{ keyId }} }} }}')["rotateApiKey"]
    clock = service.clock
    assert isinstance(clock, SettableClock)
    clock.elapsed_s += 10
    assert [rest(http, _headers(each["secret"]))[0] for each in (made, rotated)] == [401, 200]
    run(f'mutation {{ revokeApiKey(keyId: "{rotated["key"]["keyId"]}") {{ revokedAt }} }}')
    clock.elapsed_s += 10
    assert rest(http, _headers(rotated["secret"]))[0] == 401
    listed = run("{ apiKeys { keyId revokedAt lastUsed } }")["apiKeys"]
    assert {each["keyId"] for each in listed} >= {made["key"]["keyId"], rotated["key"]["keyId"]}


def test_no_secret_of_a_credential_is_ever_logged(service: Service, issuer: Issuer, keys: Keys) -> None:
    stream = io.StringIO()
    configure_logging(read_settings({}, log_level="DEBUG", log_format="json"), stream)
    with running(create_app(service)) as url, httpx.Client(base_url=url, timeout=30) as http:
        token, written = issuer.token(), _key(keys)[1]
        for credential in (token, written, _flipped(written), token + "x"):
            for call in DOORS.values():
                call(http, _headers(credential))
        body = {"documents": [{"docId": "acme-9", "source": "x", "text": "a private sentence", "occurredAt": "2026-02-01T00:00:00Z"}]}
        assert posted(http, "/ingest", body, **_headers(written)).status_code == 200
    configure_logging(read_settings({}, log_level="WARNING", log_format="json"))
    said = stream.getvalue()
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {"key_used", "key_refused", "tool_call", "write"} <= {line["event"] for line in lines}
    assert next(line for line in lines if line["event"] == "write")["ids"] == ["acme-9"]
    for secret in (written.rsplit("_", 1)[1], token, token.rsplit(".", 1)[1], "private sentence", PEPPER):
        assert secret not in said
