"""Run every benchmark and write ``docs/benchmarks.md``: each table stands under the command that printed it.

``python -m benchmarks.report --data FOLDER [--engine URL] [--only NAME …]``; with ``--only`` the other tables stay as they are.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


@dataclass(frozen=True, slots=True)
class Section:
    """One table of the page: how it is made, and what a reader should know before reading it."""

    name: str
    title: str
    note: str
    commands: tuple[str, ...]
    needs_engine: bool = False


SECTIONS = (
    Section(
        "retrieval",
        "Retrieval quality",
        "Cranfield: nDCG@10, binary grades 1 to 4, the unexplained -1 document of each query removed. BANKING77: share of the first ten "
        "training messages with the intent of a test message. Intervals: bootstrap over queries, 95 %. `full` is what a user gets.",
        ("benchmarks.retrieval_quality --data {data}",),
    ),
    Section(
        "retrieval-opensearch",
        "Retrieval quality on OpenSearch",
        "The same corpora and questions on a real node.",
        ("benchmarks.retrieval_quality --data {data} --engine {engine}",),
        needs_engine=True,
    ),
    Section(
        "parity",
        "The same result on both engines",
        "After the same writes and a merge.",
        ("benchmarks.parity --data {data} --engine {engine}",),
        needs_engine=True,
    ),
    Section(
        "verifier",
        "The verifier against labels it has not seen",
        "Features only. Five folds by group, thresholds from the training folds, 95 % bootstrap over groups.",
        ("benchmarks.verifier {data}",),
    ),
    Section("gates", "The gates of a question", "Off topic, and on topic but not answered.", ("benchmarks.gates {data}",)),
    Section(
        "speed",
        "Speed and memory, embedded engine",
        "The corpus is synthetic but for the part `real` (BANKING77): pairs of sample messages, vectors mixed from theirs. Questions are asked after "
        "as many others. "
        "Memory is the peak of the process beyond what it held once the model was loaded.",
        (
            "benchmarks.speed load --passages 100000 --store {store}",
            "benchmarks.speed restart --passages 100000 --store {store}",
            "benchmarks.speed load --passages 4000",
            "benchmarks.speed real --passages 4000 --data {data}",
            "benchmarks.speed ingest --passages 3000",
        ),
    ),
    Section(
        "monitors",
        "Monitors: looking for due work, and seeing a digest",
        "Every duty of the service over the embedded store; the broker is a Valkey on the same machine. A subscriber over WebSocket sees what another "
        "process published.",
        ("benchmarks.monitors", "benchmarks.subscription"),
    ),
    Section(
        "speed-opensearch",
        "Speed beside a bare client, OpenSearch",
        "Same node, same records, same searches, in turns.",
        ("benchmarks.speed opensearch --passages 100000 --engine {engine}",),
        needs_engine=True,
    ),
    Section(
        "complexity",
        "How cost grows",
        "Milliseconds at four sizes and the fitted exponent; `make complexity` fails when one exceeds its limit.",
        ("benchmarks.complexity --check",),
    ),
    Section(
        "hostile",
        "Hostile requests",
        "Mutations of valid calls as one tenant of two; what counts as a finding is in `benchmarks/hostile/judging.py`.",
        ("benchmarks.hostile --requests 100000",),
    ),
    Section(
        "soak",
        "Soak",
        "Web server, worker and Valkey as processes of their own; a random one is killed every minute.",
        ("benchmarks.soak --minutes 30 --report {store}",),
    ),
)


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--engine", default="", help="URL of an OpenSearch cluster; without it those tables are left out")
    parser.add_argument("--only", nargs="*", choices=[section.name for section in SECTIONS])
    arguments = parser.parse_args()
    kept = _existing()
    for section in SECTIONS:
        wanted = not arguments.only or section.name in arguments.only
        if wanted and (arguments.engine or not section.needs_engine):
            kept[section.name] = _made(section, arguments.data, arguments.engine)
            PAGE.write_text(_page(kept), encoding="utf-8")
            print(f"{section.name}: written", flush=True)


def _page(tables: dict[str, str]) -> str:
    intro = (
        "# Benchmarks\n\nWritten by `make benchmarks`, which runs the commands below. `DATA` is a folder with the public data sets "
        "(Cranfield, BANKING77, WiCE, HealthVer, …), `URL` a cluster. Absolute times belong to the machine that ran them; ratios and exponents travel better.\n"
    )
    return intro + "\n" + "\n".join(tables[section.name] for section in SECTIONS if section.name in tables)


def _made(section: Section, data: str, engine: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        blocks = [_block(command, data, engine, str(Path(folder) / "speed.db")) for command in section.commands]
    day = time.strftime("%Y-%m-%d", time.gmtime())
    machine = f"{day}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"<!-- {section.name} -->\n## {section.title}\n\n{section.note}\n\n" + "\n".join(blocks) + f"\n{machine}.\n<!-- end -->\n"


def _block(command: str, data: str, engine: str, store: str) -> str:
    arguments = command.format(data=data, engine=engine, store=store).split()
    done = subprocess.run([sys.executable, "-m", *arguments], check=False, capture_output=True, text=True)  # noqa: S603 (our own modules)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
    shown = command.format(data="DATA", engine="URL", store="STORE")
    failed = "" if done.returncode == 0 else f"\n(exit code {done.returncode})"
    return f"```\n$ python -m {shown}\n{done.stdout.rstrip()}{failed}\n```\n"


def _existing() -> dict[str, str]:
    if not PAGE.exists():
        return {}
    found = re.findall(r"(<!-- ([a-z-]+) -->\n.*?<!-- end -->\n)", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {name: text for text, name in found}


if __name__ == "__main__":
    main()
