"""Handing in streams: memory does not grow with the input."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.worker.jobs.test_crashes import ROOT


def peak_kib(folder: Path, rows: int) -> int:
    """Peak resident memory of a process of its own that hands so many rows in."""
    path = folder / f"{rows}.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("id,text,date,source\n")
        file.writelines(f"r-{n},Message number {n} about the invoice {n * 7919},2026-03-04,web\n" for n in range(rows))
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD, str(folder / f"{rows}.db"), str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    handed_in, peak = ended.stdout.split()
    assert int(handed_in) == rows
    return int(peak)


@pytest.mark.slow
def test_memory_of_handing_in_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    nothing, some, many = (peak_kib(tmp_path, rows) for rows in (1, 20_000, 100_000))
    assert many - nothing < 1.5 * (some - nothing) + 8 * 1024


_CHILD = """
import resource, sys
from pathlib import Path
from runtime.clock import SettableClock
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.tenancy import tenant_named
from search.engines.embedded import open_embedded
from search.ingest.files import read_rows
from tests.worker.jobs.conftest import DIMENSION, MODEL, NOW
from worker.jobs.handing_in import HandingIn
from worker.jobs.store import Jobs

clock = SettableClock(NOW)
with open_embedded(Path(sys.argv[1]), model=MODEL, dimension=DIMENSION, clock=clock) as engine, read_rows(Path(sys.argv[2])) as rows:
    handing = HandingIn(Jobs(engine.state, clock, Metrics()), clock, Settings(), remembered=10_000)
    job = handing.hand_in(tenant_named("acme"), rows, source="rows.csv")
    print(job.handed_in, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
