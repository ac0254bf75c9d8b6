"""Moving a store: everything arrives as it was, whichever engine, and whenever it was interrupted."""

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.errors import Conflict, InvalidRequest, NotFound
from runtime.settings import Settings
from runtime.tenancy import HOUSE, tenant_named
from search.moving.opening import open_end, refuse_same
from tests.contracts.writes import written
from tests.search.moving.places import ACME, CLOCK, OTHER, Known, fill, holdings, moving, place

LIVE = pytest.mark.live("opensearch")
WAYS = (
    ("embedded", "embedded"),
    pytest.param(("embedded", "opensearch"), marks=LIVE),
    pytest.param(("opensearch", "embedded"), marks=LIVE),
    pytest.param(("opensearch-pool", "opensearch"), marks=LIVE),
    pytest.param(("embedded", "opensearch-pool"), marks=LIVE),
)


@pytest.fixture
def ends(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Settings, Settings]]:
    """A filled source and a target that is not there yet."""
    kinds: tuple[str, str] = getattr(request, "param", ("embedded", "embedded"))
    url = request.getfixturevalue("opensearch_url") if kinds != ("embedded", "embedded") else ""
    with place(kinds[0], tmp_path, url) as source, place(kinds[1], tmp_path, url) as target:
        fill(source)
        yield source, target


@pytest.mark.parametrize("ends", WAYS, indirect=True)
def test_everything_arrives_as_it_was(ends: tuple[Settings, Settings]) -> None:
    before = holdings(ends[0])
    with moving(*ends) as migration:
        report = migration.run()
    assert report.verified, [line for line in report.compared if not line.same]
    assert (report.vectors, report.copied.documents, report.copied.tombstones, report.copied.refused) == ("carried", 20, 2, [])
    assert holdings(ends[1]) == before
    months = [(line.part, line.source, line.target) for line in report.compared if line.tenant == ACME]
    assert months[:3] == [("2026-01", 4, 4), ("2026-02", 4, 4), ("2026-03", 2, 2)]
    assert holdings(ends[0]) == before


@pytest.mark.parametrize("ends", WAYS, indirect=True)
def test_a_second_run_writes_nothing_and_a_later_one_catches_up(ends: tuple[Settings, Settings]) -> None:
    with moving(*ends) as migration:
        migration.run()
    with moving(*ends) as migration:
        assert migration.run().copied.documents == 0
    with open_end(ends[0], Known(), CLOCK) as end:
        end.engine.write(ACME, [written("new", "Said a third time", version=8), written("late", "Came late")])
        end.engine.delete(ACME, ["acme-1-0"])  # type: ignore[attr-defined]
        end.engine.refresh(ACME)
        end.state.put(ACME, "monitor", "m", {"at": 3}, expected=2)
    with moving(*ends) as migration:
        report = migration.run()
    assert (report.copied.documents, report.copied.tombstones, report.copied.entries) == (2, 1, 1)
    assert report.verified, [line for line in report.compared if not line.same]
    assert holdings(ends[1]) == holdings(ends[0])


def test_the_file_that_is_moved_from_is_not_touched(ends: tuple[Settings, Settings]) -> None:
    path = Path(ends[0].engine_url.removeprefix("sqlite:///"))
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with moving(*ends) as migration:
        migration.run()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


@pytest.mark.parametrize("ends", [("embedded", "embedded"), pytest.param(("opensearch", "opensearch"), marks=LIVE)], indirect=True)
def test_another_model_embeds_every_passage_and_the_rest_stays(ends: tuple[Settings, Settings]) -> None:
    embedder = Known("other-model")
    with moving(*ends, embedder) as migration:
        report = migration.run()
    assert report.verified
    assert report.vectors == "embedded anew with other-model"
    assert "Two halves\nFirst half of it." in embedder.texts
    ours, theirs = holdings(ends[0])[ACME]["documents"], holdings(ends[1])[ACME]["documents"]  # type: ignore[index]
    assert [each[:4] for each in ours] == [each[:4] for each in theirs]
    assert all(one[4] != other[4] for one, other in zip(ours, theirs, strict=True))
    embedder.texts.clear()
    with moving(*ends, embedder) as migration:
        migration.run()
    assert embedder.texts == []


def test_interrupted_at_any_call_it_ends_the_same_when_run_again(
    ends: tuple[Settings, Settings], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = holdings(ends[0])

    class Died(BaseException):
        pass

    for at in itertools.count():
        with place("embedded", tmp_path) as target:
            finished = _interrupted(ends[0], target, at, Died)
            with moving(ends[0], target) as migration:
                assert migration.run().verified
            assert holdings(target) == wanted
        if finished:
            assert at > 10
            return


def _interrupted(source: Settings, target: Settings, at: int, died: type[BaseException]) -> bool:
    """Let the ``at``-th write be the last; True when there were fewer."""
    left = iter(range(at))
    with moving(source, target) as migration:
        for thing, names in ((migration.target.engine, ("write", "bury")), (migration.target.state, ("adopt", "put"))):
            for name in names:
                setattr(thing, name, _until(getattr(thing, name), left, died))
        try:
            migration.run()
        except died:
            return False
    return True


def _until(call, left, died):  # type: ignore[no-untyped-def]
    def one(*args, **options):  # type: ignore[no-untyped-def]
        if next(left, None) is None:
            raise died
        return call(*args, **options)

    return one


def test_one_tenant_is_moved_with_its_keys_and_nothing_of_others(ends: tuple[Settings, Settings]) -> None:
    with moving(*ends, tenants=(ACME,)) as migration:
        assert migration.run().verified
    there, whole = holdings(ends[1]), holdings(ends[0])
    assert there.keys() == {ACME, HOUSE}
    assert there[ACME] == whole[ACME]
    assert [entry.entry_id for entry in there[HOUSE]["entries"]] == ["key-acme"]  # type: ignore[index]
    with moving(*ends, tenants=(tenant_named("nobody"),)) as migration, pytest.raises(NotFound):
        migration.run()


def test_a_target_with_documents_of_its_own_is_refused_unless_merged(ends: tuple[Settings, Settings]) -> None:
    with open_end(ends[1], Known(), CLOCK) as end:
        end.engine.write(ACME, [written("new", "Newer here", version=9), written("own", "Only here"), written("long", "Older here")])
    before = holdings(ends[1])
    with moving(*ends) as migration, pytest.raises(Conflict, match="--merge"):
        migration.run()
    assert holdings(ends[1]) == before
    with moving(*ends, merge=True) as migration:
        report = migration.run()
    texts = {each[0].doc_id: each[0].text for each in holdings(ends[1])[ACME]["documents"]}  # type: ignore[index]
    assert (texts["new"], texts["own"], texts["acme-1-0"]) == ("Newer here", "Only here", "Late card 0 of acme")
    assert sum(line.kept for line in report.compared if line.tenant == ACME) == 3
    assert report.verified, [line for line in report.compared if not line.same]


def test_what_became_newer_in_the_target_stops_a_later_run(ends: tuple[Settings, Settings]) -> None:
    with moving(*ends) as migration:
        migration.run()
    with open_end(ends[1], Known(), CLOCK) as end:
        end.engine.write(OTHER, [written("new", "Newer here", version=9)])
    with moving(*ends) as migration, pytest.raises(Conflict, match="new of acme-2"):
        migration.run()


def test_a_difference_is_found_by_hash_where_counts_agree(ends: tuple[Settings, Settings]) -> None:
    with moving(*ends) as migration:
        migration.run()
    with open_end(ends[1], Known(), CLOCK) as end:
        end.engine._store._writer.execute("UPDATE documents SET text = 'Falsified' WHERE doc_id = 'acme-2-1'")  # type: ignore[attr-defined]
    with moving(*ends) as migration:
        report = migration.run()
    assert not report.verified
    (line,) = [line for line in report.compared if not line.same]
    assert (line.tenant, line.part, line.source, line.target) == (ACME, "2026-02", 4, 4)


def test_a_store_is_not_moved_into_itself_and_a_missing_one_is_named(ends: tuple[Settings, Settings]) -> None:
    with pytest.raises(InvalidRequest):
        refuse_same(ends[0], ends[0])
    with pytest.raises(NotFound), moving(ends[1], ends[0]):
        pass
