"""What is masked at ingest is never stored, in any field, and what only looks like it stays."""

import json
import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.errors import InvalidRequest
from runtime.settings import read_settings
from search.documents import EVERYTHING
from search.engines.embedded import EmbeddedEngine
from search.ingest.files import ReadOptions, read_rows
from search.ingest.masking import MASK_KINDS, Masking
from search.ingest.parsing import Defaults
from search.ingest.pipeline import Ingester
from search.ingest.preview import preview
from search.ingest.rows import Row, rows_of
from tests.search.ingest.conftest import ACME

ALL = Masking(frozenset(MASK_KINDS))
MASKED = Defaults(masking=ALL)
SAMPLE = Path("api/sample/banking77.jsonl")

MAIL, IBAN, CARD, PHONE = "ana.lopez+shop@example.org", "DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111", "+33 6 12 34 56 78"


@pytest.mark.parametrize(
    ("written", "masked"),
    [
        ("mail ana@example.com, please", "mail [email], please"),
        ("请联系ana@example.com谢谢", "请联系[email]谢谢"),
        ("用户@例子.广告", "[email]"),
        ("अजय@डाटा.भारत", "[email]"),
        ("müller@käse.de.", "[email]."),
        ("/reset?email=ana%40example.org&b=1", "/reset?[email]&b=1"),
        ('"ana lopez"@example.org', "[email]"),
        ("ana@[192.168.0.1]", "[email]"),
        ("a@b.example@c.example", "[email]@c.example"),
        (f"to {IBAN} please", "to [iban] please"),
        ("gb82west12345698765432", "[iban]"),
        ("FR14 2004 1010 0505 0001 3M02 606.", "[iban]."),
        ("4111-1111-1111-1111 123", "[card] 123"),
        ("card 4111111111111111.", "card [card]."),
        ("3782 822463 10005", "[card]"),
        ("٤١١١ ١١١١ ١١١١ ١١١١", "[card]"),
        (f"{CARD} {CARD}", "[card] [card]"),
        (f"call {PHONE} now", "call [phone] now"),
        ("tel +1 (212) 555-1234", "tel [phone]"),
    ],
)
def test_what_is_found_is_replaced_by_its_kind(written: str, masked: str) -> None:
    assert ALL.text(written) == masked
    assert ALL.text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "lodash@4.17.21 and icon@2x.png, user@localhost, @ana, a @ b",
        "DE88 3704 0044 0532 0130 00",  # check digits do not hold
        "ZZ82 WEST 1234 5698 7654 32",  # no such country
        "4111111111111112 1234567890123456 0000000000000000",
        "order 41111111111111110000000, sku A4111111111111111, total 4111111111111111.50",
        "v2.3.1 of 2026-11-30 17:15:13, 30/11/2026, 20261130171513, 1764522913000",
        "1 234 567,89 EUR, $1,234.00, +5%, 06 12 34 56 78, order 2125551234, +12 points",
        "550e8400-e29b-41d4-a716-446655440000, 192.168.100.200, 978-3-16-148410-0",
    ],
)
def test_versions_dates_amounts_and_numbers_of_orders_stay(text: str) -> None:
    assert ALL.text(text) == text


def test_a_region_adds_the_numbers_people_write_there() -> None:
    us = replace(ALL, region="US")
    assert us.text("(212) 555-1234, call 2125551234") == "[phone], call [phone]"
    assert us.text("order 2125551234, #2125551234, 2125551234") == "order 2125551234, #2125551234, 2125551234"


def test_only_what_is_named_is_masked() -> None:
    assert Masking(frozenset({"card"})).text(f"{MAIL} {CARD}") == f"{MAIL} [card]"
    assert Masking.of(read_settings({}, mask="email"), "card").kinds == {"email", "card"}
    with pytest.raises(InvalidRequest) as caught:
        Masking.of(read_settings({}), "email,name")
    assert caught.value.field == "mask"


def test_nothing_of_the_sample_corpus_is_masked() -> None:
    counts: dict[str, int] = {}
    with read_rows(SAMPLE, ReadOptions()) as rows:
        found = preview(rows, replace(MASKED, masking=replace(ALL, region="US")))
        counts = dict(found.masked)
    assert (found.received, counts) == (2999, {})


def test_of_made_up_numbers_that_are_none_few_are_taken_for_cards_or_phones() -> None:
    chance, wrong, lines = random.Random(7), 0, 20_000
    for _ in range(lines):
        said = chance.choice(
            [
                f"order {chance.randrange(10**9, 10**12)} shipped",
                f"release v{chance.randrange(20)}.{chance.randrange(90)}.{chance.randrange(900)}",
                f"on {chance.randrange(2000, 2030)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02} at 1{chance.randrange(10)}:30",
                f"paid {chance.randrange(1, 999)},{chance.randrange(100, 999)}.{chance.randrange(10, 99)} EUR",
                f"ticket #{chance.randrange(10**6, 10**10)}, tracking 1Z{chance.randrange(10**14, 10**15)}",
                f"trace {chance.getrandbits(64):016x}",
            ]
        )
        wrong += ALL.text(said) != said
    assert wrong <= lines / 1_000


@pytest.mark.parametrize("unit", ["a", "1", "@", "a@", "+", '"', "."])
def test_five_megabytes_of_one_thing_are_read_through(unit: str) -> None:
    text = unit * (5_000_000 // len(unit))
    assert ALL.text(text) == text


def personal_row(**fields: object) -> dict[str, object]:
    return {
        "docId": f"msg-{MAIL}",
        "source": {"kind": "mail", "name": f"box of {MAIL}"},
        "text": f"I am {MAIL}, pay {IBAN} or {CARD}; ring {PHONE}.",
        "occurredAt": "2026-03-01T10:00:00Z",
        "title": f"From {MAIL}",
        "themeId": f"theme {PHONE}",
        "accountId": MAIL,
        "url": f"https://shop.example/?mail={MAIL.replace('@', '%40')}",
        "attributes": {"contact": MAIL, f"of {MAIL}": "x", "digits": 4111111111111111, "list": [PHONE, {"deep": IBAN}]},
        "column": f"{MAIL[:5]}\x00{MAIL[5:]}",
    } | fields


WORDS = ("ana.lopez", "example.org", "0532 0130", "4111", "12 34 56")


def test_no_field_of_a_document_keeps_it(engine: EmbeddedEngine, ingester: Ingester) -> None:
    report = ingester.ingest(ACME, rows_of([personal_row()]), defaults=MASKED)
    assert (report.indexed, dict(report.masked)) == (1, {"card": 2, "email": 9, "iban": 2, "phone": 3})
    (document,) = engine.documents(ACME, EVERYTHING).documents
    said = repr(document)
    assert not [word for word in WORDS if word in said]
    assert document.text == "I am [email], pay [iban] or [card]; ring [phone]."
    assert document.account_id is None
    assert document.doc_id.startswith("d-")
    assert any("account_id" in warning and "was left out" in warning for warning in report.warnings)
    with sqlite3.connect(engine.describe()["location"]) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    stored = b"".join(path.read_bytes() for path in Path(engine.describe()["location"]).parent.glob("*.db*"))
    assert not [word for word in WORDS if word.encode() in stored]


def test_a_derived_id_is_the_same_whoever_was_masked(engine: EmbeddedEngine, ingester: Ingester) -> None:
    rows = [personal_row(docId=None, text=f"write to {name}@example.org", column="") for name in ("ana", "bob")]
    report = ingester.ingest(ACME, rows_of(rows), defaults=MASKED)
    assert (report.indexed, report.duplicate) == (1, 1)


def test_reasons_of_rejections_do_not_repeat_it(ingester: Ingester) -> None:
    report = ingester.ingest(ACME, rows_of([personal_row(occurredAt=MAIL), personal_row(rating=f"call {PHONE}")]), defaults=MASKED)
    assert report.rejected == 2
    assert not [word for word in WORDS if word in repr(report)]


def test_a_dry_run_shows_what_would_be_masked() -> None:
    found = preview(rows_of([personal_row()]), MASKED)
    assert found.masked["email"] == 9
    assert not [word for word in WORDS if word in repr(found)]


def test_values_that_are_no_text_stay_as_they_are() -> None:
    values = {"rating": 4, "version": 4111111111111111, "flag": True, "nothing": None, "score": 1.5, "long": 10**30}
    assert ALL.row(Row(1, values)).row.values == values
    assert json.dumps(ALL.row(Row(1, {"attributes": '{"a": "ana\\u0040example.org"}'})).row.values) == '{"attributes": {"a": "[email]"}}'
