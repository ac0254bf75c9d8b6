"""The transport below the driver: no answer may be longer on the wire than a bounded one can be."""

from collections.abc import Iterator

import httpx2

from grounding.language_models.failing import NotUsable

_BYTES_PER_TOKEN = 2048
_BYTES_MORE = 65_536


class _Counted(httpx2.SyncByteStream):
    """A body that ends with an error when it is too long."""

    def __init__(self, stream: httpx2.SyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    def __iter__(self) -> Iterator[bytes]:
        left = self._limit
        for part in self._stream:
            left -= len(part)
            if left < 0:
                raise NotUsable("too_long", f"more than {self._limit} bytes")
            yield part

    def close(self) -> None:
        """See :class:`httpx2.SyncByteStream`."""
        self._stream.close()


class BoundedTransport(httpx2.HTTPTransport):
    """Reads at most so many bytes of any answer: a streamed token takes a few hundred of them."""

    def __init__(self, max_tokens: int) -> None:
        super().__init__()
        self._limit = _BYTES_MORE + _BYTES_PER_TOKEN * max_tokens

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """See :class:`httpx2.HTTPTransport`."""
        response = super().handle_request(request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Counted(response.stream, self._limit)
        return response
