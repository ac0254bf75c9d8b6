"""Encodings: UTF-8 if it can be, UTF-16 if it says so, else a guess that is named."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InvalidRequest
from search.ingest.encodings import BLOCK_BYTES, BROKEN, MARK_BROKEN, detected_encoding, named_encoding

GERMAN = "text;source\nDie Rechnung für Müller fehlt – bitte erneut senden. Größe 5 €;email\n" * 3


@pytest.mark.parametrize(
    ("content", "codec"),
    [
        (b"", "utf-8"),
        (b"text\nplain", "utf-8"),
        (GERMAN.encode(), "utf-8"),
        (codecs.BOM_UTF8 + GERMAN.encode(), "utf-8-sig"),
        (GERMAN.encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "utf-16"),
        (GERMAN.encode("utf-16-le"), "utf-16-le"),
        (GERMAN.encode("utf-16-be"), "utf-16-be"),
        (GERMAN.encode("utf-32"), "utf-32"),
    ],
)
def test_unicode_is_recognised_without_a_warning(content: bytes, codec: str) -> None:
    encoding = detected_encoding([content])
    assert (encoding.codec, encoding.warning) == (codec, "")
    assert content.decode(encoding.codec).lstrip("\ufeff") == content.decode(codec).lstrip("\ufeff")


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (GERMAN, "cp1252"),
        ("text\ncafé\n", "cp1252"),
        ("L'été dernier, j'ai payé 5 € à la boutique, ça a coûté trop cher\n", "cp1252"),
        ("Приложение не открывается после обновления\n" * 3, "cp1251"),
        ("アプリが開かない。更新後に動かない\n" * 3, "cp932"),
        ("返金してください。配送がとても遅いです。\n", "cp932"),
        ("Товар пришёл сломанным\n", "koi8_r"),
        ("Przesyłka dotarła uszkodzona\n", "cp1250"),
        ("应用程序打不开，更新以后就坏了\n" * 3, "gb18030"),
    ],
)
def test_other_encodings_are_guessed_and_the_guess_is_named(text: str, codec: str) -> None:
    encoding = detected_encoding([text.encode(codec)])
    assert text.encode(codec).decode(encoding.codec) == text
    assert encoding.codec in encoding.warning
    assert "--encoding" in encoding.warning


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Верните деньги\n", "koi8_r"),
        ("太慢了\n", "gb18030"),
        ("המוצר שבור\n", "cp1255"),
        ("返金\n", "cp932"),
        ("deszcz i słońce\n", "cp1250"),
    ],
)
def test_a_guess_from_little_text_names_what_fits_as_well(text: str, codec: str) -> None:
    encoding = detected_encoding([b"id,text\n" + text.encode(codec)])
    assert codec in encoding.warning
    assert "--encoding" in encoding.warning
    assert "weak guess" in encoding.warning or encoding.codec == codec


def test_a_guess_that_the_language_supports_names_no_others() -> None:
    warning = detected_encoding([("Очень плохо, доставка опоздала на неделю\n" * 2).encode("koi8_r")]).warning
    assert warning == "encoding: the file is not UTF-8; read as koi8_r, which is a guess; say it with --encoding if that is wrong"


def test_a_fault_far_behind_is_found() -> None:
    blocks = [b"plain text\n" * 100_000, GERMAN.encode("cp1252")]
    assert detected_encoding(blocks).codec == "cp1252"


def test_some_broken_lines_do_not_turn_the_others_into_nonsense() -> None:
    lines = ["Größe".encode()] * 5 + ["Größe".encode("cp1252")]
    encoding = detected_encoding([b"\n".join(lines)])
    assert (encoding.codec, encoding.warning) == ("utf-8", "")


def test_a_character_cut_by_a_block_is_no_fault() -> None:
    content = ("x" + "ü" * BLOCK_BYTES * 2).encode()
    blocks = [content[at : at + BLOCK_BYTES] for at in range(0, len(content), BLOCK_BYTES)]
    assert detected_encoding(blocks).codec == "utf-8"


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=30)), st.integers(1, 7))
def test_all_utf8_is_utf8_however_it_is_cut(lines: list[str], size: int) -> None:
    content = b"x" + "\n".join(lines).encode().replace(b"\x00", b"")
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    assert detected_encoding(blocks).codec == "utf-8"


def test_a_named_encoding_is_taken_by_any_of_its_names() -> None:
    assert named_encoding("Latin-1").codec == "iso8859-1"
    assert named_encoding("UTF8").codec == "utf-8-sig"


@pytest.mark.parametrize("name", ["", "klingon", "base64", "rot13", "x" * 10_000, "a\x00b", "../utf-8", "hex"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        named_encoding(name)
    assert caught.value.field == "encoding"


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "cp1252", "shift_jis", "ascii"])
def test_broken_bytes_are_marked_in_every_encoding(codec: str) -> None:
    assert BROKEN in b"\x81\xff\xfe\x81\x00\xd8\x00\x00\x9d".decode(codec, MARK_BROKEN)
