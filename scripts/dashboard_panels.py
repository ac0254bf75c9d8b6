"""What is on the board of OpenSearch Dashboards: lists and visualisations over documents, runs and ingests.

Every field named here is a mapped one: of ``records.json`` for documents, of ``state.json`` for the rest, where facts are declared in
``search/state_facts.py``.
"""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

RUNS, INGESTS, REJECTED = "kind:trace", "kind:ingest", "kind:ingest_rejection"
DOCUMENTS = "deleted:false AND number:0"
"""One record stands for a document: that of its first passage."""


@dataclass(frozen=True, slots=True)
class Search:
    """A list of records, newest first."""

    name: str
    title: str
    says: str
    query: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One visualisation and its place on the board, of 48 columns. ``form`` is how Dashboards calls its kind."""

    name: str
    title: str
    says: str
    form: str
    over: str
    query: str
    aggs: tuple[Json, ...]
    at: tuple[int, int, int, int]
    operator_only: bool = False


def agg(kind: str, schema: str, label: str = "", **params: Any) -> Json:
    """A metric, or a split by values."""
    return {"enabled": True, "type": kind, "schema": schema, "params": params | ({"customLabel": label} if label else {})}


def over_time(field: str) -> Json:
    """Along the time axis, in steps that fit the time that is shown."""
    more = {"useNormalizedOpenSearchInterval": True, "scaleMetricValues": False, "drop_partials": False, "min_doc_count": 1}
    return agg("date_histogram", "segment", field=field, interval="auto", extended_bounds={}, **more)


def by(field: str, schema: str, label: str, size: int = 20, *, order_by: str = "1", missing: str = "") -> Json:
    """One part for each of the most frequent values."""
    rest = {"otherBucket": False, "otherBucketLabel": "Other", "missingBucket": bool(missing), "missingBucketLabel": missing or "Missing"}
    return agg("terms", schema, label, field=field, orderBy=order_by, order="desc", size=size, **rest)


COUNT = agg("count", "metric")

SEARCHES = (
    Search(
        "refused",
        "Questions that were refused",
        "Run ids with the reason; wisdom traces show RUN has the question, for who may read it.",
        f"{RUNS} AND facts.refused:true",
        ("entry_id", "tenant", "facts.reason", "facts.intent", "facts.seconds"),
    ),
    Search(
        "troubled",
        "Runs that were slow, failed or lost a part",
        "Longer than five seconds, failed, or answered without a part such as the vector leg.",
        f"{RUNS} AND (facts.seconds:>5 OR facts.outcome:failed OR _exists_:facts.degraded)",
        ("entry_id", "tenant", "facts.outcome", "facts.seconds", "facts.degraded"),
    ),
    Search(
        "ingests",
        "Ingests with rejected rows",
        "What was handed in, and what became of it.",
        f"{INGESTS} AND facts.rejected:>0",
        ("entry_id", "tenant", "facts.outcome", "facts.received", "facts.indexed", "facts.updated", "facts.rejected"),
    ),
)

PANELS = (
    Panel(
        "numbers",
        "Runs",
        "How many questions were asked, how long 95 in 100 took at most, those from the cache too, and how well answers are grounded.",
        "metric",
        "state",
        RUNS,
        (
            agg("count", "metric", "questions"),
            agg("percentiles", "metric", "seconds", field="facts.seconds", percents=[95]),
            agg("avg", "metric", "groundedness", field="facts.groundedness"),
        ),
        (0, 0, 12, 12),
    ),
    Panel(
        "asked",
        "Asked: answered, refused, failed",
        "Questions over time by how they ended.",
        "histogram",
        "state",
        RUNS,
        (COUNT, over_time("facts.at"), by("facts.outcome", "group", "outcome")),
        (12, 0, 36, 12),
    ),
    Panel(
        "reasons",
        "Refusals by reason",
        "Why questions were not answered.",
        "pie",
        "state",
        f"{RUNS} AND facts.refused:true",
        (COUNT, by("facts.reason", "segment", "reason")),
        (0, 12, 16, 14),
    ),
    Panel(
        "unanswered",
        "Asked and not answered",
        "Refusals by reason and kind of question: where documents are missing, and where questions go astray.",
        "table",
        "state",
        f"{RUNS} AND facts.refused:true",
        (COUNT, by("facts.reason", "bucket", "reason"), by("facts.intent", "bucket", "kind of question")),
        (16, 12, 16, 14),
    ),
    Panel(
        "degraded",
        "Parts that were lost",
        "Answers and refusals that had to do without a part of the system.",
        "horizontal_bar",
        "state",
        RUNS,
        (COUNT, by("facts.degraded", "segment", "part")),
        (32, 12, 16, 14),
    ),
    Panel(
        "grounding",
        "Grounding over time",
        "Means over runs in which something was drafted: how much of the draft is supported, how many citations are right.",
        "line",
        "state",
        RUNS,
        (
            agg("avg", "metric", "groundedness", field="facts.groundedness"),
            agg("avg", "metric", "citation precision", field="facts.citation_precision"),
            over_time("facts.at"),
        ),
        (0, 26, 24, 14),
    ),
    Panel(
        "latency",
        "Seconds of a run: half and 95 in 100",
        "From the traces, without answers that the cache gave again; the time of a run on the server, not that of the caller.",
        "line",
        "state",
        f"{RUNS} AND NOT facts.recalled:true",
        (agg("percentiles", "metric", "seconds", field="facts.seconds", percents=[50, 95]), over_time("facts.at")),
        (24, 26, 24, 14),
    ),
    Panel(
        "themes",
        "Documents by theme",
        "Live documents of the time shown, by when they were written.",
        "horizontal_bar",
        "documents",
        DOCUMENTS,
        (COUNT, by("theme_id", "segment", "theme", missing="(no theme)")),
        (0, 40, 20, 16),
    ),
    Panel(
        "sources",
        "Documents over time by source",
        "Live documents by when they were written, not by when they came in.",
        "histogram",
        "documents",
        DOCUMENTS,
        (COUNT, over_time("occurred_at"), by("source_kind", "group", "source", 10)),
        (20, 40, 28, 16),
    ),
    Panel(
        "ingested",
        "Rows handed in, by what became of them",
        "Sums over ingests: new, newer, unchanged, repeated, rejected.",
        "histogram",
        "state",
        INGESTS,
        (
            *(agg("sum", "metric", name, field=f"facts.{name}") for name in ("indexed", "updated", "unchanged", "duplicate", "rejected")),
            over_time("facts.at"),
        ),
        (0, 56, 24, 14),
    ),
    Panel(
        "rejections",
        "Rejected rows by field and reason",
        "Values are cut out of reasons; wisdom jobs rejects JOB has the rows themselves.",
        "table",
        "state",
        REJECTED,
        (
            agg("sum", "metric", "rows", field="facts.rows"),
            by("facts.field", "bucket", "field"),
            by("facts.reason", "bucket", "reason"),
        ),
        (24, 56, 24, 14),
    ),
    Panel(
        "tenants",
        "Questions by tenant",
        "For operators: who asks, how long it takes, how well it is answered.",
        "table",
        "state",
        RUNS,
        (
            agg("count", "metric", "questions"),
            agg("percentiles", "metric", "seconds", field="facts.seconds", percents=[95]),
            agg("avg", "metric", "groundedness", field="facts.groundedness"),
            by("tenant", "bucket", "tenant", 50),
        ),
        (0, 70, 48, 12),
        operator_only=True,
    ),
)
