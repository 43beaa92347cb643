"""The test bank's cards: each number is one way in which a bank may behave."""

from dataclasses import dataclass

APPROVED, DECLINED, CHALLENGED = "4242424242424242", "4000000000000002", "4000000000003220"
LATE, AWAY, SILENT = "4000000000000341", "4000000000000119", "4000000000000259"
TWICE, OUT_OF_ORDER, WRONG_AMOUNT = "4000000000000077", "4000000000000093", "4000000000000101"
REFUSED_LATER = "4000000000000044"


@dataclass(frozen=True)
class Card:
    """A number for trying out, and what comes of it."""

    digits: str
    meaning: str

    @property
    def number(self) -> str:
        """The digits in groups, as they stand on a card."""
        return " ".join(self.digits[at : at + 4] for at in range(0, len(self.digits), 4))


CARDS = (
    Card(APPROVED, "is approved"),
    Card(DECLINED, "is declined"),
    Card(CHALLENGED, "asks for a code first"),
    Card(LATE, "is approved, but the bank takes its time to say so"),
    Card(AWAY, "is approved, but the bank cannot be reached for a while"),
    Card(SILENT, "gets no answer, until the time to pay is over"),
    Card(TWICE, "is approved, and the bank says so twice"),
    Card(OUT_OF_ORDER, "is approved, and the bank tells it in the wrong order"),
    Card(WRONG_AMOUNT, "is approved for another sum: the shop gives it back"),
    Card(REFUSED_LATER, "is approved, and refused when the shop takes the money"),
)
# What the bank asks for where it asks for a code.
CODE = "246810"
WRONG_CODES = 3
