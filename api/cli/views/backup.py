"""A backup, in a line and as JSON."""

from rich.console import RenderableType
from rich.text import Text

from api.cli.views.retention import size
from api.cli.views.text import counted
from search.moving.backup import Backup


def backup_view(backup: Backup, how: str) -> RenderableType:
    """``3,000 documents in /backups/wisdom.db, 8.0 MB, sha256 …``."""
    return Text(f"{counted(backup.documents, 'document')} {how} {backup.path}, {size(backup.size)}, sha256 {backup.sha256}")


def rendered(backup: Backup) -> dict[str, object]:
    """The same as JSON."""
    return {
        "file": str(backup.path),
        "documents": backup.documents,
        "bytes": backup.size,
        "sha256": backup.sha256,
        "checked": backup.checked,
    }
