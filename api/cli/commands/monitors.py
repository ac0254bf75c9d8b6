"""``wisdom monitors …``: saved questions that are watched."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from api.cli.calling import calling
from api.cli.declaring import command
from api.cli.failures import FAILED
from api.cli.monitoring import Conditions, Selecting, Timing, described, read_from
from api.cli.options import Common
from api.cli.session import session
from runtime.errors import InvalidRequest, NotFound

MonitorId = Annotated[str, typer.Argument(metavar="ID", help="A monitor id.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="monitors", help="Watch questions: save, list, pause, evaluate or run monitors.")
    for add in (_list, _show, _save, _delete, _pause, _resume, _acknowledge, _evaluate, _run):
        add(group)


def _list(group: typer.Typer) -> None:
    @command(group, "monitors list", example="wisdom monitors list")
    def list_monitors(
        common: Common,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Monitors on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List monitors with where they stand, the newest first."""
        from api import monitor_operations, monitor_rendering
        from api.cli.views.monitors import monitors_view

        with session(common) as opened:
            found = monitor_operations.monitors(opened.service, opened.tenant, first=first, after=after)
            opened.screen.show(lambda: monitors_view(found.watched, calling(common)), lambda: monitor_rendering.monitor_page(found))
            if found.unreadable:
                opened.screen.warn(f"cannot be read, delete and save anew: {', '.join(found.unreadable)}")
            if found.cursor is not None:
                opened.screen.note(f"next page: --after {found.cursor}")


def _show(group: typer.Typer) -> None:
    @command(group, "monitors show", example="wisdom monitors show crash-volume")
    def show_monitor(monitor_id: MonitorId, common: Common) -> None:
        """Show one monitor: what it counts, when it fires, where it stands. Addresses of receivers are masked."""
        from api import monitor_operations, monitor_rendering
        from api.cli.views.monitors import monitor_view

        with session(common) as opened:
            found = monitor_operations.monitor(opened.service, opened.tenant, monitor_id)
            counted = monitor_operations.counted(opened.service, opened.tenant, found.monitor)
            opened.screen.show(lambda: monitor_view(found, counted), lambda: monitor_rendering.monitor(found.monitor, found.held))


def _save(group: typer.Typer) -> None:
    @command(
        group,
        "monitors save",
        example="wisdom monitors save 'Crash volume' --question 'What do reviewers say about crashes?' --count-at-least 10\n"
        "wisdom monitors save Refunds --question 'What do customers say about refunds?' --change-at-least 0.5 --baseline-windows 7 --to stream\n"
        "wisdom monitors save --from monitor.json",
    )
    def save_monitor(
        conditions: Conditions,
        timing: Timing,
        selecting: Selecting,
        common: Common,
        name: Annotated[str | None, typer.Argument(metavar="NAME", help="What it is called.")] = None,
        question: Annotated[str | None, typer.Option(metavar="TEXT", help="The question it asks; it names no time.")] = None,
        match: Annotated[
            str | None, typer.Option(metavar="WORDS", help="Count documents that hold these words, whatever the question says.")
        ] = None,
        identifier: Annotated[
            str | None, typer.Option("--id", metavar="ID", help="Its id; one that exists is replaced (default: made from the name).")
        ] = None,
        from_file: Annotated[
            Path | None, typer.Option("--from", metavar="FILE", help="Take the whole monitor from JSON; - is stdin.")
        ] = None,
        if_version: Annotated[
            int | None, typer.Option(metavar="N", min=0, help="Only when the stored one has this version; 0: only when there is none.")
        ] = None,
    ) -> None:
        """Save a monitor, new or in place of the one with that id. Another question, filter, condition or window begins in ok."""
        from api import delivery_operations, monitor_operations, monitor_rendering
        from api.cli.views.monitors import monitor_view

        given = described(name, identifier, question, match, conditions, timing, selecting) if from_file is None else read_from(from_file)
        with session(common) as opened:
            saved = monitor_operations.save_monitor(opened.service, opened.tenant, given, if_version)
            counted = monitor_operations.counted(opened.service, opened.tenant, saved.monitor)
            opened.screen.show(lambda: monitor_view(saved, counted), lambda: monitor_rendering.monitor(saved.monitor, saved.held))
            for problem in delivery_operations.receiver_problems(opened.service, saved.monitor):
                opened.screen.note(f"its digests cannot be sent: {problem}")
            line = calling(common)
            opened.screen.note(f"try it: {line('monitors', 'evaluate', saved.monitor.monitor_id, '--dry-run')}")


def _delete(group: typer.Typer) -> None:
    @command(group, "monitors delete", example="wisdom monitors delete crash-volume")
    def delete_monitor(monitor_id: MonitorId, common: Common) -> None:
        """Delete a monitor. One that is firing ends in silence; its digests stay."""
        from rich.text import Text

        from api import monitor_operations

        with session(common) as opened:
            if not monitor_operations.delete_monitor(opened.service, opened.tenant, monitor_id):
                raise NotFound("no monitor with this id")
            opened.screen.show(lambda: Text(f"deleted {monitor_id}"), lambda: {"monitorId": monitor_id, "deleted": True})


def _pause(group: typer.Typer) -> None:
    @command(group, "monitors pause", example="wisdom monitors pause crash-volume")
    def pause_monitor(monitor_id: MonitorId, common: Common) -> None:
        """Stop looking until it is resumed; its state stays."""
        _switch(monitor_id, common, paused=True)


def _resume(group: typer.Typer) -> None:
    @command(group, "monitors resume", example="wisdom monitors resume crash-volume")
    def resume_monitor(monitor_id: MonitorId, common: Common) -> None:
        """Go on looking after a pause; windows missed meanwhile are not made up for."""
        _switch(monitor_id, common, paused=False)


def _switch(monitor_id: str, common: Common, *, paused: bool) -> None:
    from api import monitor_operations, monitor_rendering
    from api.cli.views.monitors import monitors_view

    with session(common) as opened:
        found = monitor_operations.pause_monitor(opened.service, opened.tenant, monitor_id, paused=paused)
        opened.screen.show(lambda: monitors_view([found]), lambda: monitor_rendering.monitor(found.monitor, found.held))


def _acknowledge(group: typer.Typer) -> None:
    @command(group, "monitors acknowledge", example="wisdom monitors acknowledge crash-volume")
    def acknowledge(monitor_id: MonitorId, common: Common) -> None:
        """Take note that a monitor has resolved: it is ok at once. One that is pending or firing cannot be wished away; pause it."""
        from api import monitor_operations, monitor_rendering
        from api.cli.views.monitors import monitors_view

        with session(common) as opened:
            found = monitor_operations.acknowledge(opened.service, opened.tenant, monitor_id)
            opened.screen.show(lambda: monitors_view([found]), lambda: monitor_rendering.monitor(found.monitor, found.held))


def _evaluate(group: typer.Typer) -> None:
    @command(group, "monitors evaluate", example="wisdom monitors evaluate crash-volume --dry-run")
    def evaluate(
        monitor_id: MonitorId,
        common: Common,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would happen; change and publish nothing.")] = False,
        window_start: Annotated[
            str | None,
            typer.Option(metavar="INSTANT", help="Start of the window: 2026-11-20T08:00:00Z (default: the newest that is over)."),
        ] = None,
    ) -> None:
        """Look at one window now, as the worker would."""
        from api import monitor_operations, monitor_rendering
        from api.cli.views.monitors import evaluation_view

        start = None if window_start is None else _instant(window_start)
        with session(common) as opened:
            done = monitor_operations.evaluate_monitor(opened.service, opened.tenant, monitor_id, window_start=start, dry_run=dry_run)
            opened.screen.show(lambda: evaluation_view(done), lambda: monitor_rendering.evaluation(done))


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidRequest(f"{text!r} is not an instant such as 2026-11-20T08:00:00Z", field="window_start") from None


def _run(group: typer.Typer) -> None:
    @command(group, "monitors run", example="wisdom monitors run --once")
    def run(
        common: Common,
        once: Annotated[bool, typer.Option("--once", help="Evaluate what is due, then end.")] = False,
    ) -> int | None:
        """Evaluate all monitors that are due now, in this process: of every tenant, or of the one given with --tenant. Then send the digests
        that are due. Exit code 1 when an evaluation failed."""
        from api import delivery_operations, monitor_operations, monitor_rendering
        from api.cli.views.deliveries import tally
        from api.cli.views.monitors import run_view

        if not once:
            raise InvalidRequest("must be given; wisdom worker --local keeps looking", field="once")
        with session(common) as opened:
            only = opened.tenant if common.tenant is not None else None
            ran = list(monitor_operations.run_due_monitors(opened.service, only))
            opened.screen.show(lambda: run_view(ran), lambda: monitor_rendering.runs(ran))
            sent = delivery_operations.deliver_due(opened.service, only)
            if sent:
                opened.screen.note(tally(sent))
            if any(each.state == "undelivered" for each in sent):
                opened.screen.note(f"what was given up, and why: {calling(common)('digests', 'undelivered')}")
        return FAILED if any(each.problem for each in ran) else None
