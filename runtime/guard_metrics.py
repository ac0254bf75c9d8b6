"""What the guards of a service know, as metrics that are read when they are asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from runtime.resilience import Guard

Source = Callable[[], Iterable[Guard]]


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
        for dependency, guards in sorted(self._by_dependency().items()):
            breaker.add_metric([dependency], max(guard.breaker_state for guard in guards))
            in_flight.add_metric([dependency], sum(guard.in_flight for guard in guards))
            retries.add_metric([dependency], sum(guard.retries for guard in guards))
        yield from (breaker, in_flight, retries)

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
