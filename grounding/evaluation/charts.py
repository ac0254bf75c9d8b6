"""Charts as inline SVG: drawn from numbers, labelled with escaped text, without scripts, fonts or links."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, ROW, LABEL = 720, 26, 220
_SCALE = WIDTH - LABEL - 70


@dataclass(frozen=True, slots=True)
class Bar:
    """A value in 0..1 with its interval; without a value ``note`` says why."""

    label: str
    value: float | None
    low: float = 0.0
    high: float = 0.0
    note: str = ""
    good: bool = True


def bars(title: str, values: Sequence[Bar]) -> str:
    """Horizontal bars from 0 to 1, each with a whisker for its interval."""
    rows = "".join(_row(place, bar) for place, bar in enumerate(values))
    return _svg(title, len(values) * ROW + 8, rows)


def histogram(title: str, values: Sequence[float], unit: str, buckets: int = 24) -> str:
    """How often values fall into equal steps from 0 to the largest; empty text without values."""
    largest = max(values, default=0.0)
    if largest <= 0:
        return ""
    counts = [0] * buckets
    for value in values:
        counts[min(buckets - 1, int(value / largest * buckets))] += 1
    step, top = (WIDTH - 20) / buckets, max(counts)
    columns = "".join(
        f'<rect x="{10 + place * step:.1f}" y="{110 - 100 * count / top:.1f}" width="{step - 2:.1f}" height="{100 * count / top:.1f}" class="bar">'
        f"<title>{count} up to {largest * (place + 1) / buckets:.3g} {escape(unit)}</title></rect>"
        for place, count in enumerate(counts)
    )
    axis = f'<text x="10" y="126">0</text><text x="{WIDTH - 10}" y="126" text-anchor="end">{largest:.3g} {escape(unit)}</text>'
    return _svg(title, 132, columns + axis)


def _row(place: int, bar: Bar) -> str:
    top = place * ROW + 4
    label = f'<text x="{LABEL - 8}" y="{top + 15}" text-anchor="end">{escape(bar.label)}</text>'
    if bar.value is None:
        return label + f'<text x="{LABEL}" y="{top + 15}" class="none">{escape(bar.note)}</text>'
    kind = "bar" if bar.good else "bar bad"
    body = f'<rect x="{LABEL}" y="{top + 3}" width="{_length(bar.value):.1f}" height="16" class="{kind}"/>'
    whisker = f'<path d="M{LABEL + _length(bar.low):.1f} {top + 11}H{LABEL + _length(bar.high):.1f}" class="whisker"/>'
    return label + body + whisker + f'<text x="{WIDTH - 4}" y="{top + 15}" text-anchor="end">{bar.value:.3f}</text>'


def _length(value: float) -> float:
    return _SCALE * min(1.0, max(0.0, value))


def _svg(title: str, height: int, body: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>{body}</svg>'
