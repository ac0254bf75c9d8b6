"""Webhooks that speak Slack's message format; Mattermost, Rocket.Chat and others take it too."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from worker.deliveries.parcels import Parcel
from worker.deliveries.posting import Poster
from worker.deliveries.wording import cited_ids, clipped, numbers, said

MAX_CLAIMS = 10
MAX_HEADER_CHARS = 150
MAX_TEXT_CHARS = 2900
"""Slack takes 3,000 in one block."""

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SlackSending:
    """Implements :class:`worker.deliveries.parcels.Sending`."""

    poster: Poster

    def send(self, parcel: Parcel, timeout_s: float) -> None:
        """See :class:`worker.deliveries.parcels.Sending`. Slack knows no idempotency key, so a message may be posted twice when a worker dies
        between sending and writing that down; its last line holds the key, so that a reader can tell."""
        body = json.dumps(slack_message(parcel), ensure_ascii=True).encode()
        self.poster.post(parcel.delivery.receiver.target, body, {"content-type": "application/json"}, timeout_s)


def slack_message(parcel: Parcel) -> dict[str, Any]:
    """Blocks, and the text of notifications. Whatever came from a document is plain text, and links are not unfurled."""
    return {"text": escaped(parcel.headline), "unfurl_links": False, "unfurl_media": False, "blocks": list(_blocks(parcel))}


def escaped(text: str) -> str:
    """Text in which Slack sees no mention, channel or link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _blocks(parcel: Parcel) -> Iterator[Block]:
    digest = parcel.digest
    yield {"type": "header", "text": _plain(parcel.headline, MAX_HEADER_CHARS)}
    yield _section(digest.fired_because)
    yield _context(numbers(digest))
    for claim in digest.claims[:MAX_CLAIMS]:
        yield _section(claim.text)
        yield _context(cited_ids(claim))
    more = said(digest, MAX_CLAIMS)
    if more:
        yield _section(more)
    yield _context(" · ".join(part for part in (f"digest {digest.digest_id}", parcel.delivery.message_id, parcel.link) if part))


def _section(text: str) -> Block:
    return {"type": "section", "text": _plain(text, MAX_TEXT_CHARS)}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_plain(text, MAX_TEXT_CHARS)]}


def _plain(text: str, limit: int) -> Block:
    """Cut before it is escaped, and shorter where escaping would make it too long; never empty, which Slack refuses."""
    shown = clipped(text, limit)
    while len(escaped(shown)) > limit:
        shown = clipped(shown, len(shown) - max(1, (len(escaped(shown)) - limit) // 5))
    return {"type": "plain_text", "text": escaped(shown) or "–", "emoji": False}
