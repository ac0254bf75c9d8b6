"""One part of a question, from its tools to its verified claims or its refusal."""

from collections.abc import Sequence
from dataclasses import fields

from grounding.answers import Claim, RefusalReason
from grounding.intents import Form, Intent
from grounding.naming import account_meant
from grounding.numbers import Numbers
from grounding.planning import of_one_account
from grounding.question_parts import Part
from grounding.ratings import averages
from grounding.readings import Readings
from grounding.refusing import not_a_question, uncountable
from grounding.runs import PartResult, Run

NUMERIC = (Intent.COUNT, Intent.TOP, Intent.TREND, Intent.COMPARE)

SINGLE_VOICES = 3
"""Quotes of one document each shown behind counted themes when nothing is said by several."""


class Resolver:
    """Chooses between counting and reading, and puts the two together."""

    def __init__(self, numbers: Numbers, readings: Readings) -> None:
        self._numbers = numbers
        self._readings = readings

    def resolve(self, run: Run, result: PartResult) -> None:
        """Fill ``result`` with claims or a refusal.

        Raises:
            BudgetExceeded: a ceiling was reached; ``result`` holds what was found before.
        """
        part = result.part
        if part.intent is Intent.SMALL_TALK:
            result.refusal = not_a_question()
        elif part.intent in NUMERIC and part.uncountable:
            result.refusal = uncountable(part.uncountable)
        elif part.intent in NUMERIC:
            self._numbers.resolve(run, result)
            if not result.claims and result.refusal is None:
                self._readings.resolve(run, result)
        elif part.intent is Intent.ACCOUNT or part.form is Form.BROAD:
            self._both(run, result)
        else:
            self._read(run, result)

    def _read(self, run: Run, result: PartResult) -> None:
        """What documents say; of an account's own when the question names one by a word that nothing else explains, so that nobody answers for another."""
        self._readings.resolve(run, result)
        part = result.part
        if result.refusal and averages(part.question):
            result.refusal = uncountable("average")
        if part.account is not None or not (result.refusal or result.unmet):
            return
        name = account_meant(part.subject, frozenset(result.unmet) or None, run.vocabulary.has_account)
        if name is not None and part.filters.account_ids is None:
            with run.recorder.step("account") as step:
                step.detail.update(account=name)
            again = PartResult(of_one_account(part, name))
            self.resolve(run, again)
            for field in fields(PartResult):
                setattr(result, field.name, getattr(again, field.name))

    def _both(self, run: Run, result: PartResult) -> None:
        """Counts in front of what is said. Either alone is an answer; with neither, the refusal is that of the reading."""
        self._numbers.resolve(run, result)
        counted, report = result.claims, result.grounding
        if not counted and result.refusal is not None and result.refusal.reason is RefusalReason.NO_DOCUMENTS:
            return
        result.claims, result.refusal = (), None
        self._readings.resolve(run, result)
        if counted:
            result.grounding = result.grounding if result.claims else report
            result.claims, result.refusal = (*counted, *_beside_counts(result.claims, result.part)), None


def _beside_counts(claims: Sequence[Claim], part: Part) -> Sequence[Claim]:
    """Findings to stand behind a count: all of an account's or a theme's; elsewhere those of several documents, or a few single voices when there are
    none."""
    shared = tuple(claim for claim in claims if claim.document_count > 1)
    return claims if part.intent is Intent.ACCOUNT or part.theme else shared or claims[:SINGLE_VOICES]
