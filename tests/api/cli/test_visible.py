"""Document text never drives the terminal."""

import json

import pytest

from api.cli.visible import json_safe, one_line, visible


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("bell\x07", "bell␇"),
        ("back\x08\x08", "back␈␈"),
        ("over\rwritten", "over␍written"),
        ("delete\x7f", "delete␡"),
        ("one byte \x9b31m", "one byte \\x9b31m"),
        ("\u202eevil", "\\u202eevil"),
        ("half \ud83d", "half \ufffd"),
        ("nul\x00", "nul␀"),
    ],
)
def test_a_control_character_is_shown_not_obeyed(hostile: str, shown: str) -> None:
    assert visible(hostile) == shown


@pytest.mark.parametrize("text", ["日本語", "שלום", "👩‍💻 ok", "naïve\tcafé\nnext", "[bold]not markup[/bold]"])
def test_ordinary_text_of_any_script_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_windows_line_ends_are_line_ends() -> None:
    assert visible("a\r\nb") == "a\nb"


def test_a_cut_line_ends_in_an_ellipsis_and_keeps_its_limit() -> None:
    line = one_line("word " * 50, 20)
    assert line.endswith("…")
    assert len(line) <= 20


def test_escaped_json_means_the_same_and_holds_no_control_character() -> None:
    value = {"text": "\x1b[31m \x9b \u202e \u2028 日本語 👍"}
    encoded = json_safe(json.dumps(value, ensure_ascii=False))
    assert json.loads(encoded) == value
    assert not {"\x1b", "\x9b", "\u202e", "\u2028"} & set(encoded)
    assert "日本語 👍" in encoded
