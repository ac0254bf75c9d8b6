import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from grounding.evaluation.charts import Bar, bars, histogram
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.markdown import diff_markdown, markdown
from grounding.evaluation.page import page
from grounding.evaluation.reports import EvalReport, compared, judged
from tests.grounding.evaluation.graded import REFUSAL, result, wrong
from tests.grounding.evaluation.test_reports import GATED, RESULTS, report

HOSTILE = '<script>alert("1")</script><img src=http://evil.example/x onerror=1>|`*_[a](http://evil.example) "quoted" & \'single\''


class Pieces(HTMLParser):
    """Every tag with its attributes, and whether tags are closed in order."""

    VOID = frozenset({"meta", "br", "rect", "path"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def hostile() -> EvalReport:
    found = (*RESULTS, result(HOSTILE, REFUSAL, question=HOSTILE, kind=HOSTILE, problems=wrong("outcome", invented=True), run_id=HOSTILE))
    whole = report(HOSTILE, found)
    whole = replace(whole, subject=replace(whole.subject, set_name=HOSTILE, engine=HOSTILE))
    return judged(whole, ScoreGate(known=(HOSTILE,), must_hold=(HOSTILE,)), report("before"))


@pytest.mark.parametrize("whole", [report(), GATED, hostile(), report("empty", ())], ids=["plain", "gated", "hostile", "empty"])
def test_the_page_is_one_file_that_loads_nothing_and_runs_nothing(whole: EvalReport) -> None:
    text = page(whole)
    pieces = Pieces(text)
    assert pieces.open == []
    assert {tag for tag, _ in pieces.tags} <= {
        *("html head meta title style body h1 h2 p strong table thead tbody tr th td div span details summary".split()),
        *("svg rect path text".split()),
    }
    for _, attributes in pieces.tags:
        assert not {"src", "href", "xlink:href", "onerror", "onload", "style", "srcset", "action"} & attributes.keys()
    assert "url(" not in text
    assert "@import" not in text
    policy = next(attributes["content"] for tag, attributes in pieces.tags if attributes.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_hostile_text_is_shown_and_is_not_markup() -> None:
    text = page(hostile())
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text


def test_the_page_shows_every_part() -> None:
    text = page(GATED)
    for part in ("Gate", "Scores", "Refusals", "Slices", "Latency", "Cases that are not exact", "Changes since r-1", "gate failed"):
        assert part in text
    assert text.count("<svg") == 3
    assert "undefined" in text
    assert "NaN" not in text
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan[a-z]*", "", text.lower())


def test_charts_are_well_formed_and_label_what_has_no_value() -> None:
    chart = bars("t <&>", [Bar("a <b>", 0.5, 0.4, 0.6), Bar("c", None, note="nothing & none"), Bar("d", 1.5, -1, 2)])
    tree = ET.fromstring(chart)
    assert [each.text for each in tree.iter("text")] == ["a <b>", "0.500", "c", "nothing & none", "d", "1.500"]
    assert all(0 <= float(each.attrib["x"]) <= 720 for each in tree.iter("rect"))


def test_a_histogram_holds_every_value_and_nothing_without_values() -> None:
    tree = ET.fromstring(histogram("t", [0.0, 1.0, 1.0, 2.0], "s", buckets=2))
    assert [each.findtext("title") for each in tree.iter("rect")] == ["1 up to 1 s", "3 up to 2 s"]
    assert histogram("t", [], "s") == histogram("t", [0.0], "s") == ""


def test_markdown_has_tables_of_equal_width_and_no_live_markup() -> None:
    text = markdown(hostile())
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\]\(", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    tables = re.split(r"\n\n", text)
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines() if line.startswith("|")}
        assert len(widths) <= 1, table
    assert rows


def test_markdown_says_what_the_page_says() -> None:
    text = markdown(GATED)
    for part in (
        "# Evaluation of mine",
        "gate failed",
        "| Exact |",
        "| not answered by the documents | 1 | 0 |",
        "quote is wrong",
        "known",
    ):
        assert part in text
    assert "No longer exact" not in text
    assert "only cases that are in both" not in text


def test_a_diff_alone_is_markdown_too() -> None:
    text = diff_markdown(compared(report("a"), report("b", (result("1", problems=wrong()),))))
    assert "No longer exact: 1" in text
