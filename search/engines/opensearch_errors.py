"""What each failure of the OpenSearch client means to a caller; the one place that knows the client's exceptions."""

from collections.abc import Mapping
from typing import Any

import opensearchpy.exceptions as driver

from runtime.errors import Conflict, InvalidRequest, Misconfigured, NotFound, ServiceError, Unavailable

DEPENDENCY = "opensearch"

HEAP_FULL_RETRY_S = 30.0
"""A breaker that calls itself permanent stays tripped until heap is freed: repeating sooner only adds to the load."""

_SECURITY = "security_exception"
OVERLOADED_STATUS = frozenset({429, 500, 502, 503, 504})


_TLS = (
    ("certificate has expired", "the cluster's certificate has expired; renew it there"),
    ("certificate is not yet valid", "the cluster's certificate is not valid yet; check the clocks of both machines"),
    ("Hostname mismatch", "the cluster's certificate was issued for another name; use the name it was issued for"),
    ("IP address mismatch", "the cluster's certificate was issued for another name; use the name it was issued for"),
    (
        "CERTIFICATE_VERIFY_FAILED",
        "the cluster's certificate is not trusted; set WA_ENGINE_CA_FILE to the certificate of the authority that issued it",
    ),
    ("CERTIFICATE_REQUIRED", "the cluster asks for a client certificate; set WA_ENGINE_CLIENT_CERT_FILE and WA_ENGINE_CLIENT_KEY_FILE"),
    ("certificate required", "the cluster asks for a client certificate; set WA_ENGINE_CLIENT_CERT_FILE and WA_ENGINE_CLIENT_KEY_FILE"),
    (
        "HANDSHAKE_FAILURE",
        "there is no common version or cipher, or the cluster asks for a client certificate (WA_ENGINE_CLIENT_CERT_FILE)",
    ),
    ("UNKNOWN_CA", "the cluster does not trust the certificate in WA_ENGINE_CLIENT_CERT_FILE"),
    ("WRONG_VERSION_NUMBER", "what listens there does not speak TLS; use http://, or the port that does"),
)
"""Signs in the texts of failed handshakes, the more precise ones first, with the way out."""


class NoRoom(Misconfigured):
    """The cluster takes no further index: it is at its limit of shards."""


class WritesBlocked(Unavailable):
    """Writes are switched off where this was to be written: another generation is about to take its place, as a rule."""


def translated(error: Exception) -> ServiceError:
    """The error to raise from ``error``, an exception of the client."""
    if isinstance(error, driver.ImproperlyConfigured):
        return Misconfigured(f"WA_ENGINE_URL cannot be used: {error}")
    if isinstance(error, driver.SerializationError):
        return unavailable("what listens there answered something that is not OpenSearch; check WA_ENGINE_URL")
    if isinstance(error, driver.ConnectionError):
        return _unconnected(error)
    if isinstance(error, driver.TransportError):
        return _refused(error)
    return ServiceError(f"the OpenSearch client failed: {type(error).__name__}")


def unavailable(reason: str, retry_after_s: float | None = None) -> Unavailable:
    """OpenSearch did not serve a call."""
    return Unavailable(f"opensearch: {reason}", dependency=DEPENDENCY, retry_after_s=retry_after_s)


def failure_reason(failure: Mapping[str, Any]) -> str:
    """Type and reason of an ``error`` object, short and on one line; never the request."""
    causes = failure.get("root_cause") or [failure]
    cause = causes[0] if isinstance(causes[0], Mapping) else failure
    text = f"{cause.get('type', 'error')}: {cause.get('reason', 'no reason given')}"
    return " ".join(text.split())[:300]


def failure_type(failure: object) -> str:
    """The type of an ``error`` object, of its first root cause where it has one."""
    if not isinstance(failure, Mapping):
        return ""
    causes = failure.get("root_cause") or [failure]
    cause = causes[0] if isinstance(causes[0], Mapping) else failure
    return str(cause.get("type", ""))


def _unconnected(error: driver.ConnectionError) -> ServiceError:
    if isinstance(error, driver.ConnectionTimeout):
        return unavailable("did not answer in the time given")
    text = str(error)
    if way_out := next((way_out for sign, way_out in _TLS if sign in text), None):
        return Misconfigured(f"the TLS connection to WA_ENGINE_URL is refused: {way_out}")
    if "EOF occurred in violation of protocol" in text:
        return unavailable("ended the TLS connection; if it asks for a client certificate, set WA_ENGINE_CLIENT_CERT_FILE")
    return unavailable("cannot be reached; check that the cluster of WA_ENGINE_URL runs and try again")


def _refused(error: driver.TransportError) -> ServiceError:
    status = error.status_code if isinstance(error.status_code, int) else 0
    failure = error.info.get("error") if isinstance(error.info, Mapping) else None
    kind = failure_type(failure)
    reason = failure_reason(failure) if isinstance(failure, Mapping) else f"status {error.status_code}"
    if status == 401 or kind == _SECURITY:
        return _denied(status, reason)
    if status in OVERLOADED_STATUS or kind == "cluster_block_exception":
        return unavailable(reason, HEAP_FULL_RETRY_S if _heap_is_full(failure) else None)
    return _answered(status, kind, reason)


def _denied(status: int, reason: str) -> Misconfigured:
    if status == 401:
        return Misconfigured(
            f"OpenSearch asks for a credential it knows ({reason}); name a user in WA_ENGINE_URL with its password in WA_ENGINE_PASSWORD_FILE, "
            "or set WA_ENGINE_TOKEN_FILE"
        )
    return Misconfigured(
        f"OpenSearch refuses a call of the user of WA_ENGINE_URL ({reason}); give it the rights of opensearch/security, "
        "and check WA_ENGINE_PASSWORD_FILE or WA_ENGINE_TOKEN_FILE"
    )


def _answered(status: int, kind: str, reason: str) -> ServiceError:
    if status == 404:
        return NotFound(f"not there in OpenSearch: {reason}")
    if status == 409 or kind == "resource_already_exists_exception":
        return Conflict(f"changed meanwhile in OpenSearch: {reason}")
    if status == 413:
        return InvalidRequest("is larger than http.max_content_length of the cluster", field="body")
    if "knn" in reason and status == 400:
        return Misconfigured(f"the cluster has no usable k-NN plugin, which this needs ({reason})")
    if kind == "validation_exception" and "shards open" in reason:
        return NoRoom(f"the cluster has no room for another month ({reason}); raise cluster.max_shards_per_node or drop old months")
    return ServiceError(f"OpenSearch refused a request of ours: {reason}")


def _heap_is_full(failure: object) -> bool:
    if not isinstance(failure, Mapping):
        return False
    causes = failure.get("root_cause") or [failure]
    return any(isinstance(cause, Mapping) and cause.get("durability") == "PERMANENT" for cause in [*causes, failure])
