"""One outcome of ``ask`` held against what its case expects. Pure: quotes are compared with the texts that are passed in."""

from collections.abc import Iterator, Mapping
from typing import Any

from grounding.answers import Answer, Citation, Claim, Outcome, Proof
from grounding.evaluation.cases import Case, Expected
from grounding.evaluation.results import CaseResult, Problem
from grounding.evaluation.spending import cost_of, tokens_of
from grounding.evaluation.texts import holds

Texts = Mapping[str, str]
"""Text of the stored documents by id, as it is now."""

RANKING_DEPTH = 100


def grade(case: Case, outcome: Outcome, texts: Texts) -> CaseResult:
    """What came of the case. ``texts`` must hold every cited document that is still stored."""
    claims = outcome.answer.claims if outcome.answer else ()
    proofs = [claim.proof for claim in claims if claim.proof is not None]
    return _result(
        case,
        ended="answered" if outcome.answer else "refused",
        problems=tuple(_problems(case.expected, outcome, texts)),
        reason=outcome.refusal.reason.value if outcome.refusal else None,
        citations=tuple(citation.doc_id for claim in claims for citation in claim.citations),
        ranking=_ranking(outcome),
        count=proofs[0].value if proofs else None,
        groundedness=outcome.grounding.groundedness if outcome.grounding.verdicts else None,
        supports=tuple(claim.support for claim in claims),
        seconds=outcome.seconds,
        tokens=tokens_of(outcome.trace),
        cost=cost_of(outcome.trace),
        model=outcome.answer.model if outcome.answer else None,
        run_id=outcome.run_id,
    )


def failed(case: Case, error: BaseException, seconds: float) -> CaseResult:
    """A case whose run raised. Only the kind of error is kept, for its text may quote a document."""
    return _result(case, ended="error", problems=(Problem("error", f"the run ended with {type(error).__name__}"),), seconds=seconds)


def cited(outcome: Outcome) -> tuple[str, ...]:
    """Every document that the answer cites, each once."""
    claims = outcome.answer.claims if outcome.answer else ()
    return tuple(dict.fromkeys(citation.doc_id for claim in claims for citation in _quoted(claim)))


def _result(case: Case, **observed: Any) -> CaseResult:
    return CaseResult(
        case_id=case.case_id,
        question=case.question,
        kind=case.kind,
        language=case.language,
        difficulty=case.difficulty,
        expected=case.expected,
        **observed,
    )


def _problems(expected: Expected, outcome: Outcome, texts: Texts) -> Iterator[Problem]:
    if outcome.answer is None:
        yield from _refused(expected, outcome)
        return
    if not expected.answered:
        yield Problem("outcome", "answered, though nothing answers this", invented=True)
    else:
        yield from _missing(expected, outcome.answer)
    yield from _false(expected, outcome.answer, texts)


def _refused(expected: Expected, outcome: Outcome) -> Iterator[Problem]:
    reason = outcome.refusal.reason if outcome.refusal else None
    if expected.answered:
        yield Problem("outcome", f"refused ({reason}), though the documents answer this")
    elif expected.reasons and reason not in expected.reasons:
        yield Problem("reason", f"refused as {reason} instead of {' or '.join(sorted(expected.reasons))}")


def _missing(expected: Expected, answer: Answer) -> Iterator[Problem]:
    """What an answer lacks, and numbers that are wrong."""
    said = _said(answer)
    for fact in expected.facts:
        if not holds(said, fact):
            yield Problem("fact", f"does not say “{fact}”")
    behind = {citation.doc_id for claim in answer.claims for citation in claim.citations}
    behind |= {doc_id for claim in answer.claims if claim.proof for doc_id in claim.proof.doc_ids}
    if expected.documents and behind.isdisjoint(expected.documents):
        yield Problem("documents", "cites none of the documents that answer this")
    proofs = [claim.proof for claim in answer.claims if claim.proof is not None]
    if expected.count is not None:
        yield from _counted(expected.count, proofs)
    if expected.series:
        yield from _in_series(expected.series, proofs)


def _counted(expected: int, proofs: list[Proof]) -> Iterator[Problem]:
    if not proofs:
        yield Problem("count", f"proves no number instead of {expected}")
    elif proofs[0].value != expected:
        yield Problem("count", f"counts {proofs[0].value} instead of {expected}", invented=True)


def _in_series(expected: Mapping[str, int], proofs: list[Proof]) -> Iterator[Problem]:
    found = next((dict(proof.counts) for proof in proofs if proof.counts), None)
    if found is None:
        yield Problem("series", "proves no numbers over time or by group")
        return
    wrong = {bucket: found.get(bucket, 0) for bucket, value in expected.items() if found.get(bucket, 0) != value}
    for bucket, value in wrong.items():
        yield Problem("series", f"counts {value} in {bucket} instead of {expected[bucket]}", invented=True)


def _false(expected: Expected, answer: Answer, texts: Texts) -> Iterator[Problem]:
    """What the answer asserts and must not: forbidden texts, sentences without ground, quotes that their document does not hold."""
    said = _said(answer)
    for text in expected.absent:
        if holds(said, text):
            yield Problem("absent", f"says “{text}”, which it must not", invented=True)
    for number, claim in enumerate(answer.claims, 1):
        if not claim.citations and claim.proof is None:
            yield Problem("uncited", f"claim {number} has neither a citation nor a proof", invented=True)
        for citation in _quoted(claim):
            if texts.get(citation.doc_id, "")[citation.start : citation.end] != citation.quote:
                yield Problem("quote", f"claim {number} quotes {citation.doc_id} with words that do not stand there", invented=True)


def _quoted(claim: Claim) -> tuple[Citation, ...]:
    return (*claim.citations, *claim.counter_evidence)


def _said(answer: Answer) -> str:
    """The sentences of an answer and the quotes under them: what a reader has before their eyes."""
    quotes = (citation.quote for claim in answer.claims for citation in claim.citations)
    return "\n".join((answer.text, *quotes))


def _ranking(outcome: Outcome) -> tuple[str, ...]:
    """Documents in the order they were found; copies of one text take the places behind the first."""
    found = (doc_id for hit in outcome.hits for doc_id in (hit.candidate.passage.doc_id, *hit.group_ids))
    return tuple(dict.fromkeys(found))[:RANKING_DEPTH]
