"""The class of a connection is chosen by the scheme of the address: one for plain TCP must not take the place of TLS."""

import pytest
import redis

from runtime.errors import Misconfigured
from runtime.redis_client import TimedConnection, redis_client


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("redis://127.0.0.1:1/0", TimedConnection),
        ("rediss://127.0.0.1:1/0", redis.SSLConnection),
        ("unix:///nowhere/redis.sock", redis.UnixDomainSocketConnection),
    ],
)
def test_the_scheme_decides_how_to_connect(url: str, kind: type) -> None:
    pool = redis_client(url, 0.5).connection_pool
    assert pool.connection_class is kind
    assert pool.connection_kwargs["socket_timeout"] == 0.5


def test_another_scheme_is_named() -> None:
    with pytest.raises(Misconfigured, match="WA_REDIS_URL must begin with redis://, rediss:// or unix://"):
        redis_client("http://127.0.0.1:1", 0.5)
