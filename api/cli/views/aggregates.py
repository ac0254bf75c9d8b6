"""Counts as bars: themes, trends and one account at a glance."""

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from api.cli.grid import Column, Grid, bar, sparkline
from api.cli.views.documents import document_rows
from api.cli.views.text import counted, day, heading, ratio, share, some_ids
from api.cli.visible import one_line
from search.aggregation import AccountContext, NamedCount, ThemeAggregate, Trend

IDS_SHOWN = 3


def themes_view(found: ThemeAggregate) -> RenderableType:
    """What ``themes`` prints: one bar per theme, with its share of the matching documents and the newest ids."""
    if not found.themes:
        return Text("no matching document has a theme")
    largest = max(theme.count for theme in found.themes)
    columns = (
        Column("theme", flexible=True),
        Column("", drawn=True, style="blue"),
        Column("count", right=True),
        Column("share", right=True),
        Column("documents", style="cyan", flexible=True),
    )
    rows = tuple(
        (
            one_line(theme.theme_id, 60),
            bar(theme.count, largest),
            f"{theme.count}",
            share(theme.share),
            some_ids(theme.doc_ids, theme.count, IDS_SHOWN),
        )
        for theme in found.themes
    )
    return Grid(columns, rows, minimum=70)


def themes_counted(found: ThemeAggregate) -> str:
    """The line beside the bars: what the shares are shares of."""
    hidden = found.themes_total - len(found.themes)
    more = f"; {counted(hidden, 'more theme')} with --limit {found.themes_total}" if hidden > 0 else ""
    return f"{counted(found.total, 'matching document')} of {found.scope:,} under the filters; {found.without_theme:,} of them without a theme{more}"


def trend_view(found: Trend) -> RenderableType:
    """What ``trend`` prints: a sparkline, then one bar per interval, empty ones included."""
    if not found.points:
        return Text("no document matches")
    counts = [point.count for point in found.points]
    columns = (
        Column(found.interval),
        Column("", drawn=True, style="blue"),
        Column("count", right=True),
        Column("documents", style="cyan", flexible=True),
    )
    rows = tuple(
        (point.key, bar(point.count, max(counts)), str(point.count), some_ids(point.doc_ids, point.count, IDS_SHOWN))
        for point in found.points
    )
    return Group(_Sparkline(counts), Grid(columns, rows, minimum=50))


def trend_counted(found: Trend) -> str:
    """The line beside the trend."""
    return (
        f"{counted(found.total, 'matching document')} of {found.scope:,} under the filters, "
        f"per {found.interval} of {one_line(found.time_zone)}, {counted(len(found.points), 'interval')}"
    )


def account_view(found: AccountContext) -> RenderableType:
    """What ``account`` prints."""
    parts: list[RenderableType] = [
        heading(f"Account {one_line(found.account_id, 80)}"),
        Text(f"{counted(found.documents, 'document')} from {day(found.first_seen)} to {day(found.last_seen)}"),
        Text(_ratings(found)),
        Text(""),
    ]
    for name, counts in (("theme", found.themes), ("source", found.sources)):
        if counts:
            parts.append(_named(name, counts))
    return Group(*parts, heading("Newest documents"), document_rows(found.recent))


def _named(name: str, counts: tuple[NamedCount, ...]) -> Grid:
    columns = (
        Column(name, flexible=True),
        Column("", drawn=True, style="blue"),
        Column("count", right=True),
        Column("documents", style="cyan", flexible=True),
    )
    largest = counts[0].count
    rows = tuple(
        (one_line(each.name, 60), bar(each.count, largest), str(each.count), some_ids(each.doc_ids, each.count, IDS_SHOWN))
        for each in counts
    )
    return Grid(columns, rows, minimum=60)


def _ratings(found: AccountContext) -> str:
    ratings = found.ratings
    if not ratings.rated:
        return "no ratings"
    spread = ", ".join(f"{rating:g}: {count}" for rating, count in ratings.counts)
    over = "" if ratings.rated == ratings.looked_at else f"{ratings.rated:,} of "
    return f"mean rating {ratio(ratings.mean)} over {over}its newest {ratings.looked_at:,} documents ({spread})"


class _Sparkline:
    """The shape of a trend on one line, on a terminal only."""

    def __init__(self, counts: list[int]) -> None:
        self._counts = counts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if console.is_terminal:
            yield Text(sparkline(self._counts[-options.max_width :]), style="blue")
