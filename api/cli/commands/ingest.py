"""``wisdom ingest``: files in, a report out that adds up."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common
from runtime.errors import InvalidRequest

STDIN = "-"


class Format(StrEnum):
    """How rows are written."""

    CSV = "csv"
    JSONL = "jsonl"
    JSON = "json"


class DateOrder(StrEnum):
    """How 03/04 is read."""

    DMY = "dmy"
    MDY = "mdy"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says about the files; what is left out is found out."""

    columns: Annotated[
        list[str] | None, typer.Option("--map", metavar="FIELD=COLUMN", help="Take a field from this column; repeat for several.")
    ] = None
    form: Annotated[Format | None, typer.Option("--format", metavar="csv|jsonl|json", help="Format (default: found out).")] = None
    source: Annotated[str | None, typer.Option(metavar="NAME", help="Source of rows that name none.")] = None
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="Encoding: utf-8, cp1252 … (default: found out).")] = None
    delimiter: Annotated[str | None, typer.Option(metavar="CHAR", help="Delimiter: , ; | or tab (default: found out).")] = None
    date_order: Annotated[
        DateOrder | None, typer.Option(metavar="dmy|mdy", help="How to read 03/04/2026 (default: found out, or rejected).")
    ] = None
    time_zone: Annotated[str | None, typer.Option(metavar="ZONE", help="Zone of times without one (default: WA_TIME_ZONE).")] = None
    mask: Annotated[
        str | None, typer.Option(metavar="KINDS", help="Replace email,phone,card,iban before storing, beside what WA_MASK says.")
    ] = None


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(
        app,
        "ingest",
        example="wisdom ingest tickets.jsonl --tenant acme\n"
        "wisdom ingest reviews.csv --map text=review_body --map occurred_at=date --dry-run\n"
        "zcat export.jsonl.gz | wisdom ingest - --source zendesk --rejects rejected.jsonl\n"
        "wisdom ingest million.csv --background --follow",
    )
    def ingest(
        files: Annotated[
            list[str], typer.Argument(metavar="FILE...", help="CSV, JSON lines or JSON files, gzip too; - is standard input.")
        ],
        reading: Reading,
        common: Common,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Store nothing: show the mapping, three documents, all rejections.")
        ] = False,
        rejects: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every rejection there, as JSON lines.")] = None,
        batch_id: Annotated[str | None, typer.Option(metavar="ID", help="Name of this run in the report (default: a new one).")] = None,
        strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 when a row was rejected.")] = False,
        background: Annotated[
            bool, typer.Option("--background", help="Hand the rows to wisdom worker and print the id of the job; see wisdom jobs.")
        ] = False,
        follow: Annotated[bool, typer.Option("--follow", help="With --background: stay until the job has ended.")] = False,
    ) -> int:
        """Read, validate, embed and store documents; one bad row never sinks the others.

        Columns called like a field, or by a well-known other name, are found; --map says otherwise. Fields: doc_id, source, text, occurred_at,
        title, theme_id, account_id, rating, language, url, version, attributes. Running the same ingest again stores nothing twice, so an
        interrupted one is resumed by running it again.
        """
        from api.cli.ingesting import Request, dry, stored

        if follow and not background:
            raise InvalidRequest("goes with --background", field="follow")
        if background and dry_run:
            raise InvalidRequest("stores nothing, so there is nothing for the worker", field="dry_run")
        request = Request.of(files, reading, rejects=rejects, batch_id=batch_id, strict=strict)
        if background:
            from api.cli.following import handed_in

            return handed_in(request, common, follow=follow)
        return dry(request, common) if dry_run else stored(request, common)
