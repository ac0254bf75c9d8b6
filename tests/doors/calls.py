"""Short ways to call each door."""

from typing import Any

import httpx


def graphql(http: httpx.Client, query: str, tenant: str | None = None, **variables: Any) -> dict[str, Any]:
    """The whole response of one operation."""
    headers = {"x-tenant-id": tenant} if tenant else {}
    answer = http.post("/graphql", json={"query": query, "variables": variables}, headers=headers).json()
    assert isinstance(answer, dict)
    return answer


def tool(http: httpx.Client, name: str, arguments: Any, tenant: str | None = None) -> dict[str, Any]:
    """The JSON-RPC response of one ``tools/call``; sent as the plainest client would."""
    params = {"name": name} if arguments is ... else {"name": name, "arguments": arguments}
    headers = {"x-tenant-id": tenant} if tenant else {}
    answer = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers=headers).json()
    assert isinstance(answer, dict)
    return answer
