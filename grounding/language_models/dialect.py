"""What of the protocol a server understands. Asked the full way first; what it complains about is left out from then on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a language model, in nobody's dialect."""

    messages: tuple[dict[str, str], ...]
    name: str
    schema: Mapping[str, Any]
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class Dialect:
    """``schema``: takes a JSON schema for its answer; ``usage``: counts tokens at the end of a stream; ``limit``: how it calls the longest answer."""

    schema: bool = True
    usage: bool = True
    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    def body(self, request: Request) -> dict[str, Any]:
        """The request as this server wants it."""
        body: dict[str, Any] = {"messages": list(request.messages), "stream": True, self.limit: request.max_output_tokens}
        if self.temperature:
            body["temperature"] = 0
        if self.usage:
            body["stream_options"] = {"include_usage": True}
        if self.schema:
            named = {"name": request.name, "schema": dict(request.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return body

    def simpler(self, complaint: str) -> "Dialect | None":
        """Without what a server that refuses the request names, else without the schema; None when nothing is left to leave out."""
        if "max_completion_tokens" in complaint and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "stream_options" in complaint and self.usage:
            return replace(self, usage=False)
        if "temperature" in complaint and self.temperature:
            return replace(self, temperature=False)
        return replace(self, schema=False) if self.schema else None
