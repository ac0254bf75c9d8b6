"""Ask the vulnerability service about every pinned package: ``python -m scripts.audit requirements/runtime.txt …``.

Exit code 0 when each package was looked at and none has a known vulnerability, 1 when one has, 2 when the service did not tell of all of them: an
audit that could not ask has found nothing out.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CLEAN, VULNERABLE, UNKNOWN = 0, 1, 2


def main(locks: list[str]) -> int:
    """Audit each lock file; the worst of their outcomes."""
    return max((audited(lock) for lock in locks), default=UNKNOWN)


def audited(lock: str) -> int:
    """Audit one, and print what was found."""
    program = Path(sys.executable).with_name("pip-audit")
    command = [str(program), "-r", lock, "--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        why = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        print(f"{lock}: NOT AUDITED: the vulnerability service cannot be asked ({why[:300]})")
        return UNKNOWN
    return told(lock, found)


def told(lock: str, found: list[dict[str, Any]]) -> int:
    """Print the outcome for the packages of a lock file, as ``pip-audit`` lists them."""
    skipped = [each for each in found if "skip_reason" in each]
    weak = [each for each in found if each.get("vulns")]
    for each in weak:
        for hole in each["vulns"]:
            print(f"{lock}: {each['name']} {each['version']}: {hole['id']}, fixed in {', '.join(hole['fix_versions']) or 'no version'}")
    if skipped or not found:
        reason = f", such as: {skipped[0]['skip_reason']}" if skipped else ""
        print(f"{lock}: NOT AUDITED: the service told nothing of {len(skipped)} of {len(found)} packages{reason}")
    else:
        print(f"{lock}: {len(found)} packages looked at, {len(weak)} with a known vulnerability")
    return VULNERABLE if weak else UNKNOWN if skipped or not found else CLEAN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
