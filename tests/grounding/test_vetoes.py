import pytest

from grounding.quantifiers import ALL, MANY, MOST, SOME, strength
from grounding.reading import read
from grounding.vetoes import veto


@pytest.mark.parametrize(
    ("claim", "said", "because"),
    [
        ("On the iPhone the basket empties.", "On Android the basket empties itself.", "entity"),
        ("SAVE25 is rejected.", "Checkout rejects SAVE20.", "entity"),
        ("Error ERR-4021 appears.", "Payment ended with ERR-4012.", "entity"),
        ("It broke in v2.3.2.", "It broke in v2.3.1.", "entity"),
        ("My debit card was declined.", "My credit card was declined.", "entity"),
        ("The PayPal refund failed.", "The refund failed.", "entity"),
        ("Support in Lisbon answered.", "Support in Porto answered.", "entity"),
        ("A refund took 12 days.", "My refund took 21 days.", "number"),
        ("Delivery took three days.", "Standard delivery took nine days instead of three.", "number"),
        ("Delivery took 3 days.", "It was supposed to take 3 days but delivery took 9.", "number"),
        ("A driver rang at 7 am.", "The driver rang at 6 am.", "number"),
        ("It was charged on 9 March.", "Charged on 3 September.", "date"),
        ("It came on Sunday.", "It came on Friday.", "date"),
        ("All customers are delighted.", "I am delighted.", "quantifier"),
        ("Customers often wait.", "I had to wait.", "quantifier"),
        ("Most customers wait.", "Some customers wait.", "quantifier"),
        ("The app always crashes.", "The app crashed today.", "quantifier"),
        ("Login works.", "Login does not work.", "negation"),
        ("The app crashes each time a receipt is scanned.", "App crashes each time I scan a receipt.", ""),
        ("The refund took three weeks.", "My refund took 21 days.", ""),
        ("It cost 4.90 euros.", "Charged 4.90 EUR.", ""),
        ("It was charged in September.", "Charged on 3 September.", ""),
        ("On Android the basket empties.", "On Android the basket empties itself when I switch apps.", ""),
        ("SAVE20 is rejected.", "Checkout rejects save20.", ""),
    ],
)
def test_what_is_not_in_the_span_is_named(claim: str, said: str, because: str) -> None:
    assert veto(read(claim), read(said)) == because


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("All customers complain.", ALL),
        ("no problem at all", SOME),
        ("Not all customers complain.", SOME),
        ("Almost all customers complain.", MOST),
        ("It crashes every time.", ALL),
        ("most customers", MOST),
        ("the most recent update", SOME),
        ("customers often wait", MANY),
        ("I waited all day", SOME),
        ("a customer waits", SOME),
    ],
)
def test_quantifiers_are_weighed(text: str, expected: int) -> None:
    assert strength(text) == expected
