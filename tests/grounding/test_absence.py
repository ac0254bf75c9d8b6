"""What is missing, absent, lacking, not there or does not happen: pairs that agree and pairs that contradict each other, read both ways round."""

import pytest

from grounding.contradiction import contradicts
from grounding.reading import read
from grounding.vetoes import opposed

AGREE = (
    ("The manual is missing.", "There was no manual in the box."),
    ("The manual was missing.", "The box came without a manual."),
    ("There is no manual.", "The box lacks a manual."),
    ("The manual was absent.", "No manual was in the box."),
    ("A screw was missing from the set.", "The set did not include a screw."),
    ("The charger is not included.", "There is no charger in the box."),
    ("The charger was missing.", "It came without a charger."),
    ("The receipt is missing.", "I never got a receipt."),
    ("The receipt is missing.", "I did not receive a receipt."),
    ("The invoice is missing.", "The invoice never arrived."),
    ("The export button is gone.", "There is no export button."),
    ("The export button has disappeared.", "The export button is missing."),
    ("There is no dark mode.", "The app lacks a dark mode."),
    ("The app has no dark mode.", "The app does not have a dark mode."),
    ("The app has no dark mode.", "A dark mode is missing."),
    ("The room had no towels.", "Towels were missing in the room."),
    ("The room had no towels.", "We were left without towels."),
    ("Search is unavailable.", "Search is not available."),
    ("The export fails.", "The export does not work."),
    ("The app fails to open.", "The app does not open."),
    ("The app fails to open.", "The app never opens."),
    ("The update never installs.", "The update cannot be installed."),
    ("The update fails to install.", "The update does not install."),
    ("Nobody answered the phone.", "The phone was not answered."),
    ("Support never replied.", "I got no reply from support."),
    ("Support never replied.", "Support failed to reply."),
    ("There was no reply from support.", "Support did not reply."),
    ("The parcel never arrived.", "The parcel did not arrive."),
    ("The parcel never arrived.", "The parcel is lost."),
    ("The wifi does not work.", "The wifi is broken."),
    ("There was no hot water.", "Hot water was missing."),
    ("There was no hot water.", "The shower lacked hot water."),
    ("The lid was missing.", "The pot was delivered without its lid."),
    ("The instructions lack pictures.", "There are no pictures in the instructions."),
    ("The instructions are without pictures.", "The instructions do not show pictures."),
    ("The manual was included.", "There was a manual in the box."),
    ("Nothing was missing.", "The manual was in the box."),
    ("The manual was not missing.", "The manual was in the box."),
    ("The parcel was not lost.", "The parcel arrived."),
    ("The update does not fail.", "The update works."),
)

CONTRADICT = (
    ("The manual is missing.", "The manual was in the box."),
    ("The manual is missing.", "A manual is included."),
    ("There was no manual in the box.", "There was a manual in the box."),
    ("The box lacks a manual.", "The box has a manual."),
    ("The box lacks a manual.", "The box includes a manual."),
    ("The box came without a manual.", "The box came with a manual."),
    ("The manual is missing.", "The manual is not missing."),
    ("The manual was absent.", "The manual was present."),
    ("The charger is included.", "The charger is not included."),
    ("The charger is included.", "The charger is missing."),
    ("The receipt is missing.", "I received the receipt."),
    ("The receipt is missing.", "The receipt was found."),
    ("The export button is gone.", "The export button is there."),
    ("The app has no dark mode.", "The app has a dark mode."),
    ("The app lacks a dark mode.", "The app has a dark mode."),
    ("The app lacks a dark mode.", "The app does not lack a dark mode."),
    ("Search is unavailable.", "Search is available."),
    ("The app fails to open.", "The app opens."),
    ("The app never opens.", "The app always opens."),
    ("The app fails to open.", "The app never fails to open."),
    ("The update fails to install.", "The update installed."),
    ("Support never replied.", "Support replied."),
    ("Support failed to reply.", "Support replied."),
    ("I got no reply from support.", "I got a reply from support."),
    ("The parcel never arrived.", "The parcel arrived."),
    ("The parcel is lost.", "The parcel arrived."),
    ("There was no hot water.", "There was hot water."),
    ("Hot water was missing.", "There was plenty of hot water."),
    ("The room had no towels.", "The room had towels."),
    ("The lid was missing.", "The lid was there."),
)


def _both_ways(pairs: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    return [pair for first, second in pairs for pair in ((first, second), (second, first))]


@pytest.mark.parametrize(("claim", "said"), _both_ways(AGREE))
def test_they_agree(claim: str, said: str) -> None:
    assert not opposed(read(claim), read(said))
    assert not contradicts(read(claim), read(said), figures=True)


@pytest.mark.parametrize(("claim", "said"), _both_ways(CONTRADICT))
def test_they_contradict(claim: str, said: str) -> None:
    assert opposed(read(claim), read(said))
    assert contradicts(read(claim), read(said), figures=True)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("There is no English manual.", "There is a German manual."),
        ("The manual is missing.", "The charger was in the box."),
        ("There was no problem with the manual.", "There was a manual in the box."),
        ("The manual is missing.", "I wish there was a manual in the box."),
        ("No agent answered.", "The agent was missing."),
    ],
)
def test_other_things_do_not_meet(claim: str, said: str) -> None:
    assert not contradicts(read(claim), read(said), figures=True)
    assert not contradicts(read(said), read(claim), figures=True)
