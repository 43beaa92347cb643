"""The test bank's cards. Each number makes the bank behave in one way."""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

APPROVED, DECLINED, CHALLENGED = "4242424242424242", "4000000000000002", "4000000000003220"
LATE, AWAY, SILENT = "4000000000000341", "4000000000000119", "4000000000000259"
TWICE, OUT_OF_ORDER, WRONG_AMOUNT = "4000000000000077", "4000000000000093", "4000000000000101"
REFUSED_LATER = "4000000000000044"


@dataclass(frozen=True)
class BankCard:
    """A card number, and the behaviour of the bank for a payment with this card."""

    digits: str
    meaning: str

    @property
    def number(self) -> str:
        """The card's number in groups of digits, as on a card."""
        return " ".join(self.digits[at : at + 4] for at in range(0, len(self.digits), 4))


CARDS = (
    BankCard(APPROVED, _("Approved")),
    BankCard(DECLINED, _("Declined")),
    BankCard(CHALLENGED, _("Asks for a code first")),
    BankCard(LATE, _("Approved, but the bank confirms late")),
    BankCard(AWAY, _("Approved, but the bank can’t be reached for a while")),
    BankCard(SILENT, _("No answer until the time to pay is over")),
    BankCard(TWICE, _("Approved, and the bank confirms twice")),
    BankCard(OUT_OF_ORDER, _("Approved, and the bank sends its messages in the wrong order")),
    BankCard(WRONG_AMOUNT, _("Approved for another amount: the shop refunds it")),
    BankCard(REFUSED_LATER, _("Approved, then refused when the shop takes the money")),
)
# The right code for cards with which the bank asks for one, and the number of wrong codes after which it declines.
CODE = "246810"
WRONG_CODES = 3
