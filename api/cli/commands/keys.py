"""``wisdom keys create|list|rotate|revoke``: who may call the web doors."""

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common
from api.cli.session import Session, session

if TYPE_CHECKING:
    from api.identity.keys import ApiKey

KeyId = Annotated[str, typer.Argument(metavar="KEY", help="Id of a key, the part between wa_ and the secret.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="keys", help="API keys of a tenant: create, list, rotate, revoke. Needs WA_KEY_PEPPER.")
    _create(group)
    _list(group)
    _rotate(group)
    _revoke(group)


def _create(group: typer.Typer) -> None:
    @command(group, "keys create", example='wisdom keys create "support dashboard" --tenant acme --scopes read,ask')
    def create_key(
        name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
        common: Common,
        scopes: Annotated[str, typer.Option(metavar="NAMES", help="read, ask, write, monitor, admin; comma separated.")] = "read,ask",
        rate_class: Annotated[str, typer.Option(metavar="low|standard|high", help="How often it may call.")] = "standard",
        expires: Annotated[str | None, typer.Option(metavar="DATE", help="When it ends: 2027-01-31 (default: never).")] = None,
    ) -> None:
        """Make a key. It is printed this once: only its hash is kept."""
        from api import key_operations

        with session(common) as opened:
            made = key_operations.create_key(
                opened.service, opened.tenant, name=name, scopes=scopes.split(","), rate_class=rate_class, expires_at=expires
            )
            _show_made(opened, *made)


def _list(group: typer.Typer) -> None:
    @command(group, "keys list", example="wisdom keys list --tenant acme")
    def list_keys(common: Common) -> None:
        """List the tenant's keys, newest first, ended ones too."""
        from api import key_operations
        from api.cli.views.keys import keys_view

        with session(common) as opened:
            found = key_operations.keys(opened.service, opened.tenant)
            now = opened.service.clock.now()
            opened.screen.show(lambda: keys_view(found, now), lambda: {"keys": [key_operations.rendered(key) for key in found]})


def _rotate(group: typer.Typer) -> None:
    @command(group, "keys rotate", example="wisdom keys rotate 0f3a… --tenant acme --overlap-s 3600")
    def rotate_key(
        key_id: KeyId,
        common: Common,
        overlap_s: Annotated[float, typer.Option(metavar="SECONDS", min=0, help="How long the old key goes on working.")] = 0.0,
    ) -> None:
        """Make a key with the same rights in place of one, which ends."""
        from api import key_operations

        with session(common) as opened:
            _show_made(opened, *key_operations.rotate_key(opened.service, opened.tenant, key_id, overlap_s))


def _revoke(group: typer.Typer) -> None:
    @command(group, "keys revoke", example="wisdom keys revoke 0f3a… --tenant acme")
    def revoke_key(key_id: KeyId, common: Common) -> None:
        """End a key for good. Servers that have just used it notice within seconds."""
        from api import key_operations
        from api.cli.views.keys import keys_view

        with session(common) as opened:
            found = key_operations.revoke_key(opened.service, opened.tenant, key_id)
            now = opened.service.clock.now()
            opened.screen.show(lambda: keys_view((found,), now), lambda: key_operations.rendered(found))


def _show_made(opened: Session, key: "ApiKey", secret: str) -> None:
    from rich.text import Text

    from api import key_operations

    opened.screen.show(lambda: Text(secret), lambda: {"key": key_operations.rendered(key), "secret": secret})
    opened.screen.note(
        f"key {key.key_id} of {key.tenant}: {', '.join(key.scopes)}. It is shown this once; send it as Authorization: Bearer KEY"
    )
