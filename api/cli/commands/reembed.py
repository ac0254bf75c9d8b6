"""``wisdom reembed``: a second generation with another embedding model, beside the live one."""

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED, GATED
from api.cli.options import Common

if TYPE_CHECKING:
    from api.cli.screen import Screen
    from api.reembedding import Trial
    from runtime.settings import Settings
    from search.moving.migration import MigrationReport


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(
        app,
        "reembed",
        example="wisdom reembed --embedder openai:multilingual-e5-small --eval support\nwisdom reembed --embedder minilm --to-prefix wa2 --engine http://127.0.0.1:9200",
    )
    def reembed(
        embedder: Annotated[str, typer.Option(metavar="NAME", help="The new model, as in WA_EMBEDDER.")],
        common: Common,
        to: Annotated[
            str | None, typer.Option(metavar="URL", help="The new store (default: a file beside it, or the same cluster).")
        ] = None,
        to_prefix: Annotated[
            str | None, typer.Option(metavar="NAME", help="Index prefix of the new store (default: the next number).")
        ] = None,
        eval_set: Annotated[
            str | None, typer.Option("--eval", metavar="SET", help="Ask both this set; a name, or a file or folder.")
        ] = None,
        gate: Annotated[
            str | None,
            typer.Option(metavar="FILE", help="Bounds that the new store must keep (default: at most 0.03 worse than the live one)."),
        ] = None,
    ) -> int | None:
        """Embed everything anew beside the live store, which goes on serving; compare both; say how to switch and how to go back.

        It catches up with what was written meanwhile, and can be run again. Every tenant is moved, --tenant is the one whose documents are
        evaluated. The exit code is 5 when the gate is not passed, 1 when the stores are not the same.
        """
        from api.cli.screen import screen
        from api.cli.session import settings_of
        from api.reembedding import beside
        from runtime.telemetry import configure_logging, correlated, correlation_id

        old = settings_of(common)
        url, prefix = beside(old, embedder)
        new = settings_of(Common(tenant=common.tenant), embedder=embedder, engine_url=to or url, index_prefix=to_prefix or prefix)
        on = screen(as_json=common.as_json, quiet=common.quiet)
        configure_logging(old)
        with correlated(correlation_id()):
            report = _moved(old, new, on)
            trial = _tried(old, new, eval_set, gate) if eval_set is not None and report.verified else None
        return _finished(on, report, trial, old, new)


def _moved(old: "Settings", new: "Settings", on: "Screen") -> "MigrationReport":
    from api.cli.commands.migrate import with_share
    from api.cli.progress import progress_on
    from api.reembedding import embedded_anew
    from runtime.clock import SystemClock

    shares: list[float] = []
    with progress_on(on, SystemClock(), "documents", lambda: shares[-1] if shares else None) as told:
        return embedded_anew(old, new, with_share(shares, told))


def _tried(old: "Settings", new: "Settings", named: str, gate: str | None) -> "Trial":
    from api.cli.evaluating import gate_named, set_named
    from api.reembedding import tried
    from runtime.tenancy import tenant_named

    bounds = None if gate is None else gate_named(gate)
    tenant = tenant_named(old.default_tenant)
    return tried(old, new, tenant, lambda service: set_named(service, tenant, named), bounds)


def _finished(on: "Screen", report: "MigrationReport", trial: "Trial | None", old: "Settings", new: "Settings") -> int | None:
    from api import evaluation_rendering, moving_operations
    from api.cli.views.reembed import reembed_view
    from api.reembedding import switching

    steps = switching(old, new)
    value = moving_operations.rendered(report) | dict(zip(("switch", "catchUp", "rollBack", "takeBack"), steps, strict=True))
    value |= {"evaluation": None if trial is None else evaluation_rendering.eval_report(trial.after)}
    on.show(lambda: reembed_view(report, trial, steps), lambda: value)
    if not report.verified:
        return FAILED
    return GATED if trial is not None and not trial.passed else None
