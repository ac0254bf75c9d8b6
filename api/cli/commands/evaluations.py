"""``wisdom eval …``: run sets of cases, hold them against a gate, and look at what came of it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common
from api.cli.session import session

Report = Annotated[str, typer.Argument(metavar="REPORT", help="Id of a report; eval list shows them.")]
Set = Annotated[str, typer.Argument(metavar="SET", help="Name of a set, or a file or folder with cases.")]


class Form(StrEnum):
    """How a report is exported."""

    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="eval", help="Run sets of cases with expected answers and refusals, and compare the scores.")
    for part in (_run, _list, _show, _diff, _export, _build, _sets, _schedules):
        part(group)


def _run(group: typer.Typer) -> None:
    @command(
        group,
        "eval run",
        example="wisdom eval run banking --ingest\nwisdom eval run cases.jsonl --baseline 4f1c… --gate gate.toml --json",
    )
    def run_eval(
        eval_set: Set,
        common: Common,
        ingest: Annotated[bool, typer.Option("--ingest", help="Store the documents that belong to the set first.")] = False,
        baseline: Annotated[
            str | None, typer.Option(metavar="REPORT", help="Compare with this report: an id, or a file exported as JSON.")
        ] = None,
        gate: Annotated[
            str | None,
            typer.Option(metavar="FILE", help="Bounds the scores must keep (TOML or JSON); a set of the product has one of its name."),
        ] = None,
        kind: Annotated[list[str] | None, typer.Option(metavar="KIND", help="Only cases of this kind; repeat for several.")] = None,
        case: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this case; repeat for several.")] = None,
        limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N of them.")] = None,
        top_k: Annotated[
            int | None, typer.Option(metavar="N", min=1, max=1000, help="Passages to look at (default: WA_DEFAULT_TOP_K).")
        ] = None,
    ) -> int | None:
        """Ask every case through the same path as ask, grade the answers, keep a report.

        The exit code is 5 when the gate is not passed; the cases that fail are named.
        """
        from api.cli.evaluating import Chosen, evaluate

        return evaluate(
            eval_set, Chosen(tuple(kind or ()), tuple(case or ()), limit), common, ingest=ingest, baseline=baseline, gate=gate, top_k=top_k
        )


def _list(group: typer.Typer) -> None:
    @command(group, "eval list", example="wisdom eval list --set banking")
    def list_evals(
        common: Common,
        set_name: Annotated[str | None, typer.Option("--set", metavar="NAME", help="Only reports of this set.")] = None,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Reports on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List reports, newest first."""
        from api import evaluation_operations as operations
        from api import evaluation_rendering as rendering
        from api.cli.views.evaluations import reports_view

        with session(common) as opened:
            found = operations.evals(opened.service, opened.tenant, set_name=set_name, first=first, after=after)
            opened.screen.show(lambda: reports_view(found.reports), lambda: rendering.eval_page(found))
            if found.cursor is not None:
                opened.screen.note(f"next page: --after {found.cursor}")


def _show(group: typer.Typer) -> None:
    @command(group, "eval show", example="wisdom eval show 4f1c…")
    def show_eval(report: Report, common: Common) -> None:
        """Show one report: verdict, scores with intervals, refusals, slices, failing cases."""
        from api import evaluation_operations as operations
        from api import evaluation_rendering as rendering
        from api.cli.views.evaluations import report_view

        with session(common) as opened:
            found = operations.eval_report(opened.service, opened.tenant, report)
            opened.screen.show(lambda: report_view(found), lambda: rendering.eval_report(found))


def _diff(group: typer.Typer) -> None:
    @command(group, "eval diff", example="wisdom eval diff 4f1c… 9a20…")
    def diff_evals(
        before: Annotated[str, typer.Argument(metavar="BEFORE", help="Id of the earlier report.")],
        after: Annotated[str, typer.Argument(metavar="AFTER", help="Id of the later one.")],
        common: Common,
    ) -> None:
        """Show what changed between two reports, metric by metric and case by case."""
        from api import evaluation_operations as operations
        from api import evaluation_rendering as rendering
        from api.cli.views.evaluations import diff_view

        with session(common) as opened:
            found = operations.eval_diff(opened.service, opened.tenant, before, after)
            opened.screen.show(lambda: diff_view(found), lambda: rendering.eval_diff(found))


def _export(group: typer.Typer) -> None:
    @command(group, "eval export", example="wisdom eval export 4f1c… --format html --output report.html")
    def export_eval(
        report: Report,
        common: Common,
        form: Annotated[Form, typer.Option("--format", help="json, markdown, or one HTML file with charts.")] = Form.HTML,
        output: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write it (default: standard output).")] = None,
    ) -> None:
        """Write a report as JSON, Markdown or a single HTML file that loads nothing."""
        from api.cli.evaluating import export

        export(report, form.value, output, common)


def _build(group: typer.Typer) -> None:
    @command(
        group,
        "eval build",
        example="wisdom eval build squad2 --data ./data --out ./squad2\nwisdom eval run ./squad2 --ingest --engine sqlite:///squad2.db",
    )
    def build_eval(
        name: Annotated[str, typer.Argument(metavar="NAME", help="subjqa, squad2, clinc150, wice, healthver, expertqa or cranfield.")],
        data: Annotated[Path, typer.Option(metavar="PATH", help="Folder that holds the public set in a folder of its name.")],
        out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where documents and cases are written.")],
        limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only about N cases, evenly chosen.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")] = False,
    ) -> None:
        """Make documents and cases of a public set that you have: they are read from your folder, nothing is downloaded."""
        from api.cli.evaluating import build

        build(name, data, out, limit, as_json=as_json)


def _sets(group: typer.Typer) -> None:
    @command(group, "eval sets", example="wisdom eval sets")
    def list_sets(common: Common) -> None:
        """List the sets that are known by name."""
        from api import evaluation_operations as operations
        from api import evaluation_rendering as rendering
        from api.cli.views.evaluations import sets_view

        with session(common) as opened:
            found = operations.eval_sets(opened.service, opened.tenant)
            opened.screen.show(lambda: sets_view(found), lambda: {"sets": [rendering.eval_set(each) for each in found]})

    @command(group, "eval save", example="wisdom eval save cases.jsonl --name support")
    def save_set(
        file: Annotated[Path, typer.Argument(metavar="FILE", help="A file or folder with cases.")],
        common: Common,
        name: Annotated[str | None, typer.Option(metavar="NAME", help="Name to keep it under (default: that of the file).")] = None,
    ) -> None:
        """Keep a set in the store, so that schedules and the web doors can run it by name."""
        from api.cli.evaluating import save

        save(file, name, common)


def _schedules(group: typer.Typer) -> None:
    @command(group, "eval schedule", example="wisdom eval schedule banking --every 86400 --name nightly")
    def schedule_eval(
        set_name: Annotated[str, typer.Argument(metavar="SET", help="Name of a set.")],
        common: Common,
        every: Annotated[float | None, typer.Option(metavar="SECONDS", help="Run it again and again; once without.")] = None,
        name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the schedule; one of the same name is replaced.")] = None,
        gate: Annotated[
            str | None, typer.Option(metavar="FILE", help="Gate of every run: a file, or the name of a set of the product.")
        ] = None,
    ) -> None:
        """Leave a set to the worker. Each run is compared with the one before."""
        from api.cli.evaluating import schedule

        schedule(set_name, every, name, gate, common)

    @command(group, "eval schedules", example="wisdom eval schedules")
    def list_schedules(common: Common) -> None:
        """List scheduled evaluations and how far they are."""
        from api import evaluation_operations as operations
        from api import evaluation_rendering as rendering
        from api.cli.views.evaluations import schedules_view

        with session(common) as opened:
            found = operations.schedules(opened.service, opened.tenant)
            opened.screen.show(lambda: schedules_view(found), lambda: {"schedules": [rendering.eval_schedule(each) for each in found]})

    @command(group, "eval unschedule", example="wisdom eval unschedule nightly")
    def unschedule_eval(
        schedule_id: Annotated[str, typer.Argument(metavar="SCHEDULE", help="Id or name of the schedule.")], common: Common
    ) -> None:
        """Remove a schedule; its reports stay."""
        from api import evaluation_operations as operations

        with session(common) as opened:
            operations.unschedule(opened.service, opened.tenant, schedule_id)
            opened.screen.note(f"{schedule_id} is not scheduled any more")
