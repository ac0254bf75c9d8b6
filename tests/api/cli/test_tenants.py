"""``wisdom tenants``: where tenants are in a cluster, and moving them by command."""

import json

import pytest

from tests.api.cli.conftest import Run


@pytest.mark.live("opensearch")
def test_a_tenant_is_listed_where_it_is_and_moved_by_name(process: Run, opensearch_url: str, opensearch_prefix: str) -> None:
    cluster = {"WA_ENGINE_URL": opensearch_url, "WA_INDEX_PREFIX": opensearch_prefix}
    row = json.dumps({"id": "t-1", "text": "The card was late.", "occurredAt": "2026-03-01T00:00:00Z", "source": "web"})
    for tenant, placement in (("acme", "own"), ("small-one", "pool")):
        ended = process("ingest", "-", "--tenant", tenant, given=row, WA_PLACEMENT=placement, **cluster)
        assert ended.returncode == 0, ended.stderr
    listed = json.loads(process("tenants", "list", "--json", **cluster).stdout)["tenants"]
    assert listed == [
        {"tenant": "acme", "placement": "own", "documents": 1, "shards": 2, "unfinished": False},
        {"tenant": "small-one", "placement": "pool", "documents": 1, "shards": 1, "unfinished": False},
    ]
    moved = process("tenants", "place", "acme", "--in", "pool", **cluster)
    assert "tenant acme is in the pool, with 1 document; 1 record copied" in moved.stdout
    again = json.loads(process("tenants", "place", "acme", "--in", "pool", "--json", **cluster).stdout)
    assert again == {"tenant": "acme", "placement": "pool", "copied": 0, "documents": 1}
    assert "nobody" in process("tenants", "place", "nobody", "--in", "pool", **cluster).stderr
    assert process("tenants", "place", "acme", "--in", "cellar", **cluster).returncode == 2


def test_a_file_has_no_placement(process: Run) -> None:
    ended = process("tenants", "list", "--engine", "sqlite:///wisdom.db")
    assert ended.returncode == 2
    assert "name a cluster" in ended.stderr
