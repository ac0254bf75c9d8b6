"""The judge that asks a language model."""

from collections.abc import Sequence

from grounding.language_models.fencing import as_data, fence
from grounding.language_models.prompts.reading import prompt
from grounding.language_models.shapes import Opinions
from grounding.language_models.speaking import Speakers
from grounding.talk import Talk
from grounding.verifying import Verified

UNJUDGED = "the claims stand on the verifier alone"
_ROLE = "judge"
_QUOTES = 5


class AskingJudge:
    """Doubts of a model that sees claims and the quotations they cite."""

    def __init__(self, speakers: Speakers) -> None:
        self._speakers = speakers

    def doubts(self, verified: Verified, places: Sequence[int], *, talk: Talk) -> frozenset[int]:
        """See :class:`grounding.ports.Judge`."""
        rows = [
            {
                "claim": number,
                "text": verified.drafts[place].text,
                "quotations": [citation.quote for citation in verified.verdicts[place].citations[:_QUOTES]],
            }
            for number, place in enumerate(places, 1)
        ]
        values = {"fence": fence(talk.run_id), "claims": as_data(rows)}
        heard = self._speakers.ask(_ROLE, prompt(_ROLE), values, Opinions, talk, without=UNJUDGED)
        if heard is None:
            return frozenset()
        return frozenset(
            places[opinion.claim - 1] for opinion in heard.said.verdicts if not opinion.supported and opinion.claim <= len(places)
        )
