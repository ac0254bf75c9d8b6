"""What ``wisdom doctor`` looks at: each check says what it found and, when that is not right, what to do next."""

import os
import platform
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from grounding.language_models.endpoint import Endpoint
from grounding.language_models.failing import SAID, NotUsable, why_of
from grounding.language_models.opening import Place, open_endpoints, places
from runtime.clock import Clock, Deadline
from runtime.errors import Misconfigured, ServiceError, Unavailable
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant, tenant_named
from search.embedding.minilm import verify_weights
from search.embedding.opening import open_embedder
from search.engines.opening import open_store, sqlite_path
from search.ports import Embedder, Engine
from worker.queues.opening import open_queue

Status = Literal["ok", "warning", "wrong"]

LITTLE_DISK = 1 << 30
NO_DISK = 100 << 20
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
"""A clock that shows less was never set."""
AHEAD = timedelta(days=1)
LLM_TIMEOUT_S = 5.0
PACKAGES = ("wisdomagent", "numpy", "onnxruntime", "tokenizers", "opensearch-py", "fastapi", "ariadne", "mcp", "celery")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's table. ``next_step`` is empty when nothing is to be done."""

    name: str
    status: Status
    found: str
    next_step: str = ""


def checks(settings: Settings, clock: Clock) -> Iterator[Check]:
    """Every check under these settings, in an order in which a later one builds on earlier ones. None raises; what fails says so."""
    yield versions()
    yield disk(settings)
    yield Check("settings", "ok", f"{_set_by_user(settings)} set by WA_ variables or options, the rest by default")
    yield from language_models(settings, clock)
    with ExitStack() as stack:
        try:
            embedder = stack.enter_context(open_embedder(settings))
            yield model(embedder, _weights(settings))
        except ServiceError as error:
            yield Check("model", "wrong", str(error), "change WA_EMBEDDER, or install the package again")
            return
        yield from _engine(settings, clock)
    yield worker(settings, clock)


def worker(settings: Settings, clock: Clock) -> Check:
    """The broker answers, and a worker has finished a round trip lately."""
    try:
        with open_queue(settings, clock, {}) as queue:
            found = queue.health(clock.now())
    except Misconfigured as error:
        return Check("worker", "wrong", str(error), "change what the message names")
    if found.status == "not configured":
        return Check("worker", "ok", "no broker (WA_REDIS_URL); wisdom worker --local runs monitors without one")
    if found.status == "ok":
        return Check("worker", "ok", f"the broker answers, a worker was alive {found.age_s:.0f} s ago")
    next_step = "start the broker that WA_REDIS_URL names" if found.status == "unavailable" else "start wisdom worker"
    return Check("worker", "warning", found.message, next_step)


def language_models(settings: Settings, clock: Clock) -> Iterator[Check]:
    """One line for each configured endpoint: it answers and knows the model. One that does not is a warning, since nothing depends on it."""
    try:
        with open_endpoints(settings, clock, Metrics()) as endpoints:
            if not endpoints and settings.llm_model:
                yield Check(
                    "language models", "warning", "WA_LLM_MODEL is set and WA_LLM_BASE_URL is not: none is asked", "set both, or neither"
                )
            elif not endpoints:
                yield Check("language models", "ok", "none configured; answers quote the documents")
            for endpoint, place in zip(endpoints, places(settings), strict=True):
                yield _language_model(endpoint, place, Deadline.after(LLM_TIMEOUT_S, clock))
    except Misconfigured as error:
        yield Check("language models", "wrong", str(error), "see docs/language_models.md")


def _language_model(endpoint: Endpoint, place: Place, deadline: Deadline) -> Check:
    name = f"language model, {place.name}"
    found = f"{place.model} at {urlsplit(place.url).netloc.rpartition('@')[2]}, {'key ********' if place.key else 'no key'}"
    try:
        listed = endpoint.names(deadline)
    except (NotUsable, Unavailable) as error:
        return Check(
            name,
            "warning",
            f"{found}: {SAID[why_of(error)]}",
            f"check {place.variable} and its key and model; until then answers quote the documents, unless another model answers",
        )
    if listed and place.model not in listed:
        return Check(name, "warning", f"{found}: answers, and does not list that model", f"it lists {', '.join(listed[:5])}")
    return Check(name, "ok", f"{found}: answers")


def versions() -> Check:
    """Python, SQLite and the packages that matter."""
    found = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return Check("versions", "ok", f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {found}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def disk(settings: Settings) -> Check:
    """Free space where the embedded store lives, or for temporary files when the store is elsewhere."""
    place = sqlite_path(settings.engine_url) if settings.engine_url.startswith("sqlite:///") else Path.cwd()
    folder = next(parent for parent in (place, *place.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(folder).free
    found = f"{free / (1 << 30):,.1f} GiB free at {folder}"
    if free < NO_DISK:
        return Check("disk", "wrong", found, "free some space, or point WA_ENGINE_URL at another disk")
    return Check("disk", "warning" if free < LITTLE_DISK else "ok", found, "free some space soon" if free < LITTLE_DISK else "")


def model(embedder: Embedder, weights: str) -> Check:
    """The embedder works: it gives a vector of unit length. ``weights`` is what is known about its files."""
    vectors = embedder.embed(["a short text"])
    length = float((vectors[0] ** 2).sum()) ** 0.5
    found = f"{embedder.model}, {embedder.dimension} dimensions{weights}"
    if vectors.shape != (1, embedder.dimension) or abs(length - 1.0) > 0.01:
        return Check(
            "model", "wrong", f"{found}, but a vector has shape {vectors.shape} and length {length:.3f}", "install the package again"
        )
    return Check("model", "ok", found)


def _weights(settings: Settings) -> str:
    """Says that the weights we ship are whole; nothing of another embedder.

    Raises:
        Misconfigured: they are not.
    """
    if settings.embedder != "minilm":
        return ""
    verify_weights()
    return ", weights match their checksums"


def calendar(newest: datetime | None, now: datetime) -> Check:
    """The machine's clock is set, and not behind the newest document."""
    found = f"{now:%Y-%m-%d %H:%M:%SZ}"
    if now < EARLIEST:
        return Check("clock", "wrong", found, "set the clock of this machine")
    if newest is not None and newest > now + AHEAD:
        return Check(
            "clock",
            "warning",
            f"{found}; the newest document is of {newest:%Y-%m-%d}, in the future",
            "check the clock, or the dates of that document",
        )
    return Check("clock", "ok", found)


def _engine(settings: Settings, clock: Clock) -> Iterator[Check]:
    if _not_there_yet(settings):
        yield Check("engine", "ok", f"{sqlite_path(settings.engine_url)} does not exist yet; the first ingest creates it")
        yield calendar(None, clock.now())
        return
    try:
        with open_store(settings, clock) as store:
            yield engine(store.engine, settings)
            yield from _documents(store.engine, tenant_named(settings.default_tenant), clock)
    except ServiceError as error:
        yield Check("engine", "wrong", str(error), _way_out(settings))
        yield calendar(None, clock.now())


def engine(opened: Engine, settings: Settings) -> Check:
    """What the engine says it is, and whether it serves what the settings' embedder made."""
    told = opened.describe()
    found = ", ".join(f"{told[key]}" for key in ("engine", "version", "location") if told.get(key))
    if notice := told.get("notice"):
        return Check("engine", "warning", f"{found}; {notice}", f"set WA_EMBEDDER to it in place of {settings.embedder}")
    return Check("engine", "ok", found)


def _documents(opened: Engine, tenant: Tenant, clock: Clock) -> Iterator[Check]:
    corpus = opened.corpus(tenant)
    if corpus.documents:
        assert corpus.first_occurred_at is not None
        assert corpus.last_occurred_at is not None
        found = f"{corpus.documents:,} of tenant {tenant}, {corpus.first_occurred_at:%Y-%m-%d} to {corpus.last_occurred_at:%Y-%m-%d}"
        yield Check("documents", "ok", found)
    else:
        yield Check("documents", "ok", f"none of tenant {tenant}", "wisdom ingest FILE, or wisdom demo")
    yield calendar(corpus.last_occurred_at, clock.now())


def _not_there_yet(settings: Settings) -> bool:
    return settings.engine_url.startswith("sqlite:///") and not sqlite_path(settings.engine_url).exists()


def _way_out(settings: Settings) -> str:
    if settings.engine_url.startswith("sqlite:"):
        return "point WA_ENGINE_URL at another file, or move this one away and ingest again"
    host = urlsplit(settings.engine_url).hostname
    return f"start the cluster at {host}, or point WA_ENGINE_URL elsewhere (make node-up starts a local node)"


def _set_by_user(settings: Settings) -> str:
    quieted = set() if os.environ.get("WA_LOG_LEVEL") else {"log_level"}  # a command logs less of its own accord
    names = sorted(settings.model_fields_set - quieted)
    return f"{len(names)} ({', '.join(names)})" if names else "none"
