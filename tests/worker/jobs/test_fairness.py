"""Whose chunk comes next: shown on the order of work, never on time."""

from collections import Counter

from runtime.tenancy import Tenant, tenant_named
from tests.search.ingest.conftest import ticket
from tests.worker.jobs.bench import CHUNK_ROWS, Bench
from worker.duties import Work


def tickets(count: int) -> list[dict[str, object]]:
    return [ticket(f"t-{n}", f"text {n % 7}") for n in range(count)]


def tenants(desk: Bench, count: int) -> list[Tenant]:
    return [tenant_named(f"{desk.tenant}-{n}") for n in range(count)]


def test_ten_rows_of_one_tenant_come_right_behind_one_chunk_of_another(desk: Bench) -> None:
    large, small = tenants(desk, 2)
    desk.hand_in(tickets(40 * CHUNK_ROWS), large)
    desk.hand_in(tickets(10), small)
    order = [work.tenant for work in desk.finish()]
    assert order.index(small) <= 1
    assert Counter(order) == {large: 40, small: 1}


def test_a_tenant_that_comes_while_another_is_served_waits_for_one_chunk(desk: Bench) -> None:
    large, small = tenants(desk, 2)
    desk.hand_in(tickets(20 * CHUNK_ROWS), large)
    done: list[Work] = []
    waiting = [*desk.duty.due(desk.clock.now())]
    while waiting:
        if len(done) == 5:
            desk.hand_in(tickets(10), small)
            waiting += desk.duty.due(desk.clock.now())
        work = waiting.pop(0)
        done.append(work)
        waiting += desk.duty.do(work)
    order = [work.tenant for work in done]
    assert order.index(small) <= 7


def test_many_jobs_of_one_tenant_count_as_one_tenant(desk: Bench) -> None:
    large, small = tenants(desk, 2)
    for _ in range(30):
        desk.hand_in(tickets(CHUNK_ROWS), large)
    desk.hand_in(tickets(10), small)
    assert sorted(work.tenant for work in desk.duty.due(desk.clock.now())) == [large, small]
    order = [work.tenant for work in desk.finish()]
    assert order.index(small) <= 1
    assert len(order) == 31


def test_chunks_of_many_tenants_alternate(desk: Bench) -> None:
    names = tenants(desk, 5)
    for number, tenant in enumerate(names, start=1):
        desk.hand_in(tickets(number * CHUNK_ROWS), tenant)
    order = [work.tenant for work in desk.finish()]
    served: Counter[Tenant] = Counter()
    for tenant in order:
        served[tenant] += 1
        unfinished = [served[each] for number, each in enumerate(names, start=1) if served[each] < number]
        assert max(unfinished, default=0) - min(unfinished, default=0) <= 1


def test_jobs_of_one_tenant_take_turns_too(
    desk: Bench,
) -> None:
    from datetime import timedelta

    first = desk.hand_in(tickets(20 * CHUNK_ROWS))
    desk.clock.instant += timedelta(seconds=1)
    second = desk.hand_in(tickets(2 * CHUNK_ROWS))

    def later(_work: Work) -> None:
        desk.clock.instant += timedelta(seconds=1)

    order = [work.key[0] for work in desk.finish(later)]
    assert order[:4] == [first.job_id, second.job_id, first.job_id, second.job_id]


def test_work_that_was_done_already_brings_nothing_more(desk: Bench) -> None:
    desk.hand_in(tickets(3 * CHUNK_ROWS))
    (work,) = desk.duty.due(desk.clock.now())
    assert len([*desk.duty.do(work)]) == 1
    assert [*desk.duty.do(work)] == []
