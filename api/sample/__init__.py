"""The sample corpus: about 3,000 real messages of BANKING77. Times, accounts and sources are assigned; see ``ATTRIBUTION.md``."""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

ASSIGNED_NOTICE = "Text and intent are from BANKING77 (PolyAI, CC BY 4.0). Times, accounts and sources are assigned by a fixed seed."


def sample_documents() -> Iterator[dict[str, Any]]:
    """The documents of the sample, one at a time and oldest first, in the form that ``wisdom ingest`` reads."""
    with files(__name__).joinpath("banking77.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def attribution() -> str:
    """Whose text this is, under which licence, and what was changed (Markdown)."""
    return files(__name__).joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
