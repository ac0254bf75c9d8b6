"""Who decides the tenant, and that nobody else's documents are seen through any door."""

import httpx
import pytest
from starlette.datastructures import Headers

from api.tenancy import authenticator, check_binding, check_credentials
from runtime.errors import InvalidRequest, Misconfigured
from runtime.settings import read_settings
from tests.doors.calls import graphql, tool

BAD_NAMES = ("../x", "*", "", "ACME", "a" * 41, "a/b", "-a", "a b")


def _headers(*names: str) -> Headers:
    return Headers(raw=[(b"x-tenant-id", name.encode()) for name in names])


def test_in_development_mode_the_header_names_the_tenant_and_its_absence_the_default_one() -> None:
    authenticate = authenticator(read_settings({"WA_DEFAULT_TENANT": "home"}))
    assert authenticate(_headers("acme")).tenant == "acme"
    assert authenticate(_headers()).tenant == "home"


@pytest.mark.parametrize("names", [(name,) for name in BAD_NAMES] + [("acme", "birch")])
def test_a_header_that_is_no_single_good_name_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        authenticator(read_settings({}))(_headers(*names))
    assert caught.value.field == "tenant"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "::", "example.org"])
def test_development_mode_does_not_open_to_a_network(host: str) -> None:
    with pytest.raises(Misconfigured, match="WA_HOST"):
        check_binding(read_settings({"WA_HOST": host}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_development_mode_binds_to_this_machine(host: str) -> None:
    check_binding(read_settings({"WA_HOST": host}))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"WA_AUTH": "keys"}, "WA_KEY_PEPPER"),
        ({"WA_AUTH": "keys", "WA_KEY_PEPPER": "short"}, "WA_KEY_PEPPER"),
        ({"WA_AUTH": "oidc"}, "WA_OIDC_ISSUER"),
        ({"WA_AUTH": "oidc", "WA_OIDC_ISSUER": "https://id.example"}, "WA_OIDC_AUDIENCE"),
        ({"WA_AUTH": "oidc", "WA_OIDC_ISSUER": "https://id.example", "WA_OIDC_AUDIENCE": "a"}, "WA_OIDC_MCP_AUDIENCE"),
    ],
)
def test_what_cannot_recognise_anybody_does_not_start(given: dict[str, str], named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        check_credentials(read_settings(given))


def test_in_development_mode_there_is_nothing_to_read_about_credentials(http: httpx.Client) -> None:
    assert http.get("/.well-known/oauth-protected-resource/mcp").status_code == 404


@pytest.mark.parametrize("name", [name for name in BAD_NAMES if name])
@pytest.mark.parametrize("path", ["/graphql", "/mcp", "/ask", "/ready", "/documents/x"])
def test_a_bad_tenant_is_a_bad_request_at_every_door(http: httpx.Client, path: str, name: str) -> None:
    body = {"query": "{ __typename }", "jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"x-tenant-id": name}
    answer = http.get(path, headers=headers) if path in ("/ready", "/documents/x") else http.post(path, json=body, headers=headers)
    assert answer.status_code == 400
    assert "tenant" in answer.text


def test_another_tenants_id_looks_like_an_id_nobody_has(http: httpx.Client) -> None:
    def seen(doc_id: str) -> tuple[int, dict[str, str]]:
        answer = http.get(f"/documents/{doc_id}", headers={"x-tenant-id": "birch", "x-correlation-id": "same"})
        return answer.status_code, answer.json() | {"instance": ""}

    assert seen("doc-001") == seen("doc-999")
    assert seen("doc-001")[0] == 404


def test_each_tenant_sees_its_own_document_under_a_shared_id(http: httpx.Client) -> None:
    text = 'query { document(docId: "doc-000") { text } }'
    assert "billing" in graphql(http, text)["data"]["document"]["text"]
    assert graphql(http, text, tenant="birch")["data"]["document"]["text"] == "Birch: the pilot was extended."


def test_tenant_arguments_of_a_tool_are_taken_away(http: httpx.Client) -> None:
    arguments = {"query": "billing", "tenant": "birch", "tenant_id": "birch", "tenantId": "birch"}
    found = tool(http, "search_feedback", arguments)["result"]["structuredContent"]
    assert found["hits"][0]["doc_id"].startswith("doc-0")
    assert found == tool(http, "search_feedback", {"query": "billing"})["result"]["structuredContent"]


def test_deleting_what_another_tenant_has_deletes_nothing(http: httpx.Client) -> None:
    told = http.delete("/documents/doc-005", headers={"x-tenant-id": "birch"}).json()
    assert (told["deleted"], told["docIds"], told["receipt"]["removed"]) == (0, [], [])
    assert http.get("/documents/doc-005").status_code == 200
