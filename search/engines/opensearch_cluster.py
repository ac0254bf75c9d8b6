"""The wire to one OpenSearch cluster: every call guarded, timed by its deadline, and failing with our errors only."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import opensearchpy

from runtime.clock import Deadline
from runtime.errors import ServiceError
from runtime.resilience import Guard
from runtime.tenancy import Tenant
from runtime.tracing import note
from search.engines.opensearch_errors import (
    DEPENDENCY,
    OVERLOADED_STATUS,
    WritesBlocked,
    failure_reason,
    failure_type,
    translated,
    unavailable,
)
from search.engines.opensearch_items import Fate, Item, classified
from search.engines.opensearch_ownership import OwnershipCheck, check_asked

CHUNK_ITEMS = 500
CHUNK_BYTES = 5_000_000

_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]*\Z")
_PATTERN = re.compile(r"[a-z][a-z0-9]*(-\*)+\Z")
_PASSING = {
    "circuit_breaking_exception",
    "rejected_execution_exception",
    "opensearch_rejected_execution_exception",
    "no_shard_available_action_exception",
    "node_not_connected_exception",
    "node_disconnected_exception",
    "illegal_index_shard_state_exception",
}
_SWITCHED_OFF = "FORBIDDEN/8/"
"""How ``index.blocks.write`` is called; a full disk is called otherwise."""
_UNSENT = Item("overloaded", "not sent")
_NDJSON = {"content-type": "application/x-ndjson"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a bulk request: its action line and, but for deletes, its record."""

    action: Mapping[str, Mapping[str, Any]]
    source: bytes | None = None

    def lines(self) -> bytes:
        """Newline-delimited JSON."""
        action = to_json(self.action) + b"\n"
        return action if self.source is None else action + self.source + b"\n"


def to_json(value: object) -> bytes:
    """Compact UTF-8 JSON. A lone surrogate, which UTF-8 cannot hold, becomes ``?``."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


class Cluster:
    """A client of one cluster. Safe to share between threads; make it after a fork.

    Reads and writes have a guard each: a cluster that takes no writes for a while may answer questions all the same.
    """

    def __init__(
        self, client: opensearchpy.OpenSearch, reads: Guard, writes: Guard, location: str, told: Callable[[], None] = lambda: None
    ) -> None:
        self._client = client
        self.owned = OwnershipCheck(told)
        self.reads = reads
        self.writes = writes
        self.location = location
        self._closed = False

    def get(self, *path: str, **params: str) -> Any:
        """The answer to a GET."""
        return self.reads.call(lambda timeout_s: self._perform("GET", path, None, params, timeout_s), repeatable=True)

    def rows(self, *path: str, **params: str) -> Sequence[Mapping[str, Any]]:
        """The answer to a GET that is a list."""
        return self.reads.call(lambda timeout_s: self._perform("GET", path, None, params, timeout_s, kind=list), repeatable=True)

    def find(self, *path: str, **params: str) -> Any | None:
        """The answer to a GET of something that may not be there, which is None."""
        answer = self.reads.call(lambda timeout_s: self._perform("GET", path, None, params, timeout_s, ignore=(404,)), repeatable=True)
        return None if "error" in answer or answer.get("found") is False else answer

    def put(self, *path: str, body: object, repeatable: bool = True, **params: str) -> Any:
        """The answer to a PUT."""
        content = to_json(body)
        return self.writes.call(lambda timeout_s: self._perform("PUT", path, content, params, timeout_s), repeatable=repeatable)

    def post(self, *path: str, body: object, **params: str) -> Any:
        """The answer to a POST that may be sent twice."""
        content = None if body is None else to_json(body)
        return self.writes.call(lambda timeout_s: self._perform("POST", path, content, params, timeout_s), repeatable=True)

    def drop(self, *path: str, **params: str) -> Any:
        """The answer to a DELETE; an absent thing is ``NotFound``, a pattern a defect."""
        if any("*" in segment for segment in path):
            raise ValueError("a pattern is never deleted")
        return self.writes.call(lambda timeout_s: self._perform("DELETE", path, None, params, timeout_s), repeatable=True)

    def search(self, index: str, body: Mapping[str, Any], *, tenant: Tenant | None, deadline: Deadline | None = None) -> Mapping[str, Any]:
        """One whole search. An alias that is not there finds nothing; a part that failed makes all of it ``Unavailable``.

        ``tenant`` is whose the hits must be; None where entries of all tenants are read by design.

        Raises:
            ForeignHit: a hit is another tenant's, or of an index that is not behind ``index``.
        """
        (found,) = self.searches(({"index": index, "ignore_unavailable": True}, body), tenant=tenant, deadline=deadline, accept=whole)
        return found

    def searches(
        self,
        lines: Sequence[Mapping[str, Any]],
        *,
        tenant: Tenant | None,
        deadline: Deadline | None = None,
        accept: Callable[[Sequence[Mapping[str, Any]]], None],
    ) -> Sequence[Mapping[str, Any]]:
        """Several searches in one round trip; ``lines`` alternate header and body.

        ``accept`` raises ``Unavailable`` on answers that cannot be used. They are asked for again when the cause may pass; one that stays (a spoilt
        index of one tenant) says nothing about the cluster and is no business of its circuit breaker.

        Raises:
            ForeignHit: as in :meth:`search`; nothing of any of the searches is returned.
        """
        for header in lines[::2]:
            if not _NAME.match(str(header.get("index", ""))):
                raise ValueError("a search that names no index would search every tenant")
        for header, body in zip(lines[::2], lines[1::2], strict=True):
            check_asked(header["index"], tenant, body)
        content = b"".join(to_json(line) + b"\n" for line in lines)

        def ask(timeout_s: float) -> Sequence[Mapping[str, Any]]:
            answers: Sequence[Mapping[str, Any]] = self._perform("POST", ("_msearch",), content, {}, timeout_s, headers=_NDJSON)[
                "responses"
            ]
            if any(may_pass(answer) for answer in answers):
                accept(answers)
            return answers

        responses = self.reads.call(ask, deadline=deadline, repeatable=True)
        for header, response in zip(lines[::2], responses, strict=True):
            self.owned.answer(header["index"], tenant, response)
        accept(responses)
        return responses

    def bulk(self, operations: Sequence[Operation], *, refresh: bool = False, deadline: Deadline | None = None) -> tuple[Item, ...]:
        """One item per operation, in order; each must be safe to send twice. What the cluster was too busy for is sent again, alone.

        Raises:
            Unavailable: some were not taken in the time and attempts given, or writing is switched off. The others may have been written.
        """
        return tuple(item for chunk in _chunks(operations) for item in self._bulk_chunk(chunk, deadline, refresh=refresh))

    def record(self, index: str, key: str, *, tenant: Tenant) -> Mapping[str, Any] | None:
        """The record of this id as of now, refreshed or not; None when it is not there.

        Raises:
            ForeignHit: it is another tenant's.
        """
        found: Mapping[str, Any] | None = self.find(index, "_doc", key)
        if found is not None:
            self.owned.record(index, tenant, found)
        return found

    def records(self, addresses: Sequence[Mapping[str, str]], *, tenant: Tenant | None, fields: str = "*") -> Sequence[Mapping[str, Any]]:
        """The records at these addresses (``_index``, ``_id``) as of now, refreshed or not; those that are not there are left out.

        ``tenant`` is whose they must be; None for those that hold no tenant, as their index has but one.

        Raises:
            ForeignHit: one is another tenant's, or of an index that is not behind the one asked.
        """
        body = to_json({"docs": addresses})

        def ask(timeout_s: float) -> list[tuple[str, Mapping[str, Any]]]:
            answers = self._perform("POST", ("_mget",), body, {"_source_includes": fields}, timeout_s)["docs"]
            return [(address["_index"], answer) for address, answer in zip(addresses, answers, strict=True) if _is_found(answer)]

        found = self.reads.call(ask, repeatable=True)
        for index, record in found:
            self.owned.record(index, tenant, record)
        return [record for _, record in found]

    def refresh(self, index: str) -> None:
        """Make everything written visible to searches; an alias that is not there has nothing to show."""

        def ask(timeout_s: float) -> None:
            answer = self._perform("POST", (index, "_refresh"), None, {"ignore_unavailable": "true"}, timeout_s)
            if lost := failed_shards(answer):
                raise unavailable(lost)

        self.reads.call(ask, repeatable=True)

    def close(self) -> None:
        """Drop the connections; further calls are errors."""
        self._closed = True
        every: Any = self._client.transport.seed_connections  # its pool forgets to close those of hosts that failed
        for connection in every:
            connection.close()

    def _bulk_chunk(self, chunk: Sequence[bytes], deadline: Deadline | None, *, refresh: bool) -> list[Item]:
        items = [_UNSENT] * len(chunk)
        params = {"refresh": "true" if refresh else "false"}

        def send(timeout_s: float) -> None:
            waiting = [n for n, item in enumerate(items) if item.fate == "overloaded"]
            answer = self._perform("POST", ("_bulk",), b"".join(chunk[n] for n in waiting), params, timeout_s, headers=_NDJSON)
            for n, item in zip(waiting, answer["items"], strict=True):
                items[n] = classified(item)
            _refuse(items, "overloaded")

        self.writes.call(send, deadline=deadline, repeatable=True)
        if switched_off := next((item for item in items if item.fate == "blocked" and _SWITCHED_OFF in item.reason), None):
            raise WritesBlocked(f"{DEPENDENCY}: did not take a write ({switched_off.reason})", dependency=DEPENDENCY)
        _refuse(items, "blocked")
        return items

    def _perform(
        self,
        method: str,
        path: Sequence[str],
        body: bytes | None,
        params: Mapping[str, str],
        timeout_s: float,
        *,
        headers: Mapping[str, str] | None = None,
        ignore: tuple[int, ...] = (),
        kind: type = dict,
    ) -> Any:
        if self._closed:
            raise ServiceError("the connection to OpenSearch is closed")
        note(system="opensearch", operation=_api(path), http_method=method)
        try:
            answer = self._client.transport.perform_request(
                method, _url(path), params=dict(params), body=body, timeout=timeout_s, headers=headers, ignore=ignore
            )
        except (opensearchpy.OpenSearchException, opensearchpy.ImproperlyConfigured) as error:
            raise translated(error) from error
        if not isinstance(answer, kind):
            raise unavailable("what listens there answered something that is not OpenSearch; check WA_ENGINE_URL")
        return answer


def whole(responses: Sequence[Mapping[str, Any]]) -> None:
    """Accepts searches that are complete.

    Raises:
        Unavailable: a search failed, or some of its shards did, or it ran out of time.
    """
    for response in responses:
        if lost := loss(response):
            raise unavailable(lost)


def loss(response: Mapping[str, Any]) -> str:
    """Why one search of several is not complete; empty when it is."""
    if "error" in response:
        return failure_reason(response["error"])
    return failed_shards(response) or ("the search ran out of time" if response.get("timed_out") else "")


def may_pass(response: Mapping[str, Any]) -> bool:
    """True when a search failed for a reason that may be gone in a moment: load, or a shard on its way up."""
    if "error" in response:
        return response.get("status") in OVERLOADED_STATUS
    failures = response.get("_shards", {}).get("failures", [])
    return any(str(failure_type(failure.get("reason"))) in _PASSING for failure in failures)


def failed_shards(answer: Mapping[str, Any]) -> str:
    """Which part of the shards did not take part, and why; empty when all did."""
    shards = answer.get("_shards", {})
    if not shards.get("failed"):
        return ""
    failures = shards.get("failures") or [{}]
    return f"{shards['failed']} of {shards.get('total')} shards failed: {failure_reason(failures[0].get('reason', {}))}"


def _is_found(answer: Mapping[str, Any]) -> bool:
    """False for a record that is not there, and for one whose index is not there.

    Raises:
        Unavailable: it could not be read; the shard may be on its way up.
    """
    failure = answer.get("error")
    if failure is not None and failure_type(failure) != "index_not_found_exception":
        raise unavailable(f"a record could not be read ({failure_reason(failure)})")
    return bool(answer.get("found"))


def _refuse(items: Sequence[Item], fate: Fate) -> None:
    for item in items:
        if item.fate == fate:
            raise unavailable(f"did not take a write ({item.reason})")


def _url(path: Sequence[str]) -> str:
    if path and not _PATTERN.match(path[0]) and not all(_NAME.match(name) for name in path[0].split(",")):
        raise ValueError("a path begins with names or an API, never with nothing")
    return "/" + "/".join(quote(segment, safe="*") for segment in path)


def _api(path: Sequence[str]) -> str:
    """What of the cluster is called, without names of indices and ids of records."""
    return next((segment for segment in path if segment.startswith("_")), "index")


def _chunks(operations: Sequence[Operation]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for operation in operations:
        lines = operation.lines()
        if chunk and (len(chunk) >= CHUNK_ITEMS or size + len(lines) > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(lines)
        size += len(lines)
    if chunk:
        yield chunk
