"""An audit that could not ask is no clean audit."""

import pytest

from scripts.audit import CLEAN, UNKNOWN, VULNERABLE, told

FINE = {"name": "a", "version": "1", "vulns": []}
WEAK = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}]}
SKIPPED = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("found", "outcome", "word"),
    [
        ([FINE], CLEAN, "1 packages looked at, 0 with"),
        ([FINE, WEAK], VULNERABLE, "b 2: PYSEC-1, fixed in 3"),
        ([FINE, SKIPPED], UNKNOWN, "NOT AUDITED"),
        ([WEAK, SKIPPED], VULNERABLE, "NOT AUDITED"),
        ([], UNKNOWN, "NOT AUDITED"),
    ],
)
def test_only_a_lock_of_which_everything_was_told_is_clean(
    found: list[dict[str, object]], outcome: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told("x.txt", found) == outcome
    assert word in capsys.readouterr().out
