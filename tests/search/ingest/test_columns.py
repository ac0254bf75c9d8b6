"""Which column feeds which field, and what is said about it."""

import pytest

from runtime.errors import InvalidRequest
from search.ingest.columns import choose


def test_fields_are_found_by_their_own_names_however_they_are_spelt() -> None:
    chosen = choose(["Doc ID", "Text", "occurredAt", "theme-id"], {}, complete=True)
    assert chosen.mapping == {"doc_id": "Doc ID", "text": "Text", "occurred_at": "occurredAt", "theme_id": "theme-id"}


def test_well_known_names_are_taken_when_nothing_else_is() -> None:
    chosen = choose(["id", "review", "created_at", "stars", "plan"], {}, complete=True)
    assert chosen.mapping == {"text": "review", "occurred_at": "created_at", "doc_id": "id", "rating": "stars"}
    assert chosen.warnings == ()
    assert chosen.apply({"id": "1", "review": "x", "created_at": "y", "stars": "5", "plan": "pro"}) == {
        "doc_id": "1",
        "text": "x",
        "occurred_at": "y",
        "rating": "5",
        "plan": "pro",
    }


def test_a_choice_between_two_columns_is_said() -> None:
    chosen = choose(["body", "message"], {}, complete=True)
    assert chosen.mapping["text"] == "body"
    assert chosen.warnings == ("text: taken from column 'body', not from 'message'; say so with --map text=COLUMN if that is wrong",)


def test_the_own_name_wins_without_a_word() -> None:
    chosen = choose(["body", "text"], {}, complete=True)
    assert (chosen.mapping["text"], chosen.warnings) == ("text", ())


def test_what_is_told_wins_and_the_displaced_column_becomes_an_attribute() -> None:
    chosen = choose(["text", "review_body"], {"text": "review_body"}, complete=True)
    assert chosen.apply({"text": "short", "review_body": "long"}) == {"column text": "short", "text": "long"}


def test_one_column_may_feed_two_fields() -> None:
    chosen = choose(["review", "when"], {"text": "review", "title": "review", "occurredAt": "when"}, complete=True)
    assert chosen.apply({"review": "r", "when": "w"}) == {"text": "r", "title": "r", "occurred_at": "w"}


def test_rows_that_spell_a_field_in_two_ways_keep_both() -> None:
    chosen = choose(["docId", "doc_id", "text"], {}, complete=False)
    assert chosen.apply({"doc_id": "a", "text": "x"}) == {"doc_id": "a", "text": "x"}
    assert chosen.apply({"docId": "b", "text": "y"}) == {"doc_id": "b", "text": "y"}


def test_a_mapped_column_that_is_missing_names_those_there_are() -> None:
    with pytest.raises(InvalidRequest, match=r"there is no column 'datum'. The columns are 'text', 'date'") as caught:
        choose(["text", "date"], {"occurred_at": "datum"}, complete=True)
    assert caught.value.field == "map"


def test_an_unknown_field_names_the_fields() -> None:
    with pytest.raises(InvalidRequest, match=r"no field of a document; the fields are doc_id, source, text"):
        choose(["text"], {"body": "text"}, complete=True)


def test_a_table_without_text_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidRequest, match=r"--map text=COLUMN. The columns are 'a', 'b'"):
        choose(["a", "b"], {}, complete=True)
    assert choose(["a", "b"], {}, complete=False).mapping == {}


def test_of_many_columns_some_are_named() -> None:
    with pytest.raises(InvalidRequest, match=r"and 60 more"):
        choose([f"c{n}" for n in range(100)], {}, complete=True)
