from fractions import Fraction

import pytest

from grounding.quantities import code_key, codes, number_readings, quantities


def read(text: str) -> list[tuple[set[str], str]]:
    return [({str(value) for value in quantity.values}, quantity.unit) for quantity in quantities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("took 21 days", [({"21"}, "day")]),
        ("called twice", [({"2"}, "time")]),
        ("called three times", [({"3"}, "time")]),
        ("twenty-one days", [({"21"}, "day")]),
        ("one hundred and five users", [({"105"}, "")]),
        ("a dozen eggs and half a dozen rolls", [({"12"}, ""), ({"6"}, "")]),
        ("nine days", [({"9"}, "day")]),
        ("1.234,50 EUR", [({"2469/2"}, "eur")]),
        ("1,234.50 dollars", [({"2469/2"}, "usd")]),
        ("1 234,50 €", [({"2469/2"}, "eur")]),
        ("€4.90", [({"49/10"}, "eur")]),
        ("EUR 49", [({"49"}, "eur")]),
        ("Charged 4,90 Euro", [({"49/10"}, "eur")]),
        ("up 18 percent", [({"18"}, "percent")]),
        ("up 18%", [({"18"}, "percent")]),
        ("£3.2k", [({"3200"}, "gbp")]),
        ("5GB of data", [({"5"}, "gb")]),
        ("a 24-hour wait", [({"24"}, "hour")]),
        ("waited ½ hour", [({"1/2"}, "hour")]),
        ("3 stars", [({"3"}, "star")]),
        ("the 3rd time", [({"3"}, "ordinal")]),
        ("this one is fine, no one else", []),
        ("on 3 September at 6 am", []),
        ("in 2024", []),
    ],
)
def test_numbers_are_read_with_their_units(text: str, expected: list[tuple[set[str], str]]) -> None:
    assert read(text) == expected


def test_one_separator_before_three_digits_can_be_read_two_ways() -> None:
    assert number_readings("1.234") == {Fraction(1234), Fraction("1.234")}
    assert number_readings("1,234.50") == {Fraction("1234.5")}
    assert number_readings("4.90") == {Fraction("4.9")}


def borne_out(claim: str, said: str) -> bool:
    (claimed,), stated = quantities(claim), quantities(said)
    return any(claimed.borne_out_by(quantity) for quantity in stated)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("took three weeks", "took 21 days"),
        ("took 48 hours", "took two days"),
        ("took one year", "took 12 months"),
        ("cost 4.90 euros", "Charged 4.90 EUR"),
        ("cost $5", "paid five dollars"),
        ("more than 20 days", "21 days"),
        ("less than 30 minutes", "it took 25 minutes"),
        ("about nine days", "nine days"),
        ("called twice", "2 calls"),
        ("waited a week", "waited one week"),
        ("took 21", "took 21 days"),
    ],
)
def test_a_quantity_is_borne_out_by_an_equal_one_however_written(claim: str, said: str) -> None:
    assert borne_out(claim, said)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("took 12 days", "took 21 days"),
        ("took 21 hours", "took 21 days"),
        ("cost 49 EUR", "cost 4.90 EUR"),
        ("cost 5 EUR", "cost 5 USD"),
        ("took one month", "took 30 days"),
        ("called three times", "called twice"),
        ("three refunds", "three days"),
        ("more than 21 days", "21 days"),
        ("took 5 days", "took 3 to 5 days"),
        ("took 20 days", "took more than 20 days"),
        ("18 percent", "18 pounds"),
    ],
)
def test_a_quantity_is_not_borne_out_by_another_value_or_unit(claim: str, said: str) -> None:
    assert not borne_out(claim, said)


def test_identifiers_are_opaque() -> None:
    found = [code.key for code in codes("SAVE20 ERR-4012 ERR_4012 v2.3.1 10.15.7 #1042 B2B me@x.com")]
    assert found == ["save20", "err4012", "err4012", "v231", "10157", "1042", "b2b", "me@x.com"]


@pytest.mark.parametrize("text", ["5GB", "10am", "3rd", "20-year-old", "EUR 49", "80s", "21 days", "2x"])
def test_a_number_with_its_unit_is_no_identifier(text: str) -> None:
    assert codes(text) == ()


def test_spellings_of_one_code_are_equal() -> None:
    assert code_key("ERR 4012") == code_key("err-4012") == code_key("ERR_4012") != code_key("ERR-4021")


def test_a_wall_of_digits_is_read_quickly() -> None:
    assert quantities("1" * 100_000) == ()
    assert len(quantities("1,234 " * 5_000)) == 5_000
