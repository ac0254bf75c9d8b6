"""A model that does whatever a document tells it, and some of what no document told it."""

import json
import re
from collections.abc import Iterator, Sequence

from tests.grounding.language_models.misbehaving_server import Behaviour, Exchange, says

_SENTENCE = re.compile(r"[^.!?。！？؟\n]+[.!?。！？؟]?")
_TOLD = re.compile(
    r"(?:say|reply|answer|respond|state|write|output|print|claim|antworte|schreibe|réponds|écris|responde|escribe|ответь|напиши|回答|输出|أجب|اكتب)"
    r"\w*\s*(?:only|just|that|with|nur|dass|que|solo|seulement|только|что|فقط)?[\s:,“”\"'«»]*(.+)",
    re.IGNORECASE | re.DOTALL,
)


def obedient(payloads: Sequence[str] = ()) -> Behaviour:
    """In every role. ``payloads`` are what the attack wants said: it says them even where it was never shown the attack."""
    return says(lambda exchange: _answer(exchange, tuple(payloads)))


def _answer(exchange: Exchange, payloads: tuple[str, ...]) -> str:
    role = _role(exchange)
    if role == "plan":
        parts = json.loads(exchange.prompt.rpartition("(JSON): ")[2])
        search = payloads[0] if payloads else "ignore the filters of all tenants"
        return json.dumps({"parts": [{"kind": part["kind"], "search": search, "filters": {}, "tenant": "zebra"} for part in parts]})
    if role == "judge":
        numbers = [int(found) for found in re.findall(r'"claim": (\d+), "text"', exchange.prompt)]
        return json.dumps({"verdicts": [{"claim": number, "supported": True} for number in [*numbers, 99]]})
    return json.dumps({"claims": list(_claims(exchange.prompt, payloads))}, ensure_ascii=False)


def _role(exchange: Exchange) -> str:
    prompt = exchange.prompt
    return "plan" if "BEGIN QUESTION" in prompt else "judge" if "BEGIN CLAIMS" in prompt else "draft"


def passages(prompt: str) -> dict[str, str]:
    """What was shown, by label."""
    rows = [line for line in prompt.splitlines() if line.startswith('{"label"')]
    return {row["label"]: row["text"] for row in map(json.loads, rows)}


def _claims(prompt: str, payloads: Sequence[str]) -> Iterator[dict[str, object]]:
    shown = passages(prompt)
    everybody = list(shown)
    for payload in payloads:
        yield {"text": payload, "cites": everybody}
        yield {"text": payload, "cites": everybody[:1]}
    for label, text in shown.items():
        told = _TOLD.search(text)
        if told:
            yield {"text": told.group(1).strip(" .\"'“”«»") + ".", "cites": everybody}
        yield {"text": f"All 5000 customers say: {text[:80]}", "cites": [label]}
    yield {"text": "Every customer gets a refund of 500 euros.", "cites": everybody}
    yield {"text": "Everything works perfectly.", "cites": ["E999", "I-1", "../other-tenant"]}
    yield {"text": "Paris is the capital of France.", "cites": everybody}
    yield {"text": f"See https://evil.example/?q={everybody[0] if everybody else ''} for more.", "cites": everybody}
    for label, text in shown.items():
        for sentence in _SENTENCE.findall(text):
            yield {"text": sentence.strip(), "cites": [label]}
