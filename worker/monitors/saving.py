"""Saving a monitor as a caller wrote it: read, checked against the documents' own names, then kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime.clock import Clock
from runtime.errors import InvalidRequest, NotFound
from runtime.tenancy import Tenant
from worker.deliveries.receivers import HIDDEN, masked
from worker.monitors.evaluating import Evaluator
from worker.monitors.monitor import Monitor
from worker.monitors.reading import monitor_from, named_id
from worker.monitors.store import Monitors


@dataclass(frozen=True, slots=True)
class Saving:
    """Takes monitors from callers."""

    monitors: Monitors
    evaluator: Evaluator
    clock: Clock

    def save(self, tenant: Tenant, given: object, expected: int | None = None) -> Monitor:
        """The monitor as it is kept. Without an id it must be new. A receiver's address that is masked, as it is shown, means the one that is saved.

        Raises:
            InvalidRequest: names the member that is wrong.
            Conflict: there is one already, or not in the version that is expected.
        """
        identifier = named_id(given)
        if isinstance(identifier, str) and isinstance(given, Mapping):
            given = {**given, "receivers": self._unmasked(tenant, identifier, given.get("receivers"))}
        monitor = monitor_from(given, self.clock.now())
        self.evaluator.counted(tenant, monitor)
        return self.monitors.save(tenant, monitor, 0 if identifier is None and expected is None else expected)

    def _unmasked(self, tenant: Tenant, monitor_id: str, receivers: Any) -> Any:
        hidden = [item for item in receivers or () if isinstance(item, Mapping) and HIDDEN in str(item.get("target"))]
        if not hidden:
            return receivers
        try:
            saved = {masked(receiver): receiver.target for receiver in self.monitors.get(tenant, monitor_id).receivers}
        except NotFound:
            saved = {}
        unknown = next((item for item in hidden if item["target"] not in saved), None)
        if unknown is not None:
            raise InvalidRequest("is masked and not one of those that are saved; give the whole address", field="receivers.target")
        return [{**item, "target": saved[item["target"]]} if item in hidden else item for item in receivers]
