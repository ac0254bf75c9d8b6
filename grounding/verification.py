"""May this sentence leave the house? One verdict per draft, from the evidence alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grounding.answers import Because, Citation, Draft, Evidence, Verdict
from grounding.clauses import clauses
from grounding.matching import Overlap, found, overlap
from grounding.quotation import quotation
from grounding.reading import Meaning, Reading, read
from grounding.sentences import sentences
from grounding.support import support
from grounding.vetoes import number_missing, opposing, veto
from grounding.windows import Window, Witness, witnesses
from search.documents import Vector
from search.ports import Embedder

MAX_CITATIONS = 20
WINDOWS_PER_DOCUMENT = 4
_ABOUT = 0.5
_SAME_TOPIC = 0.8
_TRACE = 0.25

_REASONS: Mapping[Because, str] = {
    "": "",
    "overlap": "no cited span says this",
    "number": "a figure, amount or time is not in the cited span",
    "date": "a date is not in the cited span",
    "negation": "the cited span says the opposite, or does not state it as a fact",
    "entity": "a name, product or code is not in the cited span",
    "quantifier": "the cited span does not say it holds for so many",
    "unknown_id": "no cited id is in the evidence",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one document does for one claim. ``text`` is the span's; ``contrary`` says that it states the opposite."""

    doc_id: str
    version: int
    start: int
    end: int
    text: str
    score: float
    because: Because
    contrary: bool
    recall: float

    @property
    def citation(self) -> Citation:
        """The span as a citation."""
        return Citation(self.doc_id, self.version, self.start, self.end, self.text, round(self.score, 4))


@dataclass(frozen=True, slots=True)
class Assertion:
    """A draft as the verifier sees it: its reading and the readings of its clauses."""

    draft: Draft
    whole: Reading
    parts: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A window that may bear an assertion out, before vectors are known."""

    witness: Witness
    window: Window
    overlap: Overlap


class FeatureVerifier:
    """Sentence-level lexical and vector support with vetoes; no learned reader of both texts at once. See :class:`grounding.ports.Verifier`."""

    def __init__(self, embedder: Embedder, *, min_support: float) -> None:
        """``min_support`` in 0..1: support below it is none."""
        self._embedder = embedder
        self._min_support = min_support

    def verify(self, drafts: Sequence[Draft], evidence: Evidence) -> tuple[Verdict, ...]:
        """See :meth:`grounding.ports.Verifier.verify`."""
        documents = witnesses(evidence)
        assertions = [_assertion(draft) for draft in drafts]
        quoted = [[_quoted(assertion, witness) for witness in documents] for assertion in assertions]
        fits = [
            [_fits(assertion, witness) if _needs_fit(row, place) else [] for place, witness in enumerate(documents)]
            for assertion, row in zip(assertions, quoted, strict=True)
        ]
        vectors = self._vectors(assertions, fits)
        return tuple(
            self._verdict(assertion, documents, row, fitted, vectors)
            for assertion, row, fitted in zip(assertions, quoted, fits, strict=True)
        )

    def _vectors(self, assertions: Sequence[Assertion], fits: Sequence[Sequence[Sequence[Fit]]]) -> dict[str, Vector]:
        """Vectors of everything still undecided, embedded once, in one call."""
        texts: dict[str, None] = {}
        for assertion, rows in zip(assertions, fits, strict=True):
            promising = [fit for row in rows for fit in row if fit.overlap.recall >= _TRACE]
            if promising:
                texts.update(dict.fromkeys([assertion.whole.text, *(part for fit in promising for part in fit.window.sentences)]))
        if not texts:
            return {}
        return dict(zip(texts, self._embedder.embed(tuple(texts)), strict=True))

    def _verdict(
        self,
        assertion: Assertion,
        documents: Sequence[Witness],
        quoted: Sequence[Finding | None],
        fits: Sequence[Sequence[Fit]],
        vectors: Mapping[str, Vector],
    ) -> Verdict:
        findings = [quote or _best(assertion, row, witness, vectors) for quote, row, witness in zip(quoted, fits, documents, strict=True)]
        cited = [finding for finding in findings if finding.doc_id in assertion.draft.cites]
        chosen = self._accepted(cited)
        misread = any(finding.contrary for finding in cited)
        if not chosen and not misread:
            chosen = self._accepted(findings)
        against = tuple(finding.citation for finding in findings if finding.contrary)[:MAX_CITATIONS]
        if chosen:
            score = max(finding.score for finding in chosen)
            return Verdict(
                supported=True,
                contradicted=False,
                score=round(score, 4),
                citations=tuple(finding.citation for finding in chosen),
                counter_evidence=against,
            )
        return self._rejected(assertion.draft, cited, findings, against)

    def _accepted(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those that bear the claim out by themselves, strongest first."""
        enough = [finding for finding in findings if not finding.because and finding.score >= self._min_support]
        return sorted(enough, key=lambda finding: (-finding.score, finding.doc_id))[:MAX_CITATIONS]

    def _rejected(self, draft: Draft, cited: Sequence[Finding], findings: Sequence[Finding], against: tuple[Citation, ...]) -> Verdict:
        looked_at = cited or findings
        closest = max(looked_at, key=lambda finding: (finding.score, finding.recall), default=None)
        contradicted = any(finding.contrary for finding in cited) or (not cited and bool(against))
        because: Because = closest.because if closest and closest.because and closest.recall >= _TRACE else "overlap"
        if draft.cites and not cited:
            because = "unknown_id"
        if contradicted and because == "overlap":
            because = "negation"
        score = 0.0 if closest is None or closest.because else closest.score
        return Verdict(
            supported=False,
            contradicted=contradicted,
            score=round(score, 4),
            citations=(),
            counter_evidence=against,
            because=because,
            reason=_REASONS[because],
        )


def _assertion(draft: Draft) -> Assertion:
    parts = [clause.of(sentence.of(draft.text)) for sentence in sentences(draft.text) for clause in clauses(sentence.of(draft.text))]
    return Assertion(draft, read(draft.text), tuple(read(part) for part in parts) or (read(draft.text),))


def _quoted(assertion: Assertion, witness: Witness) -> Finding | None:
    """The document says the claim word for word: full support, unless the words left out change its sense."""
    place = quotation(assertion.draft.text, witness)
    if place is None:
        return None
    score = 0.0 if place.because else 1.0
    return Finding(witness.doc_id, witness.version, place.start, place.end, place.text, score, place.because, contrary=False, recall=1.0)


def _needs_fit(row: Sequence[Finding | None], place: int) -> bool:
    return row[place] is None


def _fits(assertion: Assertion, witness: Witness) -> list[Fit]:
    """The windows that share most with the claim, best first."""
    fits = [Fit(witness, window, overlap(assertion.whole, witness.read(window))) for window in witness.windows]
    ranked = sorted(fits, key=lambda fit: (-fit.overlap.blend, len(fit.window.sentences), fit.window.start))
    return ranked[:WINDOWS_PER_DOCUMENT]


def _best(assertion: Assertion, fits: Sequence[Fit], witness: Witness, vectors: Mapping[str, Vector]) -> Finding:
    """The window that does most for the claim; among equals one without a veto."""
    findings = [_finding(assertion, fit, vectors) for fit in fits]
    if not findings:
        return Finding(witness.doc_id, witness.version, 0, 0, "", 0.0, "overlap", contrary=False, recall=0.0)
    best = max(findings, key=lambda finding: (not finding.because and finding.score > _TRACE, finding.score, -len(finding.text)))
    contrary = next((finding for finding in findings if finding.contrary), None)
    return best if contrary is None or not best.because else contrary


def _finding(assertion: Assertion, fit: Fit, vectors: Mapping[str, Vector]) -> Finding:
    span = fit.witness.read(fit.window)
    clause = min(overlap(part, span).recall for part in assertion.parts)
    score = support(fit.overlap, clause, _cosine(assertion.whole.text, fit.window, vectors))
    because: Because = veto(assertion.whole, span)
    if not because and fit.witness.gives_orders:
        because = "overlap"
    contrary = contradicts(assertion.whole, span) and not fit.witness.gives_orders
    window = fit.window
    return Finding(
        fit.witness.doc_id, fit.witness.version, window.start, window.end, window.text, score, because, contrary, fit.overlap.recall
    )


def _cosine(claim: str, window: Window, vectors: Mapping[str, Vector]) -> float:
    """Between the claim and the window; a pair of sentences has the direction of their sum."""
    if any(text not in vectors for text in (claim, *window.sentences)):
        return 0.0
    total = np.sum([vectors[sentence] for sentence in window.sentences], axis=0)
    return round(float(vectors[claim] @ total / (np.linalg.norm(total) or 1.0)), 3)


def contradicts(claim: Reading, span: Reading) -> bool:
    """Whether a span about the same thing says the opposite, or gives another figure of the same kind."""
    against = opposing(claim, span)
    if against:
        opposed = {meaning.word.start for meaning in against}
        rest = [meaning for meaning in claim.topic if meaning.word.start not in opposed]
        return _shared(rest, span) >= _ABOUT
    if not number_missing(claim, span) or not any(figure.same_kind(said) for figure in claim.quantities for said in span.quantities):
        return False
    figures = [(figure.start, figure.end) for figure in claim.quantities]
    rest = [meaning for meaning in claim.topic if not any(start <= meaning.word.start < end for start, end in figures)]
    return bool(rest) and _shared(rest, span) >= _SAME_TOPIC


def _shared(rest: Sequence[Meaning], span: Reading) -> float:
    total = sum(meaning.weight for meaning in rest)
    return sum(found(meaning, span.meanings) * meaning.weight for meaning in rest) / total if total else 0.0
