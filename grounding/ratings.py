"""Ratings that a question names: *a rating below 3*, *1-star reviews*, *rated 4 or more*."""

import re
from dataclasses import dataclass

_NUMBER = r"(?P<{0}>\d+(?:\.\d+)?)"
_STARS = r"(?:\s*-?\s*stars?)?"
_PATTERNS = tuple(
    (re.compile(pattern, re.IGNORECASE), bounds)
    for pattern, bounds in (
        (
            rf"\b(?:rating|rated|ratings|stars)\b[^.?!\d]{{0,20}}?\b(?:between|from)\s+{_NUMBER.format('low')}\s+(?:and|to)\s+{_NUMBER.format('high')}",
            "range",
        ),
        (
            rf"\b(?:rating|rated|ratings)\b[^.?!\d]{{0,20}}?{_NUMBER.format('low')}{_STARS}\s+(?:or|and)\s+(?:more|above|higher|better|up)",
            "low",
        ),
        (
            rf"\b(?:rating|rated|ratings)\b[^.?!\d]{{0,20}}?{_NUMBER.format('high')}{_STARS}\s+(?:or|and)\s+(?:less|below|lower|worse|under|fewer)",
            "high",
        ),
        (rf"\b(?:rating|rated|ratings)\b[^.?!\d]{{0,20}}?(?:at least|from)\s+{_NUMBER.format('low')}", "low"),
        (rf"\b(?:rating|rated|ratings)\b[^.?!\d]{{0,20}}?(?:at most|up to)\s+{_NUMBER.format('high')}", "high"),
        (rf"\b(?:rating|rated|ratings)\b[^.?!\d]{{0,20}}?(?:below|under|less than|worse than)\s+{_NUMBER.format('beyond')}", "under"),
        (rf"\b(?:rating|rated|ratings)\b[^.?!\d]{{0,20}}?(?:above|over|more than|better than)\s+{_NUMBER.format('beyond')}", "over"),
        (rf"\b(?:rating|rated|ratings)\b(?:\s+(?:of|is|was|with|it|as|at|exactly))*\s+{_NUMBER.format('low')}\b", "exact"),
        (rf"\b{_NUMBER.format('low')}\s*-?\s*stars?\b", "exact"),
    )
)
_STEP = 1e-6
_AVERAGE = re.compile(r"\b(?:average|mean|median)\s+(?:star |customer |user )?(?:ratings?|stars|scores?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RatingRange:
    """Bounds, both inclusive, None where open, and how the question says it."""

    low: float | None
    high: float | None
    text: str

    @property
    def worded(self) -> str:
        """The range in words."""
        if self.low is not None and self.high is not None:
            return f"a rating of {self.low:g}" if self.low == self.high else f"a rating from {self.low:g} to {self.high:g}"
        bound = self.low if self.low is not None else self.high
        assert bound is not None
        written = round(bound, 3)
        if written != bound:
            return f"a rating {'above' if self.low is not None else 'below'} {written:g}"
        return f"a rating of {written:g} or {'more' if self.low is not None else 'less'}"


def averages(question: str) -> bool:
    """Whether ``question`` wants the ratings of documents averaged."""
    return bool(_AVERAGE.search(question))


def ratings_in(question: str) -> RatingRange | None:
    """The first range of ratings that ``question`` names. *Below 3* leaves 3 out."""
    for pattern, bounds in _PATTERNS:
        match = pattern.search(question)
        if match:
            return _range(match, bounds)
    return None


def _range(match: re.Match[str], bounds: str) -> RatingRange:
    found = {name: float(value) for name, value in match.groupdict().items() if value}
    low, high = found.get("low"), found.get("high")
    if bounds == "exact":
        high = low
    elif bounds == "under":
        high = found["beyond"] - _STEP
    elif bounds == "over":
        low = found["beyond"] + _STEP
    return RatingRange(low, high, match.group())
