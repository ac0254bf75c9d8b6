"""Sets of cases from files: JSON Lines with one case a line, or one JSON object ``{"name", "description", "cases"}``. Every wrong row is named."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from grounding.evaluation.case_json import case_as_json, case_from_json
from grounding.evaluation.cases import Case, EvalSet
from runtime.errors import InvalidRequest

CASES_FILE = "cases.jsonl"
DOCUMENTS_FILE = "documents.jsonl"
SHOWN_PROBLEMS = 10
_ROW = tuple[int, Any]


def read_set(path: Path, name: str | None = None) -> EvalSet:
    """The set in a file, or in a folder that holds ``cases.jsonl``; it is called after the file (or folder) unless it says a name itself.

    Raises:
        InvalidRequest: on ``set``: names the file, and up to ten rows with their fields.
    """
    file = path / CASES_FILE if path.is_dir() else path
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{file} is not UTF-8", field="set") from None
    except OSError as error:
        raise InvalidRequest(f"{file} cannot be read: {(error.strerror or 'unknown').lower()}", field="set") from error
    return parse_set(text, name or (path.name if path.is_dir() else path.stem))


def parse_set(text: str, name: str) -> EvalSet:
    """The set that ``text`` holds, in either form.

    Raises:
        InvalidRequest: on ``set``.
    """
    whole = _whole(text)
    if whole is None:
        return set_of(name, _lines(text))
    rows = whole.get("cases")
    if not isinstance(rows, list):
        raise InvalidRequest("cases: must be a list", field="set")
    given, said = whole.get("name"), whole.get("description", "")
    return set_of(given if isinstance(given, str) and given.strip() else name, enumerate(rows, 1), said if isinstance(said, str) else "")


def set_of(name: str, rows: Iterable[_ROW], description: str = "") -> EvalSet:
    """The set of these numbered rows.

    Raises:
        InvalidRequest: on ``set``: names up to ten rows that are wrong, each with its field; or says that there is none.
    """
    cases: list[Case] = []
    problems: list[str] = []
    seen: set[str] = set()
    for number, row in rows:
        try:
            cases.append(_new(_case(row), seen))
        except InvalidRequest as error:
            problems.append(f"row {number}: {error}")
    if problems:
        more = f" (and {len(problems) - SHOWN_PROBLEMS} more)" if len(problems) > SHOWN_PROBLEMS else ""
        raise InvalidRequest("; ".join(problems[:SHOWN_PROBLEMS]) + more, field="set")
    if not cases:
        raise InvalidRequest("holds no case", field="set")
    return EvalSet(name, tuple(cases), digest_of(cases), description)


def write_cases(cases: Sequence[Case], path: Path) -> None:
    """One case a line, as :func:`read_set` reads them."""
    lines = (json.dumps(case_as_json(case), ensure_ascii=False) for case in cases)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def digest_of(cases: Iterable[Case]) -> str:
    """Sixteen hexadecimal digits over everything that is asked and expected."""
    text = json.dumps([case_as_json(case) for case in cases], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _whole(text: str) -> dict[str, Any] | None:
    """The object when the text is one that holds cases, None when it is lines."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return {"cases": value}
    return value if isinstance(value, dict) and "cases" in value else None


def _lines(text: str) -> Iterator[_ROW]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _decoded(line)


def _decoded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return InvalidRequest(f"is not JSON: {error}")


def _new(case: Case, seen: set[str]) -> Case:
    if case.case_id in seen:
        raise InvalidRequest(f"{case.case_id!r} is there twice", field="id")
    seen.add(case.case_id)
    return case


def _case(row: Any) -> Case:
    if isinstance(row, InvalidRequest):
        raise row
    return row if isinstance(row, Case) else case_from_json(row)
