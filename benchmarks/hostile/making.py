"""Shots, each made from its number and the seed alone: a valid call, and what is done to it as JSON, as text and as HTTP."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any
from urllib.parse import quote

from benchmarks.hostile.known import CALLER, HEAVY, OTHER, Knowledge, documents
from benchmarks.hostile.shot import Conduct, Shot
from benchmarks.hostile.values import TEXTS, document_changed, json_text, mutated, nasty, text_changed

JSON = "application/json"
REFILLED_EVERY = 200
"""Shots between two that bring the caller's documents back, after one that deletes all there are: what grows then is no store."""
COMMANDS_EVERY = 4000

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("ask", "%"),
    ("search", "%", "--since", "%"),
    ("themes", "%"),
    ("account", "%"),
    ("documents", "show", "%"),
    ("documents", "list", "--source", "%", "--attr", "a=%"),
    ("traces", "show", "%"),
    ("monitors", "show", "%"),
    ("trend", "%", "--time-zone", "%"),
)

Headers = list[tuple[str, str | bytes]]


class Maker:
    """Makes shot after shot; the same seed makes the same, up to the ids that the store made."""

    def __init__(self, known: Knowledge, seed: int) -> None:
        self._known = known
        self._seed = seed
        light = [body for body in known.operations if body["name"] not in HEAVY]
        self._light, self._heavy = light, [body for body in known.operations if body["name"] in HEAVY]
        self._doors: tuple[tuple[float, Callable[[Random, int], Shot]], ...] = (
            (0.40, self._graphql),
            (0.68, self._rest),
            (0.92, self._mcp),
            (0.96, self._websocket),
            (0.98, self._upgrade),
            (1.00, self._junk),
        )

    def shot(self, number: int) -> Shot:
        """The shot of this number."""
        random = Random(f"{self._seed}-{number}")
        if number % REFILLED_EVERY == REFILLED_EVERY - 1:
            body = json_text({"query": "mutation { deleteDocuments(confirm: true) { deleted } }"})
            return Shot(number, "graphql", "none", wire=(self._request(number, "POST", "/graphql", body),))
        if number % REFILLED_EVERY == 0:
            body = json_text({"documents": documents(CALLER, "amberword", number + 2)})
            return Shot(number, "rest", "none", wire=(self._request(number, "POST", "/ingest", body),))
        if number % COMMANDS_EVERY == 1:
            return self._command(random, number)
        roll = random.random()
        return next(make for below, make in self._doors if roll <= below)(random, number)

    def _graphql(self, random: Random, number: int) -> Shot:
        heavy = random.random() < 0.01
        chosen = random.choice(self._heavy if heavy else self._light)
        body: dict[str, Any] = {"query": chosen["query"], "variables": chosen["variables"]}
        if random.random() < 0.3:
            changed, how = document_changed(random, chosen["query"])
            body["query"] = changed
            return self._posted(random, number, "graphql", "/graphql", body, f"document: {how}")
        if random.random() < 0.1:
            address = (
                "/graphql?query="
                + quote(chosen["query"], safe="")
                + "&variables="
                + quote(json.dumps(mutated(random, body["variables"], self._known.foreign)))
            )
            return self._sent(random, number, "graphql", "GET", address, b"", "by GET")
        body["variables"] = self._changed(random, body["variables"])
        return self._posted(random, number, "graphql", "/graphql", body, "variables")

    def _rest(self, random: Random, number: int) -> Shot:
        if random.random() < 0.35:
            method = random.choice(("GET", "GET", "DELETE", "PUT", "HEAD", "OPTIONS"))
            name = str(random.choice((*TEXTS, *self._known.foreign, f"{CALLER}-doc-1", f"{OTHER}-doc-1")))
            path = random.choice(("/documents/", "/jobs/", "/static/", "/")) + quote(
                name.encode("utf-8", "surrogatepass"), safe=random.choice(("", "/.%"))
            )
            return self._sent(random, number, "rest", method, path[:60_000], b"", "path")
        path, body = random.choice(self._bodies())
        return self._posted(random, number, "rest", path, self._changed(random, body), "body")

    def _bodies(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        filters = {
            "since": "2026-01-01",
            "until": "2126-01-01",
            "sources": [f"{OTHER}-source"],
            "accountIds": [f"{OTHER}-account"],
            "ratingMin": 1,
        }
        return (
            (
                "/ask",
                {"question": "How many documents say that a card was declined?", "topK": 5, "budget": {"maxSteps": 9}, "timeZone": "UTC"},
            ),
            ("/ask", {"question": "What do customers say about the till?", "filters": filters}),
            ("/search", {"query": "declined card", "topK": 3, "filters": filters, "fusion": "rrf"}),
            ("/ingest", {"documents": documents(CALLER, "amberword")[:3], "batchId": "b-1"}),
        )

    def _mcp(self, random: Random, number: int) -> Shot:
        params = dict(random.choice(self._known.tools))
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": params | {"arguments": self._changed(random, params["arguments"])},
        }
        if random.random() < 0.2:
            message["method"] = random.choice(
                ("tools/list", "initialize", "ping", "resources/read", "prompts/get", "server/discover", "x", *TEXTS[:6])
            )
        if random.random() < 0.3:
            message = mutated(random, message, self._known.foreign)
        return self._posted(random, number, "mcp", "/mcp", message, "message")

    def _websocket(self, random: Random, number: int) -> Shot:
        frames: list[str | bytes] = []
        for turn in range(random.randrange(1, 8)):
            asked = dict(random.choice(self._known.subscriptions))
            if random.random() < 0.5:
                asked["query"] = document_changed(random, asked["query"])[0]
            message: Any = {"type": "subscribe", "id": str(turn % 3), "payload": self._changed(random, asked)}
            if random.random() < 0.3:
                message = random.choice(
                    ({"type": "complete", "id": "0"}, {"type": "ping"}, {"type": "connection_init"}, nasty(random, self._known.foreign))
                )
            text = json_text(message)
            frames.append(text_changed(random, text)[0] if random.random() < 0.15 else text.decode())
        return Shot(number, "websocket", "frames", "frames", frames=tuple(frames))

    def _upgrade(self, random: Random, number: int) -> Shot:
        headers: Headers = [("upgrade", "websocket"), ("connection", "Upgrade"), ("sec-websocket-version", random.choice(("13", "8", "x")))]
        headers += [("sec-websocket-key", random.choice(("dGhlIHNhbXBsZSBub25jZQ==", "", "x" * 300)))]
        headers += [("sec-websocket-protocol", random.choice(("graphql-transport-ws", "graphql-ws", "", "x" * 5000)))]
        wire = self._request(
            number, "GET", random.choice(("/graphql", "/mcp", "/ask")), b"", (*headers, *self._hostile_headers(random)), close=False
        )
        return Shot(
            number,
            "websocket",
            "upgrade",
            "abort",
            wire=(wire, random.choice((b"", b"\x81\x05hello", b"\xff" * 100, b"\x88\x80\x00\x00\x00\x00"))),
        )

    def _junk(self, random: Random, number: int) -> Shot:
        wire = random.choice(
            (
                b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + random.randbytes(200),
                random.randbytes(random.randrange(1, 4000)),
                b"GET / HTTP/9.9\r\n\r\n",
                b"GET /ask HTTP/1.1\r\nhost: localhost\r\n" + b"a: b\r\n" * 5000 + b"\r\n",
                b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                b"POST /ask HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n",
                b"POST /ask HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
                b"POST /ask HTTP/1.1\r\nhost: localhost\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n",
                b"POST /ask HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
                b"POST /ask HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\nabc\r\n0\r\n\r\n",
            )
        )
        return Shot(number, "http", "junk", "abort", wire=(wire,))

    def _command(self, random: Random, number: int) -> Shot:
        words = [word if "%" not in word else word.replace("%", self._word(random)) for word in random.choice(COMMANDS)]
        return Shot(number, "command line", "words", "command", words=(*words, "--json"))

    def _word(self, random: Random) -> str:
        text = str(random.choice((*TEXTS, *self._known.foreign)))[:10_000]
        return text.replace("\x00", "").encode("utf-8", "replace").decode()  # what no operating system passes on

    def _changed(self, random: Random, value: Any) -> Any:
        for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
            value = mutated(random, value, self._known.foreign)
        return value

    def _posted(self, random: Random, number: int, door: str, path: str, value: Any, hostility: str) -> Shot:
        body = json_text(value)
        if random.random() < 0.15:
            body, how = text_changed(random, body)
            hostility = f"text: {how}"
        return self._sent(random, number, door, "POST", path, body, hostility)

    def _sent(self, random: Random, number: int, door: str, method: str, path: str, body: bytes, hostility: str) -> Shot:
        """As HTTP: mostly as it should be, sometimes with hostile headers, in pieces, slowly, or broken off."""
        roll = random.random()
        if roll < 0.80:
            return Shot(number, door, hostility, wire=(self._request(number, method, path, body),))
        if roll < 0.90:
            return Shot(number, door, "headers", wire=(self._request(number, method, path, body, self._hostile_headers(random)),))
        conduct: Conduct = random.choice(("slow", "abort", "whole"))
        how = "chunks" if conduct == "whole" else conduct
        return Shot(number, door, how, conduct, wire=self._pieces(random, number, method, path, body, conduct))

    def _pieces(self, random: Random, number: int, method: str, path: str, body: bytes, conduct: Conduct) -> tuple[bytes, ...]:
        if conduct == "whole":
            head = self._request(number, method, path, b"", (("transfer-encoding", "chunked"), ("content-type", JSON)), length=False)
            size = max(1, len(body) // 3)
            chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[at : at + size] for at in range(0, len(body), size)))
            return (head, chunks + random.choice((b"0\r\n\r\n", b"0\r\nx-trailer: 1\r\n\r\n", b"zz\r\n", b"FFFFFFFFFFFFFFFFF\r\n")))
        whole = self._request(number, method, path, body)
        if conduct == "abort":
            return (whole[: random.randrange(len(whole))],)
        size = max(1, len(whole) // 4)
        return tuple(whole[at : at + size] for at in range(0, len(whole), size))

    def _hostile_headers(self, random: Random) -> tuple[tuple[str, str | bytes], ...]:
        tenant = ("x-tenant-id", random.choice((str(OTHER), "*", "", "_house", "amber\x00", "é" * 10, "a" * 9000, "../basil")))
        return random.choice(
            (
                (tenant,),
                (tenant, ("x-tenant-id", str(CALLER))),
                (
                    (
                        "content-type",
                        random.choice(
                            ("text/plain", "application/xml", "application/json; charset=utf-16", "multipart/form-data", "", "\xff")
                        ),
                    ),
                ),
                (("content-encoding", random.choice(("gzip", "br", "x"))),),
                (
                    (
                        "authorization",
                        random.choice(
                            ("Bearer x", "Basic YTpi", "Bearer wa_0000000000000000_" + "0" * 64, "Bearer a.b.c", "", "Bearer \xff")
                        ),
                    ),
                ),
                (("x-correlation-id", random.choice(("a b", "x" * 5000, 'a"b', "${jndi}", "\x01", "é"))),),
                (("accept", random.choice(("text/html", "*/*;q=nan", "application/json;q=1e999", ",;,;q=", "a/b," * 2000))),),
                (("origin", random.choice(("https://evil.example", "null", "http://localhost:80", "x" * 3000))),),
                (("host", random.choice(("evil.example", "", "localhost:99999999999", "a@b", "[::1"))),),
                (("range", "bytes=0-"), ("expect", "100-continue")),
                (
                    ("mcp-protocol-version", random.choice(("2024-11-05", "2026-07-28", "x", ""))),
                    ("mcp-method", "x"),
                    ("mcp-session-id", "../x"),
                ),
                (("traceparent", random.choice(("00-" + "0" * 32 + "-" + "0" * 16 + "-01", "x", "\xff"))),),
                (
                    ("x-forwarded-for", "127.0.0.1"),
                    ("x-forwarded-host", "evil.example"),
                    ("forwarded", "for=_x;proto=https"),
                    ("cookie", "a=b; " * 500),
                ),
                (("x-a\r\nx-injected", "1"),),
                (("x-a", "1\r\n\r\nGET /health HTTP/1.1\r\n"),),
            )
        )

    def _request(
        self,
        number: int,
        method: str,
        path: str,
        body: bytes,
        headers: tuple[tuple[str, str | bytes], ...] = (),
        *,
        length: bool = True,
        close: bool = True,
    ) -> bytes:
        """An HTTP request. A header that is given takes the place of ours; given twice it is sent twice."""
        ours: Mapping[str, str] = {
            "host": "localhost",
            "authorization": f"Bearer {self._known.secret}",
            "x-correlation-id": f"h-{number}",
            **({"content-type": JSON} if body else {}),
            **({"content-length": str(len(body))} if length and (body or method == "POST") else {}),
            **({"connection": "close"} if close else {}),
        }
        given = {name for name, _ in headers}
        lines = [*((name, value) for name, value in ours.items() if name not in given), *headers]
        head = b"".join(
            name.encode("latin-1") + b": " + (value if isinstance(value, bytes) else value.encode("utf-8")) + b"\r\n"
            for name, value in lines
        )
        return f"{method} {path} HTTP/1.1\r\n".encode("latin-1", "replace") + head + b"\r\n" + body
