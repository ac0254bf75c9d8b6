"""A real HTTP server that speaks ``/embeddings`` for models without weights: words thrown into places, by another hash for each model."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

PLACES = 64


@dataclass
class Embeddings:
    """Where it answers, what it was asked for by model, and what is done before it answers."""

    url: str = ""
    texts: dict[str, list[str]] = field(default_factory=dict)
    before: Callable[[str], None] = lambda _model: None


def vector(model: str, text: str) -> list[float]:
    """A sensible one; those of two models have nothing to do with each other."""
    found = np.full(PLACES, 1e-3)
    for word in re.findall(r"\w+", text.lower()):
        found[int(hashlib.sha256(f"{model} {word}".encode()).hexdigest(), 16) % PLACES] += 1.0
    return [float(value) for value in found / np.linalg.norm(found)]


@contextmanager
def embedding() -> Iterator[Embeddings]:
    """A running server."""
    served = Embeddings()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
            model = asked["model"]
            served.texts.setdefault(model, []).extend(asked["input"])
            served.before(model)
            data = [{"object": "embedding", "index": at, "embedding": vector(model, text)} for at, text in enumerate(asked["input"])]
            body = json.dumps({"object": "list", "model": model, "data": data}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        served.url = f"http://127.0.0.1:{server.server_port}/v1"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        try:
            yield served
        finally:
            server.shutdown()
            serving.join()
