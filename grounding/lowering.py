"""Verdicts can be lowered after the verifier, and nothing can raise one: what a language model wrote must also keep to the words of its citations and answer
the question, and a judge may doubt it."""

from collections.abc import Collection
from dataclasses import replace

from grounding.answerability import Judgement, SentenceScore
from grounding.answers import Because, Citation, Draft, Verdict
from grounding.asking import asks
from grounding.drafting import answering
from grounding.faithful import keeps_to
from grounding.intents import Form
from grounding.verifying import Verified, same_words

_REASONS: dict[Because, str] = {
    "overlap": "it says in its own words what no cited span says",
    "question": "the cited span does not answer the question",
    "judge": "a language model that judges doubts that the cited span says this",
}


def lowered(verified: Verified, places: Collection[int], because: Because) -> Verified:
    """The same drafts with the verdicts at ``places`` lowered. Only what is supported can be; every other place is left as it is."""
    verdicts = (
        _lower(verdict, because) if place in places and verdict.supported else verdict for place, verdict in enumerate(verified.verdicts)
    )
    return replace(verified, verdicts=tuple(verdicts))


def without(verified: Verified, places: Collection[int]) -> Verified:
    """The drafts that are not at ``places``, with their verdicts."""
    kept = [place for place in range(len(verified.drafts)) if place not in places]
    return Verified(tuple(verified.drafts[place] for place in kept), tuple(verified.verdicts[place] for place in kept))


def beside_the_point(verified: Verified, judgement: Judgement, form: Form, question: str) -> frozenset[int]:
    """Supported drafts of a language model none of whose citations holds a sentence that answers: true, and about something else."""
    stating = telling(judgement, form, question)
    return frozenset(
        place
        for place, (draft, verdict) in enumerate(zip(verified.drafts, verified.verdicts, strict=True))
        if draft.writer and verdict.supported and not any(_holds(citation, stating) for citation in verdict.citations)
    )


def kept_to_words(verified: Verified) -> Verified:
    """What a language model wrote keeps the citations whose words it keeps to; without any it is lowered."""
    pairs = zip(verified.drafts, verified.verdicts, strict=True)
    narrowed = tuple(_narrowed(draft, verdict) if draft.writer and verdict.supported else verdict for draft, verdict in pairs)
    lost = {place for place, verdict in enumerate(narrowed) if verdict.supported and not verdict.citations}
    return lowered(replace(verified, verdicts=narrowed), lost, "overlap")


def _narrowed(draft: Draft, verdict: Verdict) -> Verdict:
    return replace(verdict, citations=tuple(citation for citation in verdict.citations if keeps_to(draft.text, citation.quote)))


def worded_anew(verified: Verified) -> tuple[int, ...]:
    """Supported drafts of a language model that no citation says word for word: a judge has nothing to add to a quotation."""
    return tuple(
        place
        for place, (draft, verdict) in enumerate(zip(verified.drafts, verified.verdicts, strict=True))
        if draft.writer and verdict.supported and not any(same_words(draft.text, citation.quote) for citation in verdict.citations)
    )


def telling(judgement: Judgement, form: Form, question: str) -> tuple[SentenceScore, ...]:
    """The sentences an answer may rest on. For yes or no those that nearly answer count as well: they may say no."""
    if form is Form.YES_NO:
        near = (sentence for sentence in judgement.sentences if sentence.score >= judgement.threshold / 2)
        return tuple(sentence for sentence in near if not asks(sentence.text))
    return answering(judgement, form, question)


def _holds(citation: Citation, stating: Collection[SentenceScore]) -> bool:
    return any(
        sentence.doc_id == citation.doc_id and sentence.start < citation.end and citation.start < sentence.end for sentence in stating
    )


def _lower(verdict: Verdict, because: Because) -> Verdict:
    return replace(verdict, supported=False, citations=(), because=because, reason=_REASONS[because])
