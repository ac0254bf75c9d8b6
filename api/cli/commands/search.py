"""``wisdom search``: ranked passages with all their scores."""

from enum import StrEnum
from typing import Annotated

import typer

from api.cli.commands.ask import TopK
from api.cli.declaring import command
from api.cli.options import Common, Narrowing
from api.cli.session import session


class Fusion(StrEnum):
    """How the lexical and the vector leg are merged."""

    RRF = "rrf"
    WEIGHTED = "weighted"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "search", example="wisdom search 'declined card' --top-k 5\nwisdom search SAVE20 --fusion weighted --json")
    def search(
        query: Annotated[str, typer.Argument(metavar="QUERY", help='Words, codes or a "quoted phrase".')],
        narrowing: Narrowing,
        common: Common,
        top_k: TopK = None,
        fusion: Annotated[
            Fusion | None, typer.Option(metavar="rrf|weighted", help="How to merge the two legs (default: WA_FUSION).")
        ] = None,
    ) -> None:
        """Rank passages by words and by meaning, with both scores and what each feature added."""
        from api import operations, rendering
        from api.arguments import top_k_from
        from api.cli.narrowing import narrowed
        from api.cli.views.ranking import retrieval_view, searched

        with session(common) as opened:
            settings = opened.service.settings
            found = operations.search(
                opened.service,
                opened.tenant,
                query,
                top_k=top_k_from(top_k, settings),
                filters=narrowed(narrowing, settings.time_zone),
                fusion=fusion.value if fusion else None,
            )
            opened.screen.note(searched(found))
            opened.screen.show(lambda: retrieval_view(found), lambda: rendering.search_result(found))
