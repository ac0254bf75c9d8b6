"""Words without which nothing is said to be missing."""

NOT = frozenset("not never".split())
GONE = frozenset("missing absent gone lacking lost disappeared vanished".split())
LACKING = frozenset("lacks lack lacked lacking without missing".split())
ABSENCE = NOT | GONE | LACKING | {"no", "zero", "cannot", "fails", "failed", "fail"}
