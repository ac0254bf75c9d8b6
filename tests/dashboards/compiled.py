"""What OpenSearch Dashboards makes of a saved object when it is shown: the search it sends.

Told from how its aggregations are documented to be sent; a time axis whose step is ``auto`` gets the step that thirty days get.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

Json = dict[str, Any]

AUTO_STEP = "12h"
FIELD = r"(?<![\w.\"])([a-z_]+(?:\.[a-z_]+)*):"
"""A field in a query of the Lucene syntax; behind ``_exists_:`` comes another."""


def state_of(visualisation: Mapping[str, Any]) -> Json:
    """What a visualisation shows."""
    state: Json = json.loads(visualisation["attributes"]["visState"])
    return state


def source_of(saved: Mapping[str, Any]) -> Json:
    """What a saved object searches with."""
    source: Json = json.loads(saved["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"])
    return source


def body_of(visualisation: Mapping[str, Any], time_field: str, since: datetime, until: datetime) -> Json:
    """The search of a visualisation over a span of time."""
    aggs = state_of(visualisation)["aggs"]
    metrics = {each["id"]: _metric(each) for each in aggs if each["schema"] == "metric" and each["type"] != "count"}
    splits = [each for each in aggs if each["schema"] != "metric"]
    return {
        "size": 0,
        "track_total_hits": True,
        "query": query_of(visualisation, time_field, since, until),
        "aggs": _nested(splits, metrics),
    }


def query_of(saved: Mapping[str, Any], time_field: str, since: datetime, until: datetime) -> Json:
    """The query of a saved object within a span of time."""
    query = source_of(saved)["query"]
    assert query["language"] == "lucene"
    span = {"gte": since.isoformat(), "lte": until.isoformat(), "format": "strict_date_optional_time"}
    written = {"query_string": {"query": query["query"], "analyze_wildcard": True}}
    return {"bool": {"must": [written], "filter": [{"range": {time_field: span}}]}}


def buckets_in(aggregations: Mapping[str, Any]) -> Iterator[tuple[str, list[Json]]]:
    """Every split of an answer, at any depth, with its parts."""
    for name, value in aggregations.items():
        if isinstance(value, Mapping) and "buckets" in value:
            yield name, value["buckets"]
            for bucket in value["buckets"]:
                yield from buckets_in(bucket)


def values_in(aggregations: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Every number of an answer, at any depth, with the aggregation it is of."""
    for name, value in aggregations.items():
        if not isinstance(value, Mapping):
            continue
        if "value" in value:
            yield name, value["value"]
        elif isinstance(value.get("values"), list):
            yield from ((name, each["value"]) for each in value["values"])
        for bucket in value.get("buckets", ()):
            yield from values_in(bucket)


def _nested(splits: list[Json], metrics: Json) -> Json:
    if not splits:
        return metrics
    first, *rest = splits
    inner = _nested(rest, metrics)
    order = first["params"].get("orderBy")
    needed = {order: metrics[order]} if order in metrics else {}
    return {first["id"]: {**_split(first, metrics), "aggs": {**inner, **needed}}}


def _split(agg: Json, metrics: Json) -> Json:
    params = agg["params"]
    if agg["type"] == "date_histogram":
        assert params["interval"] == "auto"
        step = {"fixed_interval": AUTO_STEP, "time_zone": "UTC", "min_doc_count": params["min_doc_count"]}
        return {"date_histogram": {"field": params["field"], **step}}
    assert agg["type"] == "terms"
    order = {params["orderBy"] if params["orderBy"] in metrics else "_count": params["order"]}
    missing = {"missing": "__missing__"} if params["missingBucket"] else {}
    return {"terms": {"field": params["field"], "order": order, "size": params["size"], **missing}}


def _metric(agg: Json) -> Json:
    params = agg["params"]
    if agg["type"] == "percentiles":
        return {"percentiles": {"field": params["field"], "percents": params["percents"], "keyed": False}}
    assert agg["type"] in ("avg", "sum")
    return {agg["type"]: {"field": params["field"]}}
