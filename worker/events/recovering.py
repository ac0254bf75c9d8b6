"""The duty of telling what a killed writer did: see :mod:`search.engines.write_intents`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from search.engines.write_intents import KIND, OPEN_FOR, WriteIntents
from search.ports import Engine
from worker.duties import Queue, Work
from worker.events.log import EventLog


@dataclass(frozen=True, slots=True)
class RecoverWrites:
    """Tells of documents whose writer died between storing and telling; implements :class:`worker.duties.Duty`."""

    intents: WriteIntents
    engine: Engine
    name: str = "recover_writes"
    queue: Queue = "events"

    def due(self, now: datetime) -> Iterable[Work]:  # noqa: ARG002 (the intents have the clock)
        """One piece for each intent that stayed open."""
        return [Work(self.name, tenant, (entry.entry_id,)) for tenant, entry in self.intents.stale()]

    def do(self, work: Work) -> Iterable[Work]:
        """Tell what was done of one intent."""
        entry = self.intents.state.get(work.tenant, KIND, work.key[0])
        if entry is not None and entry.labels.get("state") == "open":
            told = EventLog(self.intents.state).told_since(work.tenant, entry.created_at - OPEN_FOR)
            self.intents.recover(work.tenant, entry, self.engine, told)
        self.intents.forget_recovered()
        return ()
