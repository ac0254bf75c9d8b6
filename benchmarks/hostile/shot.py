"""One hostile request, complete enough to be sent again."""

import base64
import json
from dataclasses import dataclass
from typing import Any, Literal

Conduct = Literal["whole", "slow", "abort", "frames", "command"]


@dataclass(frozen=True, slots=True)
class Shot:
    """What is sent. ``wire`` are the bytes of an HTTP request in the pieces they are sent in; ``frames`` what is said over a WebSocket after the
    greeting of the protocol; ``words`` a command line. ``hostility`` says what was done to the valid call it was made of."""

    number: int
    door: str
    hostility: str
    conduct: Conduct = "whole"
    wire: tuple[bytes, ...] = ()
    frames: tuple[str | bytes, ...] = ()
    words: tuple[str, ...] = ()

    def as_json(self) -> str:
        """One line that :func:`shot_from` reads again."""
        return json.dumps(
            {
                "number": self.number,
                "door": self.door,
                "hostility": self.hostility,
                "conduct": self.conduct,
                "wire": [_text(piece) for piece in self.wire],
                "frames": [[isinstance(frame, bytes), _text(frame)] for frame in self.frames],
                "words": list(self.words),
            }
        )


def shot_from(line: str) -> Shot:
    """A shot that was saved."""
    read: dict[str, Any] = json.loads(line)
    frames = tuple(_bytes(text) if is_bytes else _bytes(text).decode("utf-8", "surrogatepass") for is_bytes, text in read["frames"])
    wire = tuple(_bytes(piece) for piece in read["wire"])
    return Shot(read["number"], read["door"], read["hostility"], read["conduct"], wire, frames, tuple(read["words"]))


def _text(piece: str | bytes) -> str:
    return base64.b64encode(piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
