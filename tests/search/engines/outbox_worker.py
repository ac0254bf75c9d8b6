"""A process of its own that puts entries with events until it is killed: ``outbox_worker PATH TENANT``, one line per acknowledged entry."""

import itertools
import sys
from datetime import UTC, datetime
from pathlib import Path

from runtime.clock import SystemClock
from runtime.events import Event, event_id
from runtime.tenancy import Tenant
from search.engines.embedded import open_embedded
from tests.contracts.writes import DIMENSION, MODEL


def main() -> None:
    path, tenant = Path(sys.argv[1]), Tenant(sys.argv[2])
    at = datetime(2026, 3, 1, tzinfo=UTC)
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        for number in itertools.count():
            event = Event(event_id("digest.published", tenant, str(number)), "digest.published", tenant, at, str(number))
            engine.state.put(tenant, "digest", str(number), {"padding": "x" * 2000}, event=event)
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
