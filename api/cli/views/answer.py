"""An answer claim by claim with its citations, or a refusal with what would help."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.calling import Calling, plainly
from api.cli.views.text import Indented, ToPaste, counted, day, degradation, heading, ratio, some_ids, span_in_context
from api.cli.visible import one_line
from grounding.answers import Answer, Citation, Claim, Outcome, Proof, Refusal
from search.documents import EVERYTHING, Document

CITATIONS_PER_CLAIM = 3
"""More citations of one claim are counted, not printed; ``--json`` has them all."""


@dataclass(slots=True)
class _Numbers:
    """Citations in the order in which they are first mentioned, each with its number from 1."""

    cited: list[Citation] = field(default_factory=list)

    def of(self, citation: Citation) -> int:
        for number, known in enumerate(self.cited, start=1):
            if (known.doc_id, known.start, known.end) == (citation.doc_id, citation.start, citation.end):
                return number
        self.cited.append(citation)
        return len(self.cited)


def outcome_view(outcome: Outcome, documents: Mapping[str, Document], line: Calling = plainly) -> RenderableType:
    """What ``ask`` prints. ``documents`` are those cited, by id; one that is missing is shown without date and context. ``line`` writes
    commands that list what was counted."""
    parts: list[RenderableType] = []
    if outcome.answer is not None:
        parts += answer_parts(outcome.answer, documents, line)
    if outcome.refusal is not None:
        parts += refusal_parts(outcome.refusal)
    if outcome.degraded:
        parts += [degradation(outcome.degraded), Text("")]
    return Group(*parts, _summary(outcome))


def answer_parts(answer: Answer, documents: Mapping[str, Document], line: Calling) -> Iterator[RenderableType]:
    """Claims, parts of the question that are not answered, and the citations."""
    numbers = _Numbers()
    for position, claim in enumerate(answer.claims, start=1):
        yield from _claim(position, claim, numbers, line)
        yield Text("")
    for part in answer.unanswered:
        yield Text.assemble(("Not answered: ", "bold yellow"), one_line(part.question, 200))
        yield Indented(Text(f"{part.refusal.reason.value}: {one_line(part.refusal.message)}", style="yellow"))
        yield Text("")
    if numbers.cited:
        yield heading("Citations")
        for number, citation in enumerate(numbers.cited, start=1):
            yield from _citation(number, citation, documents.get(citation.doc_id))
        yield Text("")


def _claim(position: int, claim: Claim, numbers: _Numbers, line: Calling) -> Iterator[RenderableType]:
    marks = _marks(claim.citations, numbers)
    said = Text(one_line(claim.text), style="bold" if claim.proof else "")
    yield Indented(said.append(f" {marks}", style="cyan") if marks else said, first=f"{position}.")
    yield Indented(Text(_standing(claim), style="dim"))
    if claim.proof is not None:
        yield from _proof(claim.proof, line)
    if claim.counter_evidence:
        opposite = len({citation.doc_id for citation in claim.counter_evidence})
        says = "document says" if opposite == 1 else "documents say"
        yield Indented(Text(f"but {opposite} {says} the opposite: {_marks(claim.counter_evidence, numbers)}", style="yellow"))


def _standing(claim: Claim) -> str:
    if claim.proof is not None:
        return f"{claim.kind.value.lower()}, computed twice over {counted(claim.proof.denominator, 'document')}"
    said = f", said in {counted(claim.document_count, 'document')}" if claim.document_count > 1 else ""
    return f"{claim.kind.value.lower()}, support {ratio(claim.support)}{said}"


def _marks(citations: Sequence[Citation], numbers: _Numbers) -> str:
    marks = "".join(f"[{numbers.of(citation)}]" for citation in citations[:CITATIONS_PER_CLAIM])
    more = len(citations) - CITATIONS_PER_CLAIM
    return f"{marks} and {more} more" if more > 0 else marks


def _proof(proof: Proof, line: Calling) -> Iterator[RenderableType]:
    if proof.doc_ids:
        yield Indented(Text(f"documents: {some_ids(proof.doc_ids, proof.value)}", style="cyan"))
    listing = _listing(proof, line)
    if listing:
        yield ToPaste(f"    all of them: {listing}")


def _listing(proof: Proof, line: Calling) -> str:
    """The command that lists what was counted, where a short one does."""
    words = [] if proof.match is None else ["--match", one_line(proof.match)]
    if proof.bucket is not None and proof.aggregation in ("theme", "source", "account"):
        words += [f"--{proof.aggregation}", one_line(proof.bucket)]
    return line("documents", "list", *words) if words and proof.filters == EVERYTHING else ""


def _citation(number: int, citation: Citation, document: Document | None) -> Iterator[RenderableType]:
    about = [one_line(citation.doc_id, 80), f"v{citation.version}"]
    if document is not None:
        about += [day(document.occurred_at), one_line(document.source.name or document.source.kind, 40)]
    line = Text(" · ".join(about), style="cyan").append(f" · support {ratio(citation.support)}", style="dim")
    yield Indented(line, by=5, first=f"[{number}]")
    unchanged = document is not None and document.text[citation.start : citation.end] == citation.quote
    text, start, end = (document.text, citation.start, citation.end) if document and unchanged else (citation.quote, 0, len(citation.quote))
    yield Indented(span_in_context(text, start, end), by=5)


def refusal_parts(refusal: Refusal) -> Iterator[RenderableType]:
    """Why there is no answer, and what came nearest."""
    yield Text.assemble(("No answer: ", "bold yellow"), (refusal.reason.value, "yellow"))
    yield Indented(Text(one_line(refusal.message)))
    if refusal.score is not None and refusal.threshold is not None:
        yield Indented(Text(f"gate {refusal.gate}: {ratio(refusal.score)}, needs {ratio(refusal.threshold)}", style="dim"))
    else:
        yield Indented(Text(f"gate {refusal.gate}", style="dim"))
    if refusal.nearest:
        yield Text("")
        yield heading("Nearest documents")
        measure = "similarity " if refusal.gate == "relevance" else ""
        for near in refusal.nearest:
            yield Indented(Text(f"{one_line(near.doc_id, 80)} · {measure}{ratio(near.score)}", style="cyan"))
            yield Indented(Text(one_line(near.snippet, 240), style="dim"))
    if refusal.hint:
        yield Text("")
        yield Indented(Text(one_line(refusal.hint)), by=6, first="Try:")
    yield Text("")


def _summary(outcome: Outcome) -> Text:
    parts = []
    if outcome.answer is not None:
        cited = {citation.doc_id for claim in outcome.answer.claims for citation in claim.citations}
        parts += [counted(len(outcome.answer.claims), "claim"), f"{counted(len(cited), 'document')} cited"]
        parts.append(f"groundedness {ratio(outcome.grounding.groundedness)}")
        confidence = outcome.answer.confidence
        parts.append("confidence uncalibrated" if confidence is None else f"confidence {ratio(confidence)}")
        parts.append(outcome.answer.model)
    return Text(" · ".join([*parts, f"run {outcome.run_id}", f"{outcome.seconds:.2f} s"]), style="dim")
