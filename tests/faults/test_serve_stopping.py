"""``wisdom serve`` that is asked to stop in the middle of a question: a real process, a real signal, a language model that takes its time."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.grounding.language_models.conftest import QUESTION, REPORTS
from tests.grounding.language_models.misbehaving_server import Exchange, as_draft, model_server, says
from tests.servers import ROOT

WRITTEN = as_draft(("The app crashes each time a receipt is scanned.", ["E1"]))


@dataclass
class Thinking:
    """A model that is asked, and answers when it is told to."""

    asked: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)

    def __call__(self, exchange: Exchange) -> None:
        self.asked.set()
        self.may_answer.wait(60)
        says(WRITTEN)(exchange)


@contextmanager
def serving(folder: Path, model_url: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The process and its address."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
    given = {
        "WA_ENGINE_URL": f"sqlite:///{folder / 'store.db'}",
        "WA_EMBEDDER_THREADS": "1",
        "WA_LLM_BASE_URL": model_url,
        "WA_LLM_MODEL": "small",
        "WA_LLM_ROLES": "draft",
        "WA_LLM_TIMEOUT_S": "60",
        "WA_ASK_TIMEOUT_S": "120",
    }
    command = [sys.executable, "-m", "api.cli.main", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, env=kept | given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = next((match for line in process.stderr if (match := re.search(r"http://127\.0\.0\.1:[1-9][0-9]*", line))), None)
        assert found is not None
        draining = threading.Thread(target=process.stderr.read)
        draining.start()
        try:
            yield process, found.group()
        finally:
            if process.poll() is None:
                process.kill()
            draining.join(20)


def test_a_question_in_progress_is_answered_and_the_exit_is_clean(tmp_path: Path) -> None:
    model = Thinking()
    with model_server(model) as server, serving(tmp_path, server.url) as (process, address), ThreadPoolExecutor(1) as pool:
        tenant = {"x-tenant-id": "acme"}
        stored = httpx.post(f"{address}/ingest", json={"documents": list(REPORTS)}, headers=tenant, timeout=60)
        assert stored.status_code == 200, stored.text
        asking = pool.submit(httpx.post, f"{address}/ask", json={"question": QUESTION}, headers=tenant, timeout=60)
        assert model.asked.wait(60)
        process.send_signal(signal.SIGTERM)
        _refused_from_now_on(address)
        model.may_answer.set()
        answered = asking.result(60)
        assert answered.status_code == 200, answered.text
        assert answered.json()["answer"]["claims"][0]["text"] == "The app crashes each time a receipt is scanned."
        assert process.wait(60) == 0


def _refused_from_now_on(address: str) -> None:
    """Nobody new is let in while the last ones finish."""
    waiting = threading.Event()
    for _ in range(300):
        try:
            httpx.get(f"{address}/health", timeout=10)
        except httpx.TransportError:
            return
        waiting.wait(0.1)
    raise AssertionError("it still takes new connections")
