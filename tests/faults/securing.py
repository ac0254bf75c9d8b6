"""A real node with its security plugin: TLS with an authority of its own, the shipped roles, and users with them."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLContext, create_default_context
from threading import Event
from typing import Any

import httpx

from tests.faults.certificates import Authority, Pair
from tests.servers import BUILD_TIMEOUT_S, ROOT, RUN, MavenNode, NoServer, free_port, run_command

SHIPPED = ROOT / "opensearch" / "security"
PASSWORD = "Long-enough-4-the-plugin"
_NO_USERS = '---\n_meta:\n  type: "internalusers"\n  config_version: 2\n'
_TLS = "plugins.security.ssl"


@dataclass(frozen=True, slots=True)
class SecuredNode:
    """Where it answers, whom to trust, and the certificate of its administrator."""

    url: str
    authority: Path
    administrator: Pair
    password_file: Path

    def user(self, name: str = "", *backend_roles: str) -> httpx.Client:
        """A raw client of a user with these backend roles, or of the administrator, who may do anything."""
        if not name:
            return httpx.Client(base_url=self.url, verify=self._trusting(self.administrator), timeout=60)
        with self.user() as administrator:
            body: Mapping[str, Any] = {"password": PASSWORD, "backend_roles": list(backend_roles)}
            administrator.put(f"/_plugins/_security/api/internalusers/{name}", json=body).raise_for_status()
        return httpx.Client(base_url=self.url, verify=self._trusting(), auth=(name, PASSWORD), timeout=60)

    def _trusting(self, ours: Pair | None = None) -> SSLContext:
        context = create_default_context(cafile=self.authority)
        if ours is not None:
            context.load_cert_chain(ours.certificate, ours.key)
        return context


@contextmanager
def secured_node() -> Iterator[SecuredNode]:
    """A started node with the roles of ``opensearch/security`` and the user ``wisdomagent``.

    Raises:
        NoServer: no JDK, no Maven, no jars, or it did not start.
    """
    build = run_command([str(RUN), "build"], BUILD_TIMEOUT_S, NODE_LINE="secured").strip().splitlines()[-1]
    with tempfile.TemporaryDirectory(prefix="opensearch-secured-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        config = home / "config"
        shutil.copytree(Path(build) / "knn" / "config", config / "opensearch-security")
        shutil.copytree(SHIPPED, config / "opensearch-security", dirs_exist_ok=True)
        (config / "opensearch-security" / "internal_users.yml").write_text(_NO_USERS)
        authority = Authority(config)
        authority.issued("node")
        administrator = authority.issued("admin")
        options = home / "curl"
        options.write_text(f'cacert = "{authority.file}"\ncert = "{administrator.certificate}"\nkey = "{administrator.key}"\n')
        node = MavenNode(
            home, free_port(), "secured", _settings(authority.file.name), environment={"NODE_SCHEME": "https", "NODE_CURL": str(options)}
        )
        try:
            node.start()
            secured = SecuredNode(f"https://127.0.0.1:{node.port}", authority.file, administrator, home / "password")
            secured.password_file.write_text(PASSWORD + "\n")
            _await_roles(secured)
            secured.user("wisdomagent").close()
            yield secured
        finally:
            node.stop()


def _settings(authority: str) -> tuple[str, ...]:
    files = [
        f"{_TLS}.{side}.{name}={file}"
        for side in ("transport", "http")
        for name, file in (("pemcert_filepath", "node.crt"), ("pemkey_filepath", "node.key"), ("pemtrustedcas_filepath", authority))
    ]
    return (
        *files,
        f"{_TLS}.http.enabled=true",
        f"{_TLS}.transport.enforce_hostname_verification=false",
        "plugins.security.allow_default_init_securityindex=true",
        "plugins.security.authcz.admin_dn=CN=admin",
        "plugins.security.restapi.roles_enabled=all_access",
    )


def _await_roles(node: SecuredNode) -> None:
    """The plugin answers before it has read its own index."""
    with node.user() as administrator:
        for _ in range(600):
            if administrator.get("/_plugins/_security/health", params={"mode": "strict"}).json().get("status") == "UP":
                return
            Event().wait(0.2)
    raise NoServer("the security plugin did not come up")
