"""Files and streams: what is found out about them, and what is said when it cannot be."""

import codecs
import gzip
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from runtime.errors import InvalidRequest
from search.ingest.date_order import ColumnOrder
from search.ingest.files import LOOK_AHEAD_ROWS, ReadOptions, read_rows
from search.ingest.rows import Row, RowSource

ROOT = Path(__file__).parents[3]
HEADER = "doc_id,text,source,date\n"


class Trickle(io.RawIOBase):
    """A stream that gives three bytes at a time, as a pipe may."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._left = content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        assert isinstance(buffer, memoryview | bytearray)
        piece, self._left = self._left[: min(3, len(buffer))], self._left[min(3, len(buffer)) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def read(self, size: int = -1, /) -> bytes:
        piece, self._left = self._left[: min(3, size) if size >= 0 else 3], self._left[min(3, size) if size >= 0 else 3 :]
        return piece


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(source: Path | BinaryIO, **options: object) -> tuple[RowSource, list[Row]]:
    with read_rows(source, ReadOptions(**options)) as found:  # type: ignore[arg-type]
        return found, list(found)


def values(rows: list[Row]) -> list[object]:
    return [dict(row.values) if row.problem is None else row.problem.reason for row in rows]


def test_a_spreadsheet_export_is_read_as_it_was_meant(tmp_path: Path) -> None:
    content = codecs.BOM_UTF8 + b'text;source;occurred_at;doc_id\r\n"Die Rechnung\nfehlt.";email;2026-10-02;GR-1\r\n'
    source, rows = read(written(tmp_path, "export.csv", content))
    assert values(rows) == [{"text": "Die Rechnung\nfehlt.", "source": "email", "occurred_at": "2026-10-02", "doc_id": "GR-1"}]
    assert source.mapping == {"doc_id": "doc_id", "source": "source", "text": "text", "occurred_at": "occurred_at"}
    assert source.warnings == []


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
@pytest.mark.parametrize("way", ["file", "packed file", "stream", "packed stream"])
def test_every_encoding_is_read_from_files_and_streams_packed_or_not(tmp_path: Path, codec: str, way: str) -> None:
    text = "text;source\nDie Rechnung für Müller fehlt – bitte erneut senden;email\n"
    content = gzip.compress(text.encode(codec)) if "packed" in way else text.encode(codec)
    given = written(tmp_path, "export.csv.gz" if "packed" in way else "export.csv", content) if "file" in way else Trickle(content)
    source, rows = read(given)  # type: ignore[arg-type]
    assert values(rows) == [{"text": "Die Rechnung für Müller fehlt – bitte erneut senden", "source": "email"}]
    assert bool(source.warnings) == (codec == "cp1252")


def test_a_named_encoding_is_not_guessed(tmp_path: Path) -> None:
    source, rows = read(written(tmp_path, "a.csv", "text\nSóhajtás ő\n".encode("cp1250")), encoding="cp1250")
    assert (values(rows), source.warnings) == ([{"text": "Sóhajtás ő"}], [])


def test_a_broken_line_in_utf8_is_rejected_alone(tmp_path: Path) -> None:
    content = b"\n".join([b"text", "Größe eins".encode(), "Größe zwei".encode("cp1252"), "Größe drei".encode()])
    _, rows = read(written(tmp_path, "a.csv", content))
    assert [row.problem is None for row in rows] == [True, False, True]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "one"}\n{"text": "two"}\n'),
        ("a.json", '[{"text": "one"}, {"text": "two"}]'),
        ("a.json", '{"text": "one"}\n{"text": "two"}\n'),
        ("a.json", '{\n "text": "one"\n}\n{\n "text": "two"\n}\n'),
        ("a", '{"text": "one"}\n{"text": "two"}\n'),
        ("a.txt", '\ufeff [{"text": "one"}, {"text": "two"}]'),
        ("a.csv", "text\none\ntwo\n"),
        ("a.tsv", "text\tb\none\t\ntwo\t\n"),
        ("a", "text\none\ntwo\n"),
        ("a.txt", "text|b\none|\ntwo|\n"),
    ],
)
def test_the_format_is_found(tmp_path: Path, name: str, content: str) -> None:
    _, rows = read(written(tmp_path, name, content))
    assert [row.values["text"] for row in rows] == ["one", "two"]


def test_json_lines_find_their_fields_by_the_same_names(tmp_path: Path) -> None:
    source, rows = read(written(tmp_path, "a.jsonl", '{"id": 1, "body": "one"}\n{"id": 2, "body": "two", "stars": 5}\nbroken\n'))
    assert source.mapping == {"doc_id": "id", "text": "body", "rating": "stars"}
    assert values(rows)[1] == {"doc_id": 2, "text": "two", "rating": 5}
    assert rows[2].number == 3
    assert rows[2].problem is not None


def test_a_mapping_is_applied_and_a_missing_column_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "Kommentar,Datum\nx,2026-01-01\n")
    _, rows = read(path, mapping={"text": "Kommentar", "occurred_at": "Datum"})
    assert values(rows) == [{"text": "x", "occurred_at": "2026-01-01"}]
    with pytest.raises(InvalidRequest, match="The columns are 'Kommentar', 'Datum'"):
        read(path, mapping={"text": "comment"})


def test_one_row_settles_day_and_month_for_the_whole_column(tmp_path: Path) -> None:
    dates = ["03/04/2026", "17/04/2026", "05/04/2026"]
    source, _ = read(written(tmp_path, "uk.csv", HEADER + "".join(f"D,x,s,{date}\n" for date in dates)))
    assert source.order == ColumnOrder("dmy")


def test_an_unsettled_column_stays_so_unless_it_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "unclear.csv", HEADER + "E,x,s,03/04/2026\nE,x,s,05/06/2026\n")
    assert read(path)[0].order.order is None
    assert read(path, date_order="mdy")[0].order == ColumnOrder("mdy")


def many_dates(last: str) -> str:
    return HEADER + "D,x,s,03/04/2026\n" * (LOOK_AHEAD_ROWS + 10) + f"D,x,s,{last}\n"


def test_a_telling_row_far_behind_settles_a_file_but_not_a_stream(tmp_path: Path) -> None:
    path = written(tmp_path, "uk.csv", many_dates("17/04/2026"))
    source, rows = read(path)
    assert source.order == ColumnOrder("dmy")
    assert len(rows) == LOOK_AHEAD_ROWS + 11
    assert read(io.BytesIO(path.read_bytes()))[0].order.order is None


def test_a_contradiction_far_behind_unsettles_a_file(tmp_path: Path) -> None:
    content = many_dates("04/17/2026").replace("03/04/2026", "17/04/2026", 1)
    source, _ = read(written(tmp_path, "mixed.csv", content))
    assert source.order.order is None
    assert f"row {LOOK_AHEAD_ROWS + 11}" in source.order.doubt


def test_a_packed_file_that_breaks_off_keeps_its_rows_and_says_so(tmp_path: Path) -> None:
    packed = gzip.compress(("text\n" + "".join(f"row {os.urandom(20).hex()}\n" for _ in range(10_000))).encode())
    _, rows = read(written(tmp_path, "a.csv.gz", packed[: len(packed) // 2]))
    assert len(rows) > 100
    assert all(row.problem is None for row in rows[:-2])
    assert rows[-1].problem is not None
    assert "breaks off here" in rows[-1].problem.reason
    assert rows[-1].number == len(rows)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xlsx", b"PK\x03\x04rest"),
        ("a.pdf", b"%PDF-1.7"),
        ("a.csv", b""),
        ("a.csv", b"\n\n"),
        ("a.csv.gz", b"\x1f\x8bbroken"),
        ("a.csv", b"a,b\n1,2\n"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00"),
    ],
)
def test_a_file_that_is_no_table_of_texts_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(written(tmp_path, name, content))
    assert caught.value.field in ("file", "map")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(InvalidRequest, match="cannot be read") as caught:
            read(path)
        assert caught.value.field == "file"


def test_an_empty_jsonl_file_has_no_rows(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a.jsonl", ""))[1] == []


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", " "])
def test_an_impossible_delimiter_is_refused(tmp_path: Path, delimiter: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(written(tmp_path, "a.csv", "text,b\n"), delimiter=delimiter)
    assert caught.value.field == "delimiter"


def test_a_given_delimiter_is_taken(tmp_path: Path) -> None:
    _, rows = read(written(tmp_path, "a.csv", "text^b\none, two^2\n"), delimiter="^")
    assert values(rows) == [{"text": "one, two", "b": "2"}]


def test_a_named_pipe_is_read_as_a_stream(tmp_path: Path) -> None:
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"text\none\n"))
    writer.start()
    _, rows = read(pipe)
    writer.join()
    assert values(rows) == [{"text": "one"}]


def test_the_given_stream_stays_open() -> None:
    stream = io.BytesIO(b"text\none\n")
    read(stream)
    assert not stream.closed


def test_the_share_that_was_read_grows_to_one(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "text\n" + "some words here\n" * 100_000)
    with read_rows(path) as source:
        shares = [source.share_read() for row in source if row.number % 10_000 == 0]
    known = [share for share in shares if share is not None]
    assert len(known) == 10
    assert known == sorted(known)
    assert known[-1] == 1.0


@pytest.mark.slow
def test_a_million_rows_with_three_bad_ones_stream_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "million.csv"
    with path.open("w") as file:
        file.write(HEADER)
        file.writelines(_million())
    read_all = (
        "import resource, sys, pathlib\n"
        "from search.ingest.files import read_rows\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "with read_rows(pathlib.Path(sys.argv[1])) as source:\n"
        "    for row in source:\n"
        "        row.problem and print(row.number)\n"
        "print(row.number, peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", read_all, str(path)], capture_output=True, text=True, check=True, cwd=ROOT)
    *bad, last = done.stdout.splitlines()
    number, grown_kib = map(int, last.split())
    assert bad == ["500000", "700000", "1000000"]
    assert number == 1_000_000
    assert grown_kib < 64 * 1024


def _million() -> Iterator[str]:
    bad = {500_000: "too,few\n", 700_000: '7,"open,email,2026-01-01\n', 1_000_000: "1,x,y,z,too many\n"}
    for number in range(1, 1_000_001):
        yield bad.get(number) or f"T-{number},The export of report {number} stopped,email,2026-01-01\n"
