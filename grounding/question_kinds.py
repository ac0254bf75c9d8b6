"""What a question asks for, and whether a text has that kind of thing to offer."""

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from grounding.frames import sorting
from grounding.languages import SMALL_WORDS, language_of
from grounding.quantities import CURRENCIES, DURATIONS
from grounding.reading import Meaning, Reading, read
from grounding.words import SPEAKER_WORDS

GENERIC_WORDS = frozenset(
    "problem problems issue issues complaint complaints feedback review reviews opinion opinions comment comments message messages ticket tickets "
    "happen happens happened happening wrong tell describe explain kinds sort type types thing things way ways main biggest top summary summarise "
    "summarize overview know think thought experience experiences matter hear heard talk talking said saying common often want wanted like likes there any "
    "anyone somebody feel feels feeling text texts record records document documents note notes say says report reports topic topics about mention mentioned "
    "give list show find information details detail name names called answer question reason reasons cause causes mean means meant give gave".split()
)
"""Words of a question that say what to do with the texts, not what they are about."""

COURTESIES = frozenset(
    "hi hello hey thanks thank please bye goodbye cheers dear greetings good morning evening afternoon sorry kindly".split()
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fact: how it is called in a refusal, which words of the question it uses up, and whether a text without it can still answer."""

    name: str
    called: str
    spent: frozenset[str]
    needed: bool


def _kind(name: str, called: str, spent: str = "", *, needed: bool = True) -> Kind:
    return Kind(name, called, frozenset(spent.split()), needed)


MONEY = _kind("money", "an amount of money", "much cost costs price prices pay paid charge charged fee fees expensive")
COUNT = _kind("count", "a number", "many number amount")
AMOUNT = _kind("amount", "an amount", "much", needed=False)
DURATION = _kind("duration", "a duration", "long take takes took taken last lasted wait")
FREQUENCY = _kind("frequency", "how often", "often frequently times", needed=False)
TIME = _kind("time", "a date or time", "time date day year month when")
PLACE = _kind("place", "a place", "where place located", needed=False)
PERSON = _kind("person", "a name or a person", "person")
NAME = _kind("name", "a name", "company brand provider courier carrier bank app phone device platform browser model")
COLOUR = _kind("colour", "a colour", "colour color colours colors")
CAUSE = _kind("cause", "a reason", "reason cause why", needed=False)
YES_NO = _kind("yes-no", "a statement for or against", needed=False)
OPEN = _kind("open", "a statement about it", needed=False)

_NAMED = "company|brand|provider|courier|carrier|bank|phone|device|platform|browser|city|country|model|app|person|people|team"
_FORMS: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (re.compile(form, re.IGNORECASE), kind)
    for form, kind in (
        (r"\bby how much\b", AMOUNT),
        (
            r"\bhow much\b.*\b(?:cost|costs|price|pay|paid|charged?|fees?|spend|spent|worth|expensive|refund(?:ed)?|owe|bill(?:ed)?|money)\b",
            MONEY,
        ),
        (r"\bwhat(?:'s| is| was| are| were)? (?:the )?(?:price|cost|fee|charge)s?\b|\bwhat does .* cost\b", MONEY),
        (r"\bhow much (?:time)\b|\bhow long\b", DURATION),
        (
            r"\bhow many\b|\bwhat (?:number|percentage|share|proportion)\b|\bhow (?:old|tall|far|big|large|high|deep|wide|heavy|fast)\b",
            COUNT,
        ),
        (
            r"\bwhat(?:'s| is| was| are| were) (?:the |my |our |an? )?(?:[\w-]+ ){0,2}?(?:minimum|maximum|average|median|age|limit|balance)s?\b",
            COUNT,
        ),
        (r"\b(?:what|which) colou?rs?\b", COLOUR),
        (r"\bhow much\b", AMOUNT),
        (r"\bhow (?:often|frequently)\b", FREQUENCY),
        (r"\b(?:at|on|in|by|since|until)?\s*(?:what|which) (?:time|date|day|month|year|century|decade|hour|weekday|season)\b", TIME),
        (r"(?:^|[,;]\s*|\b(?:since|until|and|know|tell me)\s+)when\b(?!.*\b(?:what|why|who|which|how)\b)", TIME),
        (r"\b(?:who|whose|whom)\b", PERSON),
        (
            rf"\b(?:which|what) (?:(?!(?:do|does|did|is|are|was|were|have|has|had|can|could|will|would|should)\b)\w+ )?(?:{_NAMED})\b",
            NAME,
        ),
        (r"\bwhere\b", PLACE),
        (
            r"\bwhy\b|\bhow come\b|\bwhat (?:causes?|caused|made|makes)\b|\bfor what reason\b|\bwhat(?:'s| is| was) the (?:reason|cause)\b",
            CAUSE,
        ),
        (r"^\W*(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|isn't|aren't|don't|doesn't|didn't)\b", YES_NO),
    )
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read: its kind, and the words that say what it is about."""

    reading: Reading
    kind: Kind
    topic: tuple[Meaning, ...]

    @property
    def generic(self) -> bool:
        """Whether it names no topic at all, so that every text is about it."""
        return not self.topic and any(
            word.lower in GENERIC_WORDS or word.lower in SPEAKER_WORDS for word in self.reading.words if word.content
        )


@functools.lru_cache(maxsize=256)
def read_question(text: str) -> Question:
    """Read ``text`` as a question. The words its kind uses up stay in the topic when nothing else would be left."""
    reading = read(text)
    kind = next((kind for form, kind in _FORMS if form.search(text)), OPEN)
    named = tuple(meaning for meaning in reading.topic if not sorting(text, meaning.word))
    about = _without(_without(named, GENERIC_WORDS), COURTESIES)
    about = _without(about, SMALL_WORDS.get(language_of(text), frozenset())) or about
    specific = _without(about, kind.spent) or about
    return Question(reading, kind, tuple(_softened(meaning, kind) for meaning in specific))


def _without(meanings: tuple[Meaning, ...], words: frozenset[str]) -> tuple[Meaning, ...]:
    return tuple(meaning for meaning in meanings if meaning.word.lower not in words)


def _softened(meaning: Meaning, kind: Kind) -> Meaning:
    """*Is it hard to cancel?* asks for a quality: the answer need not name it, so its word weighs little."""
    return meaning._replace(weight=meaning.weight / 4) if kind is YES_NO and meaning.quality else meaning


_SOON = re.compile(
    r"\b(?:over\s?night|all (?:day|night|week)|(?:next|same|following) (?:day|morning|week|evening|afternoon)|immediately|instant(?:ly)?|ages|forever|"
    r"(?:for|within|in|took|takes?) (?:hours|minutes|days|weeks|months|years|seconds)|hours|minutes|weeks|months|years|yesterday|days)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|morning|afternoon|evening|night|noon|midnight|week(?:end)?|month|year|century|decade|spring|summer|autumn|winter|"
    r"after|before|since|until|during|when(?:ever)?|while|as soon as|once|ago|always|never|now|currently|recently|later|earlier|christmas|easter)\b"
    r"|\b(?:last|next)\s+(?:time|one|update|release|visit|season|quarter|few|couple)\b"
    r"|\b(?:at|by|from|till?|opens?|closes?|starts?)\s+(?:[01]?\d|2[0-4])(?![\d.,:]*\d|\s*(?:%|percent|eur|usd|gbp|euros?|dollars?|pounds?|stars?|times?))",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:i|my|me|we|our|us|he|she|his|her|they|their|nobody|everyone|someone|agents?|drivers?|couriers?|staff|team|support|child(?:ren)?|kids?|wife|husband|"
    r"mother|father|son|daughter|friend|customer|users?|manager|waiter|waitress|doctor|nurse|owner|neighbou?rs?|people|man|woman|boy|girl|sister|brother|"
    r"parents?|teacher|student|author|king|queen|president|minister|company|pilots?|captain|crew|chefs?|cook|hosts?|hostess|guards?|boss|clerks?|"
    r"attendants?|colleagues?|guests?|technicians?|plumbers?|bank|shop|airline|\w+(?:er|or|ist|ian)s?)\b|['’]s\b",
    re.IGNORECASE,
)
_NO_PEOPLE = frozenset(
    "after never ever over under other others another either neither whether rather however together further number numbers order orders paper papers "
    "letter letters water weather summer winter power matter matters corner center offer offers answer answers cover covers counter computer computers "
    "printer printers server servers browser browsers folder folders charger chargers adapter adapters router routers speaker speakers monitor monitors "
    "processor sensor error errors door doors floor floors for or nor color colors colour colours minor major later earlier longer better bigger smaller "
    "larger faster slower cheaper higher lower easier harder older newer former latter per super september october november december easter filter filters "
    "register counter container trailer motor motors elevator calculator remainder border chapter newsletter transfer transfers voucher vouchers parser "
    "refer refers enter enters deliver delivers discover remember prefer prefers consider differ suffer alter trigger bitter proper inner outer upper list "
    "exist exists consist assist twist dinner butter silver layer layers folder player players header footer banner slider scanner scooter meter metre".split()
)
"""Words that end like those for people and mean none."""
_CAUSES = re.compile(
    r"\b(?:because|since|due to|owing to|as a result|therefore|so that|in order to|caused?|causes|reason|thanks to|led to|leads to|result(?:s|ed)? in|after|"
    r"when(?:ever)?|so|for|to)\b",
    re.IGNORECASE,
)
_PLACES = re.compile(
    r"\b(?:in|at|on|near|inside|outside|behind|under|from|to|into|between|beside|next to|around|through|across|here|there|home)\s+\w+",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(?:always|never|often|sometimes|usually|daily|weekly|monthly|yearly|every|each|once|twice|times|rarely|constantly|again)\b",
    re.IGNORECASE,
)
_COLOURS = frozenset(
    "black white red green blue yellow orange purple violet pink brown grey gray beige gold golden silver turquoise magenta cyan crimson scarlet maroon "
    "navy teal ivory transparent colourless colorless multicoloured multicolored rainbow reddish bluish greenish yellowish dark light pale".split()
)
_PRICE = re.compile(r"(?<![\w.,])(?<!version )(?<!release )(?<!update )(?<!since )\d{1,6}[.,]\d\d(?![\w.,:%]|\s*[^\W\d_]*(?:%|am\b|pm\b))")
"""*12.99*, the way prices are written."""
_FREE = re.compile(r"\b(?:free|for nothing|no (?:extra )?(?:charge|cost|fee)|gratis|complimentary)\b", re.IGNORECASE)


def _has_money(text: Reading) -> bool:
    return any(quantity.unit in CURRENCIES for quantity in text.quantities) or bool(_FREE.search(text.text) or _PRICE.search(text.text))


def _has_count(text: Reading) -> bool:
    return any(quantity.unit != "ordinal" for quantity in text.quantities) or bool(
        re.search(
            r"\b(?:no|none|several|(?<!too )(?<!how )(?<!so )many|few|single|both|one|couple|pair|dozens|hundreds|thousands|half)\b",
            text.text,
            re.IGNORECASE,
        )
    )


def _has_duration(text: Reading) -> bool:
    return any(quantity.unit in DURATIONS for quantity in text.quantities) or bool(_SOON.search(text.text)) or len(text.dates) > 1


def _has_time(text: Reading) -> bool:
    return bool(text.dates or text.times or _WHEN.search(text.text))


def _has_person(text: Reading) -> bool:
    return bool(text.names) or any(match.group().lower() not in _NO_PEOPLE for match in _PEOPLE.finditer(text.text))


def _has_colour(text: Reading) -> bool:
    return any(word.lower in _COLOURS for word in text.words)


def _has_name(text: Reading) -> bool:
    return bool(text.names or text.kinds)


_OFFERS: Mapping[str, Callable[[Reading], bool]] = MappingProxyType(
    {
        "money": _has_money,
        "count": _has_count,
        "amount": lambda text: bool(text.quantities) or _has_count(text),
        "duration": _has_duration,
        "frequency": lambda text: bool(_OFTEN.search(text.text)) or bool(text.quantities),
        "time": _has_time,
        "place": lambda text: bool(_PLACES.search(text.text)) or bool(text.names),
        "person": _has_person,
        "name": _has_name,
        "colour": _has_colour,
        "cause": lambda text: bool(_CAUSES.search(text.text)),
        "yes-no": lambda _text: True,
        "open": lambda _text: True,
    }
)


def offers(kind: Kind, text: Reading) -> bool:
    """Whether ``text`` holds a fact of that kind at all."""
    return _OFFERS[kind.name](text)
