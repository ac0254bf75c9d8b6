"""Which side of a yes-or-no question a sentence takes."""

import re

from grounding.reading import Reading
from grounding.verification import contradicts

_AUXILIARY = re.compile(
    r"\A\s*(?:is|are|was|were|am|do|does|did|can|could|has|have|had|will|would|should|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|"
    r"can't|couldn't|won't|wouldn't)\s+(?:it true that\s+|there\s+)?",
    re.IGNORECASE,
)


def statement_of(question: str) -> str:
    """The statement whose truth the question asks for: *Does login work?* → *login work*. Unchanged when it does not begin with an auxiliary verb."""
    return _AUXILIARY.sub("", question.strip(), count=1).rstrip("?？ ")


def against(statement: Reading, sentence: Reading) -> bool:
    """Whether ``sentence`` says the opposite of ``statement``."""
    return contradicts(statement, sentence)
