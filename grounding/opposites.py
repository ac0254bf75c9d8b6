"""Closed lists of meanings that exclude one another: opposite qualities, and things of which a text means one."""

from collections.abc import Mapping
from types import MappingProxyType

_QUALITIES = {
    "working": (
        "work works worked working functional functions functioning fine ok okay smooth smoothly succeed succeeds succeeded successful successfully "
        "success flawless flawlessly",
        "fail fails failed failing failure failures broken breaks break broke crash crashes crashed crashing malfunction malfunctions malfunctioning bug "
        "bugs buggy error errors issue issues problem problems trouble troubles glitch glitches defect defective fault faulty freezes freeze froze frozen hangs",
    ),
    "speed": (
        "fast faster fastest quick quicker quickest quickly rapid rapidly speedy prompt promptly swift swiftly instant instantly",
        "slow slower slowest slowly sluggish laggy lags lagging",
    ),
    "punctual": ("early earlier punctual punctually", "late later delayed overdue belated"),
    "price": (
        "cheap cheaper cheapest affordable inexpensive",
        "expensive pricey costly overpriced dear dearer dearest pricier costlier",
    ),
    "ease": (
        "easy easier easiest easily simple simpler simplest simply intuitive straightforward effortless effortlessly",
        "hard harder hardest difficult complicated complex confusing tricky cumbersome",
    ),
    "quality": (
        "good great excellent better best lovely nice perfect wonderful amazing superb fantastic brilliant outstanding improved improves improve",
        "bad worse worst terrible awful poor poorly horrible dreadful appalling lousy worsened worsens worsen deteriorated",
    ),
    "feeling": (
        "happy happier delighted satisfied pleased love loves loved glad enjoy enjoys enjoyed thrilled impressed",
        "unhappy angry dissatisfied disappointed disappointing upset annoyed annoying frustrated frustrating hate hates hated furious unsatisfied dislike "
        "dislikes disliked displeased",
    ),
    "power": ("enabled enable enables activated activate activates", "disabled disable disables deactivated deactivate deactivates"),
    "access": (
        "accept accepts accepted accepting approve approves approved allow allows allowed permitted permits grant granted grants",
        "reject rejects rejected rejecting decline declines declined deny denies denied refuse refuses refused block blocks blocked forbidden prohibited "
        "prohibits forbids banned",
    ),
    "amount": (
        "increase increases increased increasing rise rises rose risen rising raise raises raised grow grows grew grown growing gain gains gained higher "
        "more elevated expanded expands enhance enhances enhanced",
        "decrease decreases decreased decreasing decline fall falls fell fallen falling drop drops dropped dropping reduce reduces reduced reducing reduction "
        "lower lowers lowered less fewer diminished diminishes shrank shrinks lessens",
    ),
    "beginning": (
        "start starts started starting begin begins began begun beginning resume resumes resumed launched opened",
        "stop stops stopped stopping end ends ended ending finish finished cease ceased discontinued closed",
    ),
    "clean": ("clean cleaner cleaned spotless tidy", "dirty dirtier filthy messy stained"),
    "noise": ("quiet quieter silent silently", "loud louder noisy noisier"),
    "safety": ("safe safer safely secure securely harmless", "unsafe dangerous insecure risky harmful hazardous"),
    "clarity": ("clear clearer clearly understandable", "unclear vague obscure incomprehensible"),
    "manners": (
        "friendly polite helpful courteous attentive welcoming",
        "rude unfriendly unhelpful impolite hostile arrogant dismissive",
    ),
    "size": ("big bigger biggest large larger largest huge", "small smaller smallest tiny little"),
    "length": ("long longer longest lengthy", "short shorter shortest brief"),
    "heat": ("hot hotter warm warmer", "cold colder cool chilly freezing"),
    "filling": (
        "full stays stay stayed keeps keep kept remains remain remained",
        "empty emptied empties empty vanishes vanished disappears disappeared",
    ),
    "identity": ("same identical equal unchanged", "different differs differ changed"),
    "age": ("new newer newest latest", "old older oldest previous former"),
    "trust": ("reliable reliably dependable stable", "unreliable unstable flaky"),
    "truth": (
        "correct correctly right accurate accurately true valid",
        "incorrect incorrectly wrong wrongly inaccurate inaccurately false invalid mistaken",
    ),
    "possibility": ("possible able", "impossible unable"),
    "availability": ("available in-stock", "unavailable sold-out out-of-stock"),
    "finding": ("found find finds recovered", "lost lose loses missing"),
    "membership": ("include includes included including inclusive", "exclude excludes excluded excluding exclusive omits omitted"),
    "weight": ("heavy heavier heaviest", "light lighter lightest lightweight"),
    "strength": ("strong stronger strongest robust", "weak weaker weakest flimsy"),
    "payment": ("free gratis complimentary", "paid chargeable"),
    "sign": ("positive positively beneficial benefits", "negative negatively detrimental adverse"),
    "height": ("high highest", "low lowest"),
    "adding": ("add adds added adding", "remove removes removed removing delete deletes deleted deleting"),
    "result": ("win wins won winning victory", "lose loses lost losing defeat defeated"),
    "cause": (
        "cause causes caused trigger triggers triggered",
        "prevent prevents prevented preventing avoid avoids avoided cure cures cured treat treats",
    ),
    "help": ("help helps helped support supports supported", "hinder hinders hindered oppose opposes opposed"),
    "knowledge": ("remember remembers remembered", "forget forgets forgot forgotten"),
    "joining": ("join joins joined", "leave leaves left quit quits"),
    "agreement": ("agree agrees agreed", "disagree disagrees disagreed"),
    "connection": ("connect connects connected", "disconnect disconnects disconnected"),
    "installing": ("install installs installed", "uninstall uninstalls uninstalled"),
    "locking": ("lock locks locked", "unlock unlocks unlocked"),
    "presence": ("appear appears appeared present visible", "disappear disappears disappeared absent invisible hidden"),
    "comfort": ("comfortable comfortably comfy", "uncomfortable uncomfortably"),
    "use": ("useful", "useless"),
    "pain": ("painful", "painless"),
    "gradechange": ("upgrade upgrades upgraded", "downgrade downgrades downgraded"),
    "majority": ("major", "minor"),
}

_SAME = (
    "arrive arrives arrived arriving deliver delivers delivered delivering delivery come comes came received receive receives",
    "cost costs charge charges charged charging fee fees bill billed bills price priced",
    "cancel cancels cancelled canceled cancelling canceling cancellation stop end terminate unsubscribe",
    "login logins logon log signin sign logged signed",
    "parcel parcels package packages shipment shipments",
    "phone phones smartphone smartphones mobile",
    "call calls called calling rang ring rings phoned telephoned",
    "refund refunds refunded reimbursed reimbursement reimburse",
    "purchase purchases purchased buy buys bought buying",
    "mail email emails e-mail",
    "photo photos picture pictures image images",
    "quit quits exit exits close closes closed",
    "basket cart",
    "shop store",
    "website site webpage",
    "staff employee employees personnel",
    "invoice invoices bill bills",
    "app apps application applications",
    "children kids child kid",
    "movie film",
    "car automobile vehicle",
    "doctor physician",
    "begin start",
    "fault error bug",
    "answer reply respond replied answered responded response",
    "flat apartment",
    "holiday vacation",
    "lift elevator",
    "plug socket",
    "euro euros eur",
    "dollar dollars usd",
    "delay late delayed",
    "damage damaged broken",
    "large big",
    "fast quick",
    "happy glad pleased delighted satisfied",
    "coronavirus covid covid-19 covid19 sars-cov-2 ncov",
    "kill die died death dead deaths killed dies",
    "illness disease sickness",
    "drug medicine medication",
)

_EXCLUSIVE = (
    ("iphone ipad ios apple", "android", "windows-phone"),
    ("mac macos macbook imac osx", "windows", "linux ubuntu"),
    ("chrome", "firefox", "safari", "edge"),
    ("credit", "debit"),
    ("upload uploads uploaded uploading", "download downloads downloaded downloading"),
    ("import imports imported importing", "export exports exported exporting"),
    ("deposit deposits deposited", "withdrawal withdrawals withdraw withdrew withdrawn"),
    ("incoming inbound", "outgoing outbound"),
    ("morning", "afternoon", "evening", "night"),
    ("daily", "weekly", "monthly", "quarterly", "yearly annual annually"),
    ("left", "right"),
    ("man men", "woman women"),
    ("male males", "female females"),
    ("mother", "father"),
    ("brother", "sister"),
    ("son", "daughter"),
    ("north northern", "south southern"),
    ("east eastern", "west western"),
    ("spring", "summer", "autumn", "winter"),
    ("breakfast", "lunch", "dinner"),
    ("buyer buyers", "seller sellers"),
    ("front", "rear"),
    ("entrance", "exit"),
    ("arrival arrivals", "departure departures"),
    ("landline", "cellphone"),
    ("express", "standard"),
    ("red", "blue", "green", "yellow", "black", "white"),
    ("visa", "mastercard", "paypal"),
    ("upstairs", "downstairs"),
    ("indoor indoors", "outdoor outdoors"),
)


def _signs() -> dict[str, tuple[str, int]]:
    return {
        word: (name, sign) for name, sides in _QUALITIES.items() for sign, side in zip((1, -1), sides, strict=True) for word in side.split()
    }


def _synonyms() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(_SAME):
        for word in group.split():
            groups.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


def _kinds() -> dict[str, tuple[int, int]]:
    return {
        word: (family, member)
        for family, members in enumerate(_EXCLUSIVE)
        for member, listed in enumerate(members)
        for word in listed.split()
    }


QUALITIES: Mapping[str, tuple[str, int]] = MappingProxyType(_signs())
"""Lower-case word → quality and side (+1 or -1)."""

SYNONYMS: Mapping[str, frozenset[int]] = MappingProxyType(_synonyms())
"""Lower-case word → the groups of near-synonyms it is in."""

EXCLUSIVE: Mapping[str, tuple[int, int]] = MappingProxyType(_kinds())
"""Lower-case word → family and member; a text about one member is not about another of the family."""
