"""Import the board into OpenSearch Dashboards: ``python -m scripts.import_dashboards [URL] [--prefix PREFIX] [--tenant TENANT] [--space SPACE]``.

Running it again replaces the board by the one of this release, with what was changed in it by hand.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from runtime.errors import ServiceError
from runtime.settings import Settings, read_settings
from runtime.tenancy import tenant_named
from scripts.dashboard_objects import Scope, as_ndjson, saved_objects
from search.engines.opensearch_names import checked_prefix

PATH = "/api/saved_objects/_import"
TIMEOUT_S = 60.0
_SHOWN_CHARS = 200


class Refused(Exception):
    """The board is not there, or not all of it; the text says why and what to do."""


def imported(url: str, password: str, scope: Scope, space: str | None = None) -> str:
    """Import the objects of a scope; returns the address of the board, without credentials.

    Raises:
        Refused: it was not imported whole.
    """
    address, user = _address(url)
    objects = saved_objects(scope)
    headers = {"osd-xsrf": "true"} | ({"securitytenant": space} if space else {})
    files = {"file": ("wisdomagent.ndjson", as_ndjson(objects).encode(), "application/ndjson")}
    try:
        with httpx.Client(auth=(user, password) if user else None, headers=headers, timeout=TIMEOUT_S) as client:
            answer = client.post(address + PATH, params={"overwrite": "true"}, files=files)
    except httpx.InvalidURL as error:
        raise Refused(f"{address} is no address: {error}") from error
    except httpx.HTTPError as error:
        raise Refused(
            f"{address} cannot be reached ({error or type(error).__name__}); check that Dashboards runs and WA_DASHBOARDS_URL"
        ) from error
    _check(answer, address, len(objects))
    return f"{address}/app/dashboards#/view/{scope.id('board')}"


def _address(url: str) -> tuple[str, str]:
    """Where Dashboards is, with its base path, and the user to be."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused("name OpenSearch Dashboards in WA_DASHBOARDS_URL or as the argument: http(s)://[user@]host:5601[/base/path]")
    if parts.password is not None:
        raise Refused("the address holds a password, which others can read; put it into WA_DASHBOARDS_PASSWORD_FILE")
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", "")), unquote(parts.username or "")


def _check(answer: httpx.Response, address: str, wanted: int) -> None:
    if answer.status_code in (301, 302, 303, 307, 308, 401, 403):
        raise Refused(
            f"{address} does not let this user in ({answer.status_code}); check the user in WA_DASHBOARDS_URL, WA_DASHBOARDS_PASSWORD_FILE "
            "and that the user may write saved objects"
        )
    if answer.status_code in (502, 503, 504):
        raise Refused(f"{address} is not ready yet ({answer.status_code}); try again when Dashboards is up")
    body = _json(answer)
    if answer.status_code == 404 or body is None or not body.keys() & {"success", "message"}:
        raise Refused(f"what answers at {address} is not OpenSearch Dashboards ({answer.status_code}); is it under a base path?")
    if answer.status_code != httpx.codes.OK:
        raise Refused(f"{address} refused the import ({answer.status_code}): {str(body.get('message', ''))[:_SHOWN_CHARS]}")
    if body.get("success") is not True or body.get("successCount") != wanted:
        raise Refused(
            f"{body.get('successCount', 0)} of {wanted} objects were imported: {'; '.join(_faults(body)) or 'no reason was given'}"
        )


def _json(answer: httpx.Response) -> Mapping[str, Any] | None:
    try:
        body = answer.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _faults(body: Mapping[str, Any]) -> list[str]:
    return [f"{each.get('type')} {each.get('id')}: {each.get('error', {}).get('type')}" for each in body.get("errors", [])]


def _arguments(given: Sequence[str], settings: Settings) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.import_dashboards", description="Import the board into OpenSearch Dashboards.")
    parser.add_argument("url", nargs="?", default=settings.dashboards_url, help="where Dashboards is (WA_DASHBOARDS_URL)")
    parser.add_argument("--prefix", default=settings.index_prefix, help="first part of every index name (WA_INDEX_PREFIX)")
    parser.add_argument("--generation", default="", help="the generation of documents that is served, after wisdom reembed: wa2")
    parser.add_argument("--tenant", help="a board of this tenant alone; otherwise of every tenant, which is for operators")
    parser.add_argument("--space", help="the tenant of the security plugin of Dashboards whose board it is to be: global, or a name")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Import; 0 when the whole board is there, 1 when it is not."""
    try:
        settings = read_settings()
        wanted = _arguments(sys.argv[1:] if given is None else given, settings)
        scope = Scope(checked_prefix(wanted.prefix), tenant_named(wanted.tenant) if wanted.tenant else None, wanted.generation)
        board = imported(wanted.url, settings.dashboards_password.get_secret_value(), scope, wanted.space)
    except (Refused, ServiceError) as error:
        print(f"dashboards: {error}", file=sys.stderr)
        return 1
    print(f"{board}\nshows {'every tenant, for operators alone' if scope.tenant is None else f'the tenant {scope.tenant}'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
