"""Counts of events: totals, bars, and the questions nobody could answer."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid, bar
from api.cli.views.text import counted, heading, minute, ratio, share
from api.cli.visible import one_line
from worker.events.insights import Count, Insights, Question, Score

DAYS_SHOWN = 14
NAMES_SHOWN = 10


def insights_view(found: Insights) -> RenderableType:
    """What ``stats`` prints."""
    return Group(*_parts(found))


def _parts(found: Insights) -> Iterator[RenderableType]:
    yield Text(f"{counted(found.documents, 'document')} · {_questions(found)}")
    if found.groundedness is not None:
        yield Text(f"groundedness {ratio(found.groundedness)}, citation precision {ratio(found.citation_precision)}, on average")
    yield from _section("day", found.days, found.days[-DAYS_SHOWN:] if found.days else ())
    for name, counts in (
        ("theme", found.themes),
        ("source", found.sources),
        ("reason of refusal", found.refusals),
        ("monitor", found.digests),
    ):
        yield from _section(name, counts, counts[:NAMES_SHOWN] if counts else ())
    if found.unanswered:
        yield heading("Asked and not answered")
        yield _unanswered(found.unanswered)
    if found.scores:
        yield heading("Evaluations")
        yield _scores(found.scores)


def _questions(found: Insights) -> str:
    asked = found.answered + found.refused
    if not asked or found.refusal_rate is None:
        return "no questions yet"
    return f"{counted(asked, 'question')}: {found.answered:,} answered, {found.refused:,} refused ({share(found.refusal_rate)})"


def _section(name: str, counts: Sequence[Count] | None, shown: Sequence[Count]) -> Iterator[RenderableType]:
    if counts is None:
        yield Text(f"too many to be counted by {name}")
    elif shown:
        columns = (Column(name, flexible=True), Column("", drawn=True, style="blue"), Column("count", right=True))
        largest = max(each.count for each in shown)
        yield Text("")
        yield Grid(columns, tuple((one_line(each.key, 60), bar(each.count, largest), f"{each.count:,}") for each in shown), minimum=40)
        if len(counts) > len(shown):
            yield Text(f"{len(counts) - len(shown):,} {'earlier' if name == 'day' else 'more'}", style="dim")


def _unanswered(questions: Sequence[Question]) -> Grid:
    columns = (Column("asked"), Column("question", flexible=True), Column("reason"), Column("run", style="cyan"))
    rows = tuple((minute(each.at), one_line(each.text or "–", 200), each.reason, each.run_id) for each in questions)
    return Grid(columns, rows, minimum=80)


def _scores(scores: Sequence[Score]) -> Grid:
    columns = (Column("finished"), Column("cases", right=True), Column("exact", right=True), Column("gate"), Column("report", style="cyan"))
    gates = {None: "–", True: "passed", False: "failed"}
    rows = tuple((minute(each.at), f"{each.cases:,}", f"{each.exact:,}", gates[each.passed], each.report_id) for each in scores)
    return Grid(columns, rows, minimum=60)
