"""What the guards of a service know, as metrics that are read when they are asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from prometheus_client import Counter, Gauge
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from runtime.resilience import Guard

Source = Callable[[], Iterable[Guard]]


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one dependency: the worst of its circuits, calls in progress and repetitions."""

    breaker_state: int
    in_flight: int
    retries: int


class GuardNotes:
    """The same, written down now and then by a process that shares its metrics with others, as nobody can ask it. A process that ended has no circuit."""

    def __init__(self, helps: Mapping[str, str]) -> None:
        """``helps`` as for :class:`GuardCollector`."""
        self._breaker = _gauge("wa_breaker_state", helps, "livemax")
        self._in_flight = _gauge("wa_bulkhead_in_flight", helps, "livesum")
        self._retries = Counter("wa_retries_total", helps["wa_retries_total"], ["dependency"], registry=None)
        self._told: dict[str, int] = {}

    def write(self, figures: Mapping[str, Figures]) -> None:
        """What is so as of now. Not safe to share between threads."""
        for dependency, found in figures.items():
            self._breaker.labels(dependency).set(found.breaker_state)
            self._in_flight.labels(dependency).set(found.in_flight)
            self._retries.labels(dependency).inc(max(0, found.retries - self._told.get(dependency, 0)))
            self._told[dependency] = max(found.retries, self._told.get(dependency, 0))


def _gauge(name: str, helps: Mapping[str, str], mode: Literal["livemax", "livesum"]) -> Gauge:
    return Gauge(name, helps[name], ["dependency"], registry=None, multiprocess_mode=mode)


class GuardCollector(Collector):
    """Circuits, calls in progress and repetitions by dependency. Guards of one dependency count together; the circuit told is the worst of theirs."""

    def __init__(self, helps: Mapping[str, str]) -> None:
        """``helps`` has a text for each of the three metrics."""
        self._helps = helps
        self._sources: list[Source] = []

    def watch(self, source: Source) -> None:
        """Ask ``source`` for its guards at every reading: those that come later are seen as well."""
        self._sources.append(source)

    def collect(self) -> Iterator[Metric]:
        """See :class:`prometheus_client.registry.Collector`."""
        breaker, in_flight, retries = self._families()
        for dependency, figures in self.figures().items():
            breaker.add_metric([dependency], figures.breaker_state)
            in_flight.add_metric([dependency], figures.in_flight)
            retries.add_metric([dependency], figures.retries)
        yield from (breaker, in_flight, retries)

    def figures(self) -> dict[str, Figures]:
        """What there is to tell of each dependency now."""
        return {
            dependency: Figures(
                max(guard.breaker_state for guard in guards),
                sum(guard.in_flight for guard in guards),
                sum(guard.retries for guard in guards),
            )
            for dependency, guards in sorted(self._by_dependency().items())
        }

    def describe(self) -> Iterator[Metric]:
        """The names alone, so that registering asks no source."""
        yield from self._families()

    def _families(self) -> tuple[GaugeMetricFamily, GaugeMetricFamily, CounterMetricFamily]:
        return (
            GaugeMetricFamily("wa_breaker_state", self._helps["wa_breaker_state"], labels=["dependency"]),
            GaugeMetricFamily("wa_bulkhead_in_flight", self._helps["wa_bulkhead_in_flight"], labels=["dependency"]),
            CounterMetricFamily("wa_retries", self._helps["wa_retries_total"], labels=["dependency"]),
        )

    def _by_dependency(self) -> dict[str, list[Guard]]:
        found: dict[str, list[Guard]] = {}
        for source in self._sources:
            for guard in source():
                found.setdefault(guard.dependency, []).append(guard)
        return found
