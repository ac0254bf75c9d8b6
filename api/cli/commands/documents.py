"""``wisdom documents list|show|delete|receipts|receipt``: look at what is stored, remove it, and what was removed."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED
from api.cli.options import Common, Narrowing
from api.cli.session import Session, session
from runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from search.ingest.erasure import DeleteReport


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="documents", help="List, show or delete stored documents.")
    _list(group)
    _show(group)
    _delete(group)
    _receipts(group)
    _receipt(group)


def _list(group: typer.Typer) -> None:
    @command(
        group,
        "documents list",
        example="wisdom documents list --theme billing --rating 1..2\nwisdom documents list --match 'refund \"bank transfer\"'",
    )
    def list_documents(
        narrowing: Narrowing,
        common: Common,
        match: Annotated[str | None, typer.Option(metavar="WORDS", help="Only documents that hold all these words.")] = None,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Documents on a page.")] = 50,
        after: Annotated[
            str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page, or list what a count counted.")
        ] = None,
    ) -> None:
        """List documents, newest first, a page at a time."""
        from api import operations, rendering
        from api.cli.narrowing import narrowed
        from api.cli.views.documents import documents_view

        with session(common) as opened:
            filters = narrowed(narrowing, opened.service.settings.time_zone)
            found = operations.documents(opened.service, opened.tenant, filters, match=match, first=first, after=after)
            opened.screen.show(lambda: documents_view(found.documents), lambda: rendering.document_page(found))
            opened.screen.note(f"{len(found.documents):,} of {found.total:,} matching documents")
            if found.cursor is not None:
                opened.screen.note(f"next page: --after {found.cursor}")


def _show(group: typer.Typer) -> None:
    @command(group, "documents show", example="wisdom documents show t-1042")
    def show_document(doc_id: Annotated[str, typer.Argument(metavar="ID", help="A document id.")], common: Common) -> None:
        """Show one document in full."""
        from api import operations, rendering
        from api.cli.views.documents import document_view

        with session(common) as opened:
            found = operations.document(opened.service, opened.tenant, doc_id)
            opened.screen.show(lambda: document_view(found), lambda: rendering.document(found))


def _delete(group: typer.Typer) -> None:
    @command(group, "documents delete", example="wisdom documents delete t-1042 t-1043\nwisdom documents delete --account a-77 --yes")
    def delete_documents(
        common: Common,
        doc_ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Document ids.")] = None,
        account: Annotated[str | None, typer.Option(metavar="ID", help="Every document of this account.")] = None,
        tenant_all: Annotated[bool, typer.Option("--tenant-all", help="Everything of the tenant, traces included.")] = False,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    ) -> int | None:
        """Delete documents: they are not searched, counted, cited or returned from then on.

        --account and --tenant-all ask first, unless --yes is given.
        """
        from api import operations

        _one_choice(doc_ids, account, tenant_all=tenant_all)
        with session(common) as opened:
            if not yes and not doc_ids and not _confirmed(opened, account):
                opened.screen.warn("nothing was deleted")
                return FAILED
            report = operations.delete(
                opened.service, opened.tenant, doc_ids=doc_ids or None, account_id=account, confirm=True, by="command line"
            )
            _report(opened, report, doc_ids)
        return None


def _receipts(group: typer.Typer) -> None:
    @command(group, "documents receipts", example="wisdom documents receipts\nwisdom documents receipts --account a-77")
    def receipts(
        common: Common,
        account: Annotated[str | None, typer.Option(metavar="ID", help="Of the page, only erasures of this account.")] = None,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Receipts on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List the receipts of erasures, newest first. They hold numbers: neither documents nor accounts are named in them."""
        from api import operations, rendering
        from api.cli.views.receipts import receipts_view

        with session(common) as opened:
            page = operations.receipts(opened.service, opened.tenant, first=first, after=after)
            found = tuple(receipt for receipt in page.receipts if account is None or receipt.of_account(account))
            opened.screen.show(lambda: receipts_view(found), lambda: rendering.receipt_page(replace(page, receipts=found)))
            if page.cursor is not None:
                opened.screen.note(f"next page: --after {page.cursor}")


def _receipt(group: typer.Typer) -> None:
    @command(group, "documents receipt", example="wisdom documents receipt 0f3c…")
    def receipt(receipt_id: Annotated[str, typer.Argument(metavar="ID", help="A receipt's id.")], common: Common) -> None:
        """Show what an erasure removed, and whether everything that was kept has been gone through."""
        from api import operations, rendering
        from api.cli.views.receipts import receipt_view

        with session(common) as opened:
            found = operations.receipt(opened.service, opened.tenant, receipt_id)
            opened.screen.show(lambda: receipt_view(found), lambda: rendering.erasure_receipt(found))


def _one_choice(doc_ids: list[str] | None, account: str | None, *, tenant_all: bool) -> None:
    if sum((bool(doc_ids), account is not None, tenant_all)) != 1:
        raise InvalidRequest("give document ids, or --account ID, or --tenant-all: exactly one of them")


def _confirmed(opened: Session, account: str | None) -> bool:
    """Ask on standard error; without a terminal to ask on, insist on ``--yes``."""
    from search.documents import EVERYTHING, Filters

    filters = EVERYTHING if account is None else Filters(account_ids=(account,))
    count = opened.service.engine.documents(opened.tenant, filters, first=1).total
    of = f"tenant {opened.tenant}, with all traces" if account is None else f"account {account!r} of tenant {opened.tenant}"
    if not typer.get_text_stream("stdin").isatty():
        raise InvalidRequest(f"would delete {count:,} documents of {of}; there is no terminal to ask on, so add --yes")
    return typer.confirm(f"Delete {count:,} documents of {of}? This cannot be undone.", err=True)


def _report(opened: Session, report: "DeleteReport", asked: list[str] | None) -> None:
    from rich.text import Text

    from api import rendering

    missing = sorted(set(asked or ()) - set(report.doc_ids))
    opened.screen.show(
        lambda: Text(f"deleted {report.deleted:,} {'document' if report.deleted == 1 else 'documents'}"),
        lambda: rendering.delete_report(report),
    )
    if report.receipt is not None:
        opened.screen.note(f"receipt {report.receipt.receipt_id}")
    if missing:
        opened.screen.warn(f"not there: {', '.join(missing[:20])}")
