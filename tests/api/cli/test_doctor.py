"""The doctor: every check alone, and the whole with its exit code."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.cli.checks import calendar
from tests.api.cli.conftest import Run, environment
from tests.grounding.language_models.misbehaving_server import fails, model_server

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_a_healthy_machine_exits_with_0(process: Run, store: str) -> None:
    ended = process("doctor", "--engine", store, "--json")
    assert ended.returncode == 0, ended.stdout
    value = json.loads(ended.stdout)
    assert value["ok"]
    names = [check["name"] for check in value["checks"]]
    assert names == ["versions", "disk", "settings", "language models", "model", "engine", "documents", "clock", "worker"]


def test_a_store_that_is_not_there_yet_is_fine_and_is_not_made(run: Run, tmp_path: Path) -> None:
    assert run("doctor").returncode == 0
    assert not list(tmp_path.rglob("*.db"))


def test_an_engine_that_does_not_answer_is_wrong_with_a_next_step(run: Run) -> None:
    ended = run("doctor", "--engine", "http://127.0.0.1:9", "--json")
    assert ended.returncode == 1
    engine = next(check for check in json.loads(ended.stdout)["checks"] if check["name"] == "engine")
    assert engine["status"] == "wrong"
    assert "start the cluster" in engine["nextStep"]


def test_a_file_that_is_no_store_of_ours_is_wrong(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other.db").write_text("not a database")
    ended = run("doctor", "--engine", f"sqlite:///{tmp_path / 'other.db'}")
    assert ended.returncode == 1
    assert "engine\twrong" in ended.stdout
    assert (tmp_path / "other.db").read_text() == "not a database"


def test_every_bad_setting_is_a_line_of_its_own(run: Run) -> None:
    ended = run("doctor", "--json", WA_RRF_K="many", WA_TYPO="1")
    assert ended.returncode == 1
    found = [check["found"] for check in json.loads(ended.stdout)["checks"] if check["name"] == "settings"]
    assert len(found) == 2
    assert any("WA_TYPO" in each for each in found)


def test_no_secret_is_shown(run: Run, tmp_path: Path) -> None:
    ended = run("doctor", "--engine", "http://admin:hunter2@127.0.0.1:9")
    assert "hunter2" not in ended.stdout + ended.stderr
    assert "WA_" not in "".join(environment(tmp_path))


@pytest.mark.parametrize(
    ("newest", "now", "status"),
    [
        (None, NOW, "ok"),
        (datetime(2026, 11, 30, 13, tzinfo=UTC), NOW, "ok"),
        (datetime(2027, 3, 1, tzinfo=UTC), NOW, "warning"),
        (None, datetime(1970, 1, 1, tzinfo=UTC), "wrong"),
    ],
)
def test_the_clock_is_compared_with_the_newest_document(newest: datetime | None, now: datetime, status: str) -> None:
    assert calendar(newest, now).status == status


def _llm(run: Run, **environment: str) -> "dict[str, dict[str, str]]":
    ended = run("doctor", "--json", **environment)
    return {check["name"]: check for check in json.loads(ended.stdout)["checks"]}


def test_language_models_are_asked_whether_they_answer_and_keys_are_masked(run: Run) -> None:
    with model_server(fails(500)) as first, model_server(fails(500)) as second:
        first.models, second.models = ("small", "large"), ("other",)
        keys = {"WA_LLM_API_KEY": "sk-first-secret", "WA_LLM_FALLBACK_API_KEY": "sk-second-secret"}
        urls = {"WA_LLM_BASE_URL": first.url, "WA_LLM_FALLBACK_BASE_URL": second.url, "WA_LLM_MODEL": "small"}
        found = _llm(run, **keys, **urls)
    assert found["language model, primary"]["status"] == "ok"
    assert found["language model, primary"]["found"].endswith("key ********: answers")
    assert found["language model, fallback"]["status"] == "warning"
    assert found["language model, fallback"]["nextStep"] == "it lists other"
    assert "secret" not in json.dumps(found)
    assert first.headers[0]["authorization"] == "Bearer sk-first-secret"


def test_a_language_model_that_does_not_answer_is_a_warning(run: Run) -> None:
    found = _llm(run, WA_LLM_BASE_URL="http://127.0.0.1:9/v1", WA_LLM_MODEL="small")
    assert found["language model, primary"]["status"] == "warning"
    assert "did not answer" in found["language model, primary"]["found"]


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"WA_LLM_BASE_URL": "http://127.0.0.1:9/v1"}, "WA_LLM_MODEL"),
        ({"WA_LLM_BASE_URL": "nonsense", "WA_LLM_MODEL": "m"}, "WA_LLM_BASE_URL"),
        ({"WA_LLM_FALLBACK_BASE_URL": "http://127.0.0.1:9/v1"}, "WA_LLM_BASE_URL"),
        ({"WA_LLM_BASE_URL": "http://127.0.0.1:9", "WA_LLM_MODEL": "m", "WA_LLM_FALLBACK_BASE_URL": "ftp://x"}, "WA_LLM_FALLBACK_BASE_URL"),
    ],
)
def test_half_a_configuration_of_language_models_is_wrong_and_named(run: Run, environment: dict[str, str], named: str) -> None:
    found = _llm(run, **environment)
    assert found["language models"]["status"] == "wrong"
    assert named in found["language models"]["found"]
