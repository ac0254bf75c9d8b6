from pathlib import Path

import pytest

from runtime.errors import Misconfigured
from runtime.settings import Settings, read_settings


def test_defaults_need_no_environment() -> None:
    assert read_settings({}).engine_url.startswith("sqlite:///")


def test_values_come_from_the_environment_and_overrides_win() -> None:
    settings = read_settings({"WA_RRF_K": "10", "WA_PORT": "9000"}, port=9001)
    assert (settings.rrf_k, settings.port) == (10, 9001)


def test_all_problems_are_listed_in_one_error() -> None:
    with pytest.raises(Misconfigured) as caught:
        read_settings({"WA_PORT": "high", "WA_RFF_K": "3", "WA_TIME_ZONE": "Mars/Olympus", "WA_DEFAULT_TENANT": "../x"})
    message = str(caught.value)
    assert "WA_RFF_K is not a setting (did you mean WA_RRF_K?)" in message
    assert "WA_PORT" in message
    assert "WA_TIME_ZONE is not a time zone name such as Europe/Paris" in message
    with pytest.raises(Misconfigured, match="WA_DEFAULT_TENANT must be"):
        read_settings({"WA_DEFAULT_TENANT": "../x"})


def test_an_empty_variable_is_as_good_as_none() -> None:
    assert read_settings({"WA_RRF_K": ""}).rrf_k == 60


def test_any_setting_may_be_read_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "webhook_secret"
    secret.write_text("s3cret\n", "utf-8")
    settings = read_settings({"WA_WEBHOOK_SECRET_FILE": str(secret), "WA_RRF_K": "10"})
    assert (settings.webhook_secret.get_secret_value(), settings.rrf_k) == ("s3cret", 10)


def test_a_file_that_cannot_be_read_and_a_value_given_twice_are_problems(tmp_path: Path) -> None:
    (tmp_path / "k").write_text("10")
    with pytest.raises(Misconfigured) as caught:
        read_settings({"WA_REDIS_URL_FILE": str(tmp_path / "none"), "WA_RRF_K": "9", "WA_RRF_K_FILE": str(tmp_path / "k")})
    assert f"WA_REDIS_URL_FILE={tmp_path / 'none'} cannot be read: No such file or directory" in str(caught.value)
    assert "WA_RRF_K and WA_RRF_K_FILE are both set; unset one" in str(caught.value)


def test_settings_cannot_be_changed_later() -> None:
    with pytest.raises(ValueError, match="frozen"):
        read_settings({}).port = 1  # type: ignore[misc]


def test_describe_names_every_setting_and_hides_every_secret() -> None:
    environ = {"WA_EMBEDDER_KEY": "sk-secret", "WA_ENGINE_URL": "https://admin:hunter2@search.example:9200"}
    described = read_settings(environ).describe()
    assert set(described) == set(Settings.model_fields)
    assert "sk-secret" not in str(described)
    assert "hunter2" not in str(described)
    assert described["engine_url"] == "https://admin:********@search.example:9200"


def test_every_setting_has_a_description_and_numbers_have_bounds() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        if field.annotation in (int, float):
            assert field.metadata, f"{name} has no bounds"
