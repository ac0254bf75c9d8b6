"""What goes wrong with a store file, and what is said about it."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from runtime.clock import SystemClock
from runtime.errors import Misconfigured, ServiceError, Unavailable
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Document, DocumentWrite, Passage, Source
from search.engines.embedded import EmbeddedEngine
from search.engines.sqlite_errors import service_error
from search.engines.sqlite_store import SqliteStore
from search.ranking import BucketQuery, LegQuery
from tests.contracts.writes import DIMENSION, MODEL, NOON, unit_vector, write_of, written

ROOT = Path(__file__).parents[3]
TENANT = Tenant("acme")


def opened(path: Path, model: str = MODEL, dimension: int = DIMENSION) -> EmbeddedEngine:
    return EmbeddedEngine(SqliteStore(path, model=model, dimension=dimension, busy_timeout_s=0.05), SystemClock())


def refusal(path: Path, model: str = MODEL, dimension: int = DIMENSION) -> str:
    with pytest.raises(Misconfigured) as refused:
        opened(path, model, dimension)
    return str(refused.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with some documents, closed."""
    path = tmp_path / "store.db"
    engine = opened(path)
    engine.write(TENANT, [written(f"d{number}", f"text number {number} " * 20) for number in range(100)])
    engine.close()
    return path


@pytest.fixture
def engine(path: Path) -> Iterator[EmbeddedEngine]:
    engine = opened(path)
    yield engine
    engine.close()


class TestOpening:
    def test_a_store_is_made_with_its_folder(self, tmp_path: Path) -> None:
        engine = opened(tmp_path / "new" / "folder" / "store.db")
        assert engine.corpus(TENANT).documents == 0
        engine.close()

    def test_a_store_opens_again_with_everything_in_it(self, engine: EmbeddedEngine) -> None:
        assert engine.corpus(TENANT).documents == 100

    def test_an_empty_file_becomes_a_store(self, tmp_path: Path) -> None:
        (tmp_path / "store.db").touch()
        opened(tmp_path / "store.db").close()

    def test_a_file_whose_first_writer_died_before_the_first_commit_becomes_a_store(self, tmp_path: Path) -> None:
        connection = sqlite3.connect(tmp_path / "store.db")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
        engine = opened(tmp_path / "store.db")
        engine.write(TENANT, [written("a", "text")])
        engine.close()

    @pytest.mark.parametrize("content", [b"doc_id,text\n1,hello\n", b"x", b"SQLite format 2\x00", b"\x00" * 5000])
    def test_another_kind_of_file_is_refused_and_left_alone(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "store.db"
        path.write_bytes(content)
        message = refusal(path)
        assert str(path) in message
        assert "WA_ENGINE_URL" in message
        assert path.read_bytes() == content

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
    def test_a_pipe_in_the_place_of_the_file_is_refused_without_waiting_for_its_writer(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "store.db")
        assert "cannot be opened for writing" in refusal(tmp_path / "store.db")

    def test_a_database_of_another_program_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "other.db"
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE meta (name, value)")
        connection.commit()
        connection.close()
        before = path.read_bytes()
        assert "another program" in refusal(path)
        assert path.read_bytes() == before

    @pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.99])
    def test_a_file_cut_short_is_refused(self, path: Path, share: float) -> None:
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        message = refusal(path)
        assert str(path) in message
        assert "backup" in message

    def test_a_store_of_another_release_is_refused(self, path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        assert "another release" in refusal(path)

    def test_another_model_is_refused_with_both_names_and_the_way_out(self, path: Path) -> None:
        message = refusal(path, model="other-model", dimension=32)
        for part in (MODEL, "other-model", str(DIMENSION), "32", "WA_EMBEDDER", "WA_ENGINE_URL", "ingest again"):
            assert part in message

    def test_another_dimension_alone_is_refused(self, path: Path) -> None:
        assert "32" in refusal(path, dimension=32)

    def test_a_folder_in_the_place_of_the_file_is_refused(self, tmp_path: Path) -> None:
        assert str(tmp_path) in refusal(tmp_path)

    def test_a_file_in_the_place_of_the_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        assert "folder" in refusal(tmp_path / "file" / "store.db")

    def test_a_folder_that_may_not_be_written_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            (Path(folder) / "locked").mkdir(mode=0o555)
            script = _OPEN + "import os; os.geteuid() or os.setuid(65534)\nrun(lambda engine: None)"
            assert "cannot be opened for writing" in _ran(script, Path(folder) / "locked" / "store.db")

    def test_opening_waits_for_no_writer(self, path: Path) -> None:
        writer = opened(path)
        with writer._store.writing():
            other = opened(path)
            assert other.corpus(TENANT).documents == 100
            other.close()
        writer.close()


class TestRunning:
    def test_a_full_disk_is_unavailable_and_loses_nothing_acknowledged(self, engine: EmbeddedEngine) -> None:
        writer = engine._store._writer
        pages = writer.execute("PRAGMA page_count").fetchone()[0]
        writer.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(Unavailable, match="disk is full") as refused:
            engine.write(TENANT, [written(f"new{number}", f"much text {number} " * 200) for number in range(50)])
        assert refused.value.dependency == "store"
        assert engine.corpus(TENANT).documents == 100
        writer.execute("PRAGMA max_page_count = 1000000")
        assert engine.write(TENANT, [written("new", "text")])[0].kind == "indexed"
        assert engine.corpus(TENANT).documents == 101

    def test_a_file_that_may_not_grow_is_unavailable(self, path: Path) -> None:
        assert "Unavailable" in _ran(_OPEN + _GROW, path)
        engine = opened(path)
        assert engine.corpus(TENANT).documents >= 100
        engine.close()

    def test_a_store_locked_by_another_process_is_unavailable_and_still_readable(self, path: Path, engine: EmbeddedEngine) -> None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            engine.write(TENANT, [written("new", "text")])
        with pytest.raises(Unavailable, match="locked"):
            engine.state.put(TENANT, "trace", "a", {})
        assert engine.corpus(TENANT).documents == 100
        other.execute("ROLLBACK")
        other.close()
        assert engine.write(TENANT, [written("new", "text")])[0].kind == "indexed"

    @pytest.mark.parametrize(
        "read",
        [
            lambda engine: engine.corpus(TENANT),
            lambda engine: engine.legs(TENANT, LegQuery("text", unit_vector("q"), EVERYTHING)),
            lambda engine: engine.aggregate(TENANT, BucketQuery("theme", EVERYTHING, match='"text number"')),
        ],
    )
    def test_pages_overwritten_by_something_else_are_named_when_they_are_read(
        self, path: Path, read: Callable[[EmbeddedEngine], object]
    ) -> None:
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096 * 4)
            file.write(b"\xff" * (size - 4096 * 4))
        with pytest.raises(Misconfigured) as refused:  # noqa: PT012 (opening may notice it already)
            engine = opened(path)
            try:
                read(engine)
            finally:
                engine.close()
        assert str(path) in str(refused.value)

    def test_a_closed_engine_is_unavailable(self, path: Path) -> None:
        engine = opened(path)
        engine.corpus(TENANT)
        engine.close()
        for call in (
            lambda: engine.corpus(TENANT),
            lambda: engine.write(TENANT, [written("a", "text")]),
            engine.describe,
            lambda: engine.state.get(TENANT, "trace", "a"),
        ):
            with pytest.raises(Unavailable, match="closed"):
                call()

    def test_closing_twice_is_harmless(self, path: Path) -> None:
        engine = opened(path)
        engine.close()
        engine.close()

    def test_half_a_surrogate_pair_is_refused_by_field(self, engine: EmbeddedEngine) -> None:
        outcomes = engine.write(
            TENANT,
            [
                written("a", "fine"),
                written("b", "half \ud83d"),
                written("c", "text", title="\ude00"),
                written("d", "text", attributes={"plan": "\ud83d"}),
                written("\ud83d", "text"),
            ],
        )
        assert [(outcome.kind, outcome.field) for outcome in outcomes] == [
            ("indexed", ""),
            ("rejected", "text"),
            ("rejected", "title"),
            ("rejected", "attributes.plan"),
            ("rejected", "doc_id"),
        ]
        assert engine.document(TENANT, "\ud83d") is None
        assert engine.stored(TENANT, ["\ud83d"]) == {}
        assert engine.delete(TENANT, ["\ud83d"]) == ()

    @pytest.mark.parametrize(
        ("broken", "field"),
        [
            (written("a", "text", occurred_at=datetime(2026, 1, 1)), "occurred_at"),  # noqa: DTZ001 (the fault itself)
            (written("a", "text", rating=float("nan")), "rating"),
            (written("a", "text", rating=float("inf")), "rating"),
            (write_of(Document("a", Source("x", weight=float("nan")), "text", NOON)), "source"),
            (replace(written("a", "text"), passages=(Passage("a#000000", "a", 0, 0, 4, "tent"),)), "text"),
            (replace(written("a", "text"), passages=(Passage("a#000007", "a", 7, 0, 4, "text"),)), "text"),
            (replace(written("a", "text"), vectors=np.full((1, DIMENSION), 7.0, np.float32)), "text"),
        ],
    )
    def test_what_cannot_be_stored_is_refused_by_field_beside_others(
        self, engine: EmbeddedEngine, broken: DocumentWrite, field: str
    ) -> None:
        outcomes = engine.write(TENANT, [broken, written("z", "text")])
        assert [(outcome.kind, outcome.field) for outcome in outcomes] == [("rejected", field), ("indexed", "")]
        assert outcomes[0].reason

    def test_vectors_of_double_precision_are_kept_in_single(self, path: Path, engine: EmbeddedEngine) -> None:
        wide = replace(written("a", "wide"), vectors=written("a", "wide").vectors.astype(np.float64))  # type: ignore[arg-type]
        engine.write(TENANT, [wide])
        other = opened(path)
        assert other.legs(TENANT, LegQuery("", unit_vector("wide"), EVERYTHING, 1)).vector[0].score == pytest.approx(1.0)
        other.close()

    def test_control_characters_come_back_as_they_were(self, engine: EmbeddedEngine) -> None:
        text = "nul \x00 bell \x07 line \x0b end"
        engine.write(TENANT, [written("a", text)])
        assert engine.document(TENANT, "a").text == text  # type: ignore[union-attr]
        assert engine.legs(TENANT, LegQuery("bell", None, EVERYTHING)).lexical[0].candidate.passage.text == text


class TestForgetting:
    def test_no_byte_of_a_deleted_document_stays_in_the_files(self, path: Path) -> None:
        engine = opened(path)
        secret = written("secret-doc", "Xylophonist Zebediah owes 1234567", title="Quagmire", vector=unit_vector("secret"))
        engine.write(TENANT, [secret])
        vector = np.asarray(secret.vectors[0]).tobytes()
        assert _anywhere(path, b"Zebediah", b"Quagmire", b"zebediah", vector) == {b"Zebediah", b"Quagmire", b"zebediah", vector}
        engine.delete(TENANT, ["secret-doc"])
        assert _anywhere(path, b"Zebediah", b"Quagmire", b"zebediah", vector) == set()
        assert engine.stored(TENANT, ["secret-doc"])["secret-doc"].deleted
        engine.close()

    def test_no_byte_of_an_erased_tenant_stays_in_the_files(self, path: Path) -> None:
        engine = opened(path)
        gone = Tenant("gone")
        engine.write(gone, [written("secret-doc", "Xylophonist Zebediah"), written("tomb-doc", "text")])
        engine.delete(gone, ["tomb-doc"])
        engine.erase(gone)
        assert _anywhere(path, b"Zebediah", b"zebediah", b"secret-doc", b"tomb-doc") == set()
        assert engine.corpus(TENANT).documents == 100
        engine.close()

    def test_a_delete_does_not_wait_for_readers_or_writers_of_the_file(self, path: Path, engine: EmbeddedEngine) -> None:
        reader, writer = (sqlite3.connect(path, isolation_level=None) for _ in range(2))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        assert engine.delete(TENANT, ["d1"]) == ("d1",)
        writer.execute("BEGIN IMMEDIATE")
        engine._store.forget_log()
        for connection in (reader, writer):
            connection.close()
        assert engine.write(TENANT, [written("after", "text")])[0].kind == "indexed"


class TestTranslation:
    @pytest.mark.parametrize(
        ("code", "kind", "words"),
        [
            (sqlite3.SQLITE_FULL, Unavailable, "disk is full"),
            (sqlite3.SQLITE_BUSY, Unavailable, "locked"),
            (sqlite3.SQLITE_BUSY | (2 << 8), Unavailable, "locked"),
            (sqlite3.SQLITE_LOCKED, Unavailable, "locked"),
            (sqlite3.SQLITE_IOERR | (3 << 8), Unavailable, "check the disk"),
            (sqlite3.SQLITE_NOMEM, Unavailable, "memory"),
            (sqlite3.SQLITE_CORRUPT, Misconfigured, "backup"),
            (sqlite3.SQLITE_NOTADB, Misconfigured, "backup"),
            (sqlite3.SQLITE_CANTOPEN, Misconfigured, "folder"),
            (sqlite3.SQLITE_READONLY | (8 << 8), Misconfigured, "writable"),
        ],
    )
    def test_every_code_says_what_to_do_next(self, code: int, kind: type[ServiceError], words: str) -> None:
        error = sqlite3.OperationalError("from the driver")
        error.sqlite_errorcode = code
        meaning = service_error(error, Path("store.db"))
        assert type(meaning) is kind
        assert words in str(meaning)
        assert "store.db" in str(meaning)

    @pytest.mark.parametrize("kind", [sqlite3.Error, *sqlite3.Error.__subclasses__(), *sqlite3.DatabaseError.__subclasses__()])
    def test_every_class_of_the_driver_is_either_ours_or_a_defect(self, kind: type[sqlite3.Error]) -> None:
        """Without a code of the server's, only a closed connection is not a defect of our own."""
        meaning = service_error(kind("Cannot operate on a closed database."), Path("store.db"))
        assert isinstance(meaning, Unavailable) == issubclass(kind, sqlite3.ProgrammingError)


_OPEN = """
import sys
from pathlib import Path
from runtime.clock import SystemClock
from runtime.errors import ServiceError
from search.engines.embedded import open_embedded
from tests.contracts.writes import DIMENSION, MODEL, written
path = Path(sys.argv[1])
def run(work):
    try:
        with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
            work(engine)
    except ServiceError as error:
        print(type(error).__name__, error)
"""
_GROW = """
import resource
limit = sum(file.stat().st_size for file in path.parent.glob("store.db*")) + 20_000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
run(lambda engine: [engine.write("acme", [written(f"n{i}-{j}", f"much text {i} {j} " * 100) for j in range(50)]) for i in range(20)])
"""


def _ran(script: str, path: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", script, str(path)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def _anywhere(path: Path, *needles: bytes) -> set[bytes]:
    content = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
    return {needle for needle in needles if needle in content}
