"""The demo: sample corpus in, three questions, a monitor that fires, and what to try next."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import platformdirs
from rich.console import Group, RenderableType
from rich.text import Text

from api import monitor_rendering, operations, rendering
from api.cli.alarm import Alarm, alarm_view, raised
from api.cli.calling import Calling, calling
from api.cli.options import Common
from api.cli.progress import progress_on
from api.cli.session import Session, session
from api.cli.views.answer import outcome_view
from api.sample import ASSIGNED_NOTICE, sample_documents
from grounding.answers import Outcome
from search.documents import Document
from search.ingest.report import IngestReport
from search.ingest.rows import Row, RowSource


@dataclass(frozen=True, slots=True)
class Shown:
    """One question of the demo, and what it is there to show."""

    title: str
    question: str


QUESTIONS = (
    Shown("A question the messages answer: every claim with the words it rests on", "What do customers say about refunds?"),
    Shown("A question they do not discuss: refused, with the reason", "Which team won the football world cup?"),
    Shown("A count, with the documents that were counted", "How many customers lost their phone?"),
)


@dataclass(frozen=True, slots=True)
class Shot:
    """One question asked: the outcome and the documents behind it."""

    shown: Shown
    outcome: Outcome
    documents: tuple[Document, ...]


def demonstrate(common: Common, keep: Path | None) -> None:
    """Run the demo and print it."""
    path = (keep or Path(platformdirs.user_data_dir("wisdomagent")) / "demo.db").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    common = replace(common, engine=f"sqlite:///{quote(str(path))}")
    with session(common) as opened:
        if not common.as_json:
            opened.screen.say(f"{ASSIGNED_NOTICE}\nTrends, accounts and sources of this sample say nothing about real customers.\n")
        report = _fill(opened)
        opened.screen.note(_filled(report, path))
        shots = [_ask(opened, shown) for shown in QUESTIONS]
        alarm = raised(opened)
        following = tuple(next_commands(common))
        line = calling(common)
        opened.screen.show(
            lambda: Group(_picture(shots, line), alarm_view(alarm, len(shots) + 1, line)), lambda: _value(report, shots, alarm, following)
        )
        if not common.as_json:
            opened.screen.say("\n  ".join(["\nTry next:", *following]))


def next_commands(common: Common) -> Iterator[str]:
    """Commands that work when pasted."""
    line = calling(common)
    yield line("ask", "What do customers say about cash withdrawals?")
    yield line("themes", "refund", "--limit", "5")
    yield line("monitors", "list")
    yield line("serve")


def _fill(opened: Session) -> IngestReport:
    documents = list(sample_documents())
    read = 0

    def rows() -> Iterator[Row]:
        nonlocal read
        for read, document in enumerate(documents, start=1):
            yield Row(read, document)

    source = RowSource(rows(), share_read=lambda: read / len(documents))
    with progress_on(opened.screen, opened.service.clock, "sample corpus", source.share_read) as told:
        report = opened.service.ingester.ingest(opened.tenant, source, progress=told)
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def _filled(report: IngestReport, path: Path) -> str:
    already = f", {report.unchanged:,} were there already" if report.unchanged else ""
    return f"{report.received:,} messages in {report.seconds:.1f} s{already}; the store is {path}"


def _ask(opened: Session, shown: Shown) -> Shot:
    service, tenant = opened.service, opened.tenant
    outcome = operations.ask(service, tenant, shown.question, top_k=service.settings.default_top_k)
    return Shot(shown, outcome, operations.documents_of(service, tenant, operations.shown_ids(outcome)))


def _picture(shots: list[Shot], line: Calling) -> RenderableType:
    parts: list[RenderableType] = []
    for number, shot in enumerate(shots, start=1):
        parts += [
            Text(f"{number}. {shot.shown.title}", style="bold cyan"),
            Text.assemble(("? ", "dim"), (shot.shown.question, "bold")),
            Text(""),
        ]
        parts += [outcome_view(shot.outcome, {document.doc_id: document for document in shot.documents}, line), Text("")]
    return Group(*parts)


def _value(report: IngestReport, shots: list[Shot], alarm: Alarm, following: tuple[str, ...]) -> dict[str, object]:
    return {
        "notice": ASSIGNED_NOTICE,
        "report": rendering.ingest_report(report),
        "results": [rendering.ask_result(shot.outcome, shot.documents) for shot in shots],
        "monitor": monitor_rendering.monitor(alarm.watched.monitor, alarm.watched.held),
        "digest": None if alarm.digest is None else monitor_rendering.digest(alarm.digest),
        "next": list(following),
    }
