"""The bus over Redis Streams: a stream for each shard, a lease that lets one consumer of a group read it at a time, and one stream of dead messages.

A lease is a key with a time to live. It says who may read, not whose effect counts: a consumer that outlives its lease may still be at work, and that
is why effects are had by compare-and-set. Each change of hands counts up a number beside the lease.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, NoReturn, TypeVar

import redis.exceptions

from runtime.clock import Clock, SystemClock
from runtime.errors import Unavailable
from runtime.events import event_as_json, event_from_json
from runtime.redis_client import redis_client
from runtime.resilience import Guard, RetryPolicy
from runtime.settings import Settings
from runtime.tenancy import Tenant
from worker.events.bus import MAX_DELIVERIES, SHARDS, DeadMessage, Delivery, Lag, Sequenced, shard_of
from worker.queues.broker_errors import NONSENSE

DEPENDENCY = "redis"
TIMEOUT_S = 2.0
"""Nothing here waits on the server, so that this is above every answer's time."""
UNREACHABLE: tuple[type[Exception], ...] = (
    redis.exceptions.RedisError,
    redis.exceptions.RedisClusterException,  # this and the next are not of that family
    redis.exceptions.ChildDeadlockedError,
    OSError,
)
T = TypeVar("T")
_DEAD_KEPT = 10_000
_PAGE = 500

_HOLD = """
local held = {}
for at, lease in ipairs(KEYS) do
    local holder = redis.call('GET', lease)
    if not holder then
        redis.call('SET', lease, ARGV[1], 'PX', ARGV[2])
        redis.call('INCR', lease .. ':changes')
        held[#held + 1] = at - 1
    elseif holder == ARGV[1] then
        redis.call('PEXPIRE', lease, ARGV[2])
        held[#held + 1] = at - 1
    end
end
return held
"""
"""Take or keep the leases that nobody else holds, all in one step; returns their shards."""


class RedisBus:
    """Implements :class:`worker.events.bus.EventBus`; safe to use from many threads. Make it after a fork; connects at the first call.

    Every call goes through the guard. What sends or takes messages is not repeated there: whoever does so repeats it anyway, later.
    """

    def __init__(
        self, url: str, prefix: str, *, length: int, handling_s: float = 60.0, timeout_s: float = TIMEOUT_S, guard: Guard | None = None
    ) -> None:
        self._client = redis_client(url, timeout_s, decode_responses=True)
        self._guard = guard or Guard(DEPENDENCY, timeout_s=timeout_s, clock=SystemClock())
        self._prefix = f"{prefix}:ev"
        self._length = max(1, length // SHARDS)
        self._handling_ms = int(handling_s * 1000)
        self._ready: set[str] = set()
        self._turns = count()

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What every call goes through."""
        return (self._guard,)

    def _guarded(self, call: Callable[[], T], *, repeatable: bool = False) -> T:
        def translate(_timeout_s: float) -> T:
            with _translated():
                return call()

        return self._guard.call(translate, repeatable=repeatable)

    def publish(self, messages: Sequence[Sequenced]) -> None:
        """See :class:`worker.events.bus.EventBus`."""
        entries = [(self._stream(shard_of(message.event.tenant)), _fields(message)) for message in messages]
        if entries:
            self._guarded(lambda: self._published(entries))

    def _published(self, entries: Sequence[tuple[str, dict[str, Any]]]) -> None:
        with self._client.pipeline(transaction=True) as pipe:
            for stream, fields in entries:
                pipe.xadd(stream, fields, maxlen=self._length, approximate=True)
            pipe.execute()

    def read(self, group: str, consumer: str, *, first: int = 100) -> tuple[Delivery, ...]:
        """See :class:`worker.events.bus.EventBus`."""
        return self._guarded(lambda: self._read(group, consumer, first))

    def _read(self, group: str, consumer: str, first: int) -> tuple[Delivery, ...]:
        with self._with_groups(group):
            held = self._standing(group, self._held(group, consumer))
            again: list[Delivery] = []
            for shard, standing in held.items():
                if standing["pending"]:
                    again += self._claimed(group, consumer, shard, first - len(again))
            fresh = [shard for shard, standing in held.items() if not standing["pending"] and standing["lag"] != 0]
            return (*again, *self._fresh(group, consumer, fresh, first - len(again)))

    def _held(self, group: str, consumer: str) -> list[int]:
        leases = [f"{self._prefix}:lease:{group}:{shard}" for shard in range(SHARDS)]
        return [int(shard) for shard in self._client.eval(_HOLD, SHARDS, *leases, consumer, self._handling_ms)]

    def _standing(self, group: str, shards: Sequence[int]) -> dict[int, Mapping[str, Any]]:
        """How far the group is in each shard. A ``lag`` of None is one that the server does not know."""
        with self._client.pipeline(transaction=False) as pipe:
            for shard in shards:
                pipe.xinfo_groups(self._stream(shard))
            answers = pipe.execute()
        found = {shard: each for shard, groups in zip(shards, answers, strict=True) for each in groups if each["name"] == group}
        if len(found) < len(shards):
            self._lost(group)
        return found

    def _claimed(self, group: str, consumer: str, shard: int, first: int) -> list[Delivery]:
        """What was taken and not acknowledged in time, in order. An entry whose message was trimmed away is dropped by the server."""
        stream, cursor = self._stream(shard), "0-0"
        claimed: list[tuple[str, Mapping[str, str]]] = []
        while len(claimed) < first:
            cursor, messages, _ = self._client.xautoclaim(stream, group, consumer, self._handling_ms, cursor, count=first - len(claimed))
            claimed += messages
            if cursor == "0-0":
                break
        if not claimed:
            return []
        times = self._times(stream, group, consumer, len(claimed))
        return self._sound(group, shard, claimed, times)

    def _times(self, stream: str, group: str, consumer: str, claimed: int) -> dict[str, int]:
        found = self._client.xpending_range(stream, group, "-", "+", claimed + _PAGE, consumername=consumer)
        return {each["message_id"]: each["times_delivered"] for each in found}

    def _fresh(self, group: str, consumer: str, shards: Sequence[int], first: int) -> list[Delivery]:
        if not shards or first <= 0:
            return []
        of = {self._stream(shard): shard for shard in self._in_turn(shards)[:first]}
        found = self._client.xreadgroup(group, consumer, dict.fromkeys(of, ">"), count=max(1, first // len(shards)))
        return [delivery for stream, messages in _by_stream(found) for delivery in self._sound(group, of[stream], messages, {})]

    def _in_turn(self, shards: Sequence[int]) -> list[int]:
        """Another shard is first each time, so that none waits behind a full one for ever."""
        at = next(self._turns) % len(shards)
        return [*shards[at:], *shards[:at]]

    def _sound(self, group: str, shard: int, messages: Sequence[tuple[str, Mapping[str, str]]], times: Mapping[str, int]) -> list[Delivery]:
        """Messages to be handled; those that were delivered too often, or are none of ours, are buried."""
        sound = []
        for message_id, fields in messages:
            delivered = times.get(message_id, 1)
            message = _message(fields)
            if message is None or delivered > MAX_DELIVERIES:
                self._bury(group, shard, message_id, fields, delivered)
            else:
                sound.append(Delivery(shard, message_id, message, delivered))
        return sound

    def _bury(self, group: str, shard: int, message_id: str, fields: Mapping[str, str], times: int) -> None:
        """Both or neither: a message that is gone from the group is in the stream of dead ones."""
        said = {"group": group, "shard": shard, "times": times, "content": json.dumps(dict(fields))}
        with self._client.pipeline(transaction=True) as pipe:
            pipe.xadd(self._dead, said, maxlen=_DEAD_KEPT, approximate=True)
            pipe.xack(self._stream(shard), group, message_id)
            pipe.execute()

    def acknowledge(self, group: str, deliveries: Sequence[Delivery]) -> None:
        """See :class:`worker.events.bus.EventBus`."""
        if deliveries:
            self._guarded(lambda: self._acknowledged(group, deliveries), repeatable=True)

    def _acknowledged(self, group: str, deliveries: Sequence[Delivery]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for delivery in deliveries:
                pipe.xack(self._stream(delivery.shard), group, delivery.message_id)
            pipe.execute()

    def dead(self, *, first: int = 100) -> tuple[DeadMessage, ...]:
        """See :class:`worker.events.bus.EventBus`."""
        return self._guarded(lambda: self._buried(first), repeatable=True)

    def _buried(self, first: int) -> tuple[DeadMessage, ...]:
        found = self._client.xrevrange(self._dead, count=first)
        return tuple(DeadMessage(said["group"], int(said["shard"]), said["content"], int(said["times"])) for _, said in found)

    def lag(self, group: str) -> Lag:
        """See :class:`worker.events.bus.EventBus`."""
        return self._guarded(lambda: self._lag(group), repeatable=True)

    def _lag(self, group: str) -> Lag:
        with self._with_groups(group):
            found = self._standing(group, range(SHARDS)).values()
        return Lag(sum(each["lag"] or 0 for each in found), sum(each["pending"] for each in found))

    def forget(self, tenant: Tenant) -> int:
        """See :class:`worker.events.bus.EventBus`."""
        removed = self._forgotten(self._stream(shard_of(tenant)), lambda fields: _tenant_in(fields) == tenant)
        return removed + self._forgotten(self._dead, lambda said: _tenant_in(_loaded(said.get("content", ""))) == tenant)

    def _forgotten(self, stream: str, is_theirs: Any) -> int:
        """A page is one call, as there may be very many."""
        start, removed = "-", 0
        while page := self._page(stream, start):
            theirs = [message_id for message_id, fields in page if is_theirs(fields)]
            removed += self._removed(stream, theirs) if theirs else 0
            start = f"({page[-1][0]}"
        return removed

    def _page(self, stream: str, start: str) -> Any:
        return self._guarded(lambda: self._client.xrange(stream, start, "+", count=_PAGE), repeatable=True)

    def _removed(self, stream: str, message_ids: Sequence[str]) -> int:
        return self._guarded(lambda: int(self._client.xdel(stream, *message_ids)))

    def close(self) -> None:
        """See :class:`worker.events.bus.EventBus`."""
        self._client.close()

    @contextmanager
    def _with_groups(self, group: str) -> Iterator[None]:
        """The group exists on every shard, from the beginning. A server that lost its streams makes it again at the next call."""
        if group not in self._ready:
            self._make_groups(group)
        try:
            yield
        except redis.exceptions.ResponseError as error:
            if "NOGROUP" not in str(error) and "no such key" not in str(error):
                raise
            self._lost(group)

    def _lost(self, group: str) -> NoReturn:
        self._ready.discard(group)
        raise Unavailable("the event bus lost its streams and makes them again", dependency=DEPENDENCY)

    def _make_groups(self, group: str) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for shard in range(SHARDS):
                pipe.xgroup_create(self._stream(shard), group, id="0", mkstream=True)
            answers = pipe.execute(raise_on_error=False)
        for answer in answers:
            if isinstance(answer, Exception) and "BUSYGROUP" not in str(answer):
                raise answer
        self._ready.add(group)

    def _stream(self, shard: int) -> str:
        return f"{self._prefix}:{shard}"

    @property
    def _dead(self) -> str:
        return f"{self._prefix}:dead"


def open_redis_bus(settings: Settings, clock: Clock) -> RedisBus:
    """The bus of this deployment."""
    guard = Guard(
        DEPENDENCY,
        timeout_s=settings.redis_timeout_s,
        clock=clock,
        bulkhead_calls=settings.bulkhead_calls,
        retry=RetryPolicy(attempts=settings.retry_attempts),
        breaker_failures=settings.breaker_failures,
        breaker_open_s=settings.breaker_open_s,
    )
    return RedisBus(
        settings.redis_url, settings.index_prefix, length=settings.event_stream_length, timeout_s=settings.redis_timeout_s, guard=guard
    )


@contextmanager
def _translated() -> Iterator[None]:
    """What the driver raises, and what an answer comes to that is none, in one place. The text names no address, as that may hold a password."""
    try:
        yield
    except (*UNREACHABLE, *NONSENSE) as error:
        raise Unavailable(f"the event bus does not serve us ({type(error).__name__}); check WA_REDIS_URL", dependency=DEPENDENCY) from error


def _fields(message: Sequenced) -> dict[str, Any]:
    return {"sequence": message.sequence, "event": json.dumps(event_as_json(message.event), separators=(",", ":"))}


def _by_stream(found: Any) -> list[tuple[str, Sequence[tuple[str, Mapping[str, str]]]]]:
    """The answer to XREADGROUP, which is a list in one version of the protocol and a map of lists in the other."""
    if isinstance(found, Mapping):
        return [(stream, messages[0]) for stream, messages in found.items()]
    return [(stream, messages) for stream, messages in found or ()]


def _message(fields: Mapping[str, str]) -> Sequenced | None:
    try:
        return Sequenced(int(fields["sequence"]), event_from_json(json.loads(fields["event"])))
    except (KeyError, ValueError, TypeError):
        return None


def _loaded(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}


def _tenant_in(fields: Mapping[str, Any]) -> Any:
    return _loaded(str(fields.get("event", ""))).get("tenant")
