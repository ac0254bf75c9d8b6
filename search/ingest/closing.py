"""The end of an ingest, on record however it ended."""

import uuid
from dataclasses import dataclass

from runtime.clock import Clock, Stopwatch
from runtime.errors import ServiceError
from runtime.tenancy import Tenant
from search.ingest.records import IngestRecord, IngestRecords
from search.ingest.tally import Tally


@dataclass(frozen=True, slots=True)
class Closing:
    """The record of one ingest, kept at its end."""

    records: IngestRecords | None
    tenant: Tenant
    batch_id: str
    watch: Stopwatch
    clock: Clock

    def recorded(self, tally: Tally, outcome: str) -> tuple[str, ...]:
        """Keep the record; why it could not be kept, if so: no reason to fail an ingest that is stored."""
        if self.records is None:
            return ()
        record = IngestRecord(
            record_id=uuid.uuid4().hex,
            batch_id=self.batch_id,
            at=self.clock.now(),
            outcome=outcome,
            seconds=self.watch.elapsed_s(),
            counts=tally.totals(),
            rejections=tally.counted_rejections,
        )
        try:
            self.records.keep(self.tenant, record)
        except ServiceError as error:
            return (f"record: boards do not count this ingest, as its record could not be kept: {error}",)
        return ()
