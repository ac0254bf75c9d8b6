"""The saved objects of OpenSearch Dashboards; ``scripts/make_dashboards.py`` writes them as a file, ``scripts/import_dashboards.py`` imports them.

A board is of one tenant, or of everything under a prefix, which is for operators alone. What restricts a reader is the role of the reader, never the
board: see docs/operations.md.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.tenancy import Tenant
from scripts.dashboard_charts import params_of
from scripts.dashboard_panels import PANELS, SEARCHES, Panel, Search
from search.engines.opensearch_names import Names, encoded, every_month, state_index

Json = dict[str, Any]

VERSION = "3.5.0"
MIGRATED = {"index-pattern": "7.6.0", "search": "7.9.3", "visualization": "7.10.0", "dashboard": "7.9.3"}
"""The last format changes these objects know of; Dashboards brings them up to its own. Its format counts on from the version it grew from."""

SEARCH_SOURCE = "kibanaSavedObjectMeta.searchSourceJSON.index"
HIDDEN = {
    "documents": ("vector", "text", "passage", "document", "title", "attributes"),
    "state": ("body", "labels", "label_terms", "outbox", "outbox_ids", "outbox_places"),
}
"""Left out of lists of records. This tidies the screen and protects nothing."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose board it is: of one tenant, or of all under the prefix. ``generation`` is the one that is served, when it is not the first."""

    prefix: str = "wa"
    tenant: Tenant | None = None
    generation: str = ""

    @property
    def name(self) -> str:
        """What tells its objects from those of other boards in the same Dashboards."""
        return self.prefix if self.tenant is None else f"{self.prefix}.{encoded(self.tenant)}"

    def pattern(self, of: str) -> str:
        """What its index pattern covers."""
        if of == "state":
            return state_index(self.prefix)
        records = self.generation or self.prefix
        return every_month(records) if self.tenant is None else Names(records, self.tenant).alias

    def query(self, query: str) -> str:
        """``query`` over what belongs to the scope."""
        return query if self.tenant is None else f'tenant:"{self.tenant}" AND {query}'

    def title(self, title: str) -> str:
        """The title of one of its objects."""
        return f"WisdomAgent: {title}" if self.tenant is None else f"WisdomAgent ({self.tenant}): {title}"

    def id(self, name: str) -> str:
        """The same for the same thing at every time."""
        return f"wisdomagent-{self.name}-{name}"


TIME_FIELDS = {"documents": "occurred_at", "state": "facts.at"}


def saved_objects(scope: Scope) -> tuple[Json, ...]:
    """Every object of a board, those that others refer to first."""
    panels = tuple(panel for panel in PANELS if scope.tenant is None or not panel.operator_only)
    patterns = (_index_pattern(scope, of) for of in TIME_FIELDS)
    searches = (_search(scope, search) for search in SEARCHES)
    visualisations = (_visualisation(scope, panel) for panel in panels)
    return (*patterns, *searches, *visualisations, _board(scope, panels))


def as_ndjson(objects: Sequence[Json]) -> str:
    """One object a line, as Dashboards imports them."""
    return "".join(f"{compact(each)}\n" for each in objects)


def compact(value: Any) -> str:
    """JSON within JSON is text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(kind: str, identity: str, attributes: Json, references: Sequence[Json] = ()) -> Json:
    return {
        "type": kind,
        "id": identity,
        "attributes": attributes,
        "references": list(references),
        "migrationVersion": {kind: MIGRATED[kind]},
    }


def _index_pattern(scope: Scope, of: str) -> Json:
    """Its fields are read from the mapping when it is first opened."""
    hidden = compact([{"value": name} for name in HIDDEN[of]])
    return _object(
        "index-pattern",
        scope.id(of),
        {"title": scope.pattern(of), "timeFieldName": TIME_FIELDS[of], "sourceFilters": hidden, "fields": "[]"},
    )


def _source(scope: Scope, query: str, **more: Any) -> Json:
    source = {"query": {"query": scope.query(query), "language": "lucene"}, "filter": [], "indexRefName": SEARCH_SOURCE, **more}
    return {"searchSourceJSON": compact(source)}


def _over(scope: Scope, of: str) -> Json:
    return {"name": SEARCH_SOURCE, "type": "index-pattern", "id": scope.id(of)}


def _search(scope: Scope, search: Search) -> Json:
    attributes = {
        "title": scope.title(search.title),
        "description": search.says,
        "columns": [column for column in search.columns if scope.tenant is None or column != "tenant"],
        "sort": [[TIME_FIELDS["state"], "desc"]],
        "version": 1,
        "kibanaSavedObjectMeta": _source(scope, search.query, version=True),
    }
    return _object("search", scope.id(f"search-{search.name}"), attributes, [_over(scope, "state")])


def _visualisation(scope: Scope, panel: Panel) -> Json:
    aggs = [{"id": str(number), **each} for number, each in enumerate(panel.aggs, 1)]
    title = scope.title(panel.title)
    state = {"title": title, "type": panel.form, "aggs": aggs, "params": params_of(panel.form, aggs)}
    attributes = {
        "title": title,
        "description": panel.says,
        "visState": compact(state),
        "uiStateJSON": "{}",
        "version": 1,
        "kibanaSavedObjectMeta": _source(scope, panel.query),
    }
    return _object("visualization", scope.id(panel.name), attributes, [_over(scope, panel.over)])


def _board(scope: Scope, panels: Sequence[Panel]) -> Json:
    attributes = {
        "title": scope.title("answers, refusals, documents"),
        "description": "Of one tenant." if scope.tenant else "Of every tenant: for operators only.",
        "panelsJSON": compact(list(_placed(panels))),
        "optionsJSON": compact({"hidePanelTitles": False, "useMargins": True}),
        "version": 1,
        "timeRestore": True,
        "timeFrom": "now-30d",
        "timeTo": "now",
        "refreshInterval": {"pause": True, "value": 0},
        "kibanaSavedObjectMeta": {"searchSourceJSON": compact({"query": {"query": "", "language": "lucene"}, "filter": []})},
    }
    references = [{"name": f"panel_{n}", "type": "visualization", "id": scope.id(panel.name)} for n, panel in enumerate(panels)]
    return _object("dashboard", scope.id("board"), attributes, references)


def _placed(panels: Sequence[Panel]) -> Iterator[Mapping[str, Any]]:
    for number, panel in enumerate(panels):
        x, y, w, h = panel.at
        yield {
            "version": VERSION,
            "gridData": {"x": x, "y": y, "w": w, "h": h, "i": str(number + 1)},
            "panelIndex": str(number + 1),
            "embeddableConfig": {},
            "panelRefName": f"panel_{number}",
        }
