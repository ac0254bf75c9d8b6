"""With masking on, what a question says of people is in no trace, no event and no answer."""

import json
from pathlib import Path

from tests.grounding.desk import ACME, open_desk, record


def test_questions_are_masked_before_anything_sees_them(tmp_path: Path) -> None:
    with open_desk(tmp_path, mask="email,card") as desk:
        desk.load([record("m-1", "The refund of ana@example.org for card 4111 1111 1111 1111 never arrived.")])
        asked = desk.ask("Did the refund of ana@example.org arrive?")
        assert asked.answer is not None
        assert asked.question == "Did the refund of [email] arrive?"
        assert "[email]" in asked.answer.text
        desk.ask("How many tickets mention ana@example.org or 4111-1111-1111-1111?")
        entries, _ = desk.service.state.entries(ACME, "trace", first=10)
        assert len(entries) == 2
        kept = json.dumps([entry.body for entry in entries])
        assert "ana" not in kept.replace("answer", "")
        assert "4111" not in kept


def test_without_masking_questions_stay_as_they_are(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.load([record("m-1", "The refund of ana@example.org never arrived.")])
        assert desk.ask("Did the refund of ana@example.org arrive?").question == "Did the refund of ana@example.org arrive?"
