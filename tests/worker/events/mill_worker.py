"""A process of its own that relays and counts until it is killed, saying when it is at work: ``mill_worker PATH``."""

import sys
from pathlib import Path

from tests.worker.events.mill import open_mill


def main() -> None:
    with open_mill(Path(sys.argv[1])) as mill:
        while True:
            mill.run()
            sys.stdout.write("round\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
