"""Write the secrets that ``compose.yaml`` mounts, each into a file of its own: ``python -m scripts.make_secrets``. What is there is never changed."""

import secrets
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "secrets"


def wanted(valkey_password: str) -> dict[str, str]:
    """What each file holds."""
    return {
        "key_pepper": secrets.token_hex(32),
        "webhook_secret": secrets.token_hex(32),
        "redis_url": f"redis://:{valkey_password}@valkey:6379/0",
        "valkey.conf": f"requirepass {valkey_password}\nmaxmemory-policy noeviction\nappendonly yes\ndir /data\n",
        "grafana_password": secrets.token_urlsafe(18),
    }


def main(folder: Path = FOLDER) -> None:
    """Write what is missing. The folder is closed to other users of the host; the files are readable by the users the containers run as.

    Raises:
        SystemExit: one of the two files with the broker's password is gone, and a new one would not fit the other.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    both = [(folder / name).exists() for name in ("redis_url", "valkey.conf")]
    if any(both) and not all(both):
        sys.exit(f"{folder}: redis_url and valkey.conf hold one password; delete both to have new ones made")
    for name, text in wanted(secrets.token_hex(24)).items():
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o644)
            print(f"made {folder / name}")


if __name__ == "__main__":
    main()
