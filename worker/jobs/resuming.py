"""What a chunk that is done again has stored already: it is counted and neither embedded nor written a second time."""

from collections import Counter
from collections.abc import Sequence

from search.identity import content_hash
from search.ingest.parsing import Defaults, parse_document
from search.ingest.tally import RowOutcome
from search.versions import decide
from worker.jobs.chunks import WaitingRow
from worker.jobs.intents import Versions

AS_READ = Defaults(max_text_chars=2**62)
"""Rows were checked when they were handed in; the limits of whoever stores them do not matter."""


def stored_already(rows: Sequence[WaitingRow], before: Versions, now: Versions) -> list[RowOutcome]:
    """The outcomes of rows that the store holds as they were intended ``before``. Rows that share a document with another row are left to be planned
    anew, in their order."""
    times = Counter(row.values["doc_id"] for row in rows)
    outcomes = []
    for row in rows:
        doc_id = row.values["doc_id"]
        held = now.get(doc_id)
        if times[doc_id] > 1 or held is None or held.deleted or held == before.get(doc_id):
            continue
        parsed = parse_document(row.values, AS_READ)
        plan = decide(before.get(doc_id), parsed.asked_version, content_hash(parsed.document))
        if plan.writes and (held.version, held.content_hash) == (plan.version, content_hash(parsed.document)):
            outcomes.append(RowOutcome(row.number, doc_id, plan.kind))
    return outcomes
