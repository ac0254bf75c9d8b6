"""The steps of a case through one door. Every door gives the same JSON, so that what is expected is checked once for all of them."""

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from api import rendering
from grounding.answers import ClaimKind, Draft, Evidence, Outcome
from grounding.proofs import check, counted
from grounding.verification import FeatureVerifier
from runtime.errors import NotFound, ServiceError
from runtime.tenancy import Tenant, tenant_named
from search.aggregation import trend
from search.documents import Filters
from search.filters import filters_of
from search.ingest.erasure import delete_documents
from search.ingest.files import ReadOptions, read_rows
from search.ingest.report import IngestReport
from search.ingest.rows import rows_of
from search.ranking import BucketQuery
from worker.opening import Service

Result = dict[str, Any]
FILTER_NAMES = {"occurred_from": "since", "occurred_to": "until"}


class Door(Protocol):
    """One way in. A planned error comes back as ``{"error", "field", "message"}``, never as an exception."""

    name: str

    def do(self, step: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Result:
        """Take a step."""
        ...


class PythonDoor:
    """The functions behind the doors, called directly."""

    name = "python"

    def __init__(self, service: Service, folder: Path) -> None:
        self._service = service
        self._folder = folder
        self._runs: dict[str, str] = {}

    def do(self, step: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Result:
        """See :class:`Door`."""
        tenant = tenant_named(step.get("tenant", "acme"))
        action = getattr(self, f"_{step['do']}")
        try:
            result: Result = action(tenant, step, records)
        except ServiceError as error:
            result = {"error": type(error).__name__, "field": getattr(error, "field", ""), "message": str(error)}
        return result

    def _ingest(self, tenant: Tenant, step: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Result:
        if "file" not in step:
            return self._reported(self._service.ingester.ingest(tenant, rows_of(step.get("records", records))))
        path = self._folder / step["file"]["name"]
        path.write_bytes(base64.b64decode(step["file"]["base64"]))
        with read_rows(path, ReadOptions(mapping=step["file"].get("map", {}))) as rows:
            return self._reported(self._service.ingester.ingest(tenant, rows), columns=sorted(rows.mapping.values()))

    def _reported(self, report: IngestReport, columns: Sequence[str] = ()) -> Result:
        return {"report": rendering.ingest_report(report), "columns": [*columns, *report.attribute_fields]}

    def _search(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        found = self._service.retriever.retrieve(tenant, step["query"], _filters(step.get("filters")), top_k=step.get("top_k", 10))
        return rendering.search_result(found)

    def _ask(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        outcome = self._service.answerer.ask(tenant, step["question"], filters=_filters(step.get("filters")), top_k=step.get("top_k", 10))
        if "save_run_as" in step:
            self._runs[step["save_run_as"]] = outcome.run_id
        return rendering.ask_result(outcome) | {"proofsRerun": self._proofs_hold(tenant, outcome)}

    def _proofs_hold(self, tenant: Tenant, outcome: Outcome) -> bool:
        claims = outcome.answer.claims if outcome.answer else ()
        drafts = [Draft(claim.text, claim.kind, (), claim.proof) for claim in claims if claim.proof]
        return all(verdict.supported for verdict in check(self._service.engine, tenant, drafts))

    def _verify(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        return {"verdicts": [self._verdict(tenant, claim) for claim in step["draft"]]}

    def _verdict(self, tenant: Tenant, claim: Mapping[str, Any]) -> Result:
        kind = ClaimKind(claim.get("kind", "quote").upper())
        engine, settings = self._service.engine, self._service.settings
        if kind is not ClaimKind.QUOTE:
            proof = counted(engine, tenant, "documents", _filters(claim.get("filters"))).proof()
            return rendering.verdict(check(engine, tenant, [Draft(claim["text"], kind, (), proof)])[0])
        found = self._service.retriever.retrieve(tenant, claim["text"], top_k=settings.evidence_limit)
        verifier = FeatureVerifier(self._service.embedder, min_support=settings.min_support)
        draft = Draft(claim["text"], kind, tuple(claim.get("cites", ())))
        return rendering.verdict(verifier.verify([draft], Evidence.of(found))[0])

    def _aggregate(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        found = self._service.engine.aggregate(tenant, BucketQuery(step["by"], _filters(step)))
        return {"buckets": {bucket.key: bucket.count for bucket in found.buckets}, "total": found.total}

    def _trend(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        zone = step["timezone"]
        found = trend(self._service.engine, tenant, None, _filters(step, zone), step["interval"], zone)
        return {"buckets": {point.key: point.count for point in found.points}, "total": found.total}

    def _fetch(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        found = self._service.engine.document(tenant, step["id"])
        return {"found": found is not None, "document": None if found is None else rendering.document(found)}

    def _delete(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        report = delete_documents(self._service.engine, self._service.state, tenant, doc_ids=step["ids"])
        return {"deleted": report.deleted}

    def _trace(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        try:
            return rendering.trace(self._service.traces.get(tenant, self._runs[step["run"]]))
        except NotFound as error:
            return {"error": "NotFound", "field": "", "message": str(error)}


def _filters(given: Mapping[str, Any] | None, zone: str = "UTC") -> Filters:
    """The filters of a step; it may carry other keys too."""
    wanted = ("occurred_from", "occurred_to", "sources", "theme_ids", "account_ids", "doc_ids", "rating_min", "rating_max", "attributes")
    named = {FILTER_NAMES.get(key, key): value for key, value in (given or {}).items() if key in wanted}
    return filters_of(**named, time_zone=zone)


def dumped(result: Result) -> str:
    """Everything a door sent, as text."""
    return json.dumps(result, ensure_ascii=False)
