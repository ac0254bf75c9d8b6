"""Why a monitor fired, in one sentence: what was counted, in which window, against which bound."""

from grounding.answers import Proof
from grounding.topics import Topic
from worker.monitors.conditions import Answered, Change, Condition, Count, Judgement, Share
from worker.monitors.window import Window

_MOST_DIGITS = 4


def because(condition: Condition, judgement: Judgement, topic: Topic, proofs: tuple[Proof, ...], window: Window) -> str:
    """*12 of 80 documents contain “crash” from 2026-11-19 08:00Z to 2026-11-20 08:00Z; the monitor fires at 10 or more.*"""
    counted = f"{topic.counted(proofs[0])} from {_minute(window.start)} to {_minute(window.end)}"
    told = f"{counted[0].upper()}{counted[1:]}{_compared(condition, judgement)}; the monitor fires at {_bound(condition, judgement)}"
    return f"{told} ({judgement.caveat})." if judgement.caveat else f"{told}."


def _compared(condition: Condition, judgement: Judgement) -> str:
    if isinstance(condition, Answered):
        if condition.refused:
            return ", and the question " + ("is not answered by them" if judgement.observed else "is answered")
        return f", and the groundedness of the answer is {judgement.observed:.2f}"
    if isinstance(condition, Change) and judgement.baseline is not None:
        observed, baseline = judgement.observed, judgement.baseline
        return f" ({_amount(observed, baseline, judgement)} against {_amount(baseline, observed, judgement)} before)"
    return f" ({_percent(judgement.observed, judgement.threshold)})" if isinstance(condition, Share) else ""


def _bound(condition: Condition, judgement: Judgement) -> str:
    if isinstance(condition, Answered):
        return "a question that is not answered" if condition.refused else f"less than {judgement.threshold:g}"
    if isinstance(condition, Change):
        more = "more" if condition.direction == "up" else "less"
        return f"{_percent(condition.by)} {more} than before, beyond chance"
    upper = condition.at_least is not None
    amount = _percent(judgement.threshold) if isinstance(condition, Share) else f"{judgement.threshold:g}"
    return f"{amount} or {_beyond(condition, upper=upper)}"


def _beyond(condition: Count | Share, *, upper: bool) -> str:
    if upper:
        return "more"
    return "fewer" if isinstance(condition, Count) else "less"


def _amount(value: float, beside: float, judgement: Judgement) -> str:
    return _percent(value, beside) if judgement.unit == "share" else f"{round(value, 1):g}"


def _percent(share: float, beside: float | None = None) -> str:
    """A share in percent: with as few digits as tell it from the one it stands beside, or as it was given where it stands alone."""
    if beside is None or share == beside:
        return f"{round(100 * share, _MOST_DIGITS):g} %"
    enough = (digits for digits in range(_MOST_DIGITS) if round(100 * share, digits) != round(100 * beside, digits))
    return f"{round(100 * share, next(enough, _MOST_DIGITS)):g} %"


def _minute(moment: object) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z"
