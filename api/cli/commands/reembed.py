"""``wisdom reembed``: a second generation with another embedding model, beside the live one; in a cluster it takes the place of that while it is used."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command
from api.cli.failures import FAILED, GATED
from api.cli.options import Common
from runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from api.cli.screen import Screen
    from api.reembedding import Trial
    from api.renewing import Renewed, Trying
    from runtime.settings import Settings
    from search.moving.copying import Told
    from search.moving.migration import MigrationReport


@dataclass(frozen=True, slots=True)
class Making:
    """Options for making a generation."""

    embedder: Annotated[str | None, typer.Option(metavar="NAME", help="The new model, as in WA_EMBEDDER.")] = None
    eval_set: Annotated[str | None, typer.Option("--eval", metavar="SET", help="Ask both this set; a name, or a file or folder.")] = None
    gate: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Bounds that the new one must keep (default: at most 0.03 worse than the live one)."),
    ] = None
    switch: Annotated[
        bool | None,
        typer.Option("--switch/--no-switch", help="Serve it, or do not (default: if --eval is given and passed). In a cluster."),
    ] = None
    to: Annotated[str | None, typer.Option(metavar="URL", help="The new file (default: one beside it). For a file.")] = None


@dataclass(frozen=True, slots=True)
class Keeping:
    """Options for the generations that a cluster has."""

    back: Annotated[bool, typer.Option("--back", help="Serve the generation from before again, with what was written since.")] = False
    status: Annotated[bool, typer.Option("--status", help="List the generations.")] = False
    drop: Annotated[str | None, typer.Option(metavar="NAME", help="Remove a generation that is not served.")] = None
    abandon: Annotated[bool, typer.Option("--abandon", help="Take writes again after a switch was killed.")] = False


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(
        app,
        "reembed",
        example="wisdom reembed --embedder openai:multilingual-e5-small --eval support\nwisdom reembed --status\nwisdom reembed --back",
    )
    def reembed(
        making: Making,
        keeping: Keeping,
        common: Common,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation of --drop.")] = False,
    ) -> int | None:
        """Embed everything anew beside what is served, try it, and serve it.

        In a cluster, every process that runs serves the new generation within seconds, and the old one is kept for --back. A store file needs a
        restart: the command says which. It can be run again whenever it was interrupted. Every tenant is moved, --tenant is the one whose
        documents are evaluated. The exit code is 5 when the gate is not passed, and nothing is changed then; 1 when both are not the same.
        """
        from api.cli.screen import screen
        from api.cli.session import settings_of
        from runtime.telemetry import configure_logging, correlated, correlation_id
        from search.engines.opening import is_cluster

        settings = settings_of(common)
        on = screen(as_json=common.as_json, quiet=common.quiet)
        configure_logging(settings)
        with correlated(correlation_id()):
            if [making.embedder is not None, keeping.back, keeping.status, keeping.drop is not None, keeping.abandon].count(True) != 1:
                raise InvalidRequest("give one of --embedder, --back, --status, --drop and --abandon")
            if is_cluster(settings):
                return _in_cluster(settings, making, keeping, on, yes=yes)
            return _beside_file(settings, making, common, on)


def _in_cluster(settings: "Settings", making: Making, keeping: Keeping, on: "Screen", *, yes: bool) -> int | None:
    from rich.text import Text

    from api import renewing
    from api.cli.views.reembed import renewed_json, renewed_view, standing_json, standings_view

    if making.to is not None:
        raise InvalidRequest("is for a store file; in a cluster a generation is beside the others", field="to")
    if keeping.status:
        found = renewing.standings(settings)
        on.show(lambda: standings_view(found), lambda: [standing_json(each) for each in found])
    elif keeping.abandon:
        live = renewing.abandoned(settings)
        on.show(lambda: Text(f"{live.prefix} is served and takes writes"), lambda: {"served": live.prefix})
    elif keeping.drop is not None:
        if not yes and not _confirmed(keeping.drop):
            on.warn("nothing was removed")
            return FAILED
        renewing.dropped(settings, keeping.drop)
        on.show(lambda: Text(f"removed {keeping.drop}"), lambda: {"removed": keeping.drop})
    else:
        done = _renewed(settings, making, on)
        on.show(lambda: renewed_view(done), lambda: renewed_json(done))
        for doc_id, reason in done.copied.refused[:20]:
            on.warn(f"{doc_id} was not taken: {reason}")
        return _code(done)
    return None


def _renewed(settings: "Settings", making: Making, on: "Screen") -> "Renewed":
    from api import renewing

    if making.embedder is None:
        return _with_progress(on, lambda told: renewing.gone_back(settings, told))
    embedder, trying = making.embedder, _trying(settings, making)
    serve = trying is not None if making.switch is None else making.switch
    return _with_progress(on, lambda told: renewing.renewed(settings, embedder, trying, serve=serve, told=told))


def _with_progress(on: "Screen", work: "Callable[[Told], Renewed]") -> "Renewed":
    from api.cli.commands.migrate import with_share
    from api.cli.progress import progress_on
    from runtime.clock import SystemClock

    shares: list[float] = []
    with progress_on(on, SystemClock(), "documents", lambda: shares[-1] if shares else None) as told:
        return work(with_share(shares, told))


def _trying(settings: "Settings", making: Making) -> "Trying | None":
    from api.cli.evaluating import gate_named, set_named
    from api.renewing import Trying
    from runtime.tenancy import tenant_named

    named, tenant = making.eval_set, tenant_named(settings.default_tenant)
    if named is None:
        return None
    return Trying(tenant, lambda service: set_named(service, tenant, named), None if making.gate is None else gate_named(making.gate))


def _code(done: "Renewed") -> int | None:
    if done.trial is not None and not done.trial.passed:
        return GATED
    return FAILED if done.copied.refused or done.differing else None


def _confirmed(prefix: str) -> bool:
    """Ask on standard error; without a terminal to ask on, insist on ``--yes``."""
    if not typer.get_text_stream("stdin").isatty():
        raise InvalidRequest(f"this removes every document of {prefix}; there is no terminal to ask on, so add --yes")
    return typer.confirm(f"Remove every document of {prefix}. This cannot be undone. Go on?", err=True)


def _beside_file(settings: "Settings", making: Making, common: Common, on: "Screen") -> int | None:
    from api.cli.session import settings_of
    from api.reembedding import beside

    if making.embedder is None or making.switch is not None:
        raise InvalidRequest(
            "a store file is switched by a restart; give --embedder, and --switch, --back and the others for a cluster alone"
        )
    url = making.to or beside(settings, making.embedder)
    new = settings_of(replace(common, engine=None), embedder=making.embedder, engine_url=url)
    report = _moved(settings, new, on)
    trial = _tried(settings, new, making.eval_set, making.gate) if making.eval_set is not None and report.verified else None
    return _finished(on, report, trial, settings, new)


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
