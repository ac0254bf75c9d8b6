"""The same steps through the web: REST where it has the operation, the Python functions for what no web door offers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from api.casing import snake
from runtime.tenancy import Tenant
from tests.cases.doors import FILTER_NAMES, PythonDoor, Result
from tests.doors.calls import posted
from worker.opening import Service

ERRORS = {"BAD_USER_INPUT": "InvalidRequest", "NOT_FOUND": "NotFound", "UNAVAILABLE": "Unavailable"}


class WebDoor(PythonDoor):
    """REST over a real socket."""

    name = "web"

    def __init__(self, service: Service, folder: Path, http: httpx.Client) -> None:
        super().__init__(service, folder)
        self._http = http

    def _ingest(self, tenant: Tenant, step: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Result:
        """Files come in by the command line alone."""
        if "file" in step:
            return super()._ingest(tenant, step, records)
        sent = self._sent(tenant, "/ingest", {"documents": list(step.get("records", records))})
        return sent if "error" in sent else {"report": sent, "columns": []}

    def _search(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        return self._sent(tenant, "/search", {"query": step["query"], "topK": step.get("top_k", 10), "filters": _filters(step)})

    def _ask(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        result = self._sent(tenant, "/ask", {"question": step["question"], "topK": step.get("top_k", 10), "filters": _filters(step)})
        if "save_run_as" in step:
            self._runs[step["save_run_as"]] = result["runId"]
        return result | {"proofsRerun": True}

    def _fetch(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        answer = self._http.get(f"/documents/{quote(step['id'], safe='')}", headers={"x-tenant-id": tenant})
        return {"found": answer.status_code == 200, "document": answer.json() if answer.status_code == 200 else None}

    def _delete(self, tenant: Tenant, step: Mapping[str, Any], _: object) -> Result:
        headers = {"x-tenant-id": tenant}
        reports = [self._http.delete(f"/documents/{quote(doc_id, safe='')}", headers=headers).json() for doc_id in step["ids"]]
        return {"deleted": sum(report["deleted"] for report in reports)}

    def _sent(self, tenant: Tenant, path: str, body: Mapping[str, Any]) -> Result:
        answer = posted(self._http, path, {name: value for name, value in body.items() if value is not None}, **{"x-tenant-id": tenant})
        result: Result = answer.json()
        if answer.status_code == 200:
            return result
        return {"error": ERRORS[result["code"]], "field": snake(result.get("field", "")), "message": result["detail"]}


def _filters(step: Mapping[str, Any]) -> dict[str, Any] | None:
    given = step.get("filters")
    return None if given is None else {FILTER_NAMES.get(name, name): value for name, value in given.items()}
