"""A slice of ``python -m benchmarks.hostile``, and the judge itself: what it must find, it finds."""

from pathlib import Path

import pytest

from benchmarks.hostile.judging import causes_in, grown, judged
from benchmarks.hostile.known import CANARY, filled
from benchmarks.hostile.making import Maker
from benchmarks.hostile.running import PEPPER, Run, report, run
from benchmarks.hostile.sending import Outcome
from benchmarks.hostile.server import Vitals
from benchmarks.hostile.shot import Shot, shot_from
from runtime.settings import read_settings
from worker.opening import open_service

SHOT = Shot(7, "rest", "body", wire=(b"POST /ask HTTP/1.1\r\n\r\n\xff",))
HELD = Vitals(300.0, 10, 20)


@pytest.mark.slow
def test_hostile_requests_over_every_door_find_nothing(tmp_path: Path) -> None:
    wanted = Run(requests=2500, seconds=60.0, seed=7, threads=4)
    done = run(wanted, tmp_path)
    assert done.findings == [], "\n".join(report(wanted, done))
    assert {"graphql", "rest", "mcp", "websocket", "http", "command line"} <= {door for door, _ in done.outcomes}
    assert done.requests > 200
    assert {200, 400, 404, 405, 408, 4400} <= {status for _, status in done.outcomes}


def test_shots_are_the_same_for_the_same_seed_and_can_be_kept_and_sent_again(tmp_path: Path) -> None:
    settings = read_settings({}, engine_url=f"sqlite:///{tmp_path / 'wisdom.db'}", embedder_threads=1, key_pepper=PEPPER)
    with open_service(settings) as service:
        known = filled(service)
    shots = [Maker(known, 3).shot(number) for number in range(300, 700)]
    assert shots == [Maker(known, 3).shot(number) for number in range(300, 700)]
    assert shots != [Maker(known, 4).shot(number) for number in range(300, 700)]
    assert [shot_from(shot.as_json()) for shot in shots] == shots
    sent = b"".join(piece for shot in shots for piece in shot.wire)
    assert b"basil-doc" in sent
    assert CANARY.encode() not in sent


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (Outcome(200, f'{{"text": "{CANARY} 3"}}'.encode(), 0.1), "another tenant"),
        (Outcome(200, b'{"errors": [{"extensions": {"code":"INTERNAL_SERVER_ERROR"}}]}', 0.1), "INTERNAL"),
        (Outcome(400, b"Traceback (most recent call last)", 0.1), "Traceback"),
        (Outcome(503, b"{}", 0.1, "h-7"), "without a cause"),
        (Outcome(0, b"", 0.1, trouble="RemoteDisconnected"), "no answer"),
        (Outcome(200, b"{}", 30.0), "after 30 s"),
    ],
)
def test_the_judge_finds_what_must_not_be(outcome: Outcome, word: str) -> None:
    assert [word in finding.what for finding in judged(SHOT, outcome, {})] == [True]


def test_an_outage_that_the_log_names_is_no_finding() -> None:
    lines = [{"level": "warning", "event": "engine is away", "dependency": "engine", "correlation_id": "h-7"}]
    causes, findings = causes_in(lines)
    assert findings == []
    assert list(judged(SHOT, Outcome(503, b"{}", 0.1, "h-7"), causes)) == []
    assert list(judged(SHOT, Outcome(503, b"{}", 0.1, "h-8"), causes)) != []


def test_errors_and_words_of_another_tenant_in_the_log_are_findings() -> None:
    _, findings = causes_in([{"level": "error", "event": "internal error"}, {"level": "info", "event": CANARY}])
    assert [finding.what.split(" (")[0] for finding in findings] == ["in the log: internal error ", "words of another tenant in the log"]


@pytest.mark.parametrize(
    ("more", "memory", "found"),
    [
        (Vitals(500.0, 10, 20), True, 1),
        (Vitals(500.0, 10, 20), False, 0),
        (Vitals(320.0, 10, 20), True, 0),
        (Vitals(300.0, 80, 90), True, 2),
    ],
)
def test_what_grows_is_a_finding(more: Vitals, memory: bool, found: int) -> None:
    assert len(list(grown(HELD, more, memory=memory))) == found
