"""What every engine must do: writing, versions, deletes, reading and filters. See :class:`search.ports.Engine`."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Document, Filters, Source, StoredVersion
from search.ports import Engine
from search.ranking import LegQuery
from tests.contracts.writes import DIMENSION, MODEL, NOON, document, unit_vector, write_of, written

Put = Callable[..., object]


def ids(engine: Engine, tenant: Tenant, filters: Filters = EVERYTHING, match: str | None = None) -> list[str]:
    page = engine.documents(tenant, filters, match=match, first=1000)
    assert page.total == len(page.documents)
    return [each.doc_id for each in page.documents]


def kinds(outcomes: object) -> list[tuple[str, int]]:
    return [(outcome.kind, outcome.version) for outcome in outcomes]  # type: ignore[attr-defined]


class TestWriting:
    def test_a_document_comes_back_as_it_was_written(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        made = Document(
            "t-1042/ä?#*,%",
            Source("review", "App Store", 0.75),
            "Zwei Zeilen\nund ein 👍🏽 mit café, שלום, 水泳.",
            datetime(2026, 3, 4, 9, 12, 30, 123000, tzinfo=UTC),
            "Title \u2028 & <b>",
            "billing",
            "a-77",
            2.5,
            "de",
            "https://example.test/?a=1&b=2",
            {"plan": "pro", "seats": 5, "ratio": 0.25, "trial": True},
            3,
        )
        put(write_of(made, version=3))
        assert engine.document(tenant, made.doc_id) == made
        assert engine.documents(tenant, EVERYTHING).documents == (made,)

    def test_fields_that_were_not_given_come_back_as_none(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        made = document("plain", "only text")
        put(write_of(made))
        assert engine.document(tenant, "plain") == made

    def test_a_word_that_two_passages_share_is_stored_and_forgotten_with_its_document(
        self, engine: Engine, tenant: Tenant, put: Put
    ) -> None:
        text = "stack " + "x" * 1_200
        put(write_of(document("cut", text), passages=[(0, 900), (900, len(text))]), write_of(document("whole", "stack " + "x" * 129)))
        put(write_of(document("cut", text + " again"), passages=[(0, 900), (900, len(text) + 6)]))
        engine.delete(tenant, ["cut"])
        assert ids(engine, tenant, match="stack " + "x" * 129) == ["whole"]

    def test_there_is_one_outcome_per_write_in_the_order_of_the_writes(self, engine: Engine, tenant: Tenant) -> None:
        outcomes = engine.write(tenant, [written("z", "one"), written("a", "two"), written("m", "three")])
        assert [outcome.doc_id for outcome in outcomes] == ["z", "a", "m"]
        assert kinds(outcomes) == [("indexed", 1)] * 3

    def test_no_writes_have_no_outcomes(self, engine: Engine, tenant: Tenant) -> None:
        assert engine.write(tenant, []) == ()

    def test_the_same_document_again_is_unchanged(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text"))
        assert kinds(put(written("a", "text"))) == [("unchanged", 1)]
        assert ids(engine, tenant) == ["a"]

    def test_other_content_without_a_version_is_one_version_newer(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text"))
        assert kinds(put(written("a", "other text"))) == [("updated", 2)]
        found = engine.document(tenant, "a")
        assert found is not None
        assert (found.text, found.version) == ("other text", 2)

    def test_a_higher_asked_version_replaces(self, put: Put) -> None:
        put(written("a", "text", version=3))
        assert kinds(put(written("a", "newer", version=7))) == [("updated", 7)]

    def test_an_older_version_never_overwrites_a_newer_one(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "newest", version=7))
        outcome = engine.write(tenant, [written("a", "late", version=6)])[0]
        assert (outcome.kind, outcome.version, outcome.field) == ("stale", 7, "version")
        assert outcome.reason
        engine.refresh(tenant)
        found = engine.document(tenant, "a")
        assert found is not None
        assert found.text == "newest"

    def test_the_same_version_with_other_content_is_rejected(self, put: Put) -> None:
        put(written("a", "text", version=3))
        assert kinds(put(written("a", "other", version=3))) == [("rejected", 3)]

    def test_the_same_version_with_the_same_content_is_unchanged(self, put: Put) -> None:
        put(written("a", "text", version=3))
        assert kinds(put(written("a", "text", version=3))) == [("unchanged", 3)]

    def test_a_refused_document_does_not_sink_the_others(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        broken = replace(written("b", "text"), vectors=np.full((1, DIMENSION), np.nan, dtype=np.float32))
        zero = replace(written("c", "text"), vectors=np.zeros((1, DIMENSION), dtype=np.float32))
        short = replace(written("d", "text"), vectors=np.ones((1, 3), dtype=np.float32))
        outcomes = put(written("a", "text"), broken, zero, short, written("e", "text"))
        assert [kind for kind, _ in kinds(outcomes)] == ["indexed", "rejected", "rejected", "rejected", "indexed"]
        assert all(outcome.reason for outcome in outcomes if outcome.kind == "rejected")  # type: ignore[attr-defined]
        assert ids(engine, tenant) == ["a", "e"]

    def test_more_than_a_thousand_writes_are_refused(self, engine: Engine, tenant: Tenant) -> None:
        with pytest.raises(InvalidRequest):
            engine.write(tenant, [written(f"d{number}", "text") for number in range(1001)])

    def test_two_writes_of_one_id_are_refused(self, engine: Engine, tenant: Tenant) -> None:
        with pytest.raises(InvalidRequest):
            engine.write(tenant, [written("a", "one"), written("a", "two")])

    def test_a_changed_instant_moves_the_document_across_months(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text about parcels", version=1, occurred_at=datetime(2026, 1, 31, 23, 59, 59, 999000, tzinfo=UTC)))
        moved = datetime(2026, 5, 1, tzinfo=UTC)
        put(written("a", "text about parcels", version=2, occurred_at=moved))
        assert ids(engine, tenant) == ["a"]
        assert engine.document(tenant, "a").occurred_at == moved  # type: ignore[union-attr]
        legs = engine.legs(tenant, LegQuery("parcels", unit_vector("text about parcels"), EVERYTHING))
        assert [hit.candidate.occurred_at for hit in legs.lexical] == [moved]
        assert [hit.candidate.occurred_at for hit in legs.vector] == [moved]
        assert engine.documents(tenant, Filters(before=datetime(2026, 2, 1, tzinfo=UTC))).total == 0
        assert kinds(put(written("a", "text about parcels", version=1, occurred_at=NOON))) == [("stale", 2)]

    def test_fewer_passages_than_before_leave_none_behind(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        long = document("a", "First sentence. Second sentence.")
        put(write_of(long, version=1, passages=[(0, 15), (16, 32)]))
        assert engine.corpus(tenant).passages == 2
        put(written("a", "First sentence.", version=2))
        assert engine.corpus(tenant).passages == 1
        legs = engine.legs(tenant, LegQuery("second sentence", unit_vector("x"), EVERYTHING))
        assert [hit.candidate.passage.text for hit in legs.lexical] == ["First sentence."]
        assert [hit.candidate.passage.text for hit in legs.vector] == ["First sentence."]


class TestStoredVersions:
    def test_ids_never_seen_are_absent(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text", version=4))
        assert set(engine.stored(tenant, ["a", "b"])) == {"a"}
        assert engine.stored(tenant, []) == {}

    def test_a_live_document_is_known_with_version_and_hash_before_any_refresh(self, engine: Engine, tenant: Tenant) -> None:
        write = written("a", "text", version=4)
        engine.write(tenant, [write])
        assert engine.stored(tenant, ["a"]) == {"a": StoredVersion(4, write.content_hash, deleted=False)}

    def test_a_deleted_document_keeps_version_and_hash(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        write = written("a", "text", version=4)
        put(write)
        engine.delete(tenant, ["a"])
        assert engine.stored(tenant, ["a"]) == {"a": StoredVersion(4, write.content_hash, deleted=True)}

    def test_more_than_a_thousand_ids_are_refused(self, engine: Engine, tenant: Tenant) -> None:
        with pytest.raises(InvalidRequest):
            engine.stored(tenant, [str(number) for number in range(1001)])


class TestDeleting:
    def test_a_deleted_document_is_gone_from_everything_at_once(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "lost my card", theme_id="cards"), written("b", "lost my parcel", theme_id="parcels"))
        assert engine.delete(tenant, ["a"]) == ("a",)
        legs = engine.legs(tenant, LegQuery("lost card", unit_vector("lost my card"), EVERYTHING))
        assert [hit.candidate.passage.doc_id for hit in legs.lexical] == ["b"]
        assert [hit.candidate.passage.doc_id for hit in legs.vector] == ["b"]
        assert legs.scope == 1
        assert engine.document(tenant, "a") is None
        assert ids(engine, tenant) == ["b"]
        assert engine.corpus(tenant).documents == 1
        assert engine.corpus(tenant).themes == 1
        assert engine.group_members(tenant, [written("a", "lost my card").group_key], EVERYTHING) == {}

    def test_only_ids_that_were_live_are_returned(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text"), written("b", "text"))
        assert engine.delete(tenant, ["b", "never", "a", "b"]) == ("b", "a")
        assert engine.delete(tenant, ["a", "b"]) == ()
        assert engine.delete(tenant, []) == ()

    def test_deleting_in_a_tenant_never_seen_deletes_nothing(self, engine: Engine, tenant: Tenant) -> None:
        assert engine.delete(tenant, ["a"]) == ()

    def test_a_late_replay_does_not_bring_a_document_back(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text", version=4))
        engine.delete(tenant, ["a"])
        for late in (written("a", "text", version=4), written("a", "older", version=3), written("a", "text")):
            assert kinds(put(late)) == [("deleted_earlier", 4)]
        assert ids(engine, tenant) == []

    def test_a_late_replay_from_another_month_does_not_bring_it_back_either(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text", version=4, day=90))
        engine.delete(tenant, ["a"])
        assert kinds(put(written("a", "text", version=3, day=0))) == [("deleted_earlier", 4)]
        assert engine.document(tenant, "a") is None

    def test_a_higher_version_brings_a_document_back(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text", version=4))
        engine.delete(tenant, ["a"])
        assert kinds(put(written("a", "text again", version=5))) == [("indexed", 5)]
        assert ids(engine, tenant) == ["a"]
        assert engine.stored(tenant, ["a"])["a"].deleted is False

    def test_without_versions_other_content_brings_a_document_back(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text"))
        engine.delete(tenant, ["a"])
        assert kinds(put(written("a", "other text"))) == [("indexed", 2)]

    def test_a_document_brought_back_can_be_deleted_again(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text", version=1))
        engine.delete(tenant, ["a"])
        put(written("a", "text", version=2))
        assert engine.delete(tenant, ["a"]) == ("a",)
        assert kinds(put(written("a", "text", version=2))) == [("deleted_earlier", 2)]

    def test_deleted_documents_leave_the_word_statistics(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "rare word"), written("b", "common"), written("c", "common"), written("d", "common"))
        engine.delete(tenant, ["b", "c", "d"])
        legs = engine.legs(tenant, LegQuery("common", None, EVERYTHING))
        assert legs.lexical == ()


class TestErasing:
    def test_erasing_counts_live_documents_and_forgets_tombstones(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text"), written("b", "text", day=60), written("c", "text"))
        engine.delete(tenant, ["c"])
        assert engine.erase(tenant) == 2
        assert engine.stored(tenant, ["a", "b", "c"]) == {}
        assert ids(engine, tenant) == []
        assert engine.corpus(tenant).documents == 0

    def test_an_erased_tenant_starts_anew(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "text", version=9))
        before = engine.generation(tenant)
        engine.erase(tenant)
        assert kinds(put(written("a", "text", version=2))) == [("indexed", 2)]
        assert ids(engine, tenant) == ["a"]
        assert engine.generation(tenant) != before

    def test_erasing_a_tenant_never_seen_counts_nothing(self, engine: Engine, tenant: Tenant) -> None:
        assert engine.erase(tenant) == 0


class TestTenants:
    def test_the_same_ids_in_two_tenants_are_two_documents(self, engine: Engine, tenant: Tenant, other_tenant: Tenant) -> None:
        engine.write(tenant, [written("a", "mine about cards", theme_id="cards")])
        engine.write(other_tenant, [written("a", "theirs about cards", theme_id="cards")])
        for each in (tenant, other_tenant):
            engine.refresh(each)
        assert engine.document(tenant, "a").text == "mine about cards"  # type: ignore[union-attr]
        assert engine.document(other_tenant, "a").text == "theirs about cards"  # type: ignore[union-attr]
        legs = engine.legs(tenant, LegQuery("theirs cards", unit_vector("theirs about cards"), EVERYTHING))
        assert {hit.candidate.passage.text for hit in (*legs.lexical, *legs.vector)} == {"mine about cards"}
        assert engine.corpus(tenant).documents == 1

    def test_deleting_and_erasing_touch_one_tenant(self, engine: Engine, tenant: Tenant, other_tenant: Tenant) -> None:
        for each in (tenant, other_tenant):
            engine.write(each, [written("a", "text"), written("b", "text")])
            engine.refresh(each)
        engine.delete(tenant, ["a"])
        engine.erase(tenant)
        assert ids(engine, other_tenant) == ["a", "b"]

    def test_generations_of_another_tenant_stand_still(self, engine: Engine, tenant: Tenant, other_tenant: Tenant) -> None:
        engine.write(other_tenant, [written("a", "text")])
        before = engine.generation(other_tenant)
        engine.write(tenant, [written("a", "text")])
        assert engine.generation(other_tenant) == before


class TestFilters:
    @pytest.fixture
    def corpus(self, put: Put) -> None:
        put(
            written("a", "one", day=0, source="ticket", theme_id="cards", account_id="x", rating=1, attributes={"plan": "pro", "seats": 5}),
            written(
                "b", "two", day=1, source="review", theme_id="cards", account_id="y", rating=3, attributes={"plan": "free", "beta": True}
            ),
            written("c", "three", day=40, source="ticket", theme_id="parcels", account_id="x", rating=5, attributes={"plan": "pro"}),
            written("d", "four", day=70, source="chat"),
            write_of(replace(document("e", "five", day=80), source=Source("review", "App Store"))),
        )

    @pytest.mark.usefixtures("corpus")
    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            (EVERYTHING, "abcde"),
            (Filters(since=NOON), "abcde"),
            (Filters(since=NOON + timedelta(milliseconds=1)), "bcde"),
            (Filters(before=NOON), ""),
            (Filters(before=NOON + timedelta(milliseconds=1)), "a"),
            (Filters(since=NOON + timedelta(days=1), before=NOON + timedelta(days=70)), "bc"),
            (Filters(since=NOON + timedelta(microseconds=-1), before=NOON + timedelta(microseconds=1)), "a"),
            (Filters(sources=("ticket",)), "ac"),
            (Filters(sources=("ticket", "chat")), "acd"),
            (Filters(sources=("review",)), "be"),
            (Filters(sources=("App Store",)), "e"),
            (Filters(sources=("app store",)), ""),
            (Filters(theme_ids=("cards",)), "ab"),
            (Filters(theme_ids=("cards", "parcels", "unknown")), "abc"),
            (Filters(account_ids=("x",)), "ac"),
            (Filters(doc_ids=("a", "d", "unknown")), "ad"),
            (Filters(rating_min=3), "bc"),
            (Filters(rating_max=3), "ab"),
            (Filters(rating_min=2, rating_max=4), "b"),
            (Filters(rating_min=-1e9, rating_max=1e9), "abc"),
            (Filters(attributes=(("plan", "pro"),)), "ac"),
            (Filters(attributes=(("seats", 5),)), "a"),
            (Filters(attributes=(("seats", "5"),)), "a"),
            (Filters(attributes=(("seats", 5.0),)), "a"),
            (Filters(attributes=(("beta", True),)), "b"),
            (Filters(attributes=(("beta", "true"),)), "b"),
            (Filters(attributes=(("plan", "pro"), ("seats", 5))), "a"),
            (Filters(attributes=(("plan", "PRO"),)), ""),
            (Filters(attributes=(("seats", "pro"),)), ""),
            (Filters(theme_ids=("cards",), account_ids=("x",), sources=("ticket",)), "a"),
            (Filters(theme_ids=("unknown",)), ""),
        ],
    )
    def test_only_what_passes_every_filter_is_listed_searched_and_counted(
        self, engine: Engine, tenant: Tenant, filters: Filters, expected: str
    ) -> None:
        assert sorted(ids(engine, tenant, filters)) == sorted(expected)
        legs = engine.legs(tenant, LegQuery("one two three four five", unit_vector("q"), filters))
        assert legs.scope == len(expected)
        assert sorted(hit.candidate.passage.doc_id for hit in legs.lexical) == sorted(expected)
        assert sorted(hit.candidate.passage.doc_id for hit in legs.vector) == sorted(expected)

    def test_a_filter_on_a_tenant_never_seen_matches_nothing(self, engine: Engine, tenant: Tenant) -> None:
        legs = engine.legs(tenant, LegQuery("anything", unit_vector("q"), Filters(theme_ids=("x",))))
        assert (legs.lexical, legs.vector, legs.scope) == ((), (), 0)
        assert ids(engine, tenant) == []


class TestMatch:
    @pytest.fixture
    def corpus(self, put: Put) -> None:
        put(
            written("a", "The card payment was declined twice."),
            written("b", "Payment by card: declined!"),
            written("c", "My payment went through.", title="Card payments"),
            written("d", "Bank of America is closed"),
            write_of(document("e", "Declined again. The card payment failed."), passages=[(0, 15), (16, 40)]),
        )

    @pytest.mark.usefixtures("corpus")
    @pytest.mark.parametrize(
        ("match", "expected"),
        [
            (None, "abcde"),
            ("", "abcde"),
            ("the of and", "abcde"),
            ("how many", "abcde"),
            ("payment", "abce"),
            ("payments declined", "abe"),
            ("why was my card declined", "abe"),
            ('"card payment"', "ace"),
            ("“card payment” declined", "ae"),
            ('"payment card"', ""),
            ('"bank of america"', "d"),
            ('"bank america"', ""),
            ('"declined"', "abe"),
            ("unheard", ""),
            ("payment unheard", ""),
            ('"', "abcde"),
            ('card "', "abce"),
        ],
    )
    def test_a_match_wants_every_content_word_and_every_phrase(
        self, engine: Engine, tenant: Tenant, match: str | None, expected: str
    ) -> None:
        assert "".join(sorted(ids(engine, tenant, match=match))) == expected


class TestListing:
    def test_documents_come_newest_first_then_by_id(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(
            written("b", "x", day=1),
            written("a", "x", day=1),
            written("c", "x", day=40),
            written("d", "x", day=0),
            written("B", "x", day=1),
        )
        assert ids(engine, tenant) == ["c", "B", "a", "b", "d"]

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
    def test_pages_follow_each_other_without_gap_or_repeat(self, engine: Engine, tenant: Tenant, put: Put, size: int) -> None:
        put(*[written(f"d{number}", f"text {number}", day=number // 3 * 20) for number in range(7)])
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = engine.documents(tenant, EVERYTHING, first=size, after=cursor)
            assert page.total == 7
            seen += [each.doc_id for each in page.documents]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == ["d6", "d3", "d4", "d5", "d0", "d1", "d2"]

    def test_a_cursor_keeps_its_place_when_documents_come_and_go(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(*[written(f"d{number}", "text", day=number) for number in range(6)])
        page = engine.documents(tenant, EVERYTHING, first=2)
        engine.delete(tenant, ["d4"])
        put(written("new", "text", day=50))
        following = engine.documents(tenant, EVERYTHING, first=2, after=page.cursor)
        assert [each.doc_id for each in following.documents] == ["d3", "d2"]

    @pytest.mark.parametrize("cursor", ["", "nonsense", "%%%", "e30=", "WzEsMl0=", "bnVsbA==", "ä", "\ud83d"])
    def test_an_unreadable_cursor_is_refused(self, engine: Engine, tenant: Tenant, put: Put, cursor: str) -> None:
        put(written("a", "text"))
        with pytest.raises(InvalidRequest) as refused:
            engine.documents(tenant, EVERYTHING, after=cursor)
        assert refused.value.field == "after"

    @pytest.mark.parametrize("first", [0, -1, 1001])
    def test_a_page_holds_one_to_a_thousand(self, engine: Engine, tenant: Tenant, first: int) -> None:
        with pytest.raises(InvalidRequest) as refused:
            engine.documents(tenant, EVERYTHING, first=first)
        assert refused.value.field == "first"

    def test_no_document_is_none(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        assert engine.document(tenant, "a") is None
        put(written("b", "text"))
        assert engine.document(tenant, "a") is None


class TestCorpus:
    def test_a_tenant_never_seen_is_all_zeros(self, engine: Engine, tenant: Tenant) -> None:
        corpus = engine.corpus(tenant)
        assert (corpus.documents, corpus.passages, corpus.groups, corpus.themes, corpus.without_theme, corpus.generation) == (0,) * 6
        assert (corpus.first_occurred_at, corpus.last_occurred_at, dict(corpus.sources)) == (None, None, {})
        assert (corpus.model, corpus.dimension) == (MODEL, DIMENSION)

    def test_counts_are_exact(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(
            written("a", "Same text!", day=0, theme_id="t1"),
            written("b", "same text", day=5, theme_id="t2", source="review"),
            written("c", "Other text", day=70, theme_id="t1"),
            write_of(document("d", "One here. Two here.", day=40), passages=[(0, 9), (10, 19)]),
        )
        corpus = engine.corpus(tenant)
        assert (corpus.documents, corpus.passages, corpus.groups) == (4, 5, 3)
        assert (corpus.first_occurred_at, corpus.last_occurred_at) == (NOON, NOON + timedelta(days=70))
        assert dict(corpus.sources) == {"ticket": 3, "review": 1}
        assert (corpus.themes, corpus.without_theme) == (2, 1)
        assert corpus.generation == engine.generation(tenant)

    def test_every_write_and_delete_changes_the_generation(self, engine: Engine, tenant: Tenant) -> None:
        seen = [engine.generation(tenant)]
        steps: list[Callable[[], object]] = [
            lambda: engine.write(tenant, [written("a", "text")]),
            lambda: engine.write(tenant, [written("a", "other")]),
            lambda: engine.write(tenant, [written("b", "text")]),
            lambda: engine.delete(tenant, ["a"]),
        ]
        for step in steps:
            step()
            engine.refresh(tenant)
            seen.append(engine.generation(tenant))
        assert len(set(seen)) == len(seen)
        assert seen == sorted(seen)

    def test_an_engine_says_what_it_is(self, engine: Engine) -> None:
        described = engine.describe()
        assert {"engine", "version", "location", "model", "dimension"} <= described.keys()
        assert (described["model"], described["dimension"]) == (MODEL, str(DIMENSION))


class TestGroups:
    def test_members_are_counted_under_the_filters_with_the_first_ids(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(
            written("c", "Card declined!", theme_id="x"),
            written("a", "card declined", theme_id="x", day=70),
            written("b", "CARD, declined", theme_id="y"),
            written("d", "other"),
        )
        same, lone = written("a", "card declined").group_key, written("d", "other").group_key
        members = engine.group_members(tenant, [same, lone, "0" * 32], EVERYTHING, first=2)
        assert {key: (each.count, each.doc_ids) for key, each in members.items()} == {same: (3, ("a", "b")), lone: (1, ("d",))}
        members = engine.group_members(tenant, [same, lone], Filters(theme_ids=("x",)))
        assert {key: (each.count, each.doc_ids) for key, each in members.items()} == {same: (2, ("a", "c"))}

    def test_no_keys_have_no_members(self, engine: Engine, tenant: Tenant) -> None:
        assert engine.group_members(tenant, [], EVERYTHING) == {}
