"""Plays a guest's checkout, step by step, and yields the cost of each step."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from typing import Any, Self
from uuid import UUID, uuid4

from django.test import Client

from benchmarks.buyers import CHECKOUT_DETAILS, GOOD_CARD, form_values

# The name of steps on the bank's pages, whose statements do not count for the shop.
BANK = "bank"
CARD = "card"


@dataclass(frozen=True)
class Cost:
    """The work of Cassandra for one or several answers (see `cassandra_db.Meter`)."""

    statements: int = 0
    conditional: int = 0
    rounds: int = 0
    rows: int = 0
    reads: int = 0
    writes: int = 0

    @classmethod
    def of_answer(cls, answer: Any) -> Self:
        """Return the cost that an answer's header names; zero without the setting COUNT_STATEMENTS."""
        counted = answer.headers.get("X-Cassandra", "")
        counts = dict(part.split("=") for part in counted.split(", ") if part)
        return cls(**{name: int(counts[name]) for name in counts if name in COUNTED})

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(*(one + more for one, more in zip(self.counts, other.counts, strict=True)))

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(*(one - less for one, less in zip(self.counts, other.counts, strict=True)))

    @property
    def counts(self) -> tuple[int, ...]:
        return astuple(self)


COUNTED = tuple(each.name for each in fields(Cost))


class GuestCheckout:
    """A guest who adds lines to a cart and orders them by test card."""

    def __init__(self, client: Any = None) -> None:
        self.client = client or Client()

    def add(self, product_id: UUID, sku: str) -> Cost:
        """Add one unit to the cart, as a product's page does."""
        form = {"product": str(product_id), "variant": sku, "quantity": "1"}
        answer = self.client.post("/cart/add/", form | {"operation": str(uuid4())})
        _expect(answer, 303)
        return Cost.of_answer(answer)

    def view_product(self, slug: str) -> Cost:
        """Open a product's page."""
        return self._open(f"/p/{slug}/")[0]

    def buy(self, payment: str = CARD) -> Iterator[tuple[str, Cost]]:
        """Yield each step from the cart's page to the order's page, with its cost. Steps at the bank are called BANK.

        With CARD the order is paid at the end. With another payment method it waits for its payment.
        """
        yield "cart", self._open("/cart/")[0]
        yield "checkout", Cost.of_answer(self.client.get("/checkout/review/"))
        cost, page = self._open("/checkout/")
        yield "details", cost
        form = form_values(page) | CHECKOUT_DETAILS | {"email": f"{uuid4().hex}@example.com"}
        yield "save details", self._submit("/checkout/", form)[0]
        cost, page = self._open("/checkout/delivery/")
        yield "delivery", cost
        form = form_values(page) | {
            "delivery": "standard",
            "payment": payment,
            "same_billing": "on",
        }
        yield "save delivery", self._submit("/checkout/delivery/", form)[0]
        cost, page = self._open("/checkout/review/")
        yield "review", cost
        cost, bank = self._submit("/checkout/review/", form_values(page))
        yield "place order", cost
        if payment != CARD:
            yield "order", self._open(bank)[0]
            return
        yield BANK, self._open(bank)[0]
        cost, back = self._submit(bank, {"card": GOOD_CARD})
        yield BANK, cost
        answer = self.client.get(back)
        _expect(answer, 302)
        yield "return from the bank", Cost.of_answer(answer)
        cost, page = self._open(answer["Location"])
        if "Thank you" not in page:
            raise RuntimeError("the order is not paid")
        yield "order", cost

    def _open(self, path: str) -> tuple[Cost, str]:
        answer = self.client.get(path)
        _expect(answer, 200)
        return Cost.of_answer(answer), answer.content.decode()

    def _submit(self, path: str, form: dict[str, str]) -> tuple[Cost, str]:
        answer = self.client.post(path, form)
        _expect(answer, 303)
        return Cost.of_answer(answer), answer["Location"]


def _expect(answer: Any, status: int) -> None:
    if answer.status_code != status:
        raise RuntimeError(f"{answer} instead of {status}: {answer.content[:2000]!r}")
