"""Sentences that ask. They show what people want to know and assert nothing, so they answer no question of fact."""

import re

_MARK = re.compile(r"[?？؟]\W*\Z")
_AUXILIARY = r"(?:(?:is|are|am|was|were|do|does|did|can|could|will|would|should|has|have|had|may|might|must|shall)(?:n['’]?t)?|can['’]?t|won['’]?t|cannot)"
_WHO = r"(?:i|you|we|they|he|she|it|there|this|that|these|those|my|your|our|any|anyone|someone|people|customers|users)"
_OPENING = re.compile(
    rf"\s*(?:(?:hi|hello|hey|so|and|but|also|ok|okay|well|please|sorry)[\s,.!-]+)*(?:"
    rf"(?:how|what|when|where|why|who|whom|whose|which)(?:['’]s)?\s+(?:\w+\s+){{0,3}}?{_AUXILIARY}\s+{_WHO}\b"
    rf"|(?:how|what|where|why|who|whose)\s+{_AUXILIARY}\b"
    r"|how (?:to|much|many|long|often|come|about)\b"
    r"|what (?:about|if|to do)\b|why not\b"
    rf"|{_AUXILIARY}\s+{_WHO}\b|(?:do|does|did|are|can|could|will|would|should)\s+the\b"
    r")",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\s*(?:(?:hi|hello|hey|please|could|can|would|you)[\s,.!]+)*(?:tell|explain|show|inform|help|advise)\s+(?:to\s+)?(?:me|us|how|what|why|the|your)\b"
    r"|\s*(?:(?:hi|hello|hey)[\s,.!]+)?(?:can you )?please\s+(?:list|give|provide|clarify|advise|let|confirm|describe|share|state|specify)\b"
    r"|.*\b(?:want|need|like|love|wish|trying|curious|wondering|looking)(?:\s+(?:to|for))?\s+(?:know|find out|understand|learn|ask|clarify|figure out)\b"
    r"|[^,;.]*\b(?:need|want|like)\b[^,;.]*\b(?:assist(?:ance|ed)|help|instructions?|info(?:rmation)?|guidance|more details)\b[^,;.]*[.!]?\s*\Z"
    r"|\s*(?:instructions?|help|info(?:rmation)?|details|steps)\s+(?:for|on|with|about|to)\b"
    r"|.*\bi\s+(?:am|['’]m|was)?\s*wonder(?:ing)?\b|\s*let me know\b|.*\bdo(?:n['’]t| not) (?:know|understand) (?:how|what|when|where|which|if|whether)\b",
    re.IGNORECASE,
)


_SPEAKER = re.compile(r"\W*([A-Z][\w.'’ -]{0,24}):\s")
_ANSWERING = re.compile(r"\W*(?:yes|no|yeah|yep|nope|sure|of course|certainly|unfortunately)\b", re.IGNORECASE)


def replies(sentence: str, question: str) -> bool:
    """Whether ``sentence``, right behind ``question``, is a reply to it: another speaks (*Agent: …*), or it begins as replies do. Whoever asks mostly goes on
    with why they ask."""
    asker, speaker = _SPEAKER.match(question), _SPEAKER.match(sentence)
    another = speaker is not None and (asker is None or asker[1] != speaker[1])
    return not asks(sentence) and (another or bool(_ANSWERING.match(sentence)))


def asks(sentence: str) -> bool:
    """Whether ``sentence`` is a question, with or without its mark, or asks to be told something."""
    return bool(_MARK.search(sentence) or _OPENING.match(sentence) or _REQUEST.match(sentence))
