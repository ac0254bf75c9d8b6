"""May this sentence leave the house? One verdict per draft, from the evidence alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grounding.answers import Because, Citation, Draft, Evidence, Verdict
from grounding.bearing import EMBEDDED, Assertion, Fit, assertion, features, fits, strength, window_cosine
from grounding.contradiction import contradicts
from grounding.matching import overlap
from grounding.quotation import quotation
from grounding.reading import read
from grounding.support import support
from grounding.vetoes import opposing, veto
from grounding.windows import Witness, witnesses
from search.documents import Vector
from search.ports import Embedder

MAX_CITATIONS = 20
"""Citations of one claim, and spans of counter-evidence."""

_TRACE = 0.25
_RIVAL = 0.35

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
class Case:
    """A draft beside the documents: what each says word for word, or else the windows that may bear it out."""

    draft: Draft
    claim: Assertion
    quoted: tuple[Finding | None, ...]
    fits: tuple[tuple[Fit, ...], ...]
    assured: bool

    @property
    def promising(self) -> bool:
        """Whether anything is left to decide by vectors."""
        return any(fit.overlap.recall >= _TRACE for row in self.fits for fit in row)


class FeatureVerifier:
    """Sentence-level lexical and vector support with vetoes. See :class:`grounding.ports.Verifier`.

    A reader of claim and span together (a cross-encoder) would take its place beside ``grounding.support``: its logits are features, and no
    veto yields to them.
    """

    def __init__(self, embedder: Embedder, *, min_support: float) -> None:
        """``min_support`` in 0..1: support below it is none."""
        self._embedder = embedder
        self._min_support = min_support

    def verify(self, drafts: Sequence[Draft], evidence: Evidence) -> tuple[Verdict, ...]:
        """See :meth:`grounding.ports.Verifier.verify`.

        Raises:
            Unavailable: the embedder is behind an endpoint that did not answer. Drafts that quote word for word do not need it.
        """
        documents = witnesses(evidence)
        cases = [_case(draft, documents) for draft in drafts]
        vectors = self._vectors(cases)
        return tuple(self._verdict(case, documents, vectors) for case in cases)

    def _vectors(self, cases: Sequence[Case]) -> dict[str, Vector]:
        """Vectors of everything still undecided, in one call."""
        texts: dict[str, None] = {}
        for case in cases:
            if case.promising:
                texts[case.claim.whole.text] = None
                texts.update((sentence, None) for row in case.fits for fit in row[:EMBEDDED] for sentence in fit.window.sentences)
        return dict(zip(texts, self._embedder.embed(tuple(texts)), strict=True)) if texts else {}

    def _verdict(self, case: Case, documents: Sequence[Witness], vectors: Mapping[str, Vector]) -> Verdict:
        rows = zip(documents, case.quoted, case.fits, strict=True)
        own = set(case.draft.cites)
        findings = [
            quote
            or (
                _counter(case.claim, witness)
                if case.assured and witness.doc_id not in own
                else _finding(case.claim, witness, row, vectors, cited=witness.doc_id in own)
            )
            for witness, quote, row in rows
        ]
        cited = [finding for finding in findings if finding.doc_id in own]
        misread = any(finding.contrary for finding in cited)
        chosen = self._accepted(cited) or ([] if misread else self._accepted(findings))
        against = tuple(finding.citation for finding in findings if finding.contrary)[:MAX_CITATIONS]
        if not chosen:
            return _rejection(case.draft, cited, findings, against)
        return Verdict(
            supported=True,
            contradicted=False,
            score=round(chosen[0].score, 4),
            citations=tuple(finding.citation for finding in chosen),
            counter_evidence=against,
        )

    def _accepted(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those that bear the claim out by themselves, strongest first."""
        enough = [finding for finding in findings if not finding.because and finding.score >= self._min_support]
        return sorted(enough, key=lambda finding: (-finding.score, finding.doc_id))[:MAX_CITATIONS]


def _case(draft: Draft, documents: Sequence[Witness]) -> Case:
    """What is known before vectors are. Once a cited document says the claim word for word, the documents it does not cite are asked for the opposite
    only."""
    claim, own = assertion(draft.text), set(draft.cites)
    quoted = tuple(_quoted(draft.text, witness) for witness in documents)
    pairs = tuple(zip(documents, quoted, strict=True))
    assured = any(quote is not None and not quote.because and witness.doc_id in own for witness, quote in pairs)
    needed = [quote is None and not (assured and witness.doc_id not in own) for witness, quote in pairs]
    found = tuple(fits(claim, witness.windows, witness.read) if need else () for witness, need in zip(documents, needed, strict=True))
    return Case(draft, claim, quoted, found, assured)


def _quoted(text: str, witness: Witness) -> Finding | None:
    """The document says the claim word for word: full support, unless the words left out change its sense."""
    place = quotation(text, witness)
    if place is None:
        return None
    score = 0.0 if place.because else 1.0
    return Finding(witness.doc_id, witness.version, place.start, place.end, place.text, score, place.because, contrary=False, recall=1.0)


def _counter(claim: Assertion, witness: Witness) -> Finding:
    """The first window that says the opposite, if any does."""
    windows = () if witness.gives_orders else witness.windows
    for window in windows:
        if len(window.sentences) > 1 and not any(
            opposing(claim.whole, read(sentence, witness.occurred_at)) for sentence in window.sentences
        ):
            continue  # two sentences say the opposite only where one of them does
        reading = witness.read(window)
        if contradicts(claim.whole, reading, figures=False):
            fit = Fit(window, reading, overlap(claim.whole, reading))
            return _told(
                witness, fit, support(features(claim, fit, (fit,), (0.0,))), veto(claim.whole, reading) or "negation", contrary=True
            )
    return Finding(witness.doc_id, witness.version, 0, 0, "", 0.0, "overlap", contrary=False, recall=0.0)


def _finding(claim: Assertion, witness: Witness, row: Sequence[Fit], vectors: Mapping[str, Vector], *, cited: bool) -> Finding:
    """The window that does most for the claim, or the one that says the opposite when none does anything. Another figure is the opposite only in a
    document the claim itself cites: elsewhere it is another experience."""
    if not row:
        return Finding(witness.doc_id, witness.version, 0, 0, "", 0.0, "overlap", contrary=False, recall=0.0)
    cosines = [_cosine(claim, fit, vectors) for fit in row[:EMBEDDED]]
    contrary = None if witness.gives_orders else next((fit for fit in row if contradicts(claim.whole, fit.reading, figures=cited)), None)
    chosen, because = _choice(claim, row, cosines)
    if witness.gives_orders and not because:
        because = "overlap"
    if contrary and because:
        chosen = contrary
        because = veto(claim.whole, contrary.reading) or "negation"
    if row[0].overlap.recall < _TRACE and contrary is None:
        return _told(witness, chosen, 0.0, because or "overlap", contrary=False)
    return _told(witness, chosen, support(features(claim, chosen, row, cosines)), because, contrary=contrary is not None)


def _told(witness: Witness, fit: Fit, score: float, because: Because, *, contrary: bool) -> Finding:
    window = fit.window
    return Finding(
        doc_id=witness.doc_id,
        version=witness.version,
        start=window.start,
        end=window.end,
        text=window.text,
        score=score,
        because=because,
        contrary=contrary,
        recall=fit.overlap.recall,
    )


def _cosine(claim: Assertion, fit: Fit, vectors: Mapping[str, Vector]) -> float:
    """0 where the vectors of the claim or of a sentence were not worth computing."""
    vector = vectors.get(claim.whole.text)
    known = vector is not None and all(sentence in vectors for sentence in fit.window.sentences)
    return window_cosine(vector, fit.window, vectors) if vector is not None and known else 0.0


def _choice(claim: Assertion, row: Sequence[Fit], cosines: Sequence[float]) -> tuple[Fit, Because]:
    """The strongest window without a veto, if it is not much weaker than the strongest of all; else that one, with its veto."""
    ranked = sorted(zip(row, cosines, strict=False), key=lambda pair: -strength(*pair))
    top = strength(*ranked[0])
    for fit, cosine in ranked:
        if strength(fit, cosine) >= top - _RIVAL and not veto(claim.whole, fit.reading):
            return fit, ""
    return ranked[0][0], veto(claim.whole, ranked[0][0].reading)


def _rejection(draft: Draft, cited: Sequence[Finding], findings: Sequence[Finding], against: tuple[Citation, ...]) -> Verdict:
    closest = max(cited or findings, key=lambda finding: (finding.score, finding.recall), default=None)
    contradicted = any(finding.contrary for finding in cited) or (not cited and bool(against))
    because: Because = closest.because if closest and closest.because and closest.recall >= _TRACE else "overlap"
    if draft.cites and not cited:
        because = "unknown_id"
    elif contradicted and because == "overlap":
        because = "negation"
    return Verdict(
        supported=False,
        contradicted=contradicted,
        score=0.0 if closest is None or closest.because else round(closest.score, 4),
        citations=(),
        counter_evidence=against,
        because=because,
        reason=_REASONS[because],
    )
