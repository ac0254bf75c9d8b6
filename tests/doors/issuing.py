"""An identity provider on a real socket: signs tokens, publishes its keys, changes them, and can be made to fail."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

WEB, MCP = "https://api.example", "https://api.example/mcp"
EVERY = "wa:read wa:ask wa:write wa:monitor wa:admin"


def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@dataclass
class Issuer:
    """What it signs with, what it publishes, and how often it was asked for its keys."""

    url: str
    key: rsa.RSAPrivateKey = field(default_factory=private_key)
    kid: str = "k1"
    status: int = 200
    asked: int = 0
    garbage: bytes | None = None

    def claims(self, **changed: Any) -> dict[str, Any]:
        now = datetime.now(UTC)
        whole = {
            "iss": self.url,
            "aud": [WEB, MCP],
            "sub": "user-7",
            "iat": now,
            "exp": now + timedelta(hours=1),
            "tenant": "acme",
            "scope": EVERY,
        }
        return {name: value for name, value in (whole | changed).items() if value is not None}

    def token(self, *, kid: str | None = None, key: Any = None, algorithm: str = "RS256", **changed: Any) -> str:
        return jwt.encode(self.claims(**changed), key or pem(self.key), algorithm, headers={"kid": kid or self.kid})

    def published(self) -> dict[str, Any]:
        made = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [made | {"kid": self.kid, "use": "sig", "alg": "RS256"}, {"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}]}


@contextmanager
def issuing() -> Iterator[Issuer]:
    """An issuer that serves until the end."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/jwks":
                issuer.asked += 1
            found = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/jwks"} if "openid" in self.path else issuer.published()
            body = issuer.garbage if issuer.garbage is not None else json.dumps(found).encode()
            self.send_response(issuer.status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, name="issuer")
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
