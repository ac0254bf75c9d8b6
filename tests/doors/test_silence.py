"""Nothing a process writes (standard output and error, logs, metrics, errors, files it leaves) holds a text or a secret, at INFO and over every door."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from api.graphql_ws import BAD_FRAME
from runtime.settings import Settings, read_settings
from tests.doors.calls import posted
from tests.doors.sockets import talking
from tests.doors.test_monitors import MONITOR, SAVE
from tests.servers import ROOT, ValkeyServer, free_port, running_valkey
from tests.worker.deliveries.receiving import closed_port
from tests.worker.queues.conftest import eventually

pytestmark = [pytest.mark.live("opensearch", "valkey"), pytest.mark.slow]

TEXT = "okapicanary"
"""In documents, questions, names and filters."""
SECRETS = {
    "engine": "engine-okapisecret-1",
    "broker": "broker-okapisecret-2",
    "pepper": "pepper-okapisecret-3-of-thirty-two-characters",
    "webhook": "whsec_b2thcGlzZWNyZXQtNC1va2FwaXNlY3JldC00LW9rYXBpc2VjcmV0",
    "model": "model-okapisecret-5",
    "embedder": "embedder-okapisecret-6",
    "mail": "mail-okapisecret-7",
    "collector": "collector-okapisecret-8",
    "hook": "hook-okapisecret-9",
    "wrong key": "wa_00000000000000000000_okapisecret10okapisecret10okapisecret10okapi",
    "token": "eyJhbGciOiJub25lIn0.okapisecret11.okapisecret11",
}


@dataclass
class Site:
    """A service with every secret there is, and all that its processes wrote."""

    folder: Path
    variables: dict[str, str]
    key: str = ""
    port: int = field(default_factory=free_port)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command to its end; what it says is kept, but for the one that makes a key."""
        done = subprocess.run(
            self._command(*arguments), cwd=ROOT, env=self._environment(), capture_output=True, text=True, timeout=180, check=False
        )
        if arguments[:2] != ("keys", "create"):
            with (self.folder / "commands.log").open("a") as said:
                said.write(done.stdout + done.stderr)
        return done

    @contextmanager
    def running(self, *arguments: str) -> Iterator[None]:
        """A process that stays, until the end of the body."""
        with (self.folder / f"{arguments[0]}.log").open("ab") as said:
            process = subprocess.Popen(self._command(*arguments), cwd=ROOT, env=self._environment(), stdout=said, stderr=said)
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, (self.folder / f"{arguments[0]}.log").read_text()

    def written(self) -> str:
        """Everything, of every file below the folder."""
        return "\n".join(
            path.read_text(errors="replace") for path in sorted(self.folder.rglob("*")) if path.is_file() and path.name != "password"
        )

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "api.cli.main", *arguments]

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
        return kept | {"XDG_STATE_HOME": str(self.folder / "state"), "HOME": str(self.folder)} | self.variables


@pytest.fixture
def broker() -> Iterator[ValkeyServer]:
    with running_valkey() as server:
        with redis.Redis(port=server.port) as client:
            client.config_set("requirepass", SECRETS["broker"])
        yield server


@pytest.fixture
def site(opensearch_url: str, opensearch_prefix: str, broker: ValkeyServer, tmp_path: Path) -> Site:
    (tmp_path / "password").write_text(SECRETS["engine"])
    closed = closed_port()
    variables = {
        "WA_ENGINE_URL": opensearch_url.replace("://", "://wisdom@"),
        "WA_ENGINE_PASSWORD_FILE": str(tmp_path / "password"),
        "WA_INDEX_PREFIX": opensearch_prefix,
        "WA_EMBEDDER_THREADS": "1",
        "WA_EMBEDDER_KEY": SECRETS["embedder"],
        "WA_DEFAULT_TENANT": "acme",
        "WA_AUTH": "keys",
        "WA_KEY_PEPPER": SECRETS["pepper"],
        "WA_REDIS_URL": f"redis://:{SECRETS['broker']}@127.0.0.1:{broker.port}/0",
        "WA_WEBHOOK_SECRET": SECRETS["webhook"],
        "WA_LLM_BASE_URL": f"http://127.0.0.1:{closed}/v1",
        "WA_LLM_API_KEY": SECRETS["model"],
        "WA_LLM_MODEL": "small",
        "WA_SMTP_URL": f"smtp://user:{SECRETS['mail']}@127.0.0.1:{closed}",
        "WA_OTLP_ENDPOINT": f"http://user:{SECRETS['collector']}@127.0.0.1:{closed}",
        "WA_DELIVERY_PRIVATE_NETWORKS": "true",
        "WA_WORKER_METRICS_PORT": str(free_port()),
        "WA_WORKER_CONCURRENCY": "1",
        "WA_LOG_LEVEL": "INFO",
        "WA_LOG_FORMAT": "json",
    }
    return Site(tmp_path, variables)


def documents() -> list[dict[str, Any]]:
    base = {"source": "ticket", "occurredAt": (datetime.now(UTC) - timedelta(hours=2)).isoformat(), "accountId": "a-1"}
    texts = (f"The {TEXT} card was declined at the till.", f"{TEXT}: the card was declined again.", "Shipping took three weeks.")
    good = [{**base, "docId": f"s-{number}", "text": text, "title": f"{TEXT} {number}"} for number, text in enumerate(texts)]
    bad = [{**base, "docId": "s-9", "text": TEXT, "occurredAt": TEXT}, {**base, "docId": "s-10", "text": TEXT, "rating": TEXT}]
    return [*good, *bad]


def talk_over_every_door(http: httpx.Client, errors: list[str]) -> None:
    """Ingest, ask, search, count, save, fail, with the text wherever a caller can put one. Answers may quote it; errors are kept."""
    question = f"Why was the {TEXT} card declined?"
    assert posted(http, "/ingest", {"documents": documents()}).status_code == 200
    posted(http, "/jobs", {"documents": documents(), "batchId": TEXT})
    assert posted(http, "/ask", {"question": question}).status_code == 200
    queries = (
        ("query($q: String!) { ask(question: $q) { answer { refused } } }", {"q": question}),
        ("query($q: String!) { search(query: $q) { hits { docId } } }", {"q": question}),
        ("mutation($d: [DocumentInput!]!) { indexDocuments(documents: $d, async: true) { job { jobId } } }", {"d": documents()}),
        ("query($q: Int!) { ask(question: $q) { nothing } }", {"q": TEXT}),
        (f"query {TEXT} {{ {TEXT} }}", {}),
        (f"{{ {TEXT}", {}),
        (
            SAVE,
            {"input": {**MONITOR, "receivers": [{"channel": "WEBHOOK", "target": f"http://127.0.0.1:{closed_port()}/{SECRETS['hook']}"}]}},
        ),
    )
    for query, variables in queries:
        posted(http, "/graphql", {"query": query, "variables": variables})
    http.get("/graphql", params={"query": f'{{ ask(question: "{question}") {{ answer {{ refused }} }} }}'})
    for name, arguments in (
        ("ask", {"question": question}),
        ("search_feedback", {"query": question, "filters": {"themes": [TEXT]}}),
        ("aggregate_by_theme", {"query": TEXT, "limit": TEXT}),
        (TEXT, {TEXT: TEXT}),
    ):
        posted(http, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
    posted(http, "/mcp", {"jsonrpc": "2.0", "id": TEXT, "method": TEXT, "params": {}})
    posted(http, "/ask", {"question": [TEXT]})
    http.post("/ask", content=f'{{"question": "{TEXT}'.encode(), headers={"content-type": "application/json"})
    http.get(f"/documents/{TEXT}")
    http.get(f"/{TEXT}?{TEXT}={TEXT}", headers={"user-agent": TEXT, "referer": TEXT})
    for credential in (SECRETS["wrong key"], SECRETS["token"]):
        errors += [
            posted(http, path, {"question": "x"}, authorization=f"Bearer {credential}").text for path in ("/ask", "/graphql", "/mcp")
        ]


def test_nothing_that_processes_write_holds_a_text_or_a_secret(site: Site) -> None:
    made = site.run("keys", "create", "door", "--scopes", "read,ask,write,monitor,admin", "--json")
    key = json.loads(made.stdout)["secret"] if made.returncode == 0 else ""
    assert key, made.stderr
    url, errors = f"http://127.0.0.1:{site.port}", list[str]()
    with site.running("serve", "--port", str(site.port)), site.running("worker"):
        with httpx.Client(base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=60) as http:
            eventually(lambda: _answers(http))
            talk_over_every_door(http, errors)
            talk_over_a_websocket(url, key)
            eventually(lambda: '"delivery"' in (site.folder / "worker.log").read_text(), within_s=90)
            metrics = http.get("/metrics").text + http.get("/ready").text
        metrics += httpx.get(f"http://127.0.0.1:{site.variables['WA_WORKER_METRICS_PORT']}/metrics").text
    for command in (("doctor", "--json"), ("keys", "list")):
        site.run(*command)
    written = site.written() + metrics + "\n".join(errors)
    assert '"event": "request"' in written
    assert "wa_questions_total" in metrics
    for name, secret in (SECRETS | {"key": key}).items():
        for part in _parts(secret):
            assert part not in written, (name, _around(written, part))
    assert TEXT not in written, _around(written, TEXT)


def _parts(secret: str) -> tuple[str, ...]:
    """The whole, and what of a key or token is secret in itself."""
    return (secret, secret.rsplit("_", 1)[-1], secret.rsplit(".", 1)[-1])


def _around(written: str, part: str) -> str:
    at = written.index(part)
    return written[max(0, at - 300) : at + 100]


def _answers(http: httpx.Client) -> bool:
    try:
        return http.get("/health").status_code == 200
    except httpx.TransportError:
        return False


def talk_over_a_websocket(url: str, key: str) -> None:
    with talking(url) as talk:
        talk.say(type="connection_init", payload={"authorization": f"Bearer {key}"})
        talk.subscribe(TEXT, f"subscription {{ {TEXT} }}")
        talk.say(type=TEXT)
        assert talk.closed() == BAD_FRAME


@pytest.mark.parametrize(
    "given",
    [
        {"engine_url": "https://u:{}@h:9200"},
        {"redis_url": "rediss://:{}@h/0"},
        {"smtp_url": "smtp://u:{}@h"},
        {"otlp_endpoint": "http://u:{}@h"},
    ],
)
def test_passwords_inside_urls_are_masked_when_settings_are_described(given: Mapping[str, str]) -> None:
    described = read_settings({}, **{name: url.format("okapi-secret") for name, url in given.items()}).describe()
    assert "okapi-secret" not in str(described)


def test_every_secret_setting_is_masked_when_settings_are_described() -> None:
    secret = {
        name: "okapi-secret-of-thirty-two-characters" for name, each in Settings.model_fields.items() if "SecretStr" in str(each.annotation)
    }
    assert len(secret) >= 5
    described = read_settings({}, **secret).describe()
    assert "okapi" not in str(described)
    assert {described[name] for name in secret} == {"********"}
