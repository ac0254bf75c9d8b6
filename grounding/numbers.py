"""Numbers as claims: counted, counted again, and only then said."""

from grounding.answers import Draft
from grounding.counting import Counter, TooFew
from grounding.emptiness import nearest_documents
from grounding.intents import Form, Intent
from grounding.proofs import check
from grounding.refusing import too_few, unsupported
from grounding.runs import PartResult, Run, final_claims, nothing_there
from grounding.themes import Names
from grounding.verifying import Verified, grounding_of
from runtime.clock import Clock
from runtime.settings import Settings
from search.ports import Engine

THEMES_SHOWN = 3
"""Themes counted in front of the findings of a question without a topic."""


class Numbers:
    """Answers what can be counted."""

    def __init__(self, engine: Engine, names: Names, clock: Clock, settings: Settings) -> None:
        self._engine = engine
        self._names = names
        self._clock = clock
        self._settings = settings

    def resolve(self, run: Run, result: PartResult) -> None:
        """Fill ``result`` with numeric claims or a refusal; with neither when there is nothing countable in the part. Documents that change meanwhile are
        counted once more."""
        moved = False
        for _ in range(2):
            drafts = self._drafts(run, result)
            if not drafts:
                return
            verified = self._proven(run, drafts, moved=moved)
            if not verified.dropped:
                break
            moved = True
        result.grounding = grounding_of(verified, verified, accepted=bool(verified.supported))
        result.claims = final_claims(self._engine, run, verified.claims)
        if not result.claims:
            result.refusal = unsupported(verified.reasons, (), result.grounding.groundedness, self._settings.min_groundedness)

    def _drafts(self, run: Run, result: PartResult) -> tuple[Draft, ...]:
        part, least = result.part, self._settings.min_share_documents
        themes = run.vocabulary.themes
        counter = Counter(self._engine, run.tenant, least, self._clock.now(), themes, self._names.like(themes), run.vocabulary.attributes)
        overview = part.form is Form.BROAD and part.intent is Intent.EVIDENCE
        with run.recorder.step("count") as step:
            run.recorder.spending.call("aggregate")
            found = counter.overview(part, THEMES_SHOWN) if overview else counter.drafts(part)
            if isinstance(found, TooFew):
                result.refusal = too_few(found, least, nearest_documents(self._engine, run.tenant, found.doc_ids))
                step.detail.update(documents=found.documents, wanted=least)
            elif found and found[0].proof is not None and found[0].proof.denominator == 0:
                result.refusal = nothing_there(self._engine, run, part)
            step.outcome = "refused" if result.refusal else step.outcome
            drafts = () if isinstance(found, TooFew) or result.refusal else found
            step.detail.update(claims=len(drafts))
        return drafts

    def _proven(self, run: Run, drafts: tuple[Draft, ...], *, moved: bool) -> Verified:
        with run.recorder.step("prove") as step:
            run.recorder.spending.call("prove")
            verified = Verified(drafts, check(self._engine, run.tenant, drafts, moved=moved))
            generation = drafts[0].proof.generation if drafts[0].proof else None
            step.detail.update(
                claims=len(drafts), proven=len(verified.supported), generation=generation, dropped=verified.dropped_as_json()
            )
        return verified
