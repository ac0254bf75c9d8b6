"""Every place of the packages that makes a client or calls out, found in the source itself: it is one that is known, and what it calls goes through a
guard. A new one fails here until it is guarded and written down."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("runtime", "search", "grounding", "conversation", "worker", "api")

CLIENTS = frozenset({
    "httpx.Client", "httpx.AsyncClient", "httpx2.Client", "httpx2.AsyncClient", "httpx2.HTTPTransport", "httpx.HTTPTransport",
    "redis.Redis", "redis.StrictRedis", "redis.Redis.from_url", "redis.from_url", "redis.RedisCluster", "redis.Sentinel", "redis.ConnectionPool",
    "opensearchpy.OpenSearch", "opensearchpy.AsyncOpenSearch", "openai.OpenAI", "openai.AsyncOpenAI", "openai.AzureOpenAI",
    "smtplib.SMTP", "smtplib.SMTP_SSL", "smtplib.LMTP", "socket.create_connection", "socket.socket", "socket.getaddrinfo", "socket.gethostbyname",
    "http.client.HTTPConnection", "http.client.HTTPSConnection", "urllib.request.urlopen", "urllib.request.Request", "urllib.request.build_opener",
    "urllib3.PoolManager", "urllib3.HTTPConnectionPool", "urllib3.request", "jwt.PyJWKClient", "celery.Celery", "kombu.Connection", "kombu.Producer",
    "requests.Session", "aiohttp.ClientSession", "websockets.connect", "ftplib.FTP", "telnetlib.Telnet", "imaplib.IMAP4", "grpc.insecure_channel",
})  # fmt: skip
CALLS = frozenset(
    {"send_task", "apply_async", "delay", "create_connection", "open_connection", "perform_request", "sendmail", "send_message"}
)
"""Methods that call out, whatever object they are of."""
FUNCTIONS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request", "stream"})
"""Of ``httpx`` and ``requests`` themselves: a client made and forgotten."""
LIBRARIES = ("httpx", "httpx2", "requests", "urllib3")

GUARDED = {
    "search/engines/opensearch_connection.py": {"connected": {"opensearchpy.OpenSearch"}},
    "search/engines/opensearch_cluster.py": {"Cluster._perform": {"perform_request"}},
    "search/embedding/openai.py": {"open_openai": {"httpx.Client"}},
    "grounding/language_models/opening.py": {"_open": {"httpx2.Client", "openai.OpenAI"}},
    "grounding/language_models/wire.py": {"BoundedTransport": {"httpx2.HTTPTransport"}},
    "worker/deliveries/posting.py": {"Poster._posted": {"httpx.Client"}},
    "worker/deliveries/addresses.py": {"resolved": {"socket.getaddrinfo"}},
    "worker/deliveries/mail.py": {
        "_Mail": {"smtplib.SMTP"},
        "_SecureMail": {"smtplib.SMTP_SSL"},
        "MailSending.send": {"send_message"},
    },
    "runtime/redis_client.py": {"redis_client": {"redis.Redis.from_url"}},
    "worker/queues/broker_queue.py": {"BrokerQueue._publish": {"send_task"}},
    "worker/queues/celery_app.py": {"celery_app": {"celery.Celery"}},
    "runtime/span_export.py": {"SpanSender._run": {"httpx.Client"}},
    "api/identity/issuer_keys.py": {"IssuerKeys._read": {"httpx.Client"}},
}
"""Module → function or class → what it makes or calls. Below, every method of whatever holds such a client is called with its circuit open."""

NO_CALLS_OUT = {
    "api/cli/commands/serve.py": {"_check_free": {"socket.getaddrinfo", "socket.socket"}},
    "runtime/wire.py": {"TimedSocket": {"socket.socket"}},
}
"""They call nobody: a port is looked at before it is listened on, and a socket that a driver connected is taken over."""


def outgoing(source: str) -> dict[str, set[str]]:
    """Everything in a module that makes a client or calls out, by the name of the library's own, under the function or class it stands in."""
    tree = ast.parse(source)
    names, ignored = dict(_imported(tree)), _only_named(tree)
    found: dict[str, set[str]] = {}
    for place, node in _placed(tree, ""):
        if node not in ignored and (what := _reached(node, names)):
            found.setdefault(place, set()).update(what)
    return found


def _placed(node: ast.AST, place: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        inner = place
        if isinstance(child, ast.ClassDef) or (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and _is_outermost(node)):
            inner = f"{place}.{child.name}" if place else child.name
        yield inner, child
        yield from _placed(child, inner)


def _is_outermost(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef)


def _reached(node: ast.AST, names: dict[str, str]) -> set[str]:
    if isinstance(node, ast.Call):
        return _called(node.func, names)
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        return {_dotted(node, names)} & CLIENTS  # handed on, or the class of a class
    return set()


def _called(function: ast.expr, names: dict[str, str]) -> set[str]:
    name = _dotted(function, names)
    library, _, last = name.rpartition(".")
    if name in CLIENTS or (library in LIBRARIES and last in FUNCTIONS):
        return {name}
    return {function.attr} if isinstance(function, ast.Attribute) and function.attr in CALLS else set()


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield (each.asname, each.name) if each.asname else (each.name.split(".")[0], each.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for each in node.names:
                yield each.asname or each.name, f"{node.module}.{each.name}"


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value, names)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _only_named(tree: ast.AST) -> set[ast.AST]:
    """Types that are named in signatures call nobody; nor do the first halves of longer names."""
    annotations = (each for node in ast.walk(tree) for each in (getattr(node, "annotation", None), getattr(node, "returns", None)) if each)
    named = {inner for annotation in annotations for inner in ast.walk(annotation)}
    halves = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return named | halves


def sources() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_every_client_and_every_call_out_is_known() -> None:
    found = {name: what for name, source in sources() if (what := outgoing(source))}
    assert found == GUARDED | NO_CALLS_OUT


SNIPPETS = {
    "a client": ("import httpx\n\ndef f():\n    with httpx.Client() as c:\n        c.get('/')", "httpx.Client"),
    "under another name": ("from httpx import Client as Web\n\nWeb()", "httpx.Client"),
    "a client made and forgotten": ("import httpx as h\n\nh.post('http://example')", "httpx.post"),
    "imported inside": ("def f():\n    import redis\n    return redis.Redis.from_url('redis://x')", "redis.Redis.from_url"),
    "a class of ours": ("import smtplib\n\nclass Mail(smtplib.SMTP):\n    pass", "smtplib.SMTP"),
    "handed on": ("import redis\n\nmake = redis.Redis", "redis.Redis"),
    "a library's keys": ("from jwt import PyJWKClient\n\nPyJWKClient('https://x')", "jwt.PyJWKClient"),
    "a raw socket": ("from socket import create_connection\n\ncreate_connection(('x', 1))", "socket.create_connection"),
    "the standard library": ("from urllib.request import urlopen\n\nurlopen('http://x')", "urllib.request.urlopen"),
    "its longer name": ("import urllib.request\n\nurllib.request.urlopen('http://x')", "urllib.request.urlopen"),
    "a task": ("def f(app):\n    app.send_task('x')", "send_task"),
    "a task of its own": ("def f(task):\n    task.apply_async(args=())", "apply_async"),
    "a driver's own way": ("def f(client):\n    client.transport.perform_request('GET', '/')", "perform_request"),
}


@pytest.mark.parametrize("what", SNIPPETS)
def test_a_new_bypass_is_found(what: str) -> None:
    source, name = SNIPPETS[what]
    assert name in set().union(*outgoing(source).values())


def test_a_type_that_is_only_named_is_no_call() -> None:
    assert outgoing("import httpx\n\ndef f(client: httpx.Client) -> httpx.Client | None:\n    return client") == {}
