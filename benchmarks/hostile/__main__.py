"""Hostile requests over all doors: ``python -m benchmarks.hostile --requests 100000 [--seconds N] [--seed 1] [--nice 19]``.

Fills a store with two tenants, starts ``wisdom serve`` on it with API keys, and sends mutations of valid calls as one tenant: to GraphQL, REST, MCP,
WebSocket subscriptions and the command line. Exit code 1 when a 5xx has no cause in the log, anything of the other tenant is seen, an error nobody
planned is logged, memory grows after the warm-up, or the server does not answer at the end; what was sent is kept in ``--findings``, and
``--replay FILE`` sends it again.
"""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

from benchmarks.hostile.running import Run, report, run
from benchmarks.hostile.shot import shot_from


def main() -> int:
    """Run, print a table, and tell by the exit code whether there is a finding."""
    arguments = _arguments()
    os.nice(arguments.nice)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what was started is stopped
    replayed = [shot_from(line) for line in arguments.replay.read_text().splitlines()] if arguments.replay else []
    wanted = Run(arguments.requests, arguments.seconds, arguments.seed, arguments.threads, tuple(replayed))
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        done = run(wanted, Path(folder))
    print("\n".join(report(wanted, done)))
    with_shots = [finding for finding in done.findings if finding.shot is not None]
    if with_shots:
        arguments.findings.write_text("".join(f"{finding.shot.as_json()}\n" for finding in with_shots if finding.shot))
        print(f"to send them again: python -m benchmarks.hostile --replay {arguments.findings}")
    return 1 if done.findings else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000, help="how many to send")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long; 0 = only when all are sent")
    parser.add_argument("--seed", type=int, default=1, help="the same seed sends the same")
    parser.add_argument("--threads", type=int, default=4, help="how many at once")
    parser.add_argument("--nice", type=int, default=0, help="by how much to be nicer to other processes")
    parser.add_argument("--findings", type=Path, default=Path("hostile-findings.jsonl"), help="where what led to a finding is kept")
    parser.add_argument("--replay", type=Path, default=None, help="send what such a file holds, instead of anything new")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
