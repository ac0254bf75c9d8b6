"""Which side of a yes-or-no question a sentence takes."""

import re
from collections.abc import Sequence
from dataclasses import replace

from grounding.answers import Citation, Claim
from grounding.contradiction import contradicts
from grounding.reading import Meaning, Reading, read

_AUXILIARY = re.compile(
    r"\A\s*(?:is|are|was|were|am|do|does|did|can|could|has|have|had|will|would|should|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|"
    r"can't|couldn't|won't|wouldn't)\s+(?:it true that\s+|there\s+)?",
    re.IGNORECASE,
)


def statement_of(question: str) -> str:
    """The statement whose truth the question asks for: *Does login work?* → *login work*. Unchanged when it does not begin with an auxiliary verb."""
    return _AUXILIARY.sub("", question.strip(), count=1).rstrip("?？ ")


def stance(statement: Reading, sentence: Reading) -> int:
    """-1 when ``sentence`` says the opposite of ``statement``, 1 when it speaks of the quality or deed that is asked about, 0 when it does neither."""
    if contradicts(statement, sentence, figures=True):
        return -1
    asked = [meaning for meaning in statement.meanings if meaning.quality]
    return 1 if any(_same_matter(meaning, other) for meaning in asked for other in sentence.meanings) else 0


def with_other_side(claims: Sequence[Claim], statement: str) -> tuple[Claim, ...]:
    """Each claim that takes a side with the citations of those on the other side as counter-evidence, beside its own."""
    asked = read(statement)
    sides = [stance(asked, read(claim.text)) if claim.proof is None else 0 for claim in claims]
    cited = {
        side: [citation for claim, own in zip(claims, sides, strict=True) if own == side for citation in claim.citations]
        for side in (1, -1)
    }
    return tuple(_countered(claim, cited[-side]) if side else claim for claim, side in zip(claims, sides, strict=True))


def _countered(claim: Claim, against: Sequence[Citation]) -> Claim:
    known = {citation.doc_id for citation in (*claim.counter_evidence, *claim.citations)}
    return replace(claim, counter_evidence=(*claim.counter_evidence, *(citation for citation in against if citation.doc_id not in known)))


def _same_matter(asked: Meaning, other: Meaning) -> bool:
    return asked.same_word(other) or (asked.quality == other.quality and asked.sign == other.sign)
