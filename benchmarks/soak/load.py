"""The load: callers that ask, search, store, delete, hand in jobs, save monitors and listen, each in a thread of its own, until they are told to stop."""

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from api.sample import sample_documents
from benchmarks.soak.client import Client, Refused
from benchmarks.soak.ledger import Ledger

STILL, MOVING = "still", "moving"
"""The tenant that nobody writes to while its answers are compared, and the one that is written to all the time."""

STILL_DOCUMENTS, LIVE_DOCUMENTS, BATCH, JOB = 400, 1000, 20, 30
MONITORS, MONITOR_EVERY_S, REST_S = 30, 2.0, 0.5

QUESTIONS = (
    "What do customers say about refunds?",
    "How many customers lost their phone?",
    "What do customers say about card payments?",
    "How many documents are about exchange rates?",
    "Which theme is the most frequent?",
    "Why was my transfer declined?",
    "How many messages came by email?",
    "Who won the football world cup?",
    "Is the number of messages about cash withdrawals rising?",
    "What do customers say about verifying their identity?",
)
ASK = """query($q: String!) { ask(question: $q) { degraded { part } answer { text refused refusal { reason } claims { text
  citations { docId version start end quote } proof { value denominator docIds } } } } }"""
INDEX = "mutation($d: [DocumentInput!]!) { indexDocuments(documents: $d, async: true) { job { jobId } } }"
SAVE = "mutation($i: SaveMonitorInput!) { saveMonitor(input: $i) { monitor { monitorId } } }"
LISTEN = "subscription($after: ID) { digestPublished(after: $after) { digestId version } }"

Answer = dict[str, Any]
Part = Callable[["Load", Client, Random], None]


class Load:
    """Everything the threads share."""

    def __init__(self, url: str, ledger: Ledger, seed: int) -> None:
        self.url, self.ledger, self.seed = url, ledger, seed
        self.stopping, self.hushed = threading.Event(), threading.Event()
        self.expected: dict[str, Answer] = {}
        self.ranked: dict[str, list[str]] = {}
        self._numbers = itertools.count()
        self._texts = [str(item["text"]) for item in sample_documents()]

    def prepare(self) -> None:
        """Fill the tenant that stays as it is, and ask it everything while nothing else goes on."""
        with Client(self.url, STILL, self.ledger) as client:
            client.rest("POST", "/ingest", {"documents": [dict(item) for item in itertools.islice(sample_documents(), STILL_DOCUMENTS)]})
            for question in QUESTIONS:
                self.expected[question] = essence(client.graphql(ASK, q=question)["ask"])
                self.ranked[question] = ranking(client.rest("POST", "/search", {"query": question}))

    def threads(self) -> list[threading.Thread]:
        """One thread for each part of the load."""
        parts: tuple[tuple[str, Part], ...] = (
            (STILL, ask_still),
            (MOVING, ask_moving),
            (STILL, search_still),
            (MOVING, write),
            (MOVING, hand_in),
            (MOVING, watch),
        )
        return [threading.Thread(target=self._run, args=part, name=part[1].__name__, daemon=True) for part in parts]

    def listener(self) -> threading.Thread:
        """One that listens until it is hushed, which is later: digests come after the load."""
        return threading.Thread(target=listen, args=(self,), name="listen", daemon=True)

    def documents(self, count: int) -> Iterator[dict[str, Any]]:
        """Documents that nobody has stored yet, of the last minutes."""
        for _ in range(count):
            number = next(self._numbers)
            yield {
                "docId": f"m-{number}",
                "source": ("email", "chat", "app")[number % 3],
                "text": f"{self._texts[number % len(self._texts)]} (case {number})",
                "occurredAt": (datetime.now(UTC) - timedelta(minutes=number % 50)).isoformat(),
                "themeId": f"theme-{number % 7}",
            }

    def _run(self, tenant: str, part: Part) -> None:
        random = Random(f"{self.seed}-{part.__name__}")
        with Client(self.url, tenant, self.ledger) as client:
            while not self.stopping.is_set():
                try:
                    part(self, client, random)
                except Refused:
                    self.stopping.wait(REST_S)
                except Exception as error:  # noqa: BLE001 (whatever it is, it is what we look for)
                    self.ledger.found(f"{part.__name__}: {type(error).__name__}: {error}")
                    self.stopping.wait(REST_S)


def ask_still(load: Load, client: Client, random: Random) -> None:
    """The same question as in the quiet has the same answer; or one that says what was lost."""
    question = random.choice(QUESTIONS)
    found = client.graphql(ASK, q=question)["ask"]
    load.ledger.count("questions compared")
    if found["degraded"]:
        load.ledger.count("answers that named what was lost")
    elif essence(found) != load.expected[question]:
        load.ledger.found(
            f"another answer to {question!r}: {json.dumps(essence(found))[:400]} instead of {json.dumps(load.expected[question])[:400]}"
        )


def ask_moving(load: Load, client: Client, random: Random) -> None:
    """Every quotation is read again from the stored document."""
    found = client.graphql(ASK, q=random.choice(QUESTIONS))["ask"]
    load.ledger.count("questions over moving documents")
    for claim in found["answer"]["claims"]:
        for citation in claim["citations"][:3]:
            _read_again(load.ledger, client, citation)
        proof = claim["proof"]
        if proof is not None and proof["value"] > proof["denominator"]:
            load.ledger.found(f"a count of {proof['value']} out of {proof['denominator']}")


def _read_again(ledger: Ledger, client: Client, citation: Answer) -> None:
    document = client.graphql("query($d: ID!) { document(docId: $d) { version text } }", d=citation["docId"])["document"]
    if document is None or document["version"] != citation["version"]:
        ledger.count("quotations whose document has gone")
        return
    ledger.count("quotations read again")
    if document["text"][citation["start"] : citation["end"]] != citation["quote"]:
        ledger.found(f"a quotation that is not there: {citation}")


def search_still(load: Load, client: Client, random: Random) -> None:
    """The same ranking as in the quiet."""
    question = random.choice(QUESTIONS)
    found = client.rest("POST", "/search", {"query": question})
    load.ledger.count("searches compared")
    if not found["degraded"] and ranking(found) != load.ranked[question]:
        load.ledger.found(f"another ranking for {question!r}: {ranking(found)} instead of {load.ranked[question]}")


def write(load: Load, client: Client, _random: Random) -> None:
    """Store some, and delete as many of the oldest, so that there are never very many."""
    documents = list(load.documents(BATCH))
    report = client.rest("POST", "/ingest", {"documents": documents})
    if report["indexed"] != BATCH or report["received"] != BATCH:
        load.ledger.found(f"a report that does not add up: {report}")
    load.ledger.store({item["docId"]: item["text"] for item in documents})
    for _ in range(BATCH):
        doc_id = load.ledger.oldest(LIVE_DOCUMENTS)
        if doc_id is not None:
            client.rest("DELETE", f"/documents/{doc_id}")
            load.ledger.delete(doc_id)


def hand_in(load: Load, client: Client, _random: Random) -> None:
    """An ingest job for the worker; a few seconds between two, so that it can keep up."""
    documents = list(load.documents(JOB))
    job = client.graphql(INDEX, d=documents)["indexDocuments"]["job"]
    load.ledger.jobs[job["jobId"]] = {item["docId"]: item["text"] for item in documents}
    load.ledger.count("jobs handed in")
    load.stopping.wait(3.0)


def watch(load: Load, client: Client, _random: Random) -> None:
    """A monitor that fires once, when it is first looked at, and never again."""
    number = len(load.ledger.monitors)
    if number < MONITORS:
        monitor = {
            "monitorId": f"soak-{number}",
            "name": f"Soak {number}",
            "question": "What do customers say about cards?",
            "match": "card",
            "condition": {"countAtLeast": 1},
            "windowSeconds": 86_400,
            "cadenceSeconds": 5,
            "cooldownSeconds": 86_400,
        }
        client.graphql(SAVE, i=monitor)
        load.ledger.monitors.append(f"soak-{number}")
    load.stopping.wait(MONITOR_EVERY_S)


def listen(load: Load) -> None:
    """One subscription that comes back behind the last digest it was told of whenever it is cut off."""
    after = ""
    while not load.hushed.is_set():
        try:
            with connect(load.url.replace("http", "ws", 1) + "/graphql", subprotocols=[Subprotocol("graphql-transport-ws")]) as talk:
                talk.send(json.dumps({"type": "connection_init", "payload": {"x-tenant-id": MOVING}}))
                talk.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": LISTEN, "variables": {"after": after}}}))
                while not load.hushed.is_set():
                    after = _heard(load.ledger, talk.recv, after)
        except (WebSocketException, OSError):
            load.ledger.outage("subscription cut off")
            load.hushed.wait(REST_S)


def _heard(ledger: Ledger, receive: Callable[[float], str | bytes], after: str) -> str:
    try:
        message = json.loads(receive(REST_S))
    except TimeoutError:
        return after
    if message["type"] != "next":
        return after
    digest = message["payload"]["data"]["digestPublished"]
    with ledger.lock:
        ledger.told.append((digest["digestId"], digest["version"]))
    return str(digest["digestId"])


def essence(found: Answer) -> Answer:
    """What must be the same however busy the server is."""
    answer = found["answer"]
    return {
        "refused": (answer["refusal"] or {}).get("reason"),
        "claims": sorted([claim["text"], sorted(citation["docId"] for citation in claim["citations"])] for claim in answer["claims"]),
    }


def ranking(found: Answer) -> list[str]:
    """The documents in their order."""
    return [hit["docId"] for hit in found["hits"]]
