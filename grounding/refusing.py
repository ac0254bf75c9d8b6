"""Refusals in words: which gate, its numbers, what came closest and what would help."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grounding.answerability import Judgement
from grounding.answers import Citation, Claim, Nearest, Refusal, RefusalReason
from grounding.asking import asks
from grounding.counting import TooFew
from grounding.languages import language_name, language_of, main_language
from grounding.matching import shared
from grounding.quantities import codes
from grounding.question_kinds import read_question
from grounding.reading import read
from search.ranking import Hit, Retrieval

NEAREST = 3
SAME_TOPIC = 0.6
"""Share of the question's topic that a document must ask about to be said to ask about it."""

SNIPPET_CHARS = 200

_MESSAGES = {
    "overlap": "no document says it",
    "number": "its figures are not in the documents",
    "date": "its dates are not in the documents",
    "negation": "the documents say the opposite, or do not state it as a fact",
    "entity": "a name, product or code in it is not in the documents",
    "aggregate": "its number is not what counting again gives",
    "quantifier": "the documents do not say it holds for so many",
    "unknown_id": "it cites documents that were not found",
    "question": "it answers something else",
    "judge": "a language model that judges doubts it",
    "": "it is not supported",
}


def not_a_question() -> Refusal:
    """Greetings, thanks, punctuation."""
    return Refusal(
        RefusalReason.NOT_A_QUESTION,
        "There is no question in this.",
        "question",
        hint="Ask about the documents, for example: What do customers complain about? How many mention refunds? Is late delivery rising?",
    )


def no_documents(emptied: Sequence[str], *, any_at_all: bool) -> Refusal:
    """Nothing is left after the filters, ``emptied`` names those that leave nothing."""
    if not any_at_all:
        return Refusal(RefusalReason.NO_DOCUMENTS, "There are no documents yet.", "documents", 0, 1, hint="Ingest some, then ask again.")
    which = f"No document has {_joined(emptied)}." if emptied else "No document passes all the filters together."
    return Refusal(RefusalReason.NO_DOCUMENTS, which, "documents", 0, 1, hint="Widen or remove the filter, then ask again.")


def off_topic(question: str, retrieval: Retrieval, score: float, floor: float, *, missing_code: str = "") -> Refusal:
    """The best evidence is not about the question."""
    message = f"The documents do not discuss this: the closest is {score:.2f} relevant, {floor:.2f} is needed."
    if missing_code:
        message = f"No document that was found holds “{missing_code}”."
    elif not retrieval.hits:
        message = "The documents do not discuss this: none shares a word with the question or comes near it in meaning."
    hint = _language_hint(question, retrieval) or "See the nearest documents for what is there."
    return Refusal(RefusalReason.OFF_TOPIC, message, "relevance", score, floor, _nearest(retrieval), hint)


def not_answered(question: str, retrieval: Retrieval, judgement: Judgement) -> Refusal:
    """The documents are about it and nobody says it; perhaps they ask the same. Sentences near enough of which none states what is asked are counted: 0
    statements, where 1 is needed."""
    scores = {sentence.passage_id: sentence.score for sentence in reversed(judgement.sentences)}
    stated = max((sentence.score for sentence in judgement.sentences if not asks(sentence.text)), default=0.0)
    asking = _asking(question, judgement)
    hint = _language_hint(question, retrieval) or "The nearest documents show what is said about it."
    message = f"The documents are about this, but none says it.{_lacking(judgement)}"
    if asking:
        message = f"{asking} of the documents found {'asks' if asking == 1 else 'ask'} about it; none answers it.{_lacking(judgement)}"
        hint = "Ask what customers say or ask about it to see their questions."
    gate, score, floor = ("answerability", stated, judgement.threshold) if stated < judgement.threshold else ("statement", 0.0, 1.0)
    return Refusal(RefusalReason.NOT_ANSWERED, message, gate, score, floor, nearest_of(retrieval.hits, scores), hint)


def _asking(question: str, judgement: Judgement) -> int:
    """Documents that ask about what the question is about."""
    topic = read_question(question).topic
    asking = (sentence for sentence in judgement.sentences if asks(sentence.text))
    return len({sentence.doc_id for sentence in asking if shared(topic, read(sentence.text).held) >= SAME_TOPIC})


def _lacking(judgement: Judgement) -> str:
    if judgement.missing:
        return f" None of them gives {judgement.missing}."
    return f" None of them mentions {_joined([f'“{word}”' for word in judgement.unmet[:3]])}." if judgement.unmet else ""


def unsupported(dropped: Mapping[str, int], hits: Sequence[Hit], groundedness: float, floor: float) -> Refusal:
    """Every drafted claim was pruned; ``dropped`` counts them by class of reason."""
    total = sum(dropped.values())
    why = "; ".join(f"{count}: {_MESSAGES[because]}" for because, count in sorted(dropped.items(), key=lambda item: (-item[1], item[0])))
    message = f"{'The one drafted claim' if total == 1 else f'All {total} drafted claims'} failed verification ({why})."
    return Refusal(
        RefusalReason.UNSUPPORTED, message, "support", groundedness, floor, nearest_of(hits), "See the nearest documents for what they say."
    )


def conflicting(claims: Sequence[Claim], hits: Sequence[Hit]) -> Refusal:
    """More documents say the opposite than say so."""
    first = claims[0]
    against = _ids(first.counter_evidence)
    in_favour = _ids(first.citations)
    message = f"The documents disagree: {len(in_favour)} say so ({', '.join(in_favour[:5])}), {len(against)} say the opposite ({', '.join(against[:5])})."
    return Refusal(
        RefusalReason.CONFLICTING,
        message,
        "agreement",
        len(in_favour),
        len(against),
        nearest_of(hits),
        "Ask about one platform, plan or period.",
    )


_UNCOUNTABLE = {
    "feelings": (
        "How many people feel that way cannot be counted: documents are stored with themes, ratings, sources and accounts, not with feelings.",
        "Ask how many have a rating of 2 or less, a theme, or certain words.",
    ),
    "language": (
        "How many documents are in a language cannot be counted: they can be limited to themes, ratings, sources, accounts and attributes, not to languages.",
        "Store the language as an attribute as well, or ask how many contain certain words.",
    ),
    "exclusion": (
        "Documents that have one thing and lack another are not counted together here.",
        "Ask how many have the one, and how many have both.",
    ),
    "ratings": (
        "Which ratings are to be counted is not understood.",
        "Name one bound or one range, for example: 3 stars or less, more than 3 stars, between 2 and 4 stars, not 5 stars.",
    ),
    "bounds": (
        "The question limits a number, and documents are counted by limits of time and of rating alone.",
        "Ask how many mention it, or for a rating, for example: 3 stars or less.",
    ),
    "denial": (
        "The question counts those of whom something is not so, and documents are counted by what they hold.",
        "Ask how many mention it, or how many do not mention it.",
    ),
    "average": (
        "Ratings are counted here, not averaged.",
        "Ask how many have a rating of 4 or more, or of 2 or less.",
    ),
}


def uncountable(what: str) -> Refusal:
    """A number was asked for that nothing stored gives: of feelings, of a language, an average."""
    message, hint = _UNCOUNTABLE[what]
    return Refusal(RefusalReason.NOT_ANSWERED, message, "counting", hint=hint)


def too_few(found: TooFew, minimum: int, hits: Sequence[Nearest]) -> Refusal:
    """A share or trend over too few documents."""
    have = f"there {'is' if found.documents == 1 else 'are'} {found.documents}"
    message = f"{found.wanted[0].upper()}{found.wanted[1:]} needs at least {minimum} documents; {have}."
    return Refusal(
        RefusalReason.TOO_FEW,
        message,
        "volume",
        found.documents,
        minimum,
        tuple(hits),
        "Ask for a plain count, or for what the documents say.",
    )


def budget_exceeded(ceiling: str, message: str, done: Sequence[str], limit: float, hits: Sequence[Hit]) -> Refusal:
    """A ceiling of the run was reached."""
    progress = f"Done before that: {', '.join(done)}." if done else "Nothing was done before that."
    text = f"The budget of this run is spent ({ceiling}): {message}. {progress}"
    return Refusal(
        RefusalReason.BUDGET_EXCEEDED,
        text,
        "budget",
        None,
        limit,
        nearest_of(hits),
        f"Raise the ceiling for {ceiling}, or ask a narrower question.",
    )


_WEIGHED = frozenset({RefusalReason.OFF_TOPIC, RefusalReason.NOT_ANSWERED, RefusalReason.UNSUPPORTED})


def by_words_alone(refusal: Refusal) -> Refusal:
    """The refusal of a gate that weighed documents by their words: by their meaning, they might have passed."""
    if refusal.reason not in _WEIGHED:
        return refusal
    return replace(
        refusal, hint="Ask again later: meanings could not be compared, so documents that say it in other words were not recognised."
    )


def nearest_of(hits: Sequence[Hit], scores: Mapping[str, float] | None = None) -> tuple[Nearest, ...]:
    """The documents that came closest, each once. Scores are cosines with the question unless given by passage id."""
    found: dict[str, Nearest] = {}
    ranked = hits if scores is None else sorted(hits, key=lambda hit: (-scores.get(hit.candidate.passage.passage_id, 0.0), hit.rank))
    for hit in ranked:
        passage = hit.candidate.passage
        score = (hit.fused.vector_score or 0.0) if scores is None else scores.get(passage.passage_id, 0.0)
        found.setdefault(passage.doc_id, Nearest(passage.doc_id, round(score, 4), snippet(passage.text)))
    return tuple(found.values())[:NEAREST]


def snippet(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: 4 * SNIPPET_CHARS].split())
    return line if len(line) <= SNIPPET_CHARS else line[: line.rfind(" ", SNIPPET_CHARS // 2, SNIPPET_CHARS)] + "…"


def names_code(question: str) -> str:
    """The first identifier in a question, empty without one."""
    found = codes(question)
    return question[found[0].start : found[0].end] if found else ""


def _nearest(retrieval: Retrieval) -> tuple[Nearest, ...]:
    """The hits, and behind them what the vector leg put first where too little was near enough to be a hit."""
    found = {near.doc_id: near for near in nearest_of(retrieval.hits)}
    for place in retrieval.nearest:
        passage = place.candidate.passage
        found.setdefault(passage.doc_id, Nearest(passage.doc_id, round(place.score, 4), snippet(passage.text)))
    return tuple(found.values())[:NEAREST]


def _language_hint(question: str, retrieval: Retrieval) -> str:
    """Says so when question and documents are in different languages, which the built-in embedder reads poorly."""
    asked = language_of(question)
    candidates = [place.candidate for place in (retrieval.hits or retrieval.nearest)]
    stored = main_language((candidate.language, candidate.passage.text) for candidate in candidates)
    if not asked or not stored or asked == stored:
        return ""
    return f"The nearest documents are in {language_name(stored)}, the question is in {language_name(asked)}; ask in the language of the documents."


def _ids(citations: Sequence[Citation]) -> list[str]:
    return list(dict.fromkeys(citation.doc_id for citation in citations))


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
