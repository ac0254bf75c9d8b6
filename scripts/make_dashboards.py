"""Write the saved objects of OpenSearch Dashboards: ``python -m scripts.make_dashboards`` (a test compares)."""

from pathlib import Path

from scripts.dashboard_objects import Scope, as_ndjson, saved_objects

FILE = Path(__file__).resolve().parent.parent / "opensearch" / "dashboards" / "wisdomagent.ndjson"


def shipped() -> str:
    """The board of operators under the prefix that is the default; ``scripts.import_dashboards`` makes those of others."""
    return as_ndjson(saved_objects(Scope()))


def main() -> None:
    """Write the file."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(shipped(), encoding="utf-8")


if __name__ == "__main__":
    main()
