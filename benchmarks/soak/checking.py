"""What must be true once the load has stopped and the workers have caught up."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any

from benchmarks.soak.client import Client, Refused
from benchmarks.soak.ledger import Ledger
from benchmarks.soak.load import MOVING

CAUGHT_UP_WITHIN_S = 120.0
LONG_LIVED_S = 90.0
GROWTH_MB, GROWTH_SHARE = 64.0, 0.15

DOCUMENT = "query($d: ID!) { document(docId: $d) { text } }"
JOB = "query($j: ID!) { job(jobId: $j) { state error received rejected corpusSize } }"
DIGESTS = "query($m: ID, $a: String) { digests(monitorId: $m, first: 200, after: $a) { digests { digestId monitorId windowEnd } cursor } }"


def check(ledger: Ledger, client: Client, within_s: float = CAUGHT_UP_WITHIN_S) -> None:
    """Look at everything that was promised; what is broken is added to the findings. What is still at work has ``within_s`` to end."""
    jobs = _caught_up(lambda: _jobs_at_work(ledger, client), within_s)
    if jobs:
        ledger.found(f"{len(jobs)} acknowledged jobs are not done: {jobs[:3]}")
    silent = _caught_up(lambda: _silent(ledger, client), within_s)
    if silent:
        ledger.found(f"monitors that fire and never published: {silent}")
    _documents(ledger, client)
    _digests(ledger, client)
    untold = _caught_up(lambda: _untold(ledger, client), within_s)
    if untold:
        ledger.found(f"digests that the subscription never told of: {untold[:5]}")


def _caught_up(left: Callable[[], list[str]], within_s: float) -> list[str]:
    until = time.monotonic() + within_s
    while found := left():
        if time.monotonic() > until:
            return found
        time.sleep(1.0)
    return []


def _jobs_at_work(ledger: Ledger, client: Client) -> list[str]:
    return [
        f"{job_id}: {found}"
        for job_id in ledger.jobs
        if (found := _answered(client, JOB, "job", j=job_id)) is None or found["state"] != "DONE"
    ]


def _silent(ledger: Ledger, client: Client) -> list[str]:
    return [name for name in ledger.monitors if not (_answered(client, DIGESTS, "digests", m=name) or {"digests": ()})["digests"]]


def _answered(client: Client, query: str, name: str, **variables: Any) -> Any:
    for _ in range(20):
        try:
            return client.graphql(query, **variables)[name]
        except Refused:
            time.sleep(0.5)
    raise RuntimeError("the server does not answer though nothing is killed any more")


def _documents(ledger: Ledger, client: Client) -> None:
    """Every acknowledged write is there, word for word, and every acknowledged deletion has held."""
    promised = ledger.stored | {doc_id: text for job in ledger.jobs.values() for doc_id, text in job.items()}
    for doc_id, text in promised.items():
        found = _answered(client, DOCUMENT, "document", d=doc_id)
        if found is None or found["text"] != text:
            ledger.found(f"a lost write: {doc_id} is {found}")
    back = [doc_id for doc_id in ledger.deleted if _answered(client, DOCUMENT, "document", d=doc_id) is not None]
    if back:
        ledger.found(f"{len(back)} deleted documents are back: {back[:5]}")
    ledger.count("acknowledged writes read again", len(promised))
    ledger.count("acknowledged deletions looked at again", len(ledger.deleted))


def _published(client: Client) -> Iterator[Any]:
    page: Any = {"cursor": None}
    while True:
        page = _answered(client, DIGESTS, "digests", m=None, a=page["cursor"])
        yield from page["digests"]
        if not page["cursor"]:
            return


def _digests(ledger: Ledger, client: Client) -> None:
    """One for each monitor, and the subscription told of none twice in the same version."""
    published = Counter(item["monitorId"] for item in _published(client))
    ledger.count("digests published", sum(published.values()))
    for monitor_id, count in published.items():
        if count > 1:
            ledger.found(f"{count} digests of {monitor_id}, which may publish one")
    twice = [told for told, count in Counter(ledger.told).items() if count > 1]
    if twice:
        ledger.found(f"told twice of the same digest: {twice[:5]}")


def _untold(ledger: Ledger, client: Client) -> list[str]:
    """What was published and did not come through the subscription."""
    with ledger.lock:
        told = {digest_id for digest_id, _ in ledger.told}
    return [item["digestId"] for item in _published(client) if item["digestId"] not in told]


def memory_findings(memory: Mapping[str, list[tuple[float, int, float]]]) -> Iterator[str]:
    """For every process that lived long enough: what it held early in its life against what it held at the end."""
    for name, samples in memory.items():
        for pid in {pid for _, pid, _ in samples}:
            own = [(since, held) for since, each, held in samples if each == pid]
            if own[-1][0] - own[0][0] < LONG_LIVED_S:
                continue
            early, late = _quarter(own, 1), _quarter(own, 3)
            if late > early * (1 + GROWTH_SHARE) + GROWTH_MB:
                yield f"memory of the {name} grew from {early:.0f} to {late:.0f} MB in {own[-1][0] - own[0][0]:.0f} s"


def _quarter(samples: list[tuple[float, float]], number: int) -> float:
    size = max(1, len(samples) // 4)
    return median(held for _, held in samples[number * size : (number + 1) * size] or samples[-1:])


def check_as_caller(url: str, ledger: Ledger) -> None:
    """See :func:`check`."""
    with Client(url, MOVING, ledger) as client:
        check(ledger, client)
