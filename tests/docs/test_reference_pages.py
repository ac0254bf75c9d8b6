import re
from pathlib import Path

import pytest

from scripts.make_docs import DOCS, PAGES

ROOT = DOCS.parent


@pytest.mark.parametrize("name", sorted(PAGES))
def test_reference_pages_agree_with_the_code(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), f"docs/{name} is stale: run `make docs`"


def test_every_relative_link_in_the_docs_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    broken = [f"{page.name}: {target}" for page in pages for target in _links(page) if not (page.parent / target).exists()]
    assert not broken


def test_every_variable_named_in_the_readme_is_a_setting() -> None:
    from runtime.settings import PREFIX, Settings

    known = {PREFIX + name.upper() for name in Settings.model_fields}
    named = set(re.findall(r"\bWA_[A-Z0-9_]+\b", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert named <= known | {"WA_TEST_CASES"}


def _links(page: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return [target for target in targets if "://" not in target and not target.startswith("mailto:")]
