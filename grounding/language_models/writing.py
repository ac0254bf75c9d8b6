"""The drafter that asks a language model."""

import json

from grounding.answerability import Judgement
from grounding.answers import Draft
from grounding.budget import tokens_in
from grounding.language_models.admitting import admitted
from grounding.language_models.fencing import fence, neutral
from grounding.language_models.prompts.reading import prompt
from grounding.language_models.shapes import WrittenDraft
from grounding.language_models.showing import showing
from grounding.language_models.speaking import Speakers
from grounding.talk import Talk
from runtime.clock import Deadline
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.ranking import Retrieval

MAX_QUESTION_CHARS = 2000
QUOTED = "sentences of the documents are quoted instead"
_ROLE = "draft"


class WritingDrafter:
    """Drafts claims in a model's words, or none. What it returns is as untrusted as any draft."""

    def __init__(self, speakers: Speakers, settings: Settings) -> None:
        self._speakers = speakers
        self._settings = settings

    @property
    def model(self) -> str:
        """The model that is asked first; each draft names the one that wrote it."""
        return self._speakers.endpoints[0].model

    def draft(
        self,
        tenant: Tenant,  # noqa: ARG002 (the passages are the tenant's already, and no model needs to know whose)
        question: str,
        retrieval: Retrieval,
        *,
        judgement: Judgement,
        deadline: Deadline,  # noqa: ARG002 (the talk has a share of it)
        talk: Talk,
    ) -> tuple[Draft, ...]:
        """See :class:`grounding.ports.Drafter`."""
        asked, wanted = prompt(_ROLE), neutral(question)[:MAX_QUESTION_CHARS]
        room = talk.spending.llm_tokens_left() - self._settings.llm_max_output_tokens - tokens_in(asked.system + asked.user + wanted)
        shown = showing(retrieval.hits, judgement, question, room)
        if not shown.passages:
            reason = "every passage that answers speaks to a machine" if shown.withheld else "no passage fits the budget of the run"
            talk.lose(_ROLE, f"no language model was asked, since {reason}; {QUOTED}")
            return ()
        values = {
            "fence": fence(talk.run_id),
            "most": str(self._settings.max_claims),
            "question": json.dumps(wanted, ensure_ascii=False),
            "evidence": shown.as_text(),
        }
        heard = self._speakers.ask(_ROLE, asked, values, WrittenDraft, talk, without=QUOTED)
        if heard is None:
            return ()
        found = admitted(heard.said.claims, shown.by_label, heard.model)
        talk.note(shown=len(shown.passages), withheld=shown.withheld, turned_away=dict(found.turned_away))
        if not found.drafts:
            talk.lose(_ROLE, f"nothing that {heard.model} wrote may be said; {QUOTED}")
        return found.drafts
