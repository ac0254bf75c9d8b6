"""A job from its first row to its report, on every store."""

import random
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.clock import SettableClock
from runtime.errors import InvalidRequest, NotFound
from runtime.tenancy import tenant_named
from search.ingest.records import KIND, REJECTIONS
from search.ingest.report import IngestReport
from search.ingest.rows import RowSource, rows_of
from tests.search.ingest.conftest import ticket
from tests.worker.jobs.bench import CHUNK_ROWS, Bench, counted

MIXED = """id,text,date,channel,stars
m-1,The invoice was charged twice,2026-03-04,email,2
m-2,,2026-03-04,email,2
m-3,The invoice was late,2026-13-04,email,1
m-1,The invoice was charged twice,2026-03-04,email,2
m-4,Café très bien 👍,2026-03-05 10:00,email,five
m-5,"broken "quote,2026-03-05,email,5
m-6,Good,2026-03-06,email,5
m-1,The invoice was charged twice and refunded,2026-03-04,email,3
"""


def mixed(folder: Path, copies: int = 3) -> Path:
    """A CSV of several chunks with every kind of row."""
    header, *rows = MIXED.splitlines(keepends=True)
    extra = "".join(f"x-{n},Message number {n},2026-04-01,web,3\n" for n in range(CHUNK_ROWS * 2))
    path = folder / "mixed.csv"
    path.write_text(header + "".join(rows) + extra + "".join(rows) * (copies - 1), encoding="utf-8")
    return path


def same(report: IngestReport, foreground: IngestReport) -> None:
    """Everything of a report that does not tell one run from another."""
    for name in ("received", "indexed", "unchanged", "updated", "duplicate", "rejected", "corpus_size"):
        assert getattr(report, name) == getattr(foreground, name), name
    assert report.rejections == foreground.rejections
    assert report.warnings == foreground.warnings
    assert dict(report.mapping) == dict(foreground.mapping)
    assert report.attribute_fields == foreground.attribute_fields


def test_a_job_reports_what_a_foreground_ingest_of_the_same_file_reports(both: Bench, tmp_path: Path) -> None:
    path = mixed(tmp_path)
    foreground = both.foreground(path, tenant_named("f" + both.tenant))
    job = both.hand_in_file(path)
    assert (job.state, job.complete, job.handed_in, job.received) == ("queued", True, foreground.received, 0)
    both.finish()
    done = both.job(job)
    assert (done.state, done.received, done.handed_in) == ("done", foreground.received, foreground.received)
    assert foreground.duplicate
    assert foreground.rejected
    assert foreground.updated
    same(both.report(job), foreground)
    again, foreground_again = both.hand_in_file(path), both.foreground(path, tenant_named("f" + both.tenant))
    both.finish()
    same(both.report(again), foreground_again)


def test_a_job_leaves_no_rows_behind(both: Bench) -> None:
    job = both.hand_in([ticket(f"t-{n}", f"text {n}") for n in range(25)])
    assert both.state.entries(both.tenant, "ingest_chunk", first=10)[0]
    both.finish()
    for kind in ("ingest_chunk", "ingest_intent"):
        assert both.state.entries(both.tenant, kind, first=10) == ((), None)
    assert both.job(job).tidied


def test_every_rejected_row_comes_with_the_row_as_it_was_read(both: Bench) -> None:
    rows = [ticket(f"t-{n}", "", rating=n) if n % 3 == 0 else ticket(f"t-{n}", f"text {n}", mood="odd") for n in range(25)]
    job = both.hand_in(rows)
    both.finish()
    rejected = list(both.jobs.rejected(both.tenant, job.job_id))
    assert [(each.rejection.row, each.rejection.field) for each in rejected] == [(n + 1, "text") for n in range(25) if n % 3 == 0]
    assert [dict(each.original or {}) for each in rejected] == [rows[n] for n in range(25) if n % 3 == 0]


def test_a_row_only_the_store_refuses_is_rejected_with_its_document_and_so_is_its_repetition(both: Bench) -> None:
    both.ingester.ingest(both.tenant, _rows(ticket("t-1", "first words", version=3)))
    others = [ticket(f"o-{n}", f"text {n}") for n in range(CHUNK_ROWS * 2)]
    job = both.hand_in([ticket("t-1", "other words", version=3), *others, ticket("t-1", "other words", version=3), others[0]])
    both.finish()
    assert counted(both.report(job)) == {"received": 23, "indexed": 20, "duplicate": 1, "rejected": 2}
    first, second = both.jobs.rejected(both.tenant, job.job_id)
    assert (first.rejection.field, second.rejection.row) == ("version", 22)
    assert first.original is not None
    assert first.original["text"] == "other words"


def test_older_versions_and_deleted_documents_are_named_as_in_the_foreground(desk: Bench, tmp_path: Path) -> None:
    other = tenant_named("f" + desk.tenant)
    for tenant in (desk.tenant, other):
        desk.ingester.ingest(tenant, _rows(*(ticket(f"t-{n}", "old", version=2) for n in range(25))))
        desk.engine.delete(tenant, ["t-3", "t-14"])
    rows = [ticket(f"t-{n}", "older", version=1) for n in range(25)]
    foreground = desk.ingester.ingest(other, _rows(*rows))
    job = desk.hand_in(rows)
    desk.finish()
    same(desk.report(job), foreground)


def test_a_row_longer_than_an_entry_of_the_state_store_is_kept_and_stored(both: Bench) -> None:
    text = "".join(chr(0x4E00 + (n * 7919) % 20_000) for n in range(200_000)) + " end"
    job = both.hand_in([ticket("long", text[:199_000]), ticket("short", "short")])
    both.finish()
    assert counted(both.report(job)) == {"received": 2, "indexed": 2}
    found = both.engine.document(both.tenant, "long")
    assert found is not None
    assert found.text == text[:199_000]


def test_rejected_rows_and_columns_of_any_size_fit_into_the_state_store(desk: Bench) -> None:
    desk.settings = desk.settings.model_copy(update={"job_chunk_rows": 1000})
    desk.__post_init__()
    noise = random.Random(7)
    rows = [ticket(f"t-{n}", "", note="".join(chr(noise.randrange(0x4E00, 0x9FA0)) for _ in range(32_000))) for n in range(30)]
    wide = [ticket(f"w-{n}", "fine", **{f"{chr(0x4E00 + n) * 190}{k}": "x" for k in range(50)}) for n in range(20)]
    job = desk.hand_in([*rows, *wide, ticket("x", "", note="n" * 100_001)])
    desk.finish()
    assert counted(desk.report(job)) == {"received": 51, "indexed": 20, "rejected": 31}
    originals = [each.original for each in desk.jobs.rejected(desk.tenant, job.job_id)]
    assert originals == [*rows, None]
    assert len(desk.job(job).attribute_fields) == 1000


def test_half_characters_and_what_json_does_not_know_cost_a_row_and_not_the_job(both: Bench) -> None:
    job = both.hand_in([ticket("a", "half \ud83d here"), ticket("b", "x", rating=float("inf")), ticket("c", "fine")])
    both.finish()
    assert counted(both.report(job)) == {"received": 3, "indexed": 2, "rejected": 1}
    assert [each.original for each in both.jobs.rejected(both.tenant, job.job_id)] == [None]


def test_a_tenant_never_sees_anothers_job(both: Bench) -> None:
    job = both.hand_in([ticket()])
    other = tenant_named("o" + both.tenant)
    texts = set()
    for job_id in (job.job_id, "job-never-there"):
        for call in (both.jobs.get, both.jobs.cancel, both.jobs.retry, both.jobs.rejected):
            with pytest.raises(NotFound) as refused:
                call(other, job_id)  # type: ignore[operator]
            texts.add(str(refused.value))
    assert len(texts) == 1
    assert both.jobs.list(other).jobs == ()
    assert [each.job_id for each in both.jobs.list(both.tenant).jobs] == [job.job_id]


def test_jobs_are_listed_newest_first_by_state_and_paged(desk: Bench) -> None:
    made = [desk.hand_in([ticket(f"t-{n}")]).job_id for n in range(3)]
    desk.jobs.cancel(desk.tenant, made[1])
    assert {job.job_id for job in desk.jobs.list(desk.tenant).jobs} == set(made)
    assert [job.job_id for job in desk.jobs.list(desk.tenant, state="cancelled").jobs] == [made[1]]
    page = desk.jobs.list(desk.tenant, first=2)
    assert len(page.jobs) == 2
    assert len(desk.jobs.list(desk.tenant, first=2, after=page.cursor).jobs) == 1
    with pytest.raises(InvalidRequest) as refused:
        desk.jobs.list(desk.tenant, state="asleep")
    assert refused.value.field == "state"


def test_progress_tells_rows_rate_and_time_left(desk: Bench, clock: SettableClock) -> None:
    job = desk.hand_in([ticket(f"t-{n}", f"text {n}") for n in range(40)])
    for _ in range(3):
        desk.duty.do(next(iter(desk.duty.due(clock.now()))))
        clock.instant += timedelta(seconds=10)
    now = desk.job(job)
    assert (now.state, now.received, now.indexed, now.handed_in) == ("running", 30, 30, 40)
    assert now.rate == 1.5
    assert now.remaining == pytest.approx(10 / 1.5)


def test_a_header_without_rows_is_a_job_that_is_done(both: Bench, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("id,text,date,source\n")
    job = both.hand_in_file(path)
    both.finish()
    assert both.job(job).state == "done"
    same(both.report(job), both.foreground(path, both.tenant))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"PK\x03\x04zip", b"a,b\n1,2\n"])
def test_an_input_that_cannot_be_read_makes_no_job_and_fails_as_in_the_foreground(desk: Bench, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidRequest) as foreground:
        desk.foreground(path, desk.tenant)
    with pytest.raises(InvalidRequest) as refused:
        desk.hand_in_file(path)
    assert (refused.value.field, refused.value.reason) == (foreground.value.field, foreground.value.reason)
    assert desk.jobs.list(desk.tenant).jobs == ()


@pytest.mark.parametrize(
    "content",
    [
        "id,text,date,source\n1,naïve café,2026-01-01,web\n2,résumé,2026-01-02,web\n".encode("cp1252"),
        (
            b"id,text,date,source\n"
            b"1,good,2026-01-01,web\n2,b\xff\xfed,2026-01-02,web\n3,caf\xc3\xa9,2026-01-02,web\n4,\xc3\xa9,2026-01-02,web\n"
        ),
        b'[{"text": "a", "date": "2026-01-01", "source": "web"}, {"text": "b", ',
        b'{"text": "a", "date": "2026-01-01", "source": "web"}\nnot json\n{"text": "b", "date": "03/04/2026", "source": "web"}\n',
    ],
)
def test_odd_inputs_are_reported_as_in_the_foreground(desk: Bench, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.csv" if content[:1] not in b"[{" else tmp_path / "odd.json"
    path.write_bytes(content)
    foreground = desk.foreground(path, tenant_named("f" + desk.tenant))
    job = desk.hand_in_file(path)
    desk.finish()
    same(desk.report(job), foreground)


def test_ended_jobs_and_documents_are_counted(desk: Bench) -> None:
    desk.hand_in([ticket(f"t-{n}", "" if n == 3 else f"text {n}") for n in range(25)])
    desk.finish()
    found = {
        (sample.name, *sample.labels.values()): sample.value for metric in desk.metrics.registry.collect() for sample in metric.samples
    }
    assert found["wa_jobs_total", "done"] == 1
    assert (found["wa_documents_total", "indexed"], found["wa_documents_total", "rejected"]) == (24, 1)
    assert found["wa_documents_rejected_total", "text"] == 1


def _rows(*documents: dict[str, object]) -> RowSource:
    return rows_of(documents)


def test_a_job_leaves_one_record_with_the_rejections_of_all_its_chunks(both: Bench, tmp_path: Path) -> None:
    job = both.hand_in_file(mixed(tmp_path))
    both.finish()
    done = both.job(job)
    (record,) = both.state.entries(both.tenant, KIND)[0]
    assert (record.entry_id, record.facts["outcome"], record.facts["at"]) == (job.job_id, "done", done.finished_at)
    assert {name: record.facts[name] for name in counted(both.report(job))} == counted(both.report(job))
    rejections = [entry.facts for entry in both.state.entries(both.tenant, REJECTIONS)[0]]
    assert sum(facts["rows"] for facts in rejections) == done.rejected > 3  # type: ignore[misc]
    assert {facts["field"] for facts in rejections} == {"text", "occurred_at", "rating", "row"}
    both.jobs.tidy(both.tenant, job.job_id)
    assert both.state.entries(both.tenant, KIND)[0] == (record,)


def test_a_job_that_failed_has_a_record_which_its_retry_replaces(both: Bench) -> None:
    job = both.hand_in([ticket("a"), ticket("b", text=" ")])
    both.jobs.fail(both.tenant, job.job_id, "the disk is full")
    assert both.state.entries(both.tenant, KIND)[0] == ()
    both.jobs.retry(both.tenant, job.job_id)
    both.finish()
    (record,) = both.state.entries(both.tenant, KIND)[0]
    assert (record.facts["outcome"], record.facts["rejected"]) == ("done", 1)
    assert [entry.facts["field"] for entry in both.state.entries(both.tenant, REJECTIONS)[0]] == ["text"]
