import pytest

from grounding.reading import read
from grounding.vetoes import opposed


def denied(text: str) -> set[str]:
    return {meaning.word.lower for meaning in read(text).meanings if meaning.tone.denied}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Login does not work after the update.", {"work"}),
        ("Since the update nobody on my team can sign in.", {"sign"}),
        ("no problem at all", {"problem"}),
        ("I never had an issue with exports.", {"issue"}),
        ("left without a note or call", {"note", "call"}),
        ("It never fails to load.", {"fails"}),
        ("I was unable to log in", {"log"}),
        ("it stopped working after the update", {"working"}),
        ("it's not properly working", {"working"}),
        ("not fast or reliable", {"fast", "reliable"}),
        ("I haven't received my parcel yet", {"received"}),
        ("couldn't be happier", set()),
        ("not only fast but cheap", set()),
        ("The card hasn’t arrived, but support was kind", {"arrived"}),
        ("hardly works", {"works"}),
        ("the export no longer opens", {"opens"}),
        ("fails to open the camera", {"open"}),
        ("nothing works", {"works"}),
        ("The refund arrived", set()),
    ],
)
def test_a_denial_reaches_the_predicate_it_governs_and_no_further(text: str, expected: set[str]) -> None:
    assert denied(text) == expected


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Login works after the update.", "Login does not work after the update."),
        ("Login fails after the update.", "Login works fine for me after the update, no problem at all."),
        ("Exports are an issue.", "I never had an issue with exports."),
        ("The card arrived.", "The card never arrived."),
        ("The parcel did not arrive.", "The parcel arrived on time."),
        ("The new checkout is faster than the old one.", "The new checkout is slower than the old one."),
        ("The old checkout is faster than the new one.", "The new checkout is faster than the old one."),
        ("Anna waited for the courier.", "The courier waited for Anna."),
        ("The plan is cheap.", "The plan is far too expensive."),
        ("Cancelling is easy.", "Cancelling is hard."),
        ("The refund was accepted.", "They rejected the refund."),
        ("Support is helpful.", "Support is unhelpful."),
        ("The app opens the camera.", "The app fails to open the camera."),
        ("Customers can log in.", "I am unable to log in."),
        ("The driver left a note.", "The driver left without a note."),
        ("Dark mode exists.", "I wish dark mode existed."),
        ("The parcel came on Friday.", "I was told the parcel would come on Friday."),
        ("The app works on Android.", "It used to work on Android."),
        ("The export opens.", "The export no longer opens."),
        ("There is a fee for transfers.", "Is there a fee for transfers?"),
        ("El pedido llegó.", "El pedido nunca llegó."),
        ("Das Paket ist angekommen.", "Das Paket ist nicht angekommen."),
        ("返金が届きました。", "返金がまだ届いていません。"),
    ],
)
def test_the_opposite_is_seen(claim: str, said: str) -> None:
    assert opposed(read(claim), read(said))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Login works.", "Login works and I am not complaining."),
        ("The parcel was late.", "The parcel was late and nobody answered the phone."),
        ("Export is broken.", "I cannot export anything."),
        ("Customers cannot export.", "Export is broken."),
        ("It works.", "It never fails to work."),
        ("The app is reliable.", "I have no problem with the app, it is reliable."),
        ("The card never arrived.", "The loyalty card never arrived although I ordered it in June."),
        ("The app crashes when opening the camera.", "App crashes when I open the camera."),
        ("The box was soaked because of rain.", "Delivery box was soaked by rain."),
        ("The refund took 21 days.", "My refund took 21 days and I did not call."),
        ("Support did not answer.", "No answer from support."),
    ],
)
def test_a_denial_elsewhere_in_the_sentence_does_not_count(claim: str, said: str) -> None:
    assert not opposed(read(claim), read(said))
