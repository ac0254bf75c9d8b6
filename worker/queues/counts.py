"""What all processes of a pool counted, read from the files they count in."""

from collections.abc import Iterable
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector


class CountsOfAllProcesses(Collector):
    """The sums over every process, ended ones included."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        """The library cannot read a file between its making and its first byte, so a process that starts at this moment is not counted yet."""
        files = [str(path) for path in sorted(self._folder.glob("*.db")) if _begun(path)]
        merged: Iterable[Metric] = MultiProcessCollector.merge(files, accumulate=True)  # type: ignore[no-untyped-call]
        return merged


def _begun(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:  # of a process that ended since
        return False
