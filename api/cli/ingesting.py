"""One ingest from the command line: several inputs, one report."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, TextIO

from api import rendering
from api.cli.commands.ingest import STDIN, Reading
from api.cli.failures import DONE, INTERRUPTED, REJECTED
from api.cli.options import Common
from api.cli.progress import progress_on
from api.cli.screen import Screen, screen
from api.cli.session import Session, session, settings_of
from api.cli.views.ingest import preview_notes, previews_view, report_notes, report_view
from runtime.clock import SystemClock
from runtime.errors import InvalidRequest
from runtime.settings import Settings
from search.ingest.files import ReadOptions, read_rows
from search.ingest.parsing import Defaults
from search.ingest.preview import Preview, preview
from search.ingest.report import IngestReport, Rejection, together

OnRejection = Callable[[Rejection], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be read, how, and what to do about rejected rows."""

    inputs: tuple[str, ...]
    options: ReadOptions
    source: str | None
    time_zone: str | None
    rejects: Path | None
    batch_id: str | None
    strict: bool
    mask: str | None = None

    @classmethod
    def of(cls, files: list[str], reading: Reading, *, rejects: Path | None, batch_id: str | None, strict: bool) -> "Request":
        """The request of these options.

        Raises:
            InvalidRequest: an option is unusable, or an input cannot be there; checked for all of them before the first is read.
        """
        _check_inputs(files, rejects)
        options = ReadOptions(
            format=reading.form.value if reading.form else None,
            encoding=reading.encoding,
            delimiter=reading.delimiter,
            mapping=dict(_pair(text) for text in reading.columns or ()),
            date_order=reading.date_order.value if reading.date_order else None,
        )
        return cls(tuple(files), options, reading.source, reading.time_zone, rejects, batch_id, strict, reading.mask)

    def defaults(self, settings: Settings) -> Defaults:
        """What holds where a row says nothing."""
        return Defaults.of(settings, source=self.source, time_zone=self.time_zone, mask=self.mask)


def stored(request: Request, common: Common) -> int:
    """Ingest every input, print the report, and say how it ended. An input that cannot be read loses no other: it is named after the report.

    Raises:
        InvalidRequest: an input cannot be read at all.
    """
    unreadable: list[InvalidRequest] = []
    with session(common) as opened, _rejections_to(request.rejects) as rejected:
        report = _ingested(request, opened, rejected, unreadable)
        if report is not None:
            _tell(report, opened.screen)
    if unreadable:
        raise unreadable[0] if len(unreadable) == 1 else InvalidRequest("; ".join(error.reason for error in unreadable), field="files")
    assert report is not None
    if report.interrupted:
        return INTERRUPTED
    return REJECTED if request.strict and report.rejected else DONE


def _tell(report: IngestReport, told: Screen) -> None:
    told.show(lambda: report_view(report), lambda: rendering.ingest_report(report))
    for note in report_notes(report):
        told.note(note)
    for warning in report.warnings:
        told.warn(warning)
    if report.interrupted:
        told.warn(f"interrupted; {report.received:,} rows are done and stay so. Run the same command again to resume")


def dry(request: Request, common: Common) -> int:
    """Validate every input and show what would be stored."""
    settings = settings_of(common)
    told = screen(as_json=common.as_json, quiet=common.quiet)
    defaults = replace(request.defaults(settings), now=SystemClock().now())
    previews: list[tuple[str, Preview]] = []
    with _rejections_to(request.rejects) as rejected:
        for name in request.inputs:
            with read_rows(opened_input(name, told), request.options) as rows:
                previews.append((name, preview(rows, defaults, _naming(rejected, name))))
    told.show(lambda: previews_view(previews), lambda: {"files": [_preview_value(name, each) for name, each in previews]})
    for note in preview_notes(previews):
        told.note(note)
    return REJECTED if request.strict and any(each.rejected for _, each in previews) else DONE


def _ingested(request: Request, opened: Session, rejected: OnRejection | None, unreadable: list[InvalidRequest]) -> IngestReport | None:
    reports: list[tuple[str, IngestReport]] = []
    for name in request.inputs:
        try:
            report = _one(name, request, opened, rejected, reports[0][1].batch_id if reports else request.batch_id)
        except InvalidRequest as error:
            unreadable.append(_naming_the_file(error, name) if len(request.inputs) > 1 else error)
            continue
        reports.append((called(name), report))
        if report.interrupted:
            break
    if not reports:
        return None
    return reports[0][1] if len(reports) == 1 else together(reports)


def _naming_the_file(error: InvalidRequest, name: str) -> InvalidRequest:
    return InvalidRequest(f"{called(name)}: {error.reason}", field=error.field)


def _one(name: str, request: Request, opened: Session, rejected: OnRejection | None, batch_id: str | None) -> IngestReport:
    service = opened.service
    with (
        read_rows(opened_input(name, opened.screen), request.options) as rows,
        progress_on(opened.screen, service.clock, called(name), rows.share_read) as told,
    ):
        return service.ingester.ingest(
            opened.tenant,
            rows,
            batch_id=batch_id,
            defaults=request.defaults(service.settings),
            progress=told,
            on_rejection=_naming(rejected, name),
        )


def opened_input(name: str, told: Screen) -> Path | BinaryIO:
    """An input as it is read."""
    if name != STDIN:
        return Path(name)
    if sys.stdin.isatty():
        told.note("reading from the terminal; Ctrl-D ends the input")
    return sys.stdin.buffer


def called(name: str) -> str:
    """An input as people know it."""
    return "standard input" if name == STDIN else Path(name).name


def _check_inputs(files: list[str], rejects: Path | None) -> None:
    if files.count(STDIN) > 1:
        raise InvalidRequest("standard input can be read once", field="files")
    for name in files:
        path = Path(name)
        if name != STDIN and not path.exists():
            raise InvalidRequest(f"{name} does not exist", field="files")
        if name != STDIN and path.is_dir():
            raise InvalidRequest(f"{name} is a folder; name the files in it", field="files")
        if rejects is not None and name != STDIN and rejects.exists() and rejects.samefile(path):
            raise InvalidRequest("would overwrite an input", field="rejects")


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals or not name.strip() or not column.strip():
        raise InvalidRequest(f"{text!r} is not FIELD=COLUMN", field="map")
    return name.strip(), column


@contextmanager
def _rejections_to(path: Path | None) -> Iterator[OnRejection | None]:
    """A function that writes rejections to this file, one JSON value a line; None without a file."""
    if path is None:
        yield None
        return
    with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        yield lambda rejection: _write(file, rejection)


def _write(file: TextIO, rejection: Rejection) -> None:
    file.write(json.dumps(rendering.rejection(rejection), ensure_ascii=False) + "\n")


def _naming(rejected: OnRejection | None, name: str) -> OnRejection | None:
    """The same, with the name of the input in every rejection."""
    return None if rejected is None else lambda rejection: rejected(replace(rejection, file=called(name)))


def _preview_value(name: str, found: Preview) -> dict[str, object]:
    return {
        "file": name,
        "received": found.received,
        "rejected": found.rejected,
        "mapping": dict(found.mapping),
        "attributeFields": list(found.attribute_fields),
        "documents": [rendering.document(document) for document in found.documents],
        "rejections": [rendering.rejection(rejection) for rejection in found.rejections],
        "warnings": list(found.warnings),
        "masked": rendering.masked(found.masked),
    }
