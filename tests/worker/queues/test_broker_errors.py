"""Every error class of the broker's libraries has its place."""

import inspect
from typing import Any

import kombu.exceptions
import pytest
import redis.exceptions

from runtime.errors import Unavailable
from worker.queues.broker_errors import UNREACHABLE, translated

OURS = {  # defects of ours, or about features that are not used
    "ContentDisallowed", "DecodeError", "EncodeError", "SerializationError", "SerializerNotInstalled", "ChannelLimitExceeded", "LimitExceeded",
    "ConnectionLimitExceeded", "HttpError", "InconsistencyError", "KombuError", "MessageStateError", "NotBoundError", "VersionMismatch",
    "VersionMismatchError", "BatchPublishError", "ResourceError", "ChannelError", "ConnectionError",
}  # fmt: skip

CLUSTER_CLIENT = {
    "CrossSlotTransactionError",
    "IncorrectPolicyType",
    "InvalidPipelineStack",
    "RedisClusterException",
    "SlotNotCoveredError",
}
"""Raised only by a client that is not used."""


def classes(module: Any) -> list[type[Exception]]:
    return [
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, Exception) and each.__module__ == module.__name__
    ]


@pytest.mark.parametrize(
    "error", [each for each in classes(redis.exceptions) if each.__name__ not in CLUSTER_CLIENT], ids=lambda error: error.__name__
)
def test_whatever_redis_raises_means_that_the_broker_does_not_serve_us(error: type[Exception]) -> None:
    with pytest.raises(Unavailable) as raised, translated():
        raise error.__new__(error)
    assert raised.value.dependency == "broker"


def test_every_class_of_kombu_is_placed() -> None:
    unplaced = {each.__name__ for each in classes(kombu.exceptions) if not issubclass(each, UNREACHABLE)} - OURS
    assert unplaced == set()


@pytest.mark.parametrize(
    "error", [kombu.exceptions.OperationalError("redis://user:hunter2@host"), ConnectionRefusedError(), TimeoutError()]
)
def test_the_text_names_the_setting_and_no_address(error: Exception) -> None:
    with pytest.raises(Unavailable, match="WA_REDIS_URL") as raised, translated():
        raise error
    assert "hunter2" not in str(raised.value)


def test_a_defect_of_ours_stays_one() -> None:
    with pytest.raises(KeyError), translated():
        raise KeyError("x")
