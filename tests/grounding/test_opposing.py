"""The quick look for opposites passes over no pair that the close one finds."""

import itertools

from benchmarks.synthetic import messages
from grounding.opposites import QUALITIES, SYNONYMS
from grounding.reading import Reading, read

SAID = (
    "The app works.", "The app does not work.", "It never worked.", "I wish it worked.", "The card was paid.", "The card is unpaid.",
    "I like it.", "I dislike it.", "Nobody likes it.", "The fee is hidden.", "There is no fee.", "Delivery was fast.", "Delivery was slow.",
    "It was not slow at all.", "It should have been fast.", "My card was declined.", "They did not decline my card.", "Undelivered again.",
    "Delivered again.", "Not undelivered.", "The refund failed.", "The refund has not failed.", "Would it be cheap?", "It is expensive.",
)  # fmt: skip


def texts() -> list[str]:
    listed = sorted({*QUALITIES, *SYNONYMS})
    told = [form for word in listed[::7] for form in (f"It is {word}.", f"It is not {word}.")]
    return [*SAID, *told, *(str(message["text"]) for message in messages(3000)[::40])]


def disagreeing(claim: Reading, said: Reading) -> bool:
    """Whether a word of the claim is kin to words of the other text and agrees with none, looked at one by one."""
    return any(
        kin and not any(_agree(mine, other) for other in kin)
        for mine in claim.asserted
        for kin in [[other for other in said.meanings if mine.kin & other.kin]]
    )


def _agree(mine, other) -> bool:  # type: ignore[no-untyped-def]
    if mine.quality and mine.quality == other.quality:
        return bool(mine.sign == other.sign and (mine.tone.unreal or not other.tone.unreal))
    return bool((mine.tone.denied == other.tone.denied) is mine.same_word(other))


def test_whatever_disagrees_stands_where_the_claim_is_refuted() -> None:
    readings = [read(text) for text in texts()]
    found = [(one, other) for one, other in itertools.product(readings, readings) if disagreeing(one, other)]
    assert len(found) > 200
    assert [(one.text, other.text) for one, other in found if one.refuted_by.isdisjoint(other.stands)] == []
