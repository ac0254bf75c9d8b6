"""Mixed load on ``wisdom serve`` and ``wisdom worker`` with Valkey, a random one of them killed every minute: ``python -m benchmarks.soak --minutes 30``.

Looks for wrong answers (compared with those in the quiet; every quotation read again), lost acknowledged writes, doubled digests, growing memory. With
``--engine URL`` a cluster behind a proxy is one of the things that are cut off. Writes ``soak.json`` and ``soak.md`` to ``--report``; exit code 1 on a finding.
"""

import argparse
import os
import signal
import sys
import tempfile
import uuid
from pathlib import Path

from benchmarks.soak.running import Soak, markdown, soak, written


def main() -> int:
    """Run, write the report, print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long the load lasts")
    parser.add_argument("--kill-every", type=float, default=60.0, metavar="S", help="seconds between two kills")
    parser.add_argument("--engine", default="", help="URL of a cluster; blank = the embedded engine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0, help="by how much to be nicer to other processes")
    parser.add_argument("--report", type=Path, default=Path("soak"), help="folder for the report")
    arguments = parser.parse_args()
    os.nice(arguments.nice)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what was started is stopped
    wanted = Soak(arguments.minutes * 60, arguments.kill_every, arguments.engine, f"soak{uuid.uuid4().hex[:8]}", arguments.seed)
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        done = soak(wanted, Path(folder))
    written(wanted, done, arguments.report)
    print("\n".join(markdown(wanted, done)))
    return 1 if done.findings else 0


if __name__ == "__main__":
    sys.exit(main())
