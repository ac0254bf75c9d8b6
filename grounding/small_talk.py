"""What is said around a question and is none: greetings, thanks, punctuation, stop words only."""

import re

from grounding.languages import SMALL_WORDS
from grounding.words import STOP_WORDS, words

GREETINGS = frozenset(
    "hello hi hey heya hiya howdy yo greetings morning afternoon evening night day welcome dear hallo moin servus hola buenos buenas dias días "
    "tardes noches bonjour bonsoir salut ciao buongiorno buonasera olá ola bom dia hoi hej namaste "
    "こんにちは もしもし 你好 您好 안녕하세요 привет здравствуйте مرحبا".split()
)
THANKS = frozenset(
    "thanks thank thx ty cheers appreciated appreciate bye goodbye ciao farewell later tomorrow soon gracias merci danke dank grazie obrigado obrigada "
    "bedankt tack adiós adios tschüss tschüs au revoir arrivederci спасибо شكرا".split()
)
FILLERS = frozenset(
    "ok okay good great nice fine cool well hmm hm uh um oh ah lol haha test testing again all everyone team folks buddy friend assistant bot sir madam "
    "guys sorry welcome yes yeah yep nope sure right awesome perfect wonderful much many lot see talk help question questions ask tell know want need "
    "buenos muchas muy bien beaucoup sehr schön vielen tout vous si ja nein oui non no mucho".split()
)
_SMALL = STOP_WORDS | GREETINGS | THANKS
_ASKS = re.compile(r"[?？]|\A\s*(?:what|which|who|whose|when|where|why|how)\b", re.IGNORECASE)
_PHRASES = re.compile(
    r"\s*(?:how are you(?: doing)?|what'?s up|who are you|what are you|what can you do|how do you do|nice to meet you|have a (?:nice|good|great) day|"
    r"see you(?: later| soon)?|good (?:morning|afternoon|evening|night|day)|are you (?:there|a bot|human|ok)|"
    r"(?:can|could|will) you (?:please )?help(?: me)?(?: please)?|help(?: me)?(?= *[.!?]*\Z))\b[\s\W]*",
    re.IGNORECASE,
)
_UNSPACED = re.compile("こんにちは|こんばんは|おはよう(?:ございます)?|もしもし|ありがとう(?:ございます)?|你好|您好|谢谢|謝謝|再见")
_OPENING = re.compile(
    r"\s*(?:(?:hello|hi|hey|heya|hiya|howdy|greetings|dear|hola|bonjour|hallo|ciao|good (?:morning|afternoon|evening|day)|thanks|thank you|cheers)"
    r"(?:\s+(?:there|all|team|everyone|everybody|folks|again|so much|very much|assistant|bot|sir|madam))*\s*[,!.;:–-]+|please[,\s])\s*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\s*[,.!;–-]?\s*(?:please|thanks(?: (?:a lot|in advance|so much))?|thank you(?: (?:so much|very much))?|cheers|thx)\s*[.!?]*\s*\Z",
    re.IGNORECASE,
)


def is_small_talk(text: str) -> bool:
    """Whether nothing in ``text`` could be looked up: every word is a greeting, thanks, filler or stop word, or there is no word at all."""
    rest = _UNSPACED.sub(" ", _PHRASES.sub(" ", text))
    small = _SMALL if _ASKS.search(rest) else _SMALL | FILLERS
    return all(word.lower in small for word in words(rest)) or _only_small_words(rest)


def _only_small_words(text: str) -> bool:
    """Nothing but small words of one other language."""
    found = words(text)
    return bool(found) and any(all(word.lower in small or word.lower in _SMALL for word in found) for small in SMALL_WORDS.values())


def without_courtesy(text: str) -> str:
    """``text`` without the greeting in front of a question and the thanks behind it; unchanged when nothing else would be left."""
    shorter = text
    while (opening := _OPENING.match(shorter)) and opening.end() < len(shorter):
        shorter = shorter[opening.end() :]
    closing = _CLOSING.search(shorter)
    if closing and closing.start() > 0:
        shorter = shorter[: closing.start()] + ("?" if "?" in closing.group() else "")
    return shorter.strip() if words(shorter) else text.strip()
