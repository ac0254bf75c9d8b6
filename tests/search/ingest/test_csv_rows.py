"""CSV: one record is one row; what does not fit is named and takes nothing with it."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InvalidRequest
from search.ingest.csv_rows import CsvRows, delimiter_of
from search.ingest.rows import Row


def rows_in(text: str, delimiter: str = ",", limit: int = 1_000_000) -> list[Row]:
    return list(CsvRows(io.StringIO(text, newline=""), delimiter, limit))


def outline(text: str, delimiter: str = ",", limit: int = 1_000_000) -> list[object]:
    """Values of good rows, reasons of bad ones; checks the numbering."""
    rows = rows_in(text, delimiter, limit)
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    return [list(row.values.values()) if row.problem is None else row.problem.reason for row in rows]


def test_line_ends_inside_quotes_belong_to_the_field() -> None:
    assert outline('a,b\r\n"one\r\ntwo",3\r\n4,5\r\n') == [["one\r\ntwo", "3"], ["4", "5"]]


def test_a_row_with_another_number_of_fields_is_named_and_the_rest_kept() -> None:
    few, many = "has 1 fields where the header has 2", "has 3 fields where the header has 2"
    result = outline("a,b\n1,2\n3\n4,5,6\n7,8\n")
    assert result[0] == ["1", "2"]
    assert result[3] == ["7", "8"]
    assert str(result[1]).startswith(few)
    assert str(result[2]).startswith(many)


def test_a_quote_that_nothing_closes_loses_its_own_row_only() -> None:
    assert outline('a,b\n1,2\n3,"four\n5,6\n7,8\n') == [["1", "2"], "opens a quote that nothing closes", ["5", "6"], ["7", "8"]]


def test_two_stray_quotes_do_not_swallow_what_lies_between() -> None:
    result = outline('a,b\n1,"x\n2,y\n3,"z\n4,w\n')
    assert [result[1], result[3]] == [["2", "y"], ["4", "w"]]
    assert isinstance(result[0], str)
    assert isinstance(result[2], str)


def test_text_behind_a_closing_quote_is_named() -> None:
    assert outline('a,b\n"He said "hi" to me",2\n3,4\n') == [
        "has text behind a closing quote; a quote inside a quoted field is written twice",
        ["3", "4"],
    ]


def test_quotes_written_twice_and_inside_plain_fields_are_text() -> None:
    assert outline('a,b\n"He said ""hi""",5" tube\n') == [['He said "hi"', '5" tube']]


def test_space_before_a_quoted_field_is_no_part_of_it() -> None:
    assert outline('a, b\n1, "2, 3"\n') == [["1", "2, 3"]]


def test_blank_lines_are_no_rows() -> None:
    assert outline("\n\na,b\n\n1,2\n\n\n3,4") == [["1", "2"], ["3", "4"]]


def test_nul_bytes_do_not_end_the_row() -> None:
    assert outline("a,b\n1\x00,2\n3,4\n") == [["1\x00", "2"], ["3", "4"]]


def test_an_endless_line_is_rejected_without_being_kept() -> None:
    result = outline("a,b\n" + "x" * 50 + ",1\n3,4\n", limit=40)
    assert "longer than" in str(result[0])
    assert result[1] == ["3", "4"]


def test_an_endless_quoted_field_is_given_up_at_the_limit() -> None:
    text = 'a,b\n1,"two\n' + "3,4\n" * 100
    result = outline(text, limit=100)
    assert result[0] == "opens a quote that nothing closes"
    assert result[1:] == [["3", "4"]] * 100


def test_a_file_of_nothing_but_open_quotes_ends_in_time() -> None:
    line = 'a","""x\n'
    rows = rows_in("a,b\n" + line * 20_000, limit=10_000)
    assert len(rows) == 20_000
    assert all(row.problem for row in rows)


def test_a_field_larger_than_the_csv_module_likes_is_read() -> None:
    assert outline("a,b\n" + "z" * 500_000 + ",2\n") == [["z" * 500_000, "2"]]


def test_bytes_that_were_not_decodable_reject_their_row() -> None:
    result = outline("a,b\nx\udcff,2\n3,4\n")
    assert "--encoding" in str(result[0])
    assert result[1] == ["3", "4"]


def test_header_names_are_made_distinct_and_never_empty() -> None:
    rows = CsvRows(io.StringIO('\n"a ",a,,a_2\n1,2,3,4\n', newline=""), ",")
    assert rows.header.columns == ("a", "a_3", "column_3", "a_2")
    assert rows.header.warnings == ("header: 'a' is there more than once; column 2 is called 'a_3'",)


def test_the_line_that_announces_a_delimiter_is_no_header() -> None:
    text = "sep=;\na;b\n1;2\n"
    assert delimiter_of(text) == ";"
    assert outline(text, ";") == [["1", "2"]]


@pytest.mark.parametrize("text", ["", "\n\n", ",,,\n", '"'])
def test_a_file_without_a_header_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        rows_in(text)
    assert caught.value.field == "file"


def test_a_header_of_thousands_of_columns_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="columns"):
        rows_in(",".join(f"c{n}" for n in range(3_000)))


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("text,source\none,mail\n", ","),
        ("text;source\none, two, three;mail\n", ";"),
        ("text\tsource\none, two; three\tmail\n", "\t"),
        ("text|source\none|mail\n", "|"),
        ("text\none, two\n", ","),
        ('id,text\n1,"a;b;c"\n2,"d;e;f"\n', ","),
        ('id;text\n1;"a,b"\n2;"line\nbreak, and more"\n', ";"),
        ("", ","),
    ],
)
def test_the_delimiter_is_found(text: str, delimiter: str) -> None:
    assert delimiter_of(text, ("text", "source", "id")) == delimiter


CELL = st.text(alphabet=st.sampled_from('ab"\n,; \r'), max_size=8)


@given(st.lists(st.tuples(CELL, CELL), max_size=12))
def test_whatever_a_csv_writer_writes_is_read_back(cells: list[tuple[str, str]]) -> None:
    import csv

    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerows([("a", "b"), *cells])
    assert outline(written.getvalue()) == [list(row) for row in cells]


@given(st.text(alphabet=st.sampled_from('a"\n,\r\x00'), max_size=60))
def test_no_text_makes_the_reader_fail_or_skip_a_number(text: str) -> None:
    for row in outline("a,b\n" + text, limit=20):
        assert row
