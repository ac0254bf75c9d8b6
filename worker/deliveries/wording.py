"""The words of a digest, for channels that people read."""

import re
from collections.abc import Iterator

from grounding.answers import Claim
from worker.deliveries.parcels import Parcel
from worker.monitors.digest import Digest

MAX_IDS = 5
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def lines(parcel: Parcel) -> Iterator[tuple[str, str]]:
    """Every line of the message with what it is: ``headline``, ``because``, ``numbers``, ``claim``, ``cited``, ``note``."""
    digest = parcel.digest
    yield "headline", parcel.headline
    yield "because", digest.fired_because
    yield "numbers", numbers(digest)
    for claim in digest.claims:
        yield "claim", claim.text
        yield "cited", cited_ids(claim)
    if said(digest):
        yield "note", said(digest)
    yield "note", f"Digest {digest.digest_id}, version {digest.version}"
    if parcel.link:
        yield "note", parcel.link


def numbers(digest: Digest) -> str:
    """What was measured, on one line."""
    since, until = (moment.strftime("%Y-%m-%d %H:%MZ") for moment in (digest.window_start, digest.window_end))
    parts = [f"{since} to {until}", f"observed {digest.observed:.4g} {digest.unit}", f"threshold {digest.threshold:.4g}"]
    if digest.baseline is not None:
        parts.append(f"before {digest.baseline:.4g}")
    return " · ".join((*parts, f"{digest.n} of {digest.denominator} documents"))


def cited_ids(claim: Claim) -> str:
    """The documents a claim stands on."""
    return some_ids(tuple(dict.fromkeys(citation.doc_id for citation in claim.citations)))


def some_ids(ids: tuple[str, ...]) -> str:
    """The first few ids, and how many more there are."""
    more = len(ids) - MAX_IDS
    return ", ".join(clipped(each, 80) for each in ids[:MAX_IDS]) + (f" and {more} more" if more > 0 else "")


def said(digest: Digest, shown: int | None = None) -> str:
    """What has to be said about the text part: that there is none and why, or that there is more of it."""
    if digest.refusal is not None:
        return f"No verified text: {digest.refusal.message}"
    if digest.degraded and not digest.claims:
        return "No verified text: " + "; ".join(effect for _, effect in sorted(digest.degraded.items()))
    left = len(digest.claims) - shown if shown is not None else 0
    return f"{left} more findings are in the digest." if left > 0 else ""


def clipped(text: str, limit: int) -> str:
    """On one line, and cut when it is long."""
    line = one_line(text)
    return line if len(line) <= limit else line[: max(0, limit - 1)] + "…"


def one_line(text: str) -> str:
    """On one line, without characters that would move a cursor, set a colour or turn the reading order around."""
    return " ".join(_CONTROLS.sub(" ", text).split())
