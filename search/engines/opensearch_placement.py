"""Where a tenant's documents are: in month indices of its own, or in those of the pool.

Marks say so: aliases of the tenant's ledger index, which every process reads from the cluster and which change together with the aliases of its months,
in one request.

| mark | says |
|---|---|
| ``….own``, ``….pool`` | the tenant is there, and may be written |
| ``….own.{token}``, ``….pool.{token}`` | it is there, and a move is about to end: writers wait |
| ``….moving.{token}`` | a move has begun, and whoever has this token may end it |

A request that changes aliases can insist on a mark: it does nothing at all when somebody else took it away first. Writers address a month by an alias
that is there only while the tenant is where they think it is, so that one who knows an old place is refused and looks again.

In the pool the id of a record begins with its tenant and *era*, the generation of the tenant's ledger: ids of a tenant meet neither those of another
nor those that the tenant had before it was erased.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from search.engines.opensearch_names import Names, record_key

Where = Literal["own", "pool"]
Actions = list[dict[str, Any]]

_MOVING = "moving"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a tenant is. ``token`` is that of the move that holds writers back, ``moves`` are tokens of moves begun; ``marked`` is False for a tenant
    of a release that knew no pool, which has its own months."""

    names: Names
    where: Where
    era: int
    token: str = ""
    moves: tuple[str, ...] = ()
    marked: bool = True

    @property
    def is_open(self) -> bool:
        """False while writers have to wait."""
        return not self.token

    @property
    def place(self) -> tuple[Where, int, str]:
        """What a write depends on."""
        return self.where, self.era, self.token

    @property
    def ledger_index(self) -> str:
        """The index that has the marks."""
        return self.names.ledger_index(self.era)

    def elsewhere(self) -> "Placement":
        """The other place."""
        return replace(self, where="pool" if self.where == "own" else "own", token="")

    def month_alias(self, month: str) -> str:
        """What writes of one month address."""
        own = self.names.month_alias(month)
        return own if self.where == "own" else f"{own}.pool.{self.era:06d}"

    def key(self, passage: str) -> str:
        """The ``_id`` of a passage's record."""
        return record_key(passage if self.where == "own" else f"{self.names.tenant}:{self.era}:{passage}")

    def aliasing(self, index: str, alias: str, *, writes: bool = False) -> dict[str, Any]:
        """The action that puts ``alias`` over a month; in the pool it shows this tenant alone."""
        shows = {"filter": {"term": {"tenant": self.names.tenant}}} if self.where == "pool" else {}
        return {"add": {"index": index, "alias": alias, **shows, **({"is_write_index": True} if writes else {})}}

    def if_still(self) -> Actions:
        """Actions that change nothing, and fail with all others when the tenant is not here any more or writers have to wait."""
        return [*self.without(self.mark), self.adding(self.mark)]

    def if_moved_by(self, token: str) -> Actions:
        """As :meth:`if_still`, of the mark of a move."""
        return [*self.without(self.moving(token)), self.adding(self.moving(token))]

    @property
    def mark(self) -> str:
        """The alias that says this."""
        return f"{self.names.ledger}.{self.where}" + (f".{self.token}" if self.token else "")

    def moving(self, token: str) -> str:
        """The alias that says who moves."""
        return f"{self.names.ledger}.{_MOVING}.{token}"

    def adding(self, mark: str) -> dict[str, Any]:
        """The action that sets a mark."""
        return {"add": {"index": self.ledger_index, "alias": mark}}

    def without(self, *marks: str) -> Actions:
        """The actions that take marks away, each of which must be there."""
        return [{"remove": {"index": self.ledger_index, "alias": mark, "must_exist": True}} for mark in marks]


def placement_of(names: Names, ledger_index: str, aliases: Iterable[str]) -> Placement:
    """What the aliases of a ledger say. A tenant is marked as in its own months by whoever first meets it without a mark, be it late: another counts."""
    marks = [alias.removeprefix(f"{names.ledger}.").split(".") for alias in aliases if alias.startswith(f"{names.ledger}.")]
    places = [mark for mark in marks if mark[0] in get_args(Where)]
    chosen = max(places, key=lambda mark: (len(mark) > 1, mark[0] == "pool"), default=None)
    where: Where = "pool" if chosen is not None and chosen[0] == "pool" else "own"
    token = chosen[1] if chosen is not None and len(chosen) > 1 else ""
    moves = tuple(sorted(mark[1] for mark in marks if mark[0] == _MOVING))
    return Placement(names, where, int(ledger_index.rsplit(".", 1)[1]), token, moves, marked=chosen is not None)
