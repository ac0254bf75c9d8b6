"""Monitors and digests: where each monitor stands, what an evaluation saw, and what was published."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.calling import Calling, plainly
from api.cli.grid import Column, Grid
from api.cli.views.answer import answer_parts, refusal_parts
from api.cli.views.text import Indented, ToPaste, degradation, minute, share, some_ids
from api.cli.visible import one_line
from api.monitor_operations import Ran, Watched
from grounding.answers import Answer
from search.documents import Document
from search.listing import filters_as_json
from worker.deliveries.receivers import masked
from worker.monitors.condition_json import condition_as_json
from worker.monitors.digest import Digest
from worker.monitors.evaluating import Evaluation
from worker.monitors.monitor import Monitor

STYLES = {"ok": "green", "pending": "yellow", "firing": "bold red", "resolved": "cyan"}
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def monitors_view(watched: Sequence[Watched], line: Calling = plainly) -> RenderableType:
    """What ``monitors list`` prints."""
    if not watched:
        example = line("monitors", "save", "Refunds", "--question", "What do customers say about refunds?", "--count-at-least", "10")
        return Group(Text("no monitors yet; save one, such as"), ToPaste(f"  {example}"))
    columns = (
        Column("monitor", style="cyan"),
        Column("state"),
        Column("observed", right=True),
        Column("fires at"),
        Column("window"),
        Column("every"),
        Column("last look"),
        Column("question", flexible=True),
    )
    return Grid(columns, tuple(map(_row, watched)), minimum=110)


def monitor_view(watched: Watched, counted: str) -> RenderableType:
    """What ``monitors show`` prints; ``counted`` says which documents it counts."""
    fields = _fields(watched, counted)
    width = max(len(name) for name, _ in fields)
    lines = [Text.assemble((name.ljust(width), "dim"), "  ", (one_line(value), _style(name, value))) for name, value in fields if value]
    return Group(*lines)


def evaluation_view(done: Evaluation) -> RenderableType:
    """What ``monitors evaluate`` prints."""
    would = "would be " if done.dry_run and done.before is not done.after else ""
    head = Text.assemble(
        (one_line(done.monitor.monitor_id, 64), "cyan"), f" · {done.outcome} · ", (done.before.value, STYLES[done.before.value])
    )
    if done.before is not done.after:
        head.append(f" → {would}").append(done.after.value, style=STYLES[done.after.value])
    parts: list[RenderableType] = [head, Indented(Text(one_line(done.because)))]
    if done.observation is not None and done.observation.doc_ids:
        parts.append(Indented(Text(f"documents: {some_ids(done.observation.doc_ids, done.observation.n)}", style="cyan")))
    if done.digest is not None:
        parts.append(Indented(Text(f"{'would publish' if done.dry_run else 'published'} digest {done.digest.digest_id}", style="bold")))
    return Group(*parts)


def run_view(ran: Sequence[Ran]) -> RenderableType:
    """What ``monitors run`` prints: one row for each monitor that was due."""
    if not ran:
        return Text("no monitor is due")
    columns = (
        Column("tenant"),
        Column("monitor", style="cyan"),
        Column("outcome"),
        Column("state"),
        Column("digest"),
        Column("seen", flexible=True),
    )
    return Grid(columns, tuple(map(_ran, ran)), minimum=90)


def digests_view(digests: Sequence[Digest]) -> RenderableType:
    """What ``digests list`` prints."""
    if not digests:
        return Text("no digests yet")
    columns = (
        Column("digest", style="cyan"),
        Column("published"),
        Column("severity"),
        Column("monitor", flexible=True),
        Column("version", right=True),
        Column("claims", right=True),
        Column("why", flexible=True),
    )
    return Grid(columns, tuple(map(_digest_row, digests)), minimum=110)


def digest_view(digest: Digest, documents: Mapping[str, Document], line: Calling = plainly) -> RenderableType:
    """What ``digests show`` prints: why it fired, the documents that caused it, then the verified answer."""
    head = Text(one_line(digest.monitor_name, 120), style="bold").append(f" · {digest.severity}", style=_SEVERITIES[digest.severity])
    parts: list[RenderableType] = [head, Indented(Text(one_line(digest.fired_because)))]
    if not digest.breached:
        parts.append(Indented(Text("documents that changed since have taken the reason away", style="yellow")))
    if digest.doc_ids:
        parts.append(Indented(Text(f"documents: {some_ids(digest.doc_ids, digest.n)}", style="cyan")))
    if digest.cursor is not None:
        parts.append(ToPaste(f"    all of them: {line('documents', 'list', '--after', digest.cursor)}"))
    parts += [Text(""), Text.assemble(("? ", "dim"), (one_line(digest.question, 300), "bold")), Text("")]
    if digest.claims:
        parts += answer_parts(Answer("", digest.claims, ""), documents, line)
    if digest.refusal is not None:
        parts += refusal_parts(digest.refusal)
    if digest.degraded:
        parts += [degradation(digest.degraded), Text("")]
    if digest.withdrawn_doc_ids:
        parts.append(Text(f"deleted since, words withheld: {some_ids(digest.withdrawn_doc_ids)}", style="yellow"))
    return Group(*parts, _told(digest))


_SEVERITIES = {"info": "blue", "warning": "yellow", "critical": "bold red"}


def _told(digest: Digest) -> Text:
    about = [f"digest {digest.digest_id}", f"version {digest.version}", f"seen {minute(digest.first_seen)} to {minute(digest.last_seen)}"]
    about += [f"run {digest.run_id}"] if digest.run_id else []
    return Text(" · ".join(about), style="dim")


def _row(watched: Watched) -> tuple[str, ...]:
    monitor, held = watched.monitor, watched.held
    state = "paused" if monitor.paused else held.standing.state.value
    latest = held.standing.latest
    seen = (held.problem and "nothing seen") or ("" if held.numbers is None else amount(held.numbers.observed, held.numbers.unit))
    return (
        monitor.monitor_id,
        state,
        seen,
        condition_words(monitor),
        duration(monitor.window_s),
        duration(monitor.cadence_s),
        "" if latest is None else minute(latest),
        one_line(monitor.question, 100),
    )


def _fields(watched: Watched, counted: str) -> list[tuple[str, str]]:
    monitor, held = watched.monitor, watched.held
    numbers, standing = held.numbers, held.standing
    filters = ", ".join(f"{name}={value}" for name, value in filters_as_json(monitor.filters).items())
    observed = "" if numbers is None else f"{amount(numbers.observed, numbers.unit)} ({numbers.n} of {numbers.denominator} documents)"
    return [
        ("monitor", monitor.monitor_id),
        ("name", monitor.name),
        ("state", f"{standing.state.value}{_since(standing.since)}"),
        ("paused", "yes" if monitor.paused else ""),
        ("question", monitor.question),
        ("counts", counted),
        ("filters", filters),
        ("fires at", condition_words(monitor)),
        ("in a row", str(monitor.consecutive_breaches)),
        ("window", duration(monitor.window_s)),
        ("every", duration(monitor.cadence_s)),
        ("cooldown", duration(monitor.cooldown_s)),
        ("severity", monitor.severity),
        ("observed", observed),
        ("last look", "" if standing.latest is None else minute(standing.latest)),
        ("nothing seen", held.problem),
        ("digest", held.digest_id or ""),
        *(("tells", f"{receiver.channel} {masked(receiver)}".strip()) for receiver in monitor.receivers),
        ("version", str(monitor.version)),
    ]


def _since(moment: datetime | None) -> str:
    return "" if moment is None else f" since {minute(moment)}"


def _style(name: str, value: str) -> str:
    return STYLES.get(value.split(maxsplit=1)[0], "") if name == "state" else "cyan" if name == "monitor" else ""


def _ran(ran: Ran) -> tuple[str, ...]:
    done = ran.evaluation
    if done is None:
        return (ran.work.tenant, ran.work.key[0], "failed" if ran.problem else "nothing to do", "", "", ran.problem)
    digest = "" if done.digest is None else done.digest.digest_id
    return (ran.work.tenant, ran.work.key[0], done.outcome, done.after.value, digest, one_line(done.because))


def _digest_row(digest: Digest) -> tuple[str, ...]:
    claims = digest.refusal.reason.value if digest.refusal else str(len(digest.claims))
    return (
        digest.digest_id,
        minute(digest.created_at),
        digest.severity,
        digest.monitor_id,
        str(digest.version),
        claims,
        one_line(digest.fired_because, 200),
    )


def condition_words(monitor: Monitor) -> str:
    """The condition as it was written: ``count at least 10``."""
    (name, value), *others = condition_as_json(monitor.condition).items()
    rest = ", ".join(f"{each.replace('_', ' ')} {item}" for each, item in others)
    said = name.replace("_", " ") + ("" if value is True else f" {value:g}")
    return f"{said} ({rest})" if rest else said


def duration(seconds: int) -> str:
    """``1 d``, ``90 min``: in the largest unit that divides it."""
    length, unit = next((size, name) for size, name in _UNITS if seconds % size == 0)
    return f"{seconds // length} {unit}"


def amount(value: float, unit: str) -> str:
    """A share as a percentage, anything else as a short number."""
    return share(value) if unit == "share" else f"{value:.4g}"
