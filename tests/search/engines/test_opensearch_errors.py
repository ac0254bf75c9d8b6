import inspect

import opensearchpy.exceptions as driver
import pytest

from runtime.errors import Conflict, DeadlineExceeded, InvalidRequest, Misconfigured, NotFound, ServiceError, Unavailable
from search.engines.opensearch_errors import HEAP_FULL_RETRY_S, NoRoom, failure_reason, failure_type, translated


def cause(kind: str, reason: str = "because", **more: object) -> dict[str, object]:
    return {
        "error": {
            "root_cause": [{"type": kind, "reason": reason, **more}],
            "type": "search_phase_execution_exception",
            "reason": "all shards failed",
        }
    }


def made(exception: type[Exception]) -> Exception:
    """One of each class, as the client makes it."""
    if issubclass(exception, driver.TransportError):
        return exception("N/A", "Connection refused", None)
    return exception("text")


EXPECTED: dict[str, type[ServiceError]] = {
    "ImproperlyConfigured": Misconfigured,
    "OpenSearchException": ServiceError,
    "SerializationError": Unavailable,
    "TransportError": ServiceError,
    "ConnectionError": Unavailable,
    "SSLError": Unavailable,
    "ConnectionTimeout": Unavailable,
    "NotFoundError": NotFound,
    "ConflictError": Conflict,
    "RequestError": ServiceError,
    "AuthenticationException": Misconfigured,
    "AuthorizationException": ServiceError,
    "OpenSearchDslException": ServiceError,
    "UnknownDslObject": ServiceError,
    "ValidationException": ServiceError,
    "IllegalOperation": ServiceError,
}
STATUSES = {"NotFoundError": 404, "ConflictError": 409, "RequestError": 400, "AuthenticationException": 401, "AuthorizationException": 403}


def test_every_exception_class_of_the_client_has_a_meaning() -> None:
    classes = {
        name
        for name, each in vars(driver).items()
        if inspect.isclass(each) and issubclass(each, Exception) and not issubclass(each, Warning)
    }
    assert classes == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_exception_class_becomes_its_error(name: str) -> None:
    exception = getattr(driver, name)
    error = exception(STATUSES[name], "kind", {}) if name in STATUSES else made(exception)
    assert type(translated(error)) is EXPECTED[name]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_an_overloaded_or_broken_cluster_is_unavailable_and_named(status: int) -> None:
    error = translated(driver.TransportError(status, "busy", cause("es_rejected_execution_exception")))
    assert isinstance(error, Unavailable)
    assert not isinstance(error, DeadlineExceeded)
    assert error.dependency == "opensearch"
    assert "es_rejected_execution_exception: because" in str(error)


def test_a_full_heap_asks_for_a_long_wait_and_a_passing_peak_for_none() -> None:
    permanent = translated(driver.TransportError(429, "cbe", cause("circuit_breaking_exception", durability="PERMANENT")))
    passing = translated(driver.TransportError(429, "cbe", cause("circuit_breaking_exception", durability="TRANSIENT")))
    assert isinstance(permanent, Unavailable)
    assert isinstance(passing, Unavailable)
    assert (permanent.retry_after_s, passing.retry_after_s) == (HEAP_FULL_RETRY_S, None)


def test_a_body_that_is_not_json_is_still_a_typed_error() -> None:
    assert isinstance(translated(driver.TransportError(503, "Service Unavailable", "<html>busy</html>")), Unavailable)
    assert isinstance(translated(driver.TransportError("N/A", "odd", ValueError("x"))), ServiceError)


def test_blocked_writes_are_unavailable_whatever_their_status() -> None:
    for status in (403, 429):
        assert isinstance(translated(driver.TransportError(status, "x", cause("cluster_block_exception"))), Unavailable)


def test_a_refused_user_is_told_which_setting_to_look_at() -> None:
    for error in (
        driver.AuthenticationException(401, "x", "Unauthorized"),
        driver.AuthorizationException(403, "x", cause("security_exception")),
    ):
        assert "WA_ENGINE_PASSWORD_FILE" in str(translated(error))


def test_an_untrusted_certificate_is_a_matter_of_settings() -> None:
    error = driver.SSLError("N/A", "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", Exception())
    assert isinstance(translated(error), Misconfigured)


def test_too_many_shards_and_a_missing_plugin_name_the_way_out() -> None:
    shards = cause("validation_exception", "this action would add [1] total shards, but this cluster has [1000]/[1000] maximum shards open")
    error = translated(driver.RequestError(400, "validation_exception", shards))
    assert isinstance(error, NoRoom)
    assert "cluster.max_shards_per_node" in str(error)
    plugin = translated(
        driver.RequestError(400, "x", cause("mapper_parsing_exception", "No handler for type [knn_vector] declared on field [vector]"))
    )
    assert isinstance(plugin, Misconfigured)


def test_an_index_that_is_already_there_is_a_conflict() -> None:
    assert isinstance(translated(driver.RequestError(400, "x", cause("resource_already_exists_exception"))), Conflict)


def test_a_body_beyond_the_limit_of_the_cluster_is_the_callers() -> None:
    assert isinstance(translated(driver.TransportError(413, "", "")), InvalidRequest)


def test_reasons_are_one_short_line_and_types_those_of_the_root_cause() -> None:
    failure = {"root_cause": [{"type": "inner", "reason": "a\nb " + "c" * 1000}], "type": "outer"}
    assert failure_type(failure) == "inner"
    assert len(failure_reason(failure)) <= 300
    assert "\n" not in failure_reason(failure)
    assert failure_type("text") == ""
    assert failure_reason({}) == "error: no reason given"
