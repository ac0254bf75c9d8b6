"""``wisdom ask``: an answer claim by claim with its citations, or a refusal that says why."""

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.calling import Calling, calling
from api.cli.declaring import command
from api.cli.failures import REFUSED
from api.cli.options import Common, Narrowing
from api.cli.session import Session, session

if TYPE_CHECKING:
    from grounding.answers import Outcome

TopK = Annotated[int | None, typer.Option(metavar="N", min=1, max=1000, help="Passages to look at (default: WA_DEFAULT_TOP_K).")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(
        app,
        "ask",
        example="wisdom ask 'Why are card payments declined?'\nwisdom ask 'How many customers ask for a refund?' --since 2026-03-01 --json",
    )
    def ask(
        question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question in plain words.")],
        narrowing: Narrowing,
        common: Common,
        top_k: TopK = None,
        explain: Annotated[bool, typer.Option("--explain", help="Also show plan, gates, ranking contributions and verdicts.")] = False,
        fail_on_refusal: Annotated[bool, typer.Option("--fail-on-refusal", help="Exit with 3 when the question is refused.")] = False,
    ) -> int | None:
        """Answer a question with claims that cite the exact words of documents, or refuse and say why.

        A refusal is a result: the exit code is 0 unless --fail-on-refusal is given.
        """
        with session(common) as opened:
            outcome = asked(opened, question, narrowing, top_k)
            shown(opened, outcome, calling(common), explain=explain)
        return REFUSED if fail_on_refusal and outcome.refusal is not None else None


def asked(opened: Session, question: str, narrowing: Narrowing, top_k: int | None = None) -> "Outcome":
    """The outcome of asking."""
    from api import operations
    from api.arguments import top_k_from
    from api.cli.narrowing import narrowed, zone_of

    settings = opened.service.settings
    return operations.ask(
        opened.service,
        opened.tenant,
        question,
        top_k=top_k_from(top_k, settings),
        filters=narrowed(narrowing, settings.time_zone),
        time_zone=zone_of(narrowing, settings.time_zone),
    )


def shown(opened: Session, outcome: "Outcome", line: Calling, *, explain: bool = False) -> None:
    """Print an outcome with the documents behind it."""
    from rich.console import Group

    from api import operations, rendering
    from api.cli.views.answer import outcome_view
    from api.cli.views.runs import explanation

    documents = operations.documents_of(opened.service, opened.tenant, operations.shown_ids(outcome))

    def picture() -> Group:
        told = outcome_view(outcome, {document.doc_id: document for document in documents}, line)
        return Group(told, *([explanation(outcome)] if explain else []))

    opened.screen.show(picture, lambda: rendering.ask_result(outcome, documents))
