"""One answer as it comes over the wire, streamed or whole: bounded in size and in time, and complete or none."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grounding.language_models.failing import NotServed, NotUsable

if TYPE_CHECKING:
    from openai._legacy_response import LegacyAPIResponse

CHARS_PER_TOKEN = 8
"""An answer longer than this many characters for each token it may have was not bounded by its server."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. Tokens are the server's count; 0 when it gave none. ``refusal`` is its own word for declining."""

    text: str
    refusal: str
    finish: str
    input_tokens: int
    output_tokens: int


@dataclass(slots=True)
class _Heard:
    text: str = ""
    refusal: str = ""
    finish: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    def take(self, piece: Any, message: str) -> None:
        """Add what one chunk or one whole completion holds."""
        usage = getattr(piece, "usage", None)
        if usage is not None:
            self.input_tokens, self.output_tokens = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        for choice in (getattr(piece, "choices", None) or ())[:1]:
            said = getattr(choice, message, None)
            self.text += _text(said, "content")
            self.refusal += _text(said, "refusal")
            self.finish = _text(choice, "finish_reason") or self.finish


def received(raw: "LegacyAPIResponse[Any]", max_tokens: int, check: Callable[[], None]) -> Reply:
    """The answer behind ``raw``. ``check`` is called for every piece and raises when the time is over.

    Raises:
        NotServed: the stream ended before the answer did.
        NotUsable: too long, or not what the protocol says.
    """
    heard = _Heard()
    try:
        if "event-stream" in raw.headers.get("content-type", ""):
            _streamed(raw.parse(), heard, max_tokens * CHARS_PER_TOKEN, check)
        else:
            _whole(raw, heard, max_tokens * CHARS_PER_TOKEN)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError, TypeError, AttributeError) as error:
        raise NotUsable("malformed", f"the answer is not of the protocol: {type(error).__name__}") from error
    finally:
        raw.http_response.close()
    if not heard.finish:
        raise NotServed("cut", "the answer ended before it was complete")
    return Reply(heard.text, heard.refusal, heard.finish, heard.input_tokens, heard.output_tokens)


def _streamed(chunks: Iterable[Any], heard: _Heard, limit: int, check: Callable[[], None]) -> None:
    for chunk in chunks:
        check()
        heard.take(chunk, "delta")
        _bounded(heard, limit)


def _whole(raw: "LegacyAPIResponse[Any]", heard: _Heard, limit: int) -> None:
    """A server that does not stream answers with one JSON object."""
    from openai.types.chat import ChatCompletion

    completion = ChatCompletion.construct(**json.loads(raw.http_response.read()))
    heard.take(completion, "message")
    if not getattr(completion, "choices", None):
        raise NotUsable("malformed", "the answer holds no choice")
    heard.finish = heard.finish or "stop"
    _bounded(heard, limit)


def _bounded(heard: _Heard, limit: int) -> None:
    if len(heard.text) + len(heard.refusal) > limit:
        raise NotUsable("too_long", f"more than {limit} characters", output_tokens=heard.output_tokens)


def _text(holder: Any, name: str) -> str:
    value = getattr(holder, name, None)
    return value if isinstance(value, str) else ""


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, 0)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
