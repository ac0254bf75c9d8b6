"""Dead letters: who sees them, and what retry and drop do. The state store's own contract is held on both engines elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.clock import SettableClock
from runtime.errors import InvalidRequest, NotFound
from runtime.tenancy import Tenant
from tests.worker.queues.windows import LONG_AGO, Windows, Workshop, open_state
from tests.worker.queues.windows import Channel as Nowhere
from worker.duties import Work
from worker.queues.attempts import Attempt, GivenUp
from worker.queues.dead_letters import DeadLetters
from worker.queues.performing import Done, Performer

ACME, GLOBEX = Tenant("acme"), Tenant("globex")
WORK = Work("windows", ACME, ("m1", "2026-01-01"))


@pytest.fixture
def letters(tmp_path: Path) -> Iterator[DeadLetters]:
    with open_state(tmp_path / "store.db") as state:
        yield DeadLetters(state, SettableClock(LONG_AGO))


def test_a_letter_tells_what_why_how_often_and_when(letters: DeadLetters) -> None:
    letters.write(WORK, "NotFound: no monitor m1", 3)
    (letter,), cursor = letters.list(ACME)
    assert (letter.letter_id, letter.work, letter.error, letter.attempts, letter.at) == (
        WORK.work_id, WORK, "NotFound: no monitor m1", 3, LONG_AGO
    )  # fmt: skip
    assert cursor is None


def test_a_piece_has_one_letter_however_often_it_is_given_up(letters: DeadLetters) -> None:
    letters.write(WORK, "first", 3)
    letters.write(WORK, "second", 6)
    assert [letter.error for letter in letters.list(ACME)[0]] == ["second"]


def test_letters_are_paged_newest_first(letters: DeadLetters) -> None:
    for number in range(5):
        letters.write(Work("windows", ACME, (str(number),)), "error", 1)
    first, cursor = letters.list(ACME, first=3)
    rest, end = letters.list(ACME, first=3, after=cursor)
    assert len({letter.letter_id for letter in first + rest}) == 5
    assert end is None


def test_no_tenant_sees_or_touches_those_of_another(letters: DeadLetters) -> None:
    letters.write(WORK, "error", 1)
    assert letters.list(GLOBEX) == ((), None)
    for attempt in (letters.retry, letters.drop):
        with pytest.raises(NotFound):
            attempt(GLOBEX, WORK.work_id)


def test_retry_gives_the_work_back(letters: DeadLetters) -> None:
    letters.write(WORK, "error", 1)
    assert letters.silences(WORK)
    assert letters.retry(ACME, WORK.work_id) == WORK
    assert not letters.silences(WORK)
    with pytest.raises(NotFound):
        letters.retry(ACME, WORK.work_id)


def test_dropped_work_is_not_listed_and_is_never_done(letters: DeadLetters) -> None:
    letters.write(WORK, "error", 1)
    letters.drop(ACME, WORK.work_id)
    assert letters.list(ACME) == ((), None)
    assert letters.silences(WORK)
    with pytest.raises(NotFound):
        letters.drop(ACME, WORK.work_id)


def test_work_with_a_letter_is_left_alone_and_other_work_is_not(tmp_path: Path) -> None:
    from runtime.settings import read_settings

    with open_state(tmp_path / "store.db") as state:
        windows = Windows(state, Nowhere("redis://127.0.0.1:9", "nowhere"))
        shop = Workshop(read_settings({}), state, {"windows": windows})
        DeadLetters(state, shop.clock).write(WORK, "error", 1)
        assert Performer(shop).perform(WORK, Attempt()) == Done()
        assert isinstance(Performer(shop).perform(Work("unknown", ACME, ()), Attempt(3)), GivenUp)
        assert str(InvalidRequest("x", field="y"))
