import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant, tenant_named
from search.engines.opensearch_names import Names, checked_prefix, every_month, is_behind, is_month, is_month_index, month_of, state_index

TENANTS = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,39}", fullmatch=True).map(Tenant)
PREFIXES = st.from_regex(r"[a-z][a-z0-9]{0,15}", fullmatch=True)
MONTHS = st.from_regex(r"[0-9]{6}", fullmatch=True)
ALLOWED = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def every_name(names: Names, month: str) -> list[str]:
    return [
        names.alias,
        names.ledger,
        names.ledger_index(),
        names.ledger_index(2),
        names.month_alias(month),
        names.month_index(month),
        names.month_index(month, 2),
        state_index(names.prefix),
    ]


@given(PREFIXES, PREFIXES, TENANTS, TENANTS, MONTHS, MONTHS)
def test_no_two_things_share_a_name(prefix: str, other_prefix: str, tenant: Tenant, other: Tenant, month: str, later: str) -> None:
    ours, theirs = every_name(Names(prefix, tenant), month), every_name(Names(other_prefix, other), later)
    assert len(set(ours)) == len(ours)
    same = {name for name in ours if name in theirs}
    if prefix != other_prefix:
        assert not same
    elif tenant != other:
        assert same == {state_index(prefix)}


@pytest.mark.parametrize(
    ("tenant", "other"),
    [
        ("a", "a-202601"),
        ("a-202601", "a_202601"),
        ("a", "a-ledger"),
        ("state", "a"),
        ("a-202601-000001", "a"),
        ("a.b", "a-b"),
        ("ledger", "state"),
    ],
)
def test_a_tenant_whose_name_looks_like_an_index_of_another_meets_nobody(tenant: str, other: str) -> None:
    ours, theirs = every_name(Names("wa", Tenant(tenant.replace(".", "-"))), "202601"), every_name(Names("wa", Tenant(other)), "202601")
    if tenant.replace(".", "-") != other:
        assert set(ours) & set(theirs) == {"wa_state"}


@given(PREFIXES, TENANTS, MONTHS)
def test_every_name_is_one_that_opensearch_accepts(prefix: str, tenant: Tenant, month: str) -> None:
    for name in every_name(Names(prefix, tenant), month):
        assert ALLOWED.fullmatch(name)
        assert len(name) <= 255


@given(PREFIXES, TENANTS, TENANTS, MONTHS)
def test_an_index_is_held_by_its_tenant_alone(prefix: str, tenant: Tenant, other: Tenant, month: str) -> None:
    index = Names(prefix, tenant).month_index(month)
    assert Names(prefix, tenant).holds(index)
    assert Names(prefix, other).holds(index) == (tenant == other)
    assert is_month_index(prefix, index)
    assert not is_month_index(prefix, Names(prefix, tenant).ledger_index())


@pytest.mark.parametrize("name", ["", "*", "../x", "a,b", "A", "-a", "a b", "_all", "a.b", "a" * 41])
def test_a_name_that_is_no_tenant_never_becomes_an_index(name: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        _ = Names("wa", Tenant(name)).alias
    assert raised.value.field == "tenant"


@pytest.mark.parametrize("prefix", ["", "*", "a-b", "A", "1a", "a" * 17, "_a"])
def test_a_prefix_that_is_none_is_refused_everywhere(prefix: str) -> None:
    for name in (checked_prefix, state_index, every_month, lambda given: Names(given, tenant_named("a")).alias):
        with pytest.raises(InvalidRequest):
            name(prefix)


@pytest.mark.parametrize("month", ["", "*", "2026", "202601-", "abcdef"])
def test_what_is_no_month_never_becomes_an_index(month: str) -> None:
    with pytest.raises(InvalidRequest):
        Names("wa", tenant_named("a")).month_alias(month)


def test_a_month_is_the_one_in_utc_with_four_digits_of_year() -> None:
    assert month_of(datetime(2026, 1, 31, 23, 59, tzinfo=UTC)) == "202601"
    assert month_of(datetime(1, 12, 1, tzinfo=UTC)) == "000112"


@pytest.mark.parametrize("name", ["ledger", "ledger-000001", "a-ledger", "a-ledger-000001", "pool", "a-202601-pool-000001"])
def test_a_tenant_named_like_a_part_of_a_name_reads_its_months(name: str) -> None:
    names = Names("wa", tenant_named(name))
    assert is_month(names.alias)
    assert not is_month(names.ledger)
    assert not is_month(names.ledger_index())
    assert is_behind(names.alias, names.month_index("202601"))
    assert is_behind(names.ledger, names.ledger_index())
    assert not is_behind(names.ledger_index(), names.ledger_index(2))
