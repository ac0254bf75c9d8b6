"""A process of its own that writes to a store file and says what was acknowledged: ``store_worker PATH TENANT PREFIX COUNT``.

``COUNT`` documents in batches of five, one line per acknowledged id; 0 writes until it is killed.
"""

import itertools
import sys
from pathlib import Path

from runtime.clock import SystemClock
from runtime.tenancy import Tenant
from search.engines.embedded import open_embedded
from tests.contracts.writes import DIMENSION, MODEL, written


def main() -> None:
    path, tenant, prefix, count = Path(sys.argv[1]), Tenant(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        for start in itertools.count(0, 5) if count == 0 else range(0, count, 5):
            own = [written(f"{prefix}{number}", f"text {prefix} {number}") for number in range(start, start + 5)]
            shared = written("shared", f"written by {prefix} {start}")
            for outcome in engine.write(tenant, [*own, shared]):
                sys.stdout.write(f"{outcome.doc_id} {outcome.version}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
