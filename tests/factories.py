"""Makers of what tests need: fresh ids each time, written through the shop's own operations."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import product as combinations
from time import time_ns
from uuid import UUID, uuid4

from cassandra.cqlengine import connection
from cassandra.query import BoundStatement
from django.conf import settings
from django.test import Client
from django.utils.text import slugify
from moneyed import EUR, Money
from time_machine import escape_hatch

from accounts.addresses import Address
from accounts.models import User
from accounts.operations import register_user
from accounts.second_factor import mark_second_factor_passed
from benchmarks.scale import SKU, SLUG, product_statements
from cassandra_db import current_time, truncate_to_milliseconds, write, write_batch
from catalogue import operations
from catalogue.entities import CategoryNode, Product, Variant
from catalogue.queries import PRODUCT_NOW, get_category_tree_with
from demo.loader import former_prices
from demo.testbank.cards import APPROVED
from demo.testbank.operations import submit_card
from inventory.entities import SENTINEL
from inventory.operations import receive_stock
from inventory.operations.ledger import ENTRY, HISTORY_ENTRY
from inventory.operations.receipts import seed_stock_item
from inventory.operations.stock_copies import COPY
from inventory.queries import get_stock_numbers, ledger_shard, prefetch_stock_numbers
from orders.lifecycle.entities import Order
from orders.operations import OrderDraft, place_order, settle_payment, start_payment
from pricing import delivery, tax


def make_category(
    name: str = "Shelf", *, parent: CategoryNode | None = None, position: int = 0
) -> CategoryNode:
    """A category with an address of its own."""
    category_id = uuid4()
    return operations.save_category(
        category_id=category_id,
        slug=f"{slugify(name)}-{category_id.hex[:10]}",
        name=name,
        parent_id=parent.category_id if parent else None,
        position=position,
        picture="mug/c8724c-efeae0",
    )


@cache
def _default_category() -> CategoryNode:
    """The category of products whose category does not matter: one each would make every page's menu long."""
    return make_category()


def make_product(
    name: str = "Mug",
    *,
    price: str = "12.00",
    compare_at: str | None = None,
    options: Mapping[str, Sequence[str]] | None = None,
    category: CategoryNode | None = None,
    brand: str = "Kilnbrook",
    description: str = "A thing for every day.",
    availability: str = "in",
    now: datetime | None = None,
    product_id: UUID | None = None,
    tax_class: str = "standard",
    featured: bool = False,
    listed: bool = False,
    stock: int = 0,
) -> Product:
    """A product, by default with one variant and without a choice; `options` gives one variant a value.

    With several options there is a variant for each combination. `stock` units of the first variant are in Berlin (make_stock
    has more). All that carts, orders and its own page read is there. `listed` also puts its cards into the lists of its category
    and notes it for search and all else that follows changes. The writes are plain: a fifth of a save's cost
    (tests/architecture/test_factories.py).
    """
    product_id, now = product_id or uuid4(), truncate_to_milliseconds(now or datetime.now(UTC))
    made = Product(
        product_id=product_id,
        slug=f"{slugify(name)}-{product_id.hex[:10]}",
        name=name,
        brand=brand,
        description=description,
        details={"Material": "Stoneware"},
        category_id=(category or _default_category()).category_id,
        option_names=tuple(options or ()),
        tax_class=tax_class,
        variants=tuple(
            Variant(
                variant_id=uuid4(),
                sku=f"T-{product_id.hex[:10].upper()}-{number}",
                options=dict(zip(options or (), chosen, strict=True)),
                price=Money(price, EUR),
                compare_at=Money(compare_at, EUR) if compare_at else None,
                picture=f"mug/{(number * 2654435761) % 0xFFFFFF:06x}-efeae0",
                weight_grams=350,
                position=number,
                price_from=now,
            )
            for number, chosen in enumerate(combinations(*(options or {}).values()))
        ),
        featured=featured,
        created_at=now,
        updated_at=now,
        availability=availability,
    )
    if compare_at:
        # What is crossed out was asked before.
        operations.add_former_prices(former_prices(made, now))
    skus = (
        SKU.bind(sku=each.sku, product_id=product_id, variant_id=each.variant_id)
        for each in made.variants
    )
    write_batch([SLUG.bind(slug=made.slug, product_id=product_id), *skus])
    in_stock_ids = {each.variant_id for each in made.variants if availability != "out"}
    made = replace(made, version=1, in_stock_ids=frozenset(in_stock_ids))
    write_batch(product_statements(made))
    if listed:
        places, cards = zip(
            *operations.card_statements(made, get_category_tree_with(made.category_id)), strict=True
        )
        operations.ADD_LIST_PLACES.run(product_id=product_id, places=set(places))
        write_batch(cards)
        operations.record_product_change(product_id, current_time())
    if stock:
        make_stock(stock, product_id=product_id, variant_id=made.variants[0].variant_id)
    return made


# Up to so many units are few.
FEW = 3
# A stock item that nobody knows yet is written plainly; what happens to it then is decided by conditional writes.
STOCK_ITEM = write(
    "test",
    """INSERT INTO inventory (variant_id, warehouse_id, reservation_id, product_id, available, reserved, committed, shipped,
       received, threshold) VALUES (:variant_id, :warehouse_id, :reservation_id, :product_id, :units, 0, 0, 0, :units, :threshold)""",
)
RECEIPT = write(
    "test",
    """INSERT INTO inventory (variant_id, warehouse_id, reservation_id, quantity, state, reserved_at)
       VALUES (:variant_id, :warehouse_id, :reservation_id, :units, 'received', :now)""",
)


@contextmanager
def unreadable_product(product_id: UUID) -> Iterator[None]:
    """Break the JSON in a product's row; afterwards mend it, for the tests that walk through all products."""
    session = connection.get_session()
    update = "UPDATE products SET details = %s WHERE product_id = %s"
    (row,) = PRODUCT_NOW.all(product_id=product_id)
    session.execute(update, ('{"Size": ', product_id))
    try:
        yield
    finally:
        session.execute(update, (row.details, product_id))


def make_stock(
    berlin: int, *, cork: int = 0, product_id: UUID | None = None, variant_id: UUID | None = None
) -> UUID:
    """Receive units of a variant, and put them into the copy that carts and pages read; return the variant's id.

    Where it had none they are written plainly, with their ledger. Cards are not updated, as `copy_stock` would do: what they
    say is the product's `availability`.
    """
    product_id, variant_id = product_id or uuid4(), variant_id or uuid4()
    units_by_warehouse = {
        warehouse_id: units for warehouse_id, units in (("berlin", berlin), ("cork", cork)) if units
    }
    reading = {each: prefetch_stock_numbers(variant_id, each) for each in units_by_warehouse}
    statements: list[BoundStatement] = []
    for warehouse_id, units in units_by_warehouse.items():
        available, stock_item = units, (product_id, variant_id, warehouse_id)
        # In another time plain writes would win over what is decided later, by the nodes' clocks.
        if reading[warehouse_id].one() or escape_hatch.is_travelling():
            # Before the units come: a receipt that finds no numbers makes them, and is tried again.
            seed_stock_item(*stock_item, FEW)
            receive_stock(*stock_item, units, FEW, uuid4(), datetime.now(UTC))
            available = get_stock_numbers(variant_id, warehouse_id).available
        else:
            statements += _receipt_statements(*stock_item, units)
        statements.append(
            COPY.bind(
                read_at=time_ns() // 1000,
                available=available,
                threshold=FEW,
                product_id=product_id,
                variant_id=variant_id,
                warehouse_id=warehouse_id,
            )
        )
    if statements:
        write_batch(statements)
    return variant_id


def _receipt_statements(
    product_id: UUID, variant_id: UUID, warehouse_id: str, units: int
) -> list[BoundStatement]:
    """Return the writes that make a stock item of one receipt."""
    receipt_id, now = uuid4(), datetime.now(UTC)
    stock_item = {"variant_id": variant_id, "warehouse_id": warehouse_id}
    booked = {"units": units, "booked_at": now, "actor": None, "reason": None}
    return [
        STOCK_ITEM.bind(
            reservation_id=SENTINEL, product_id=product_id, units=units, threshold=FEW, **stock_item
        ),
        RECEIPT.bind(reservation_id=receipt_id, units=units, now=now, **stock_item),
        ENTRY.bind(
            shard=ledger_shard(receipt_id),
            source_id=receipt_id,
            line_number=0,
            kind="received",
            ref=receipt_id,
            **booked,
            **stock_item,
        ),
        HISTORY_ENTRY.bind(
            entry_id=receipt_id, source_id=receipt_id, kind="received", **booked, **stock_item
        ),
    ]


def make_stocked_product(units: int = 20, price: str = "12.00", name: str = "Mug") -> Product:
    return make_product(name, price=price, stock=units)


def make_products_in_stock(count: int = 3) -> list[str]:
    """So many products with a thousand of each in stock; return their SKUs."""
    skus = []
    for _ in range(count):
        product = make_product(stock=1000)
        skus.append(product.variants[0].sku)
    return skus


PASSWORD = "seven wet otters"


def make_user(
    name: str = "Alice",
    *,
    email: str = "",
    password: str | None = PASSWORD,
    role: str = "",
    demo: bool = False,
) -> User:
    """A member, by default a shopper; `role` makes one of the staff."""
    email = email or f"{name.lower()}-{uuid4().hex}@example.com"
    return register_user(
        email, name, password, datetime.now(UTC), role, login="demo" if demo else "allowed"
    )


def sign_in_staff(client: Client, user: User) -> Client:
    """Sign a user in who has passed the second factor."""
    client.force_login(user)
    session = client.session
    mark_second_factor_passed(session, user)
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key or ""
    return client


def find_delivery_method(country: str, code: str) -> delivery.DeliveryMethod:
    """Return a way to deliver today. Raises KeyError if there is none of that code to that country."""
    return {each.code: each for each in delivery.list_delivery_methods(country)}[code]


def make_draft(
    *lines: tuple[Product, int],
    country: str = "DE",
    method: str = "standard",
    owner_id: UUID | None = None,
    user_id: UUID | None = None,
    cart_id: UUID | None = None,
    email: str = "",
    fingerprint: str = "as typed",
    notes: str = "",
) -> OrderDraft:
    """What a checkout would make an order of: the first variant of each product, so many of it."""
    address = Address("Ada Lovelace", "Torstraße 1", "10115", "Berlin", country)
    quoted = [product.quote_line(product.variants[0], quantity) for product, quantity in lines]
    return OrderDraft(
        order_id=uuid4(),
        owner_id=owner_id or user_id or uuid4(),
        user_id=user_id,
        email=email or f"ada-{uuid4().hex}@example.com",
        delivery_address=address,
        billing_address=address,
        method=find_delivery_method(country, method),
        tax_rates=tax.get_tax_rates(country),
        lines=tuple(quoted),
        cart_id=cart_id,
        fingerprint=fingerprint,
        customer_notes=notes,
    )


def make_order(
    *,
    quantity: int = 1,
    stock: int = 20,
    paid: bool = False,
    user_id: UUID | None = None,
    price: str = "12.00",
    email: str = "",
    notes: str = "",
    now: datetime | None = None,
) -> Order:
    """An order of one new product, waiting for its payment or paid with the test bank's good card."""
    product = make_product(price=price, stock=stock)
    now = now or datetime.now(UTC)
    draft = make_draft((product, quantity), user_id=user_id, email=email, notes=notes)
    order = place_order(draft, now)
    return make_payment(order, now=now) if paid else order


def make_payment(order: Order, card: str = APPROVED, *, now: datetime | None = None) -> Order:
    """Pay an order at the test bank."""
    now = now or datetime.now(UTC)
    started = start_payment(order, "http://testserver", now)
    submit_card(started.payment_id, card, now)
    order_after_payment = settle_payment(order.order_id, started.payment_id, now)
    assert order_after_payment
    return order_after_payment
