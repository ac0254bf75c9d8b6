"""How OpenSearch is reached: hosts, TLS that is always checked, and who we say we are. Nothing is sent here; what cannot work is refused by name."""

import base64
import ipaddress
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import opensearchpy

from runtime.clock import Clock
from runtime.errors import Misconfigured
from runtime.resilience import Guard, RetryPolicy
from runtime.settings import Settings
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_errors import DEPENDENCY
from search.engines.opensearch_sockets import keep_to_deadlines

DEAD_S = 2.0
"""How long a host that failed is left out while others answer; doubled at each further failure, three times at most."""

_FORM = "WA_ENGINE_URL must be http(s)://user@host:9200, with further hosts of the same cluster after commas"
_HEADER = re.compile(r"(?:[A-Za-z]+ )?[!-~]+\Z")


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of ``WA_ENGINE_URL``."""

    scheme: str
    hosts: tuple[tuple[str, int], ...]
    path: str
    user: str
    password: str | None

    @property
    def location(self) -> str:
        """The address without its user, for people to read."""
        return f"{self.scheme}://{','.join(f'{_bracketed(host)}:{port}' for host, port in self.hosts)}{self.path}"


def connected(settings: Settings, clock: Clock, told: Callable[[], None] = lambda: None) -> Cluster:
    """The cluster of ``settings.engine_url``; nothing is sent yet. ``told`` is called for each answer that held something foreign.

    Raises:
        Misconfigured: the address, a certificate file or a credential cannot be used; names its variable.
    """
    address = address_of(settings.engine_url)
    secure = tls_of(address, settings)
    client = opensearchpy.OpenSearch(
        hosts=[{"host": host, "port": port, "url_prefix": address.path.strip("/")} for host, port in address.hosts],
        use_ssl=secure is not None,
        ssl_context=secure,
        http_auth=credential_of(address, settings),
        max_retries=0,
        retry_on_timeout=True,  # with no retries: a host that did not answer is left out for a while, as one that refused
        dead_timeout=DEAD_S,
        timeout_cutoff=3,
        timeout=settings.engine_timeout_s,
        pool_maxsize=2 * settings.bulkhead_calls,
    )
    keep_to_deadlines(client, secure)
    return Cluster(client, _guard(DEPENDENCY, settings, clock), _guard(f"{DEPENDENCY}_writes", settings, clock), address.location, told)


def address_of(url: str) -> Address:
    """``https://user:password@host1:9200,host2:9200/path``: one cluster, one user.

    Raises:
        Misconfigured: it has another form. The text holds nothing of it: there may be a password inside.
    """
    parts = urlsplit(url)
    who, _, where = parts.netloc.rpartition("@")
    user, colon, password = who.partition(":")
    if parts.query or parts.fragment or "@" in who:
        raise Misconfigured(_FORM)
    hosts = tuple(_host(parts.scheme, each) for each in where.split(","))
    return Address(parts.scheme, hosts, parts.path.rstrip("/"), unquote(user), unquote(password) if colon else None)


def tls_of(address: Address, settings: Settings) -> ssl.SSLContext | None:
    """What checks the cluster's certificate and its name; None for http. There is no way to leave the check out.

    Raises:
        Misconfigured: a file of certificates cannot be read, or is named where nothing is encrypted.
    """
    files = (settings.engine_ca_file, settings.engine_client_cert_file, settings.engine_client_key_file)
    if address.scheme != "https":
        if any(files):
            raise Misconfigured("WA_ENGINE_CA_FILE and WA_ENGINE_CLIENT_* are for https://, and WA_ENGINE_URL is http://")
        return None
    if settings.engine_client_key_file and not settings.engine_client_cert_file:
        raise Misconfigured("WA_ENGINE_CLIENT_KEY_FILE needs WA_ENGINE_CLIENT_CERT_FILE")
    context = _trusting(settings.engine_ca_file)
    if settings.engine_client_cert_file:
        _present(context, settings.engine_client_cert_file, settings.engine_client_key_file)
    return context


class Credential:
    """The ``Authorization`` of every call. It is read again when its file changes, so that it can be rotated without a restart."""

    def __init__(self, variable: str, file: Path, header: Callable[[str], str]) -> None:
        self._variable = variable
        self._file = file
        self._header = header
        self._seen = self._stamp()
        self._value = self._read()

    def __call__(self, *_request: object) -> dict[str, str]:
        """The header, as the client asks for it."""
        stamp = self._stamp()
        if stamp not in (None, self._seen):
            self._value, self._seen = self._read(), stamp
        return {"authorization": self._value}

    def __repr__(self) -> str:
        """Without the secret."""
        return f"Credential({self._variable})"

    def _stamp(self) -> tuple[int, int, int] | None:
        """What changes with the file; None while it is being replaced."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _read(self) -> str:
        return self._header(_secret(self._variable, self._file))


def credential_of(address: Address, settings: Settings) -> Callable[..., dict[str, str]] | None:
    """Who we say we are; None when the cluster is asked anonymously, or by our certificate alone.

    Raises:
        Misconfigured: a user without a password, two credentials, one that cannot be read, or one that would travel unencrypted.
    """
    password, token = settings.engine_password_file, settings.engine_token_file
    if token and (address.user or password):
        raise Misconfigured("WA_ENGINE_TOKEN_FILE is in place of a user in WA_ENGINE_URL and WA_ENGINE_PASSWORD_FILE; keep one of them")
    if password and not address.user:
        raise Misconfigured("WA_ENGINE_PASSWORD_FILE needs a user in WA_ENGINE_URL, as in https://user@host:9200")
    if not token and not address.user:
        return None
    _refuse_in_clear(address)
    if token:
        return Credential("WA_ENGINE_TOKEN_FILE", token, _token)
    if password:
        return Credential("WA_ENGINE_PASSWORD_FILE", password, lambda secret: _basic(address.user, secret))
    if address.password is None:
        raise Misconfigured("WA_ENGINE_URL names a user and no password; put it in a file and set WA_ENGINE_PASSWORD_FILE")
    fixed = {"authorization": _basic(address.user, address.password)}
    return lambda *_request: fixed


def _host(scheme: str, text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        port = parts.port
    except ValueError:
        raise Misconfigured(_FORM) from None
    if not parts.hostname or parts.path:
        raise Misconfigured(_FORM)
    return parts.hostname, port or (443 if scheme == "https" else 9200)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _trusting(authorities: Path | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise Misconfigured(
            f"WA_ENGINE_CA_FILE={authorities} cannot be used: {_why(error, 'it holds no certificate in PEM form')}"
        ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _present(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    try:
        context.load_cert_chain(certificate, key, password=lambda: "")  # an encrypted key is refused, not asked about on the terminal
    except (OSError, ssl.SSLError) as error:
        why = _why(error, "the key is not that of the certificate, is encrypted, or one of them is not in PEM form")
        raise Misconfigured(f"WA_ENGINE_CLIENT_CERT_FILE and WA_ENGINE_CLIENT_KEY_FILE cannot be used: {why}") from error


def _why(error: OSError, otherwise: str) -> str:
    return otherwise if isinstance(error, ssl.SSLError) else error.strerror or otherwise


def _secret(variable: str, file: Path) -> str:
    try:
        secret = file.read_text("utf-8").strip()
    except UnicodeDecodeError:
        raise Misconfigured(f"{variable} cannot be read: it is not UTF-8 text") from None
    except OSError as error:
        raise Misconfigured(f"{variable} cannot be read: {error.strerror}") from error
    if not secret:
        raise Misconfigured(f"{variable} names an empty file")
    return secret


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def _token(secret: str) -> str:
    if not _HEADER.match(secret):
        raise Misconfigured("WA_ENGINE_TOKEN_FILE must hold one token, or a scheme and a token as in: ApiKey abc")
    return secret if " " in secret else f"Bearer {secret}"


def _refuse_in_clear(address: Address) -> None:
    if address.scheme == "https":
        return
    for host, _ in address.hosts:
        if not _is_loopback(host):
            raise Misconfigured(f"a password or token would travel to {host} unencrypted; use https:// in WA_ENGINE_URL")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _guard(dependency: str, settings: Settings, clock: Clock) -> Guard:
    return Guard(
        dependency,
        timeout_s=settings.engine_timeout_s,
        clock=clock,
        bulkhead_calls=settings.bulkhead_calls,
        retry=RetryPolicy(attempts=settings.retry_attempts),
        breaker_failures=settings.breaker_failures,
        breaker_open_s=settings.breaker_open_s,
    )
