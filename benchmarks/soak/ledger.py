"""What was promised: every acknowledged write, what was asked, and what went wrong. Shared by all threads."""

import threading
from collections import Counter
from dataclasses import dataclass, field

MAX_FINDINGS = 200


@dataclass
class Ledger:
    """``stored`` are documents whose storing was acknowledged and whose deletion was not asked for; ``deleted`` those whose deletion was acknowledged. A
    document whose deletion broke off is in neither: nobody promised anything."""

    stored: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    jobs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Acknowledged ingest jobs, with their documents."""
    monitors: list[str] = field(default_factory=list)
    told: list[tuple[str, int]] = field(default_factory=list)
    """Id and version of every digest that the subscription told of."""
    done: Counter[str] = field(default_factory=Counter)
    outages: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str, times: int = 1) -> None:
        """So many more of it."""
        with self.lock:
            self.done[what] += times

    def outage(self, why: str) -> None:
        """A call that was refused with a reason, or met nobody."""
        with self.lock:
            self.outages[why] += 1

    def found(self, what: str) -> None:
        """Something that must not be."""
        with self.lock:
            if len(self.findings) < MAX_FINDINGS:
                self.findings.append(what)

    def store(self, documents: dict[str, str]) -> None:
        """Their storing was acknowledged."""
        with self.lock:
            self.stored |= documents
            self.done["documents stored"] += len(documents)

    def oldest(self, beyond: int) -> str | None:
        """A document to delete, when there are more than that many; nothing is promised of it from now on."""
        with self.lock:
            if len(self.stored) <= beyond:
                return None
            doc_id = next(iter(self.stored))
            del self.stored[doc_id]
            return doc_id

    def delete(self, doc_id: str) -> None:
        """Its deletion was acknowledged."""
        with self.lock:
            self.deleted.add(doc_id)
            self.done["documents deleted"] += 1
