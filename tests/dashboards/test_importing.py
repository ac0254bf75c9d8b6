"""The board is imported whole, again and again, or it is said why not; over a real socket, from a server that takes what Dashboards takes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.dashboard_objects import Scope, saved_objects
from scripts.import_dashboards import Refused, imported, main
from scripts.make_dashboards import FILE
from tests.dashboards.importing_server import TYPES, importing

ALL = {(each["type"], each["id"]) for each in saved_objects(Scope())}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith("WA_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def test_the_board_is_imported_whole_and_again_without_conflict(capsys: pytest.CaptureFixture[str]) -> None:
    with importing() as server:
        assert main([server.url]) == 0
        assert main([server.url + "/"]) == 0
    assert set(server.kept[""]) == ALL
    assert list(server.kept) == [""]
    told = capsys.readouterr()
    assert told.out.splitlines()[:2] == [
        f"{server.url}/app/dashboards#/view/wisdomagent-wa-board",
        "shows every tenant, for operators alone",
    ]
    assert told.err == ""


def test_address_prefix_and_password_come_from_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("päss:word\n", encoding="utf-8")
    with importing(base="/base", only=("board@er", "päss:word")) as server:
        monkeypatch.setenv("WA_DASHBOARDS_URL", server.url.replace("http://", "http://board%40er@"))
        monkeypatch.setenv("WA_DASHBOARDS_PASSWORD_FILE", str(secret))
        monkeypatch.setenv("WA_INDEX_PREFIX", "other")
        assert main([]) == 0
    assert ("dashboard", "wisdomagent-other-board") in server.kept[""]


def test_boards_of_tenants_lie_beside_each_other_each_in_its_space() -> None:
    with importing() as server:
        assert main([server.url]) == 0
        assert main([server.url, "--tenant", "acme", "--space", "acme-space"]) == 0
        assert main([server.url, "--tenant", "other-shop", "--space", "global"]) == 0
    assert set(server.kept[""]) == ALL
    titles = {
        space: {each["attributes"]["title"] for each in kept.values() if each["type"] == "index-pattern"}
        for space, kept in server.kept.items()
    }
    assert titles == {"": {"wa-*-*-*", "wa_state"}, "acme-space": {"wa-acme", "wa_state"}, "global": {"wa-other.shop", "wa_state"}}


def test_the_shipped_file_is_what_is_imported_for_the_default_prefix() -> None:
    with importing() as server:
        imported(server.url, "", Scope())
    assert [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()] == list(server.kept[""].values())


def refusal(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    assert main(list(given)) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err
    return told.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"only": ("somebody", "else")}, "does not let this user in (401)"),
        ({"away": (302, "text/html", "<a href=/login>")}, "does not let this user in (302)"),
        ({"away": (403, "application/json", "{}")}, "does not let this user in (403)"),
        ({"away": (200, "text/html", "<html>hello</html>")}, "is not OpenSearch Dashboards (200)"),
        ({"away": (404, "application/json", '{"statusCode": 404, "message": "Not Found"}')}, "is it under a base path?"),
        ({"away": (503, "text/plain", "OpenSearch Dashboards server is not ready yet")}, "is not ready yet (503)"),
        ({"away": (413, "application/json", '{"message": "Payload too large"}')}, "(413): Payload too large"),
        ({"away": (200, "application/json", '{"success": true, "successCount": 3}')}, f"3 of {len(ALL)} objects were imported: no reason"),
        ({"types": frozenset(TYPES - {"search"})}, "search wisdomagent-wa-search-refused: unsupported_type"),
    ],
)
def test_what_is_not_imported_is_named_with_what_to_do(options: dict[str, object], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with importing(**options) as server:
        assert said in refusal(capsys, server.url)
        assert not any(server.kept.values())


def test_a_base_path_that_is_left_out_is_guessed_at(capsys: pytest.CaptureFixture[str]) -> None:
    with importing(base="/elsewhere") as server:
        assert "is it under a base path?" in refusal(capsys, server.url.removesuffix("/elsewhere"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "name OpenSearch Dashboards in WA_DASHBOARDS_URL"),
        (["ftp://host"], "name OpenSearch Dashboards in WA_DASHBOARDS_URL"),
        (["http://user:secret@host:5601"], "WA_DASHBOARDS_PASSWORD_FILE"),
        (["http://127.0.0.1:1", "--tenant", "Two Words"], "tenant"),
        (["http://127.0.0.1:1", "--prefix", "a*"], "index_prefix"),
    ],
)
def test_a_wrong_address_or_name_is_refused_before_anything_is_sent(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refusal(capsys, *given)
    assert said in told
    assert "secret" not in told


def test_nobody_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(Refused, match=f"http://127.0.0.1:{port} cannot be reached"):
        imported(f"http://user@127.0.0.1:{port}", "", Scope())


def test_make_dashboards_imports_them() -> None:
    root = FILE.parent.parent.parent
    with importing() as server:
        given = [f"VENV={sys.prefix}", f"URL={server.url}", "TENANT=acme"]
        command = ["make", "--no-print-directory", "-o", f"{sys.prefix}/.runtime", "dashboards", *given]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "shows the tenant acme" in done.stdout
    assert ("dashboard", "wisdomagent-wa.acme-board") in server.kept[""]
