"""A few reports of one crash, and a desk whose language models are servers of the test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.grounding.desk import Desk, open_desk, record
from tests.grounding.language_models.misbehaving_server import Behaviour, ModelServer, model_server

REPORTS = (
    record("c1", "App crashes each time I scan a receipt."),
    record("c2", "Receipt scan fails, then the app closes."),
    record("c3", "The app is crashing whenever I photograph a long receipt."),
    record("d1", "The parcel arrived two weeks late."),
    record("d2", "Support answered within one hour, thank you."),
)
QUESTION = "What do reviewers say about crashes?"

OpenDesk = Callable[..., Desk]


@pytest.fixture
def servers() -> Iterator[Callable[[Behaviour], ModelServer]]:
    """Starts servers that stop with the test."""
    with ExitStack() as stack:
        yield lambda *behaviours: stack.enter_context(model_server(*behaviours))


@pytest.fixture
def desk_with(tmp_path: Path) -> Iterator[OpenDesk]:
    """A loaded desk with these language models: a server, and perhaps a second one."""
    with ExitStack() as stack:

        def opened(first: ModelServer | None, second: ModelServer | None = None, **settings: Any) -> Desk:
            chosen: dict[str, Any] = {"retry_attempts": 1, "llm_roles": "draft"}
            if first is not None:
                chosen |= {"llm_base_url": first.url, "llm_model": "small"}
            if second is not None:
                chosen |= {"llm_fallback_base_url": second.url, "llm_fallback_model": "other"}
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            desk = stack.enter_context(open_desk(folder, **chosen | settings))
            desk.load(REPORTS)
            return desk

        yield opened
