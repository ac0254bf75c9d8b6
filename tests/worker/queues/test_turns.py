"""Whose piece is next: by order, not by time."""

from runtime.tenancy import Tenant
from worker.duties import Work
from worker.queues.turns import Turns


def pieces(tenant: str, *names: str, duty: str = "monitors") -> list[Work]:
    return [Work(duty, Tenant(tenant), (name,)) for name in names]


def taken(turns: Turns, most: int) -> list[tuple[str, str]]:
    """Take and end pieces one after another."""
    order = []
    for _ in range(most):
        work = turns.take()
        if work is None:
            break
        order.append((work.tenant, work.key[0]))
        turns.over(work)
    return order


def test_tenants_take_turns_whatever_one_of_them_has_waiting() -> None:
    turns = Turns(1)
    turns.offer("monitors", pieces("acme", *(f"a{n}" for n in range(1000))))
    turns.offer("monitors", pieces("globex", "g1", "g2"))
    turns.offer("monitors", pieces("initech", "i1"))
    assert taken(turns, 6) == [("acme", "a0"), ("globex", "g1"), ("initech", "i1"), ("acme", "a1"), ("globex", "g2"), ("acme", "a2")]


def test_queues_take_turns_too() -> None:
    turns = Turns(1)
    turns.offer("ingest", pieces("acme", "chunk-1", "chunk-2", "chunk-3"))
    turns.offer("monitors", pieces("acme", "m1", "m2"))
    assert [name for _, name in taken(turns, 4)] == ["chunk-1", "m1", "chunk-2", "m2"]


def test_a_piece_that_waits_or_runs_is_not_taken_twice_but_may_come_again_afterwards() -> None:
    turns = Turns(3)
    turns.offer("monitors", pieces("acme", "a", "a"))
    work = turns.take()
    assert work is not None
    turns.offer("monitors", pieces("acme", "a"))
    assert turns.take() is None
    turns.over(work)
    turns.offer("monitors", pieces("acme", "a"))
    assert turns.take() == work


def test_a_tenant_has_two_pieces_at_a_time_only_while_nobody_else_waits() -> None:
    turns = Turns(3)
    turns.offer("monitors", pieces("acme", "a1", "a2", "a3"))
    turns.offer("monitors", pieces("globex", "g1"))
    assert [work.key[0] for work in (turns.take(), turns.take()) if work is not None] == ["a1", "g1"]
    turns.over(Work("monitors", Tenant("globex"), ("g1",)))
    second = turns.take()
    assert second is not None
    assert second.key == ("a2",)


def test_one_tenant_never_holds_all_places() -> None:
    turns = Turns(3)
    turns.offer("monitors", pieces("acme", "a1", "a2", "a3"))
    assert turns.take()
    assert turns.take()
    assert turns.take() is None
    turns.offer("deliveries", pieces("globex", "g1"))
    assert turns.take() == Work("monitors", Tenant("globex"), ("g1",))


def test_one_queue_never_holds_all_places() -> None:
    turns = Turns(2)
    turns.offer("ingest", pieces("acme", "a1"))
    turns.offer("ingest", pieces("globex", "g1"))
    assert turns.take()
    assert turns.take() is None
    turns.offer("monitors", pieces("initech", "i1"))
    assert turns.take() == Work("monitors", Tenant("initech"), ("i1",))


def test_with_one_place_one_piece_runs_at_a_time() -> None:
    turns = Turns(1)
    turns.offer("monitors", pieces("acme", "a1"))
    turns.offer("monitors", pieces("globex", "g1"))
    assert turns.take()
    assert turns.take() is None
