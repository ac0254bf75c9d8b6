"""What stays of an ingest in the state store: its counts, and what was rejected by field and reason. No value and no text of a row."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from runtime.tenancy import Tenant
from search.ingest.parsing import blamed
from search.ports import StateStore
from search.state_facts import Fact

KIND = "ingest"
"""One entry for each ingest that dealt with a row."""

REJECTIONS = "ingest_rejection"
"""One entry for each field and reason of it, as boards add up numbers of entries and not of lists inside them."""

MOST_REASONS = 30
OTHER = ("other", "other reasons")

Counted = tuple[tuple[str, str, int], ...]
"""Field, reason and number of rows."""

_QUOTED = re.compile("['\"‘“\\[{(`].*['\"’”\\]})`]", re.DOTALL)
_DIGITS = re.compile(r"[0-9][0-9.,:]*")
_MOST_CHARS = 120


@dataclass(frozen=True, slots=True)
class IngestRecord:
    """One ingest. ``outcome`` is ``done``, ``interrupted``, ``failed`` or ``cancelled``; ``counts`` has the six counts of a report under their names."""

    record_id: str
    batch_id: str
    at: datetime
    outcome: str
    seconds: float
    counts: Mapping[str, int]
    rejections: Counted = ()


def reason_without_values(reason: str) -> str:
    """Which reason it is: everything that is quoted or a number, and with it all of the row that a reason repeats, becomes ``…``.

    From the first quotation mark or bracket to the last one nothing is left, so that a value which holds such marks cannot slip out.
    """
    return _DIGITS.sub("…", _QUOTED.sub("…", reason))[:_MOST_CHARS]


def with_rejections(counted: Counted, rejected: Iterable[tuple[str, str]]) -> Counted:
    """The same with more rejected rows (field and reason of each), most frequent first. Beyond 30 reasons the rest is counted together."""
    rows = {(field, reason): number for field, reason, number in counted}
    for field, reason in rejected:
        pair = (blamed(field), reason_without_values(reason))
        pair = pair if pair in rows or len(rows) < MOST_REASONS else OTHER
        rows[pair] = rows.get(pair, 0) + 1
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    return tuple((field, reason, number) for (field, reason), number in ordered)


@dataclass(frozen=True, slots=True)
class IngestRecords:
    """Keeps records of ingests. Keeping the same one again changes nothing."""

    state: StateStore

    def keep(self, tenant: Tenant, record: IngestRecord) -> None:
        """Keep one, unless it dealt with no row.

        Raises:
            Unavailable: the store cannot be reached; some of it may be kept.
        """
        if not any(record.counts.values()):
            return
        for number, (field, reason, rows) in enumerate(record.rejections):
            entry_id, facts = f"{record.record_id}:{number:02d}", _facts(record) | {"field": field, "reason": reason, "rows": rows}
            self.state.put(tenant, REJECTIONS, entry_id, {"ingest": record.record_id}, facts=facts)
        facts = _facts(record) | {"seconds": record.seconds, **record.counts}
        self.state.put(tenant, KIND, record.record_id, {"batch_id": record.batch_id}, facts=facts)


def _facts(record: IngestRecord) -> dict[str, Fact]:
    return {"at": record.at, "outcome": record.outcome}
