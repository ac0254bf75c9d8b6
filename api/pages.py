"""Pages and their files, all our own: the console, the GraphQL explorer and the API reference. Nothing is loaded from another host."""

from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

STATIC = Path(__file__).parent / "static"

_STRICT = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_EXPLORER = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; worker-src 'self' blob:; "
    "base-uri 'none'; frame-ancestors 'none'; object-src 'none'"
)
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


def page(name: str) -> Response:
    """A page of :data:`STATIC`, such as ``console`` or ``graphiql``, under a strict content security policy."""
    policy = _EXPLORER if name == "graphiql" else _STRICT
    headers = {"content-security-policy": policy, "cache-control": "no-cache"}
    return Response(_file(f"{name}/index.html"), 200, headers, _TYPES[".html"])


def static_file(path: str) -> Response:
    """One file of :data:`STATIC`.

    Raises:
        HTTPException: 404, when there is none of that name.
    """
    if path not in _names():
        raise HTTPException(404)
    return Response(_file(path), 200, {"cache-control": "no-cache"}, _TYPES[Path(path).suffix])


@cache
def _names() -> frozenset[str]:
    return frozenset(item.relative_to(STATIC).as_posix() for item in STATIC.rglob("*") if item.suffix in _TYPES)


@cache
def _file(path: str) -> bytes:
    return (STATIC / path).read_bytes()
