"""A visitor who checks out step by step, the cart and the orders."""

from datetime import datetime, timedelta
from html import unescape
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.core import signing
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.operations import register_user
from benchmarks import buyers
from cart.entities import Cart
from cassandra_db import SEND_AGAIN
from catalogue.entities import Product
from demo.testbank import cards
from demo.testbank import queries as bank_queries
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.operations import payments, placement
from tests.cart.guests import get_active_cart
from tests.clock import now
from tests.factories import PASSWORD
from tests.orders.consistency_checks import assert_stock_adds_up
from tests.orders.crashes import kill_in
from tests.reads import existing

HTMX = {"HX-Request": "true"}
TYPED = buyers.CHECKOUT_DETAILS | {"email": "ada@example.com"}


class Shopper:
    """A visitor with a browser, and products in the cart."""

    def __init__(self, *wanted: tuple[Product, int], client: Client | None = None) -> None:
        self.client = client or Client()
        for product, quantity in wanted:
            self.add(product, quantity)

    def add(self, product: Product, quantity: int = 1) -> None:
        sent = {
            "variant": product.variants[0].sku,
            "quantity": str(quantity),
            "operation": str(uuid4()),
        }
        assert self.client.post(reverse("cart:add"), sent).status_code in (200, 303)

    def details(self, query: str = "") -> Any:
        """Open the checkout at its first step."""
        return html.fromstring(self.client.get(reverse("checkout:details") + query).content)

    def typed(self, step: str = "delivery", headers: Any = None, **fields: str) -> Any:
        """Submit a step's form with all its fields; for the second step with the first's as well."""
        later = ("delivery", "payment", "same_billing") if step == "details" else ()
        sent = {name: value for name, value in TYPED.items() if name not in later}
        return self.client.post(reverse(f"checkout:{step}"), sent | fields, headers=headers)

    def ways(self, **fields: str) -> Any:
        """Continue to the second step."""
        return html.fromstring(self.client.get(self.typed("details", **fields)["Location"]).content)

    def look(self, **fields: str) -> Any:
        """Continue to the last step."""
        return html.fromstring(self.client.get(self.typed(**fields)["Location"]).content)

    def token(self, **fields: str) -> str:
        return token_in(self.look(**fields))

    def send(self, token: str | None = None, headers: Any = None, **fields: str) -> Any:
        """Order, by default what was reviewed."""
        sent = TYPED | {"checkout": token if token is not None else self.token()} | fields
        return self.client.post(reverse("checkout:review"), sent, headers=headers)

    def place(self, **fields: str) -> tuple[Order, str]:
        """Order, and return the order and the address of the bank's page."""
        answer = self.send(self.token(**fields), **fields)
        assert answer.status_code == 303, text(answer)
        payment_id = UUID(answer["Location"].rstrip("/").rpartition("/")[2])
        row = existing(bank_queries.get_payment(payment_id))
        order = existing(queries.get_order_by_number(row.reference))
        return order, answer["Location"]

    def pay(self, at: str, card: str = cards.APPROVED) -> Any:
        answer = self.client.post(at, {"card": card})
        return self.client.get(answer["Location"], follow=True)


def token_in(page: Any) -> str:
    page = page if hasattr(page, "xpath") else html.fromstring(page.content)
    return str(page.xpath("//input[@name='checkout']/@value")[0])


def text(answer: Any) -> str:
    root = answer if hasattr(answer, "text_content") else html.fromstring(answer.content)
    return " ".join(unescape(root.text_content()).split())


def count_reserved(product: Product) -> int:
    return assert_stock_adds_up(product.variants[0].variant_id)["reserved"]


def remembered(client: Client) -> list[UUID]:
    return [
        UUID(hex=each)
        for each, _ in signing.loads(
            client.cookies[settings.ORDER_COOKIE_NAME].value, salt="orders.cookie"
        )
    ]


def make_email() -> str:
    """A new e-mail address for one test: the orders with it can be counted."""
    return f"{uuid4().hex}@example.com"


def list_orders(email: str) -> list[Order]:
    found = [queries.get_order(order_id) for order_id in queries.list_order_ids_by_email(email)]
    return [order for order in found if order]


def get_owner_id(shopper: Shopper) -> UUID:
    guest, _ = signing.loads(
        shopper.client.cookies[settings.CART_COOKIE_NAME].value, salt="cart.owner"
    )
    return UUID(hex=guest)


def get_cart(shopper: Shopper) -> Cart:
    return existing(get_active_cart(get_owner_id(shopper)))


def open_tab(shopper: Shopper) -> Shopper:
    """Return another tab of the same browser."""
    other = Client()
    other.cookies = shopper.client.cookies
    return Shopper(client=other)


def at(step: str = "review") -> str:
    """Return a step's address; that of the last one redirects to the first incomplete one."""
    return reverse(f"checkout:{step}")


def heading(page: Any) -> str:
    """Return the step that a page has open."""
    page = page if hasattr(page, "xpath") else html.fromstring(page.content)
    return text(page.xpath("//section[@aria-current='step']//h2")[0])


def make_member_shopper(mug: Product) -> Shopper:
    """A member whose e-mail address is proved, with a mug in the cart."""
    member = register_user(make_email(), "Ada", PASSWORD, now(), verified=True)
    client = Client()
    client.force_login(member)
    return Shopper((mug, 1), client=client)


def send_and_die(shopper: Shopper, token: str, email: str) -> None:
    """Send the order to a process that dies with its units reserved, before it is placed."""
    kill_in(placement, "claim_order_number", lambda: shopper.send(token, email=email))


def end_order(shopper: Shopper, order: Order, how: str) -> None:
    """Let an order end without payment."""
    if how == "given up":
        shopper.client.post(reverse("orders:give_up", args=[order.number]))
    elif how == "expired":
        operations.expire_order(order, now())
    else:
        set_payment_deadline(order, now() - timedelta(seconds=1))


def set_payment_deadline(order: Order, until: datetime) -> None:
    """Set another payment deadline for an order."""
    assert payments.EXTEND_DEADLINE.apply(
        if_lost=SEND_AGAIN, order_id=order.order_id, pay_until=until, seen=order.version
    )
