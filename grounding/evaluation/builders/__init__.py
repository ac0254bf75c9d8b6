"""Builders of sets from public corpora that the user has. Nothing of them is kept in this repository, and nothing is downloaded."""

from collections.abc import Callable, Mapping
from pathlib import Path

from grounding.evaluation.builders import clinc150, cranfield, expertqa, healthver, squad2, subjqa, wice
from grounding.evaluation.builders.built import Built, BuiltSet, evenly, write
from runtime.errors import InvalidRequest

Builder = Callable[[Path], BuiltSet]

BUILDERS: Mapping[str, Builder] = {
    "subjqa": subjqa.build,
    "squad2": squad2.build,
    "clinc150": clinc150.build,
    "wice": wice.build,
    "healthver": healthver.build,
    "expertqa": expertqa.build,
    "cranfield": cranfield.build,
}


def build_set(name: str, data: Path, out: Path, limit: int | None = None) -> Built:
    """Read the public set ``name`` below ``data`` and write its documents and cases to ``out``; with ``limit`` about that many cases, evenly chosen, and only
    the documents they need where each has its own.

    Raises:
        InvalidRequest: on ``data``: the files are not there, or not as published.
    """
    try:
        made = BUILDERS[name](data)
    except OSError as error:
        raise InvalidRequest(f"{error.filename} cannot be read: {(error.strerror or 'unknown').lower()}", field="data") from error
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidRequest(f"{name} is not as published: {type(error).__name__} {error}", field="data") from error
    return write(evenly(made, limit), out)
