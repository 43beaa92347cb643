"""Fills a keyspace with products and orders, with the functions by which the operations build rows.

It makes all ids, and no other program writes to that keyspace. So it needs no claims, and sends the conditional statements without
their conditions, many at once, from several processes.
"""

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, product
from random import Random
from uuid import UUID

from cassandra.query import UNSET_VALUE, BoundStatement
from cassandra.util import uuid_from_time

from accounts.addresses import Address
from benchmarks.shared_scan import Consumer, share_scan
from cassandra_db import current_time, write
from cassandra_db.bulk import BulkWriter, drop_condition
from catalogue import operations, queries
from catalogue.card_rows import pack_card
from catalogue.columns import COLUMNS
from catalogue.entities import CategoryTree, Product, Variant
from catalogue.product_rows import product_columns, variant_columns
from catalogue.queries import product_card
from catalogue.search_index import build_index
from demo.loader import former_prices
from demo.orders import PEOPLE
from inventory.entities import SENTINEL, Allocation
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.payment_attempts import derive_payment_id
from orders.lifecycle.states import TRANSITION_RULES, NextStatus, board_column
from orders.numbers import derive_order_number
from orders.operations import copies, placement, transitions
from orders.operations.order_values import OrderDraft, header_values, item_statements, placed_events
from pricing import delivery, tax
from pricing.money import from_minor_units, to_minor_units
from pricing.quotes import QuotedLine
from shop_settings.terms import get_terms
from storefront.sitemap import write_sitemap

# ---- Invented products

ROOTS = ("House", "Table", "Wardrobe", "Study")
MIDDLES = ("Basics", "Classics", "Fresh", "Handmade")
LEAVES = ("Small", "Large", "Bright", "Plain", "Light", "Sturdy")
ADJECTIVES = [
    *("Quiet", "Sunny", "Brisk", "Mellow", "Honest", "Nimble", "Rustic", "Polished"),
    *("Woven", "Glazed", "Brushed", "Folded", "Carved", "Cosy", "Airy", "Bold"),
    *("Gentle", "Humble", "Lively", "Merry", "Northern", "Southern", "Coastal", "Alpine"),
    *("Urban", "Meadow", "Harbour", "Orchard", "Winter", "Summer"),
]
MATERIALS = [
    *("Linen", "Oak", "Stoneware", "Wool", "Brass", "Walnut", "Cotton", "Steel"),
    *("Glass", "Paper", "Cork", "Leather", "Bamboo", "Copper", "Felt", "Enamel"),
]
THINGS = [
    *("Mug", "Bowl", "Plate", "Jug", "Lamp", "Cushion", "Blanket", "Towel"),
    *("Basket", "Tray", "Board", "Vase", "Candle", "Notebook", "Pen", "Scarf"),
    *("Cap", "Tote", "Apron", "Stool"),
]
SHAPES = ("mug/{}-efeae0", "bowl/{}-efeae0", "plate/{}", "cushion/{}", "towel/{}", "vase/{}")
COLOURS = (
    ("Oat", "dfcfb0"),
    ("Rust", "b2572f"),
    ("Sage", "9aae8c"),
    ("Ink", "2f4160"),
    ("Sky", "97b8d1"),
    ("Clay", "bf7253"),
)
SIZES = ("Small", "Large")
BRANDS = ("Kilnbrook", "Nordlicht", "Hald", "Fernweh", "Almar", "Tidewell")
# The numbers of colours and sizes of a product. They make one to twelve variants, 5.5 on average as in the demo shop.
RANGES = ((1, 1), (3, 1), (3, 2), (6, 2), (5, 1), (3, 2))
SOLD_FOR_DAYS = 730
# The number of products whose cards are written together, since the cards are in the same partitions.
BATCH_SIZE = 40

# ---- The writes of conditional statements, without the claims

VARIANT = drop_condition(operations.INSERT_VARIANT)
# The product's own columns come with its first variant, so they are no row of their own.
_HEAD_COLUMNS = (
    *("save_id", "version", "currency", "availability", "in_stock_ids", "list_places"),
    *(each.name for each in COLUMNS if each.is_saved),
)
_VARIANT_COLUMNS = VARIANT.cql.partition("(")[2].partition(")")[0].replace("\n", " ").split(",")
_FIRST_COLUMNS = (*(each.strip() for each in _VARIANT_COLUMNS), *_HEAD_COLUMNS)
FIRST_VARIANT = write(
    "Q1",
    f"INSERT INTO products ({', '.join(_FIRST_COLUMNS)}) VALUES ({', '.join(f':{each}' for each in _FIRST_COLUMNS)})",  # noqa: S608
)
SLUG = drop_condition(operations.CLAIM_SLUG)
SKU = drop_condition(operations.CLAIM_SKU)
NUMBER = drop_condition(placement.INSERT_NUMBER)
PLACED = drop_condition(placement.PLACE)
EVENT = drop_condition(transitions.INSERT_EVENT)
TRANSITION = drop_condition(transitions.UPDATE_HEADER)
# The shop itself books receipts by conditional arithmetic.
STOCK_ITEM = write(
    "Q16",
    """INSERT INTO inventory (variant_id, warehouse_id, reservation_id, product_id, available, reserved, committed, shipped, received,
       threshold) VALUES (:variant_id, :warehouse_id, :reservation_id, :product_id, :units, 0, 0, 0, :units, 5)""",
)
STOCK_BY_PRODUCT = write(
    "Q16",
    """INSERT INTO stock_by_product (product_id, variant_id, warehouse_id, available, threshold)
       VALUES (:product_id, :variant_id, :warehouse_id, :units, 5)""",
)


@dataclass(frozen=True)
class Part:
    """The part of the data that one of several processes loads."""

    number: int
    part_count: int


def random_for(kind: str, number: int) -> Random:
    """Return a random generator that always yields the same numbers for a kind of object and its number."""
    return Random(f"{kind} {number}")


def stable_id(kind: str, number: int) -> UUID:
    """Return the id that the object of this kind and number always has."""
    return UUID(int=random_for(f"{kind} id", number).getrandbits(128), version=4)


def load_categories() -> None:
    """Make the categories: 4 root categories, 16 categories below them, and 96 leaf categories."""
    number = 0
    for root, middle, leaf in product(ROOTS, ("", *MIDDLES), ("", *LEAVES)):
        if leaf and not middle:
            continue
        names = [name for name in (root, middle, leaf) if name]
        parent = "-".join(names[:-1]).lower()
        number += 1
        operations.save_category(
            category_id=_category_id("-".join(names).lower()),
            slug="-".join(names).lower(),
            name=names[-1] if len(names) < 3 else f"{names[-1]} {root.lower()}",
            parent_id=_category_id(parent) if parent else None,
            position=number,
            description="Things to measure with.",
            picture=SHAPES[number % len(SHAPES)].format(COLOURS[number % len(COLOURS)][1]),
        )


def _category_id(slug: str) -> UUID:
    return stable_id(f"category {slug}", 0)


def leaf_slugs() -> list[str]:
    """Return the slugs of the leaf categories."""
    return ["-".join(names).lower() for names in product(ROOTS, MIDDLES, LEAVES)]


def make_product(number: int, now: datetime) -> Product:
    """Return the made-up product with this number."""
    dice = random_for("product", number)
    thing = dice.choice(THINGS)
    name = f"{dice.choice(ADJECTIVES)} {dice.choice(MATERIALS)} {thing} {number}"
    colours, sizes = RANGES[number % len(RANGES)]
    price, was = dice.randrange(500, 20000), dice.random() < 0.1
    shape = dice.choice(SHAPES)
    created = now - timedelta(
        seconds=random_for("created", number).randrange(SOLD_FOR_DAYS * 86_400)
    )
    names = [each for each, count in (("Colour", colours), ("Size", sizes)) if count > 1]
    variants = tuple(
        Variant(
            variant_id=UUID(int=dice.getrandbits(128), version=4),
            sku=f"S{number}-{position}",
            options={
                each: value
                for each, value in (("Colour", colour[0]), ("Size", size))
                if each in names
            },
            price=from_minor_units(price + 300 * (size == "Large"), "EUR"),
            compare_at=from_minor_units(price + 2000, "EUR") if was else None,
            picture=shape.format(colour[1]),
            weight_grams=dice.randrange(50, 3000),
            position=position,
            price_from=created,
        )
        for position, (colour, size) in enumerate(product(COLOURS[:colours], SIZES[:sizes]))
    )
    all_leaves = leaf_slugs()
    availability = dice.choices(("in", "few", "out"), (92, 4, 4))[0]
    return Product(
        product_id=stable_id("product", number),
        slug=f"{name.lower().replace(' ', '-')}",
        name=name,
        brand=dice.choice(BRANDS),
        description=f"A {thing.lower()} that was never made, described at the usual length. " * 3,
        details={"Material": name.split()[1], "Care": "By hand", "Made in": "A file"},
        category_id=_category_id(all_leaves[number % len(all_leaves)]),
        option_names=tuple(names),
        tax_class="standard",
        variants=variants,
        featured=dice.random() < 0.01,
        created_at=created,
        updated_at=created,
        version=1,
        availability=availability,
        in_stock_ids=frozenset(each.variant_id for each in variants if availability != "out"),
    )


def load_products(count: int, part: Part, now: datetime) -> int:
    """Write this part of the products, and return the number of rows."""
    tree = queries.get_category_tree()
    of_leaves = len(leaf_slugs())
    with BulkWriter() as bulk:
        for leaf in range(part.number, of_leaves, part.part_count):
            numbers = iter(range(leaf, count, of_leaves))
            while some := [make_product(number, now) for number in islice(numbers, BATCH_SIZE)]:
                _write_products(bulk, some, tree)
    return bulk.row_count


def _write_products(bulk: BulkWriter, some: Sequence[Product], tree: CategoryTree) -> None:
    puts_by_list: dict[tuple[UUID, str], list[BoundStatement]] = {}
    cards = [(pack_card(product_card(each)), False) for each in some]
    for number, each in enumerate(some):
        stands = operations.card_statements(each, tree)
        places = {place for place, _ in stands}
        bulk.send(*product_statements(each, places))
        for (category_id, sort, _), put in stands:
            puts_by_list.setdefault((category_id, sort), []).append(put)
        beside = [*cards[number + 1 :], *cards[:number]][: operations.RELATED_LENGTH]
        if beside:
            bulk.send(operations.related_statement(each.product_id, beside))
        _write_prices(bulk, each)
        _write_variants(bulk, each)
    for puts in puts_by_list.values():
        bulk.send(*puts)


def product_statements(
    product: Product, places: Set[operations.ListKey] | None = None
) -> list[BoundStatement]:
    """Return the statements that write a product's partition: one row for each variant.

    `places` are the places of its cards. By default those that are stored stay.
    """
    product_id = product.product_id
    first, *others = product.variants
    values = product_columns(product) | variant_columns(first)
    values |= {
        "save_id": product_id,
        "availability": product.availability,
        "in_stock_ids": set(product.in_stock_ids),
        "list_places": UNSET_VALUE if places is None else places,
    }
    return [
        FIRST_VARIANT.bind(**values),
        *(VARIANT.bind(product_id=product_id, **variant_columns(each)) for each in others),
    ]


def _write_prices(bulk: BulkWriter, product: Product) -> None:
    since = product.created_at or current_time()
    former = former_prices(product, since)
    for each in product.variants:
        if points := former.get(each.variant_id):
            bulk.send(*operations.price_statements(each.variant_id, points))


def _write_variants(bulk: BulkWriter, each: Product) -> None:
    units = {"in": 40, "few": 3, "out": 0}[each.availability]
    stands = {"product_id": each.product_id, "warehouse_id": "berlin", "units": units}
    bulk.send(
        *(
            STOCK_BY_PRODUCT.bind(variant_id=variant.variant_id, **stands)
            for variant in each.variants
        )
    )
    # These rows are in several partitions, but they are small: a message for each row would cost more.
    skus = (
        SKU.bind(sku=variant.sku, product_id=each.product_id, variant_id=variant.variant_id)
        for variant in each.variants
    )
    bulk.send(SLUG.bind(slug=each.slug, product_id=each.product_id), *skus)
    bulk.send(
        *(
            STOCK_ITEM.bind(variant_id=variant.variant_id, reservation_id=SENTINEL, **stands)
            for variant in each.variants
        )
    )


# ---- Orders

_COURSE = (
    ("authorized", 1),
    ("captured", 2),
    ("packed", 300),
    ("shipped", 1500),
    ("delivered", 5760),
    ("closed", 26_000),
)


def load_orders(count: int, products: int, part: Part, now: datetime) -> int:
    """Write this part of the orders, all of them closed, and return the number of rows."""
    with BulkWriter() as bulk:
        for number in range(part.number, count, part.part_count):
            _write_order(bulk, number, products, now)
    return bulk.row_count


def _write_order(bulk: BulkWriter, number: int, products: int, now: datetime) -> None:
    dice = random_for("order", number)
    placed_at = now - timedelta(days=20, seconds=dice.randrange(SOLD_FOR_DAYS * 86_400))
    draft = _draft(number, products, dice, now)
    allocations = [
        Allocation(line, each.product_id, each.variant_id, "berlin", each.quantity, SENTINEL)
        for line, each in enumerate(draft.lines, 1)
    ]
    order_number = derive_order_number(draft.order_id)
    header = header_values(
        draft, order_number, placed_at, placed_at + timedelta(minutes=10), allocations
    )
    order = _closed_order(draft, order_number, placed_at, header["allocations"])
    bulk.send(NUMBER.bind(number=order_number, order_id=draft.order_id))
    bulk.send(*item_statements(draft))
    bulk.send(PLACED.bind(**header))
    # The transition's later timestamp wins against the values of the order's header.
    transition = TRANSITION.bind(
        order_id=order.order_id,
        state=order.state,
        payment=order.payment,
        fulfilment=order.fulfilment,
        version=order.version,
        payment_id=order.payment_id,
        captured=header["total"],
        refunded=0,
        allocations=order.allocations_json,
    )
    bulk.send(transition, *(_event_row(order, event) for event in order.events))
    for copy in copies.copy_statements(order):
        bulk.send(copy)


def _draft(number: int, products: int, dice: Random, now: datetime) -> OrderDraft:
    home = Address(*dice.choice(PEOPLE))
    bought = [make_product(dice.randrange(products), now) for _ in range(dice.choice((1, 1, 2, 3)))]
    owner = dice.randrange(max(1, products // 5))
    return OrderDraft(
        order_id=stable_id("order", number),
        owner_id=stable_id("person", owner),
        user_id=stable_id("person", owner),
        email=f"person{owner}@mail.example",
        delivery_address=home,
        billing_address=home,
        method=delivery.list_delivery_methods(home.country)[0],
        tax_rates=tax.get_tax_rates(home.country),
        lines=tuple(
            _line(each, dice) for each in {each.product_id: each for each in bought}.values()
        ),
        cart_id=None,
        fingerprint="scale",
    )


def _line(of: Product, dice: Random) -> QuotedLine:
    variant = dice.choice(of.variants)
    return of.quote_line(variant, dice.choice((1, 1, 2)))


def _closed_order(draft: OrderDraft, number: str, placed_at: datetime, allocated: str) -> Order:
    """Return the order after its last event, from which its copies in lists are made."""
    sums = draft.sums
    payment_id = derive_payment_id(draft.order_id, 0)
    events, state = _closed_course(draft, payment_id, placed_at)
    return Order(
        order_id=draft.order_id,
        number=number,
        owner_id=draft.owner_id,
        user_id=draft.user_id,
        email=draft.email,
        name=draft.delivery_address.name,
        state=state.state,
        payment=state.payment,
        fulfilment=state.fulfilment,
        version=1 + len(_COURSE),
        placed_at=placed_at,
        pay_until=placed_at + timedelta(minutes=10),
        subtotal=sums.subtotal,
        delivery=sums.delivery,
        discount=sums.discount,
        total=sums.total,
        tax=sums.tax,
        taxes=sums.taxes,
        item_count=sum(line.quantity for line in draft.lines),
        country=draft.delivery_address.country,
        delivery_address=draft.delivery_address,
        billing_address=draft.billing_address,
        method=draft.method.promise(placed_at),
        tax_rates=draft.tax_rates.by_class,
        first_item_name=draft.lines[0].name,
        first_item_picture=draft.lines[0].picture,
        skus=tuple(sorted({line.sku for line in draft.lines})),
        cart_id=None,
        allocations_json=allocated,
        fingerprint=draft.fingerprint,
        payment_id=payment_id,
        payment_method="card",
        captured=sums.total if state.payment == "paid" else sums.total * 0,
        refunded=sums.total * 0,
        voucher="",
        discounts=(),
        events=events,
        return_days=get_terms().return_days,
    )


def _closed_course(
    draft: OrderDraft, payment_id: UUID, placed_at: datetime
) -> tuple[tuple[Event, ...], NextStatus]:
    """Return an order's events, newest first, and its state after the last one."""
    events = [*reversed(placed_events(draft, "testbank", placed_at))]
    payment = {"payment_id": str(payment_id), "amount": to_minor_units(draft.sums.total)}
    details = {"authorized": payment, "captured": payment | {"key": "first"}}
    state = NextStatus("pending_payment", "unpaid", "unfulfilled", has_packed_parcel=False)
    for kind, minutes in _COURSE:
        rule = TRANSITION_RULES[kind]
        state = rule.next_status(state)
        at = uuid_from_time(placed_at + timedelta(minutes=minutes))
        events.append(
            Event(
                *(at, kind, "system", ""),
                public=bool(rule.customer_label),
                board_after=board_column(state),
                details=details.get(kind, {}),
            )
        )
    return tuple(reversed(events)), state


def _event_row(order: Order, event: Event) -> BoundStatement:
    return EVENT.bind(
        order_id=order.order_id,
        event_id=event.event_id,
        kind=event.kind,
        actor=event.actor,
        note=event.note,
        public=event.public,
        state=order.state,
        board=event.board_after,
        details=json.dumps(event.details),
        request_id=None,
        submit_id=None,
    )


# ---- Derived data


def rebuild_derived(part: Part) -> int:
    """Rebuild derived data in one scan. The first part builds the search index, the last part all else."""
    consumers: list[Consumer] = []
    if part.number == 0:
        consumers.append(build_index)
    if part.number == part.part_count - 1:
        now = current_time()
        consumers += [
            operations.rebuild_featured,
            operations.rebuild_prefixes,
            lambda products: write_sitemap(products, now),
        ]
    if consumers:
        share_scan(queries.iterate_products(), *consumers)
    return 0
