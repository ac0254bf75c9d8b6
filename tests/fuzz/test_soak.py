"""A slice of ``python -m benchmarks.soak``, and its judges: what they must find, they find."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.soak.checking import check, memory_findings
from benchmarks.soak.ledger import Ledger
from benchmarks.soak.load import essence
from benchmarks.soak.running import Soak, markdown, soak, written


@pytest.mark.slow
@pytest.mark.live("valkey")
def test_under_load_with_everything_killed_once_nothing_is_wrong_lost_or_doubled(tmp_path: Path) -> None:
    wanted = Soak(seconds=20.0, kill_every_s=4.0, engine="", prefix="soak", seed=2)
    (tmp_path / "run").mkdir()
    done = soak(wanted, tmp_path / "run")
    assert done.findings == (), "\n".join(markdown(wanted, done))
    assert {name for _, name in done.kills} == {"valkey", "worker", "server"}
    for what in ("questions compared", "searches compared", "documents stored", "jobs handed in", "acknowledged writes read again"):
        assert done.ledger.done[what] > 0, what
    assert done.ledger.done["digests published"] == len(done.ledger.monitors)
    written(wanted, done, tmp_path / "report")
    assert "**findings** | **0**" in (tmp_path / "report" / "soak.md").read_text()


class Recalling:
    """A server that remembers what it is told to."""

    def __init__(self, documents: dict[str, str], digests: list[tuple[str, str]]) -> None:
        self.documents, self.digests = documents, digests

    def graphql(self, query: str, **asked: Any) -> dict[str, Any]:
        if "digests(" in query:
            found = [{"digestId": digest, "monitorId": monitor} for digest, monitor in self.digests if asked["m"] in (None, monitor)]
            return {"digests": {"digests": found, "cursor": None}}
        text = self.documents.get(asked["d"])
        return {"document": None if text is None else {"text": text}}


def _found(ledger: Ledger, **held: Any) -> str:
    check(ledger, Recalling(held.get("documents", {}), held.get("digests", [])), within_s=0.0)  # type: ignore[arg-type]
    return "; ".join(ledger.findings)


def test_a_lost_write_a_changed_one_and_one_that_came_back_are_found() -> None:
    assert "a lost write: a is None" in _found(Ledger(stored={"a": "x"}))
    assert "a lost write: a" in _found(Ledger(stored={"a": "x"}), documents={"a": "y"})
    assert "1 deleted documents are back" in _found(Ledger(deleted={"a"}), documents={"a": "x"})
    assert _found(Ledger(stored={"a": "x"}, deleted={"b"}), documents={"a": "x"}) == ""


def test_a_doubled_digest_is_found_and_one_that_was_told_twice() -> None:
    assert "2 digests of m" in _found(Ledger(monitors=["m"]), digests=[("d1", "m"), ("d2", "m")])
    assert "never told of: ['d1']" in _found(Ledger(monitors=["m"]), digests=[("d1", "m")])
    assert "told twice" in _found(Ledger(told=[("d1", 1), ("d1", 1)]))
    assert _found(Ledger(monitors=["m"], told=[("d1", 1), ("d1", 2)]), digests=[("d1", "m")]) == ""


def test_memory_that_grows_is_found_where_a_process_lived_long_enough() -> None:
    assert list(memory_findings({"server": [(at, 1, 200.0 + 2 * at) for at in range(0, 200, 5)]})) != []
    assert list(memory_findings({"server": [(at, 1, 200.0) for at in range(0, 200, 5)]})) == []
    assert list(memory_findings({"server": [(at, at, 200.0 + 2 * at) for at in range(0, 200, 5)]})) == []


def test_answers_are_the_same_when_reason_words_and_documents_are() -> None:
    claims = [{"text": "b", "citations": [{"docId": "2"}, {"docId": "1"}]}, {"text": "a", "citations": []}]
    assert essence({"answer": {"refusal": None, "claims": claims}}) == {"refused": None, "claims": [["a", []], ["b", ["1", "2"]]]}
