"""Write the reference pages that must agree with the code: ``python -m scripts.make_docs`` (a test compares)."""

import inspect
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from runtime import errors
from runtime.settings import PREFIX, Settings
from runtime.telemetry import METRICS, PROCESS_METRICS, MetricSpec
from runtime.tracing import ATTRIBUTES

DOCS = Path(__file__).resolve().parent.parent / "docs"


def settings_page() -> str:
    """Every setting with default, bounds and meaning."""
    rows = [
        f"| `{PREFIX}{name.upper()}` | {_default(name)} | {_bounds(name)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(
        [
            "# Settings",
            "",
            "Read once at start from the environment. An unknown `WA_` name or a value out of bounds stops the start with one message",
            "that lists every problem. `wisdom doctor` prints the values in force, with secrets masked. Every `WA_X` may be given as `WA_X_FILE`",
            "instead: the value is then what that file holds, as containers are given their secrets.",
            "",
            "| variable | default | bounds | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def metrics_page() -> str:
    """Every metric of ``GET /metrics``."""
    rows = [f"| `{spec.name}` | {spec.kind} | {_labels(spec)} | {spec.help} |" for spec in METRICS]
    return "\n".join(
        [
            "# Metrics",
            "",
            "`GET /metrics`, as Prometheus text, or as OpenMetrics where `Accept` asks for it; there, histograms carry exemplars with the",
            "trace or correlation id that the log lines of the same request have. Workers serve theirs on `WA_WORKER_METRICS_PORT`. A web",
            f"server and a worker without a broker also tell {', '.join(f'`{name}`' for name in PROCESS_METRICS)}.",
            "",
            "| name | kind | labels | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _labels(spec: MetricSpec) -> str:
    values = f": {', '.join(f'`{value}`' for value in spec.values)}" if spec.values else ""
    return f"{', '.join(spec.labels) or '–'}{values}"


def errors_page() -> str:
    """The tree of errors and how each looks through every door."""
    from api.errors import documented_rows

    tree = (inspect.getdoc(errors) or "").split("\n\n", 1)[1]
    return "\n".join(
        [
            "# Errors",
            "",
            "A refusal is an answer, not an error: see [how it works](how-it-works.md). Errors are sorted by what the caller should do next.",
            "",
            "```",
            tree,
            "```",
            "",
            "| error | HTTP | GraphQL `extensions.code` | MCP | exit code |",
            "|---|---|---|---|---|",
            *documented_rows(),
            "",
        ]
    )


def command_line_page() -> str:
    """Every command with its options and an example."""
    from api.cli.reference import reference

    return reference()


def spans_page() -> str:
    """Everything a span may say."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in sorted(ATTRIBUTES.values())]
    return "\n".join(
        [
            "# Spans",
            "",
            "What spans of `WA_OTLP_ENDPOINT` say, and nothing else; which spans there are, and what becomes of them: [operations](operations.md#tracing).",
            "The numbers a step found out are told as `wa.step.NAME` besides: what it read, its score and the floor it was held against.",
            "",
            "| attribute | meaning |",
            "|---|---|",
            *rows,
            "",
        ]
    )


PAGES: dict[str, Callable[[], str]] = {
    "spans.md": spans_page,
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "errors.md": errors_page,
    "cli.md": command_line_page,
}


def _default(name: str) -> str:
    field = Settings.model_fields[name]
    if field.default is PydanticUndefined:
        return "a file in the user data folder"
    if isinstance(field.default, SecretStr) or field.default in ("", None):
        return "–"
    return f"`{field.default}`"


def _bounds(name: str) -> str:
    schema = Settings.model_json_schema()["properties"][name]
    parts = [f"{sign} {schema[key]:g}" for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤")) if key in schema]
    if "enum" in schema:
        parts.append(", ".join(f"`{value}`" for value in schema["enum"]))
    if "const" in schema:
        parts.append(f"`{schema['const']}`")
    return " and ".join(parts) or "–"


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
