"""Which passages a language model gets to see, under which labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grounding.addressing import gives_orders
from grounding.answerability import Judgement
from grounding.budget import tokens_in
from grounding.intents import form_of
from grounding.language_models.fencing import as_data
from grounding.lowering import telling
from search.ranking import Hit

MAX_SHOWN = 12
_MARK = "E"


@dataclass(frozen=True, slots=True)
class Shown:
    """One passage under its label. ``doc_ids`` are its document and the copies of it; ``documents`` is their exact number."""

    label: str
    text: str
    day: str
    doc_ids: tuple[str, ...]
    documents: int


@dataclass(frozen=True, slots=True)
class Showing:
    """What is shown, best first; ``withheld`` passages that answer speak to a machine and are not."""

    passages: tuple[Shown, ...]
    withheld: int

    @property
    def by_label(self) -> Mapping[str, Shown]:
        """The passages by label."""
        return {passage.label: passage for passage in self.passages}

    def as_text(self) -> str:
        """One line of JSON for each passage; ids stay here."""
        return as_data([{"label": passage.label, "written": passage.day, "text": passage.text} for passage in self.passages])


def showing(hits: Sequence[Hit], judgement: Judgement, question: str, tokens: int) -> Showing:
    """The passages with sentences that answer, as many as fit into ``tokens``. One that gives orders is shown to nobody: what a model does not see it cannot
    obey."""
    places = dict.fromkeys(sentence.passage_id for sentence in telling(judgement, form_of(question), question))
    by_id = {hit.candidate.passage.passage_id: hit for hit in hits}
    found = [by_id[passage_id] for passage_id in places if passage_id in by_id]
    harmless = [hit for hit in found if not gives_orders(hit.candidate.passage.text)]
    shown: list[Shown] = []
    for hit in harmless[:MAX_SHOWN]:
        passage = _shown(hit, f"{_MARK}{len(shown) + 1}")
        tokens -= tokens_in(passage.text)
        if tokens < 0:
            break
        shown.append(passage)
    return Showing(tuple(shown), len(found) - len(harmless))


def _shown(hit: Hit, label: str) -> Shown:
    candidate = hit.candidate
    ids = tuple(dict.fromkeys((candidate.passage.doc_id, *hit.group_ids)))
    return Shown(label, candidate.passage.text, candidate.occurred_at.date().isoformat(), ids, max(hit.group_size, len(ids)))
