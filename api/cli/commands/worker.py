"""``wisdom worker``: does the work that nobody waits for; ``wisdom worker dead-letters``: what it gave up."""

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command, group_command
from api.cli.failures import FAILED
from api.cli.options import Common
from api.cli.session import Session, server_log_level, session, settings_of
from runtime.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.settings import Settings

Queues = Annotated[str | None, typer.Option(metavar="NAMES", help="Only these queues, comma separated (default: all).")]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=256, help="Pieces of work at once (default: WA_WORKER_CONCURRENCY).")
]
Letters = Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Ids of dead letters.")]
Every = Annotated[bool, typer.Option("--all", help="All that wait.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer()
    app.add_typer(group, name="worker", help="Do the work that nobody waits for: monitors, deliveries, ingest jobs, evaluations, events.")
    _work(group)
    letters = typer.Typer(no_args_is_help=True)
    group.add_typer(letters, name="dead-letters", help="Work that was given up after bounded attempts.")
    _list(letters)
    _retry(letters)
    _drop(letters)


def _work(group: typer.Typer) -> None:
    @group_command(group, "worker", example="wisdom worker --local\nwisdom worker --queues monitors,deliveries --concurrency 4")
    def worker(
        context: typer.Context,
        common: Common,
        local: Annotated[bool, typer.Option("--local", help="Without a broker: threads of this process.")] = False,
        concurrency: Concurrency = None,
        queues: Queues = None,
        no_beat: Annotated[bool, typer.Option("--no-beat", help="Leave looking for due work to others.")] = False,
        beat_only: Annotated[bool, typer.Option("--beat-only", help="Only look for due work, do none.")] = False,
    ) -> int | None:
        """Do the work that nobody waits for, of all tenants, until stopped.

        Work is spread over the workers of the broker WA_REDIS_URL names; --local needs none. SIGTERM and Ctrl-C let running pieces finish; SIGQUIT gives
        them a few seconds and puts them back.
        """
        if context.invoked_subcommand is not None:
            return None
        if beat_only and (local or no_beat):
            raise InvalidRequest("goes with neither --local nor --no-beat", field="beat_only")
        given = {"worker_concurrency": concurrency} if concurrency is not None else {}
        settings = settings_of(common, **given, **server_log_level())
        return _run(settings, _queues(queues), common, local=local, beat=not no_beat, work=not beat_only)


def _run(settings: "Settings", queues: tuple[str, ...], common: Common, *, local: bool, beat: bool, work: bool) -> int:
    from api.cli.screen import screen
    from api.cli.views.worker import announcement
    from runtime.telemetry import configure_logging
    from worker.queues.broker_settings import check_broker
    from worker.queues.running import run

    configure_logging(settings)
    if not local:
        check_broker(settings)
    for line in announcement(settings, queues, local=local, beat=beat, work=work):
        screen(quiet=common.quiet).note(line)
    return run(settings, queues, local=local, beat=beat, work=work)


def _queues(names: str | None) -> tuple[str, ...]:
    from worker.duties import QUEUES

    chosen = tuple(name.strip() for name in names.split(",")) if names is not None else QUEUES
    for name in chosen:
        if name not in QUEUES:
            raise InvalidRequest(f"{name!r} is none of {', '.join(QUEUES)}", field="queues")
    return chosen


def _list(group: typer.Typer) -> None:
    @command(group, "worker dead-letters list", example="wisdom worker dead-letters list --tenant acme")
    def list_dead_letters(
        common: Common,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Letters on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List work that was given up, newest first."""
        from api import operations, rendering
        from api.cli.views.worker import dead_letters_view

        with session(common) as opened:
            letters, cursor = operations.dead_letters(opened.service, opened.tenant, first=first, after=after)
            opened.screen.show(lambda: dead_letters_view(letters), lambda: rendering.dead_letter_page(letters, cursor))
            if cursor is not None:
                opened.screen.note(f"next page: --after {cursor}")


def _retry(group: typer.Typer) -> None:
    @command(group, "worker dead-letters retry", example="wisdom worker dead-letters retry --all")
    def retry(common: Common, letter_ids: Letters = None, every: Every = False) -> int | None:
        """Have the work of dead letters done again."""
        from api import operations

        with session(common) as opened:
            return _each(
                opened, letter_ids, every, "retried", lambda each: operations.retry_dead_letter(opened.service, opened.tenant, each)
            )


def _drop(group: typer.Typer) -> None:
    @command(group, "worker dead-letters drop", example="wisdom worker dead-letters drop 3f0c9d1b2a4e5f60718293a4b5c6d7e8")
    def drop(common: Common, letter_ids: Letters = None, every: Every = False) -> int | None:
        """Never do the work of dead letters; they are not listed any more."""
        from api import operations

        with session(common) as opened:
            return _each(
                opened, letter_ids, every, "dropped", lambda each: operations.drop_dead_letter(opened.service, opened.tenant, each)
            )


def _each(opened: Session, letter_ids: list[str] | None, every: bool, done: str, act: "Callable[[str], object]") -> int | None:
    if bool(letter_ids) == every:
        raise InvalidRequest("name ids, or give --all", field="letter_ids")
    acted, missing = [], []
    for letter_id in letter_ids or _waiting(opened):
        try:
            act(letter_id)
            acted.append(letter_id)
        except NotFound:
            missing.append(letter_id)
    for letter_id in missing:
        opened.screen.warn(f"there is no dead letter {letter_id}")
    opened.screen.show(lambda: f"{done}: {len(acted)}", lambda: {done: acted, "missing": missing})
    return FAILED if missing else None


def _waiting(opened: Session) -> list[str]:
    from api import operations

    found: list[str] = []
    after: str | None = None
    while True:
        letters, after = operations.dead_letters(opened.service, opened.tenant, first=1000, after=after)
        found += [letter.letter_id for letter in letters]
        if after is None:
            return found
