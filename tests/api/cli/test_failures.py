"""Every error becomes one line, a next step and an exit code."""

import errno
import os
from pathlib import Path

import pytest

from api.cli.failures import FAILED, USAGE, Typed, failure_of
from runtime import errors

ASK = Typed(
    "wisdom ask", {"question": "QUESTION", "since": "--since", "theme": "--theme", "rating": "--rating", "time_zone": "--time-zone"}
)


@pytest.mark.parametrize(
    ("field", "spelling"),
    [
        ("since", "--since"),
        ("time_zone", "--time-zone"),
        ("question", "QUESTION"),
        ("theme_ids", "--theme"),
        ("filters.rating_min", "--rating"),
        ("shoe_size", "shoe_size"),
    ],
)
def test_a_field_is_named_as_the_user_typed_it(field: str, spelling: str) -> None:
    failure = failure_of(errors.InvalidRequest("is wrong", field=field), ASK)
    assert failure.message == f"{spelling}: is wrong"
    assert failure.exit_code == USAGE


def _of_every_class() -> list[errors.ServiceError]:
    return [
        errors.InvalidRequest("x"),
        errors.Unauthenticated("x"),
        errors.Forbidden("x"),
        errors.NotFound("x"),
        errors.Conflict("x"),
        errors.BudgetExceeded("x", ceiling="steps"),
        errors.RateLimited("x", retry_after_s=1.0),
        errors.Unavailable("x"),
        errors.DeadlineExceeded("x"),
        errors.CircuitOpen("x"),
        errors.Misconfigured("x"),
    ]


@pytest.mark.parametrize("error", _of_every_class(), ids=lambda error: type(error).__name__)
def test_every_class_of_error_says_what_to_do_next(error: errors.ServiceError) -> None:
    failure = failure_of(error, ASK)
    assert failure.next_step
    assert failure.exit_code in (FAILED, USAGE)


def test_every_error_class_is_tried_above() -> None:
    declared = {value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.ServiceError)}
    assert declared == {type(error) for error in _of_every_class()} | {errors.ServiceError}


def test_a_full_disk_is_a_readable_line() -> None:
    failure = failure_of(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/store/wisdom.db"), ASK)
    assert failure.message == "/store/wisdom.db: no space left on device"
    assert failure.exit_code == FAILED


def test_a_bug_is_named_by_an_id_and_its_traceback_is_kept_privately(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("WA_LOG_LEVEL", raising=False)
    with pytest.raises(KeyError) as caught:
        {}["missing"]
    failure = failure_of(caught.value, ASK)
    [kept] = tmp_path.rglob("error-*.log")
    identifier = kept.stem.removeprefix("error-")
    assert identifier in failure.message
    assert str(kept) in failure.next_step
    assert "Traceback" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    assert "Traceback" not in failure.message + failure.next_step


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("WA_LOG_LEVEL", "DEBUG")
    with pytest.raises(KeyError) as caught:
        {}["missing"]
    assert "Traceback" in failure_of(caught.value, ASK).next_step


def test_a_bug_is_reported_even_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert "correlation id" in failure_of(KeyError("x"), ASK).message


def test_an_error_names_the_option_where_one_was_given_for_a_variable() -> None:
    typed = Typed("wisdom themes", {"engine": "--engine"}, {"WA_ENGINE_URL": "--engine"})
    failure = failure_of(errors.Misconfigured("name another file in WA_ENGINE_URL"), typed)
    assert failure.message == "name another file in --engine"
    assert failure_of(errors.Misconfigured("name another file in WA_ENGINE_URL"), ASK).message.endswith("WA_ENGINE_URL")
