"""A crowd that orders, each one a cup and a bowl, and what has to be true of all of them in the end (I5, I10)."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from benchmarks.buyers import Buyer, make_guest_cart
from demo.testbank.queries import get_payment
from inventory.queries import get_stock_item
from inventory.warehouses import list_warehouses
from orders import queries
from tests.factories import make_product, make_stock
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent, assert_stock_adds_up
from tests.orders.crashes import run_worker


@dataclass
class Crowd:
    """So many buyers at a shop. A buyer who gets no answer, or is asked to come again, sends the same again."""

    port: int
    count: int
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    buyers: list[Buyer] = field(init=False)
    variants: list[UUID] = field(init=False)

    def __post_init__(self) -> None:
        products = [make_product(name) for name in ("Cup", "Bowl")]
        self.variants = [each.variants[0].variant_id for each in products]
        for product in products:
            ids = {"product_id": product.product_id, "variant_id": product.variants[0].variant_id}
            make_stock(self.count, cork=self.count, **ids)
        self.buyers = []
        for number in range(self.count):
            wanted = [(each.product_id, each.variants[0].variant_id, 1) for each in products]
            email = f"buyer-{uuid4().hex}@example.com"
            cookies = make_guest_cart(wanted[::-1] if number % 2 else wanted, email)
            self.buyers.append(Buyer(self.port, cookies, email=email, max_submits=60, patience=400))

    @property
    def answers(self) -> Counter[int]:
        """How often each status was answered, 0 where there was no answer."""
        return sum((buyer.answers for buyer in self.buyers), Counter[int]())

    @property
    def longest_seconds(self) -> float:
        """After how many seconds the last one had an answer."""
        return max(buyer.seconds for buyer in self.buyers)

    def assert_one_order_each(self) -> None:
        """Let the worker do what is left to do for these, and check that nothing is lost or doubled."""
        run_worker(self.began, datetime.now(UTC) + timedelta(minutes=30), *self._checkouts())
        assert [
            (buyer.email, buyer.last_heading) for buyer in self.buyers if not buyer.paid_number
        ] == []
        assert len({buyer.paid_number for buyer in self.buyers}) == self.count
        for buyer in self.buyers:
            self._assert_one_order(buyer)
        for variant_id in self.variants:
            numbers = assert_stock_adds_up(variant_id)
            assert (numbers["committed"], numbers["reserved"]) == (self.count, 0)

    def _checkouts(self) -> set[UUID]:
        """Return all that has become an order, or has reserved something."""
        reservations = [
            row
            for each in self.variants
            for warehouse_id in list_warehouses()
            for row in get_stock_item(each, warehouse_id)[1]
        ]
        placed = {
            order_id
            for buyer in self.buyers
            for order_id in queries.list_order_ids_by_email(buyer.email)
        }
        return placed | {row.order_id for row in reservations if row.order_id}

    @staticmethod
    def _assert_one_order(buyer: Buyer) -> None:
        (order_id,) = queries.list_order_ids_by_email(buyer.email)
        order = assert_order_consistent(order_id)
        assert order.number == buyer.paid_number, "not the one that the shop confirmed to them"
        assert (order.state, order.payment) == ("confirmed", "paid")
        at_the_bank = [get_payment(each.payment_id) for each in list_attempts(order.order_id)]
        assert sum(row.captured for row in at_the_bank if row and row.captured) == int(
            order.total.amount * 100
        )
