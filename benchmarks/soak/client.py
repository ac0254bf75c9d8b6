"""A caller of one tenant: what it is answered, or why not."""

import json
from typing import Any, Self

import httpx

from benchmarks.soak.ledger import Ledger

TIMEOUT_S = 60.0
HONEST = frozenset({"UNAVAILABLE", "BUDGET_EXCEEDED", "CONFLICT"})
"""Codes that say that something else is at fault, or that somebody else was quicker."""

Body = dict[str, Any]


class Refused(Exception):
    """There is no answer, and it was said why, or nobody was there."""


class Client:
    """One per thread."""

    def __init__(self, url: str, tenant: str, ledger: Ledger) -> None:
        limits = httpx.Limits(max_keepalive_connections=0)  # the server is killed now and then
        self._http = httpx.Client(base_url=url, headers={"x-tenant-id": tenant}, timeout=TIMEOUT_S, limits=limits)
        self._ledger = ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def graphql(self, query: str, **variables: Any) -> Body:
        """The data of an operation.

        Raises:
            Refused: there is none.
        """
        answer = self._called("POST", "/graphql", {"query": query, "variables": variables})
        codes = {error["extensions"]["code"] for error in answer.get("errors", ())}
        if codes:
            self._refuse(codes, answer)
        data: Body = answer["data"]
        return data

    def rest(self, method: str, path: str, body: Body | None = None) -> Body:
        """The answer of a route.

        Raises:
            Refused: there is none.
        """
        return self._called(method, path, body)

    def _called(self, method: str, path: str, body: Body | None) -> Body:
        try:
            response = self._http.request(method, path, json=body)
            answer: Body = response.json()
        except httpx.TransportError as error:
            self._ledger.outage(type(error).__name__)
            raise Refused from error
        except json.JSONDecodeError as error:
            self._ledger.found(f"{method} {path} is answered with what is no JSON: {response.text[:200]!r}")
            raise Refused from error
        if response.status_code >= 400 and "errors" not in answer:
            self._refuse({str(answer.get("code"))}, answer)
        return answer

    def _refuse(self, codes: set[str], answer: Body) -> None:
        if not codes <= HONEST:
            self._ledger.found(f"an unexpected answer: {json.dumps(answer)[:500]}")
        for code in codes & HONEST:
            self._ledger.outage(code)
        raise Refused
