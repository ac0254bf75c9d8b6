import ast
import importlib.util
from pathlib import Path

from tests.acceptance import PROMISES

TESTS = Path(__file__).resolve().parent.parent


def test_every_promise_has_a_test_or_a_measure() -> None:
    assert not [promise.text for promise in PROMISES if not promise.tests and not promise.benchmarks]


def test_every_test_named_by_a_promise_exists() -> None:
    missing = [name for promise in PROMISES for name in promise.tests if not _exists(name)]
    assert not missing


def test_every_measure_named_by_a_promise_exists() -> None:
    assert not [name for promise in PROMISES for name in promise.benchmarks if importlib.util.find_spec(name) is None]


def test_every_test_file_is_behind_a_promise() -> None:
    promised = {name.split("::")[0] for promise in PROMISES for name in promise.tests}
    files = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py") if "node_modules" not in path.parts}
    assert not files - promised


def _exists(name: str) -> bool:
    file, _, test = name.partition("::")
    path = TESTS / file
    return path.is_file() and (not test or test in _functions(path))


def _functions(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
