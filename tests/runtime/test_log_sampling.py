import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from runtime.log_sampling import MOST_KINDS, WINDOW_S, SampledHandler
from runtime.settings import read_settings
from runtime.telemetry import audit_logger, configure_logging, logger


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, object]]]]:
    """Logs of a process that writes two lines of a kind a minute."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging(read_settings({}, log_sample=2), stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers = before
    root.setLevel(level)
    structlog.reset_defaults()


def close() -> None:
    (handler,) = (each for each in logging.getLogger().handlers if isinstance(each, SampledHandler))
    handler.close()


def test_what_is_beyond_the_bound_is_counted_and_the_count_is_written(lines: Callable[[], list[dict[str, object]]]) -> None:
    for number in range(10):
        logger("busy").info("request", operation="/ask", status=200 + number)
    logger("busy").info("request", operation="/graphql")
    close()
    found = lines()
    assert [line.get("status") for line in found if line["event"] == "request"] == [200, 201, None]
    assert found[-1]["event"] == "8 more lines like this were left out within a minute: request /ask"
    assert found[-1]["level"] == "info"


def test_errors_and_the_audit_are_never_left_out(lines: Callable[[], list[dict[str, object]]]) -> None:
    for _ in range(10):
        logger("busy").error("broken")
        audit_logger().info("tool_call")
        logging.getLogger("library").error("broken too")
    close()
    assert len(lines()) == 30


def test_lines_of_libraries_are_counted_by_what_they_say_before_values_are_put_in(lines: Callable[[], list[dict[str, object]]]) -> None:
    for number in range(5):
        logging.getLogger("library").warning("try %d", number)
    close()
    assert [line["event"] for line in lines()] == ["try 0", "try 1", "3 more lines like this were left out within a minute: try %d"]


def handler_at(per_window: int) -> tuple[SampledHandler, io.StringIO, list[float]]:
    stream, now_s = io.StringIO(), [0.0]
    return SampledHandler(stream, per_window, seconds=lambda: now_s[0]), stream, now_s


def told(handler: logging.Handler, text: str) -> None:
    handler.handle(logging.LogRecord("test", logging.INFO, "", 0, text, None, None))


def test_the_next_minute_begins_with_the_counts_of_the_last_and_counts_anew() -> None:
    handler, stream, now_s = handler_at(1)
    told(handler, "a")
    told(handler, "a")
    now_s[0] = WINDOW_S
    told(handler, "b")
    told(handler, "a")
    assert stream.getvalue().splitlines() == ["a", "1 more lines like this were left out within a minute: a", "b", "a"]
    handler.close()


def test_zero_writes_everything() -> None:
    handler, stream, _ = handler_at(0)
    for _ in range(5):
        told(handler, "a")
    handler.close()
    assert stream.getvalue() == "a\n" * 5


def test_lines_that_are_new_each_time_are_let_through_and_take_no_memory() -> None:
    handler, stream, _ = handler_at(1)
    for number in range(MOST_KINDS + 50):
        told(handler, f"line {number}")
        told(handler, f"line {number}")
    assert stream.getvalue().count(f"line {MOST_KINDS + 1}\n") == 2
    assert stream.getvalue().count("line 1\n") == 1
    assert len(handler._seen) == MOST_KINDS
    handler.close()
