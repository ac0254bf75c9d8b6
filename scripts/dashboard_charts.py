"""How visualisations of OpenSearch Dashboards look: the parameters of each of its chart kinds."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def params_of(form: str, aggs: Sequence[Json]) -> Json:
    """The parameters of a chart of this kind over these aggregations."""
    if form == "pie":
        labels = {"show": True, "values": True, "last_level": True, "truncate": 100}
        return {"type": "pie", "addTooltip": True, "addLegend": True, "legendPosition": "right", "isDonut": True, "labels": labels}
    if form == "table":
        rest = {"showPartialRows": False, "showMetricsAtAllLevels": False, "showTotal": True, "totalFunc": "sum", "percentageCol": ""}
        return {"perPage": 10, **rest}
    if form == "metric":
        return _numbers()
    return _axes(form, [each for each in aggs if each["schema"] == "metric"])


def _numbers() -> Json:
    style = {"bgFill": "#000", "bgColor": False, "labelColor": False, "subText": "", "fontSize": 28}
    metric = {
        "percentageMode": False,
        "useRanges": False,
        "colorSchema": "Green to Red",
        "metricColorMode": "None",
        "colorsRange": [{"from": 0, "to": 10000}],
        "labels": {"show": True},
        "invertColors": False,
        "style": style,
    }
    return {"type": "metric", "addTooltip": True, "addLegend": False, "metric": metric}


def _axes(form: str, metrics: Sequence[Json]) -> Json:
    sideways = form == "horizontal_bar"
    kind = "histogram" if sideways else form
    return {
        "type": kind,
        "grid": {"categoryLines": False},
        "categoryAxes": [_axis("CategoryAxis-1", "category", "left" if sideways else "bottom", title={})],
        "valueAxes": [{**_axis("ValueAxis-1", "value", "bottom" if sideways else "left", title={"text": ""}), "name": "LeftAxis-1"}],
        "seriesParams": [_series(kind, each) for each in metrics],
        "addTooltip": True,
        "addLegend": True,
        "legendPosition": "right",
        "times": [],
        "addTimeMarker": False,
        "labels": {"show": False},
        "thresholdLine": {"show": False, "value": 10, "width": 1, "style": "full", "color": "#E7664C"},
    }


def _axis(identity: str, kind: str, position: str, *, title: Json) -> Json:
    scale = {"type": "linear"} | ({"mode": "normal"} if kind == "value" else {})
    labels = {"show": True, "truncate": 100} | ({"filter": True} if kind == "category" else {"rotate": 0, "filter": False})
    return {
        "id": identity,
        "type": kind,
        "position": position,
        "show": True,
        "style": {},
        "scale": scale,
        "labels": labels,
        "title": title,
    }


def _series(kind: str, metric: Json) -> Json:
    return {
        "show": True,
        "type": kind,
        "mode": "stacked" if kind == "histogram" else "normal",
        "data": {"label": metric["params"].get("customLabel", "Count"), "id": metric["id"]},
        "valueAxis": "ValueAxis-1",
        "drawLinesBetweenPoints": True,
        "lineWidth": 2,
        "interpolate": "linear",
        "showCircles": True,
    }
