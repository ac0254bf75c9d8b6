"""Short ways to call each door."""

import json
from typing import Any

import httpx


def posted(http: httpx.Client, path: str, body: Any, **headers: str) -> httpx.Response:
    """Post JSON in ASCII, so that half a character arrives as the escape it was written as."""
    return http.post(path, content=json.dumps(body).encode(), headers={"content-type": "application/json"} | headers)


def _tenant(name: str | None) -> dict[str, str]:
    return {"x-tenant-id": name} if name else {}


def graphql(http: httpx.Client, query: str, tenant: str | None = None, **variables: Any) -> dict[str, Any]:
    """The whole response of one operation."""
    answer = posted(http, "/graphql", {"query": query, "variables": variables}, **_tenant(tenant)).json()
    assert isinstance(answer, dict)
    return answer


def tool(http: httpx.Client, name: str, arguments: Any, tenant: str | None = None) -> dict[str, Any]:
    """The JSON-RPC response of one ``tools/call``; sent as the plainest client would."""
    params = {"name": name} if arguments is ... else {"name": name, "arguments": arguments}
    answer = posted(http, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, **_tenant(tenant)).json()
    assert isinstance(answer, dict)
    return answer
