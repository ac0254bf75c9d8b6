"""Which language a text is in, as far as a refusal needs to know."""

import pytest

from grounding.languages import language_name, language_of, main_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Can I get a virtual card?", "en"),
        ("Was anyone charged twice for the same invoice?", "en"),
        ("Does it work on a Mac?", "en"),
        ("El pedido llegó roto y nadie contesta al teléfono.", "es"),
        ("¿Llegó algún pedido roto?", "es"),
        ("Die Lieferung kam drei Tage zu spät.", "de"),
        ("Was kostet die Lieferung?", "de"),
        ("La commande est arrivée avec du retard et je ne suis pas content.", "fr"),
        ("返金がまだ届いていません。", "ja"),
        ("退款一直没有到账", "zh"),
        ("Заказ не пришёл", "ru"),
        ("refund", ""),
        ("ERR-4012", ""),
        ("", ""),
    ],
)
def test_the_language_is_told(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_stored_language_counts_before_the_guess() -> None:
    assert main_language([("de", "refund"), ("de-DE", "card"), (None, "Where is my card?")]) == "de"
    assert main_language([]) == ""


def test_a_language_has_a_name_and_a_code() -> None:
    assert language_name("es") == "Spanish (es)"
    assert language_name("xx") == "xx"
