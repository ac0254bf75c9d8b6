"""The planner that asks a language model."""

import json

from grounding.intents import Intent
from grounding.language_models.fencing import fence, neutral
from grounding.language_models.prompts.reading import prompt
from grounding.language_models.shapes import WishedPlan
from grounding.language_models.speaking import Speakers
from grounding.question_parts import Plan
from grounding.replanning import Wish, allowed
from grounding.talk import Talk

RULES = "the question was planned by rules alone"
_ROLE = "plan"
_MAX_QUESTION_CHARS = 2000


class AskingPlanner:
    """Wishes of a model that sees the question and the kinds of its parts."""

    def __init__(self, speakers: Speakers) -> None:
        self._speakers = speakers

    def wishes(self, plan: Plan, *, talk: Talk) -> tuple[Wish, ...]:
        """See :class:`grounding.ports.Planner`."""
        parts = [{"kind": part.intent.value, "search": neutral(part.subject)[:_MAX_QUESTION_CHARS]} for part in plan.parts]
        values = {
            "fence": fence(talk.run_id),
            "question": json.dumps(neutral(plan.question)[:_MAX_QUESTION_CHARS], ensure_ascii=False),
            "parts": json.dumps(parts, ensure_ascii=False),
        }
        heard = self._speakers.ask(_ROLE, prompt(_ROLE), values, WishedPlan, talk, without=RULES)
        if heard is None:
            return ()
        wishes = tuple(Wish(Intent(part.kind), part.search) for part in heard.said.parts)
        if not allowed(plan, wishes):
            talk.lose(_ROLE, f"{heard.model} planned what is not its to choose; {RULES}")
            return ()
        return wishes
