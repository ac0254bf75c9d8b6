import json
from dataclasses import replace

import pytest

from runtime.tenancy import tenant_named
from search.documents import StoredVersion, WriteOutcome
from search.engines.opensearch_changes import Change, decided, deletion, steps
from search.engines.opensearch_ledger import LEASE_S, Entry, Place, merged
from search.engines.opensearch_names import Names, record_key
from search.engines.opensearch_placement import Placement
from search.engines.opensearch_records import sequence
from tests.contracts.writes import document, write_of, written

AT = Placement(Names("wa", tenant_named("t")), "own", 1)
NOW_MS = 1_000_000
LEASE_MS = int(LEASE_S * 1000)


def settled(version: int = 1, text: str = "text", month: str = "202603", passages: int = 1) -> Entry:
    return Entry(
        "a",
        version,
        written("a", text).content_hash,
        deleted=False,
        places=(Place(month, passages),),
        pending=False,
        seq_no=5,
        primary_term=1,
    )


def claimed(age_ms: int, before: StoredVersion | None = None, text: str = "text") -> Entry:
    return replace(settled(2, text), pending=True, before=before, claimed_ms=NOW_MS - age_ms)


def change(entry: Entry | None, write: object) -> Change:
    found = decided(entry, write, NOW_MS)  # type: ignore[arg-type]
    assert isinstance(found, Change)
    return found


def test_a_document_never_seen_is_claimed_at_its_first_version() -> None:
    found = change(None, written("a", "text"))
    assert found.outcome == WriteOutcome("a", "indexed", 1)
    assert found.claim.pending
    assert (found.claim.before, found.claim.places, found.claim.seq_no) == (None, (Place("202603", 1),), -1)


def test_what_is_settled_needs_no_change_for_the_same_content() -> None:
    assert decided(settled(), written("a", "text"), NOW_MS) == WriteOutcome("a", "unchanged", 1)


def test_a_new_version_remembers_what_counts_until_it_is_settled() -> None:
    found = change(settled(), written("a", "other"))
    assert found.outcome == WriteOutcome("a", "updated", 2)
    assert found.claim.settled == settled().newest
    assert found.claim.seq_no == 5


def test_a_fresh_claim_of_another_writer_is_waited_for() -> None:
    for write in (written("a", "text"), written("a", "other"), written("a", "x", version=9)):
        assert decided(claimed(LEASE_MS - 1), write, NOW_MS) == "busy"


def test_a_claim_whose_writer_is_gone_is_carried_out_again_under_its_version() -> None:
    assert change(claimed(LEASE_MS), written("a", "text")).outcome == WriteOutcome("a", "indexed", 2)
    before = StoredVersion(1, "old", deleted=False)
    found = change(claimed(LEASE_MS, before), written("a", "text"))
    assert found.outcome == WriteOutcome("a", "updated", 2)
    assert found.claim.before == before


def test_other_content_over_a_claim_whose_writer_is_gone_is_one_version_newer() -> None:
    assert change(claimed(LEASE_MS), written("a", "other")).outcome.version == 3


def test_a_claim_from_the_future_is_no_lease_for_ever() -> None:
    assert change(claimed(-60_000), written("a", "text")).claim.claimed_ms == NOW_MS


def test_the_months_of_every_unfinished_change_are_kept_until_one_is_settled() -> None:
    entry = replace(claimed(LEASE_MS), places=(Place("202601", 3), Place("202602", 1)))
    assert change(entry, written("a", "other")).claim.places == (Place("202601", 3), Place("202602", 1), Place("202603", 1))


def test_a_month_is_kept_once_with_the_most_passages() -> None:
    assert merged(Place("202602", 1), Place("202601", 2), Place("202602", 4)) == (Place("202601", 2), Place("202602", 4))


def addressed(found: Change) -> list[tuple[str, str, int, bool]]:
    done = []
    for step in steps(AT, found):
        ((operation, address),) = step.operation.action.items()
        assert operation == "index"
        assert address["version_type"] == "external_gte"
        assert address["require_alias"] is True
        assert step.operation.source is not None
        deleted = json.loads(step.operation.source)["deleted"]
        assert deleted == step.buries
        done.append((address["_index"], address["_id"], address["version"], deleted))
    return done


def test_a_shorter_version_buries_the_passages_it_no_longer_has() -> None:
    found = change(settled(passages=3), written("a", "other"))
    assert addressed(found) == [
        ("wa-t-202603", "a#000000", 4, False),
        ("wa-t-202603", "a#000001", 4, True),
        ("wa-t-202603", "a#000002", 4, True),
    ]


def test_a_move_writes_the_new_month_before_it_buries_the_old_one() -> None:
    found = change(settled(month="202512", passages=2), written("a", "other"))
    assert addressed(found) == [
        ("wa-t-202603", "a#000000", 4, False),
        ("wa-t-202512", "a#000000", 4, True),
        ("wa-t-202512", "a#000001", 4, True),
    ]


def test_a_deletion_buries_every_passage_and_keeps_the_version() -> None:
    found = deletion(settled(7, passages=2), NOW_MS)
    assert (found.claim.newest, found.claim.settled) == (replace(settled(7).newest, deleted=True), settled(7).newest)
    assert addressed(found) == [("wa-t-202603", "a#000000", 15, True), ("wa-t-202603", "a#000001", 15, True)]
    assert found.places == ()


def test_a_tombstone_holds_neither_text_nor_vector() -> None:
    (step,) = steps(AT, deletion(settled(), NOW_MS))
    assert step.operation.source is not None
    assert set(json.loads(step.operation.source)) == {"tenant", "doc_id", "passage_id", "number", "version", "deleted"}


def test_a_tombstone_is_newer_than_what_it_buries_and_older_than_the_next_version() -> None:
    assert sequence(3) < sequence(3, deleted=True) < sequence(4)


def test_a_document_of_several_passages_keeps_its_text_once_and_each_passage_once() -> None:
    text = "First sentence. Second sentence."
    found = change(None, write_of(document("a", text, title="Title"), passages=[(0, 15), (16, 32)]))
    records = [json.loads(step.operation.source or b"") for step in steps(AT, found)]
    assert [record.get("document") for record in records] == [text, None]
    assert [record.get("passage") for record in records] == ["First sentence.", "Second sentence."]
    assert not any("text" in record for record in records)
    assert list(records[0]).index("title") < list(records[0]).index("document")


@pytest.mark.parametrize("doc_id", ["x" * 600, "ж" * 300, "sha256:" + "0" * 64])
def test_ids_beyond_the_limit_of_opensearch_are_hashed_and_hashes_cannot_be_forged(doc_id: str) -> None:
    assert record_key(doc_id) != doc_id
    assert len(record_key(doc_id).encode()) <= 512
    assert record_key(doc_id) != record_key(record_key(doc_id))


def test_ordinary_ids_stay_readable() -> None:
    assert record_key("t-1042/?#*,") == "t-1042/?#*,"
