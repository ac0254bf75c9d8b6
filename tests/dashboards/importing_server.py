"""A web server that takes saved objects as the import endpoint of OpenSearch Dashboards is documented to: a file in a form, checked, kept by id.

It is no Dashboards: it draws nothing and changes no formats. What it refuses is what the real one is known to refuse.
"""

import json
import threading
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
Key = tuple[str, str]

TYPES = {"index-pattern", "search", "visualization", "dashboard"}


@dataclass(slots=True)
class ImportingServer:
    """``kept`` is by space, type and id. ``only`` is the one user (name, password) that may write, ``away`` an answer (status, type, text) to everything."""

    url: str = ""
    base: str = ""
    only: tuple[str, str] | None = None
    away: tuple[int, str, str] | None = None
    types: frozenset[str] = frozenset(TYPES)
    kept: dict[str, dict[Key, Json]] = field(default_factory=dict)

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str, str]:
        """Status, content type and text."""
        if self.away is not None:
            return self.away
        status, said = self._import(path, headers, body)
        return status, "application/json", json.dumps(said)

    def _import(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Json]:
        parts = urlsplit(path)
        if parts.path != f"{self.base}/api/saved_objects/_import":
            return 404, fault(404, "Not Found")
        if "osd-xsrf" not in headers:
            return 400, fault(400, "Request must contain a osd-xsrf header.")
        if self.only is not None and credentials(headers) != self.only:
            return 401, fault(401, "Authentication required")
        if not headers.get("content-type", "").startswith("multipart/form-data"):
            return 415, fault(415, "Unsupported Media Type")
        name, content = uploaded(headers["content-type"], body)
        if PurePath(name).suffix != ".ndjson":
            return 400, fault(400, f"Invalid file extension {PurePath(name).suffix}")
        space = self.kept.setdefault(headers.get("securitytenant", ""), {})
        overwrite = parse_qs(parts.query).get("overwrite") == ["true"]
        return 200, self._taken(space, [json.loads(line) for line in content.splitlines() if line.strip()], overwrite=overwrite)

    def _taken(self, space: dict[Key, Json], objects: list[Json], *, overwrite: bool) -> Json:
        known = {*space, *((each["type"], each["id"]) for each in objects)}
        errors = [
            {"type": each["type"], "id": each["id"], "error": {"type": why}} for each in objects if (why := self._why_not(each, known))
        ]
        if not overwrite:
            errors += [
                {"type": kind, "id": identity, "error": {"type": "conflict"}}
                for kind, identity in ((each["type"], each["id"]) for each in objects)
                if (kind, identity) in space
            ]
        if not errors:
            space.update({(each["type"], each["id"]): each for each in objects})
        refused = {(each["type"], each["id"]) for each in errors}
        return {"success": not errors, "successCount": len(objects) - len(refused)} | ({"errors": errors} if errors else {})

    def _why_not(self, saved: Json, known: set[Key]) -> str:
        if saved["type"] not in self.types:
            return "unsupported_type"
        referred = {(reference["type"], reference["id"]) for reference in saved.get("references", [])}
        return "" if referred <= known else "missing_references"


def fault(status: int, message: str) -> Json:
    """An error as Dashboards words it."""
    return {"statusCode": status, "error": "Error", "message": message}


def credentials(headers: Mapping[str, str]) -> tuple[str, str] | None:
    """User and password of basic authentication."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return None
    user, _, password = b64decode(value).decode().partition(":")
    return user, password


def uploaded(content_type: str, body: bytes) -> tuple[str, str]:
    """Name and content of the part called ``file``."""
    message = BytesParser().parsebytes(b"content-type: " + content_type.encode() + b"\r\n\r\n" + body)
    for part in message.get_payload():
        if part.get_param("name", header="content-disposition") == "file":  # type: ignore[union-attr]
            return str(part.get_filename()), part.get_payload(decode=True).decode()  # type: ignore[union-attr]
    return "", ""


@contextmanager
def importing(**options: Any) -> Iterator[ImportingServer]:
    """The server, on a free port of this machine."""
    server = ImportingServer(**options)

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, kind, text = server.answer(self.path, headers, body)
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_arguments: Any) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as listening:
        server.url = f"http://127.0.0.1:{listening.server_port}{server.base}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
