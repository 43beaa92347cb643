"""Fills the demo shop with products, stock, logins and orders, through the same operations as in a real shop.

All ids are computed from the data, so that a second load finds the rows of the first.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from time import sleep
from typing import TypeVar
from uuid import UUID, uuid5

from cassandra.util import uuid_from_time
from django.conf import settings
from moneyed import Money

from accounts.operations import register_user
from accounts.second_factor import enrol_demo_second_factor
from cassandra_db import CassandraUnavailable, truncate_to_milliseconds
from catalogue import operations, queries
from catalogue.colour_settings import COLOURS, ColourSetting
from catalogue.colours import colour_key
from catalogue.entities import Product, ProductPicture, Variant
from catalogue.errors import CategoryChanged, ProductRefused
from catalogue.filter_settings import COLOUR, FILTERS, PLAIN, SIZE, FilterName
from catalogue.photos import take_in_photo
from catalogue.prices import PricePoint
from catalogue.search_index import build_index
from demo import catalogue_data
from demo.logins import LOGINS, Login
from inventory.entities import LEAVING, StockTransfer
from inventory.operations import copy_stock, end_transfer, receive_stock, start_transfer
from inventory.warehouses import WAREHOUSE, Warehouse
from moderation.states import PUBLISHED, UNANSWERED
from orders.recommendations import list_bought_together
from pricing.delivery_settings import DELIVERY, DeliverySetting
from pricing.tax import TAX, DatedRates, TaxSetting
from promotions.errors import AlreadyCreated, CodeTaken
from promotions.operations import PromotionTerms, create_promotion
from promotions.rules import AMOUNT, BUY_GET, FREE_DELIVERY, PERCENTAGE
from questions import operations as questions
from questions.entities import QUESTION, Text
from questions.queries import list_texts_of_product
from reviews import operations as reviews
from reviews.entities import Review
from shop_settings.operations import change_settings
from shop_settings.queries import get_settings_at_quorum
from storefront.sitemap import write_sitemap

# There are more threads than processors, because the threads wait for Cassandra most of the time.
THREADS = 12
# The pauses before a call is repeated, in seconds. On a busy machine, one of thousands of CQL statements gets no answer.
PAUSES = (1, 2, 4, 8)
FEW_LEFT_FROM = 5

# One promotion of each kind: some are for all customers, one has a minimum, one has ended.
DEMO_NAMESPACE = UUID("5b0f4a52-6a0e-4f0c-9a55-3d1f0f2a7c11")
PROMOTIONS = (
    PromotionTerms(
        "Welcome: 10% off", PERCENTAGE, "WELCOME10", percent=Decimal(10), limit_per_customer=1
    ),
    PromotionTerms("Free delivery", FREE_DELIVERY, "POST-FREE", minimum=2500),
    PromotionTerms("€5 off from €40 on", AMOUNT, "FIVER", amount=500, minimum=4000, uses=500),
    PromotionTerms(
        "20% off for the summer",
        PERCENTAGE,
        "SUMMER20",
        percent=Decimal(20),
        ends_at=datetime(2025, 9, 1, tzinfo=UTC),
    ),
    PromotionTerms(
        "Vases and plants: buy two, get a third free",
        BUY_GET,
        buy=2,
        free=1,
        category_id=catalogue_data.demo_category_id("vases-and-plants"),
    ),
)

Thing = TypeVar("Thing")
Made = TypeVar("Made")
Step = Callable[[], None]
log = logging.getLogger(__name__)


def run_in_parallel(
    do: Callable[[Thing], object], things: Iterable[Thing], step: Step, threads: int = THREADS
) -> None:
    """Call `do` for each item of `things` in several threads, and `step` after each item. Raises the first error of `do`.

    A second call of `do` for an item must do no harm: it is called again if Cassandra does not answer in time.
    """
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda thing: do_again_if_late(partial(do, thing)), things):
            step()


def do_again_if_late(do: Callable[[], Made]) -> Made:
    """Call `do` until Cassandra answers in time, and return its result. Raises CassandraUnavailable after the last attempt."""
    for pause in PAUSES:
        try:
            return do()
        except CassandraUnavailable as error:
            log.warning("once more in %s s: %s", pause, error)
            sleep(pause)
    return do()


def load_categories(step: Step) -> None:
    """Add the demo shop's categories, parents first. A category that exists is not changed."""
    for position, category in enumerate(catalogue_data.CATEGORIES):
        save = partial(
            operations.save_category,
            category_id=catalogue_data.demo_category_id(category.slug),
            slug=category.slug,
            name=category.name,
            parent_id=catalogue_data.demo_category_id(category.parent) if category.parent else None,
            position=position,
            description=category.description,
            picture=category.picture,
        )
        with suppress(CategoryChanged):
            do_again_if_late(save)
        step()


# A new shop has two delivery methods. With these three it has five.
DELIVERY_METHODS = (
    DeliverySetting(
        "locker-de",
        "parcel-locker",
        "Parcel locker",
        ("DE",),
        "DHL",
        Decimal("3.90"),
        2,
        3,
        free_from=Decimal("50.00"),
        max_grams=10_000,
        position=2,
    ),
    DeliverySetting(
        "evening-ie",
        "evening",
        "Evening delivery",
        ("IE",),
        "DPD Ireland",
        Decimal("9.50"),
        1,
        2,
        max_grams=20_000,
        position=3,
    ),
    DeliverySetting(
        "pickup-ie",
        "pick-up",
        "Pick up in our shop in Dublin",
        ("IE",),
        "",
        Decimal("0.00"),
        1,
        1,
        is_pickup=True,
        position=4,
    ),
)
# Finland's reduced rate was 14 % until the end of 2025.
FORMER_RATES = DatedRates(date(2024, 9, 1), (Decimal("25.5"), Decimal(14)))


# The options and details of the demo shop's products by which shoppers filter.
FILTER_NAMES = tuple(
    FilterName(name.lower(), name, {"Colour": COLOUR, "Size": SIZE}.get(name, PLAIN), place)
    for place, name in enumerate(("Colour", "Size", "Wood", "Metal", "Scent", "Made in"), start=1)
)


def load_settings(now: datetime, step: Step) -> None:
    """Add the demo shop's delivery methods, former tax rates, third warehouse, filters and colours.

    Settings that the staff have saved are left alone.
    """
    saved = get_settings_at_quorum().stored
    if DELIVERY.name not in saved:
        do_again_if_late(
            lambda: change_settings(
                DELIVERY,
                lambda methods: {**methods, **{each.key: each for each in DELIVERY_METHODS}},
                now,
            )
        )
    step()
    if TAX.name not in saved:
        do_again_if_late(lambda: change_settings(TAX, _with_former_rates, now))
    step()
    if WAREHOUSE.name not in saved:
        do_again_if_late(lambda: change_settings(WAREHOUSE, _with_all_warehouses, now))
    step()
    if FILTERS.name not in saved:
        filters = {each.key: each for each in FILTER_NAMES}
        do_again_if_late(lambda: change_settings(FILTERS, lambda _: filters, now))
    step()
    palette = {
        colour_key(name): ColourSetting(colour_key(name), colour["hex"])
        for name, colour in catalogue_data.PALETTE.items()
    }
    do_again_if_late(lambda: change_settings(COLOURS, lambda known: {**palette, **known}, now))
    step()


def _with_all_warehouses(warehouses: Mapping[str, Warehouse]) -> dict[str, Warehouse]:
    return {
        each.slug: warehouses.get(each.slug) or Warehouse(each.slug, each.name, each.country, place)
        for place, each in enumerate(catalogue_data.WAREHOUSES)
    }


def _with_former_rates(taxes: Mapping[str, TaxSetting]) -> dict[str, TaxSetting]:
    finland = taxes["FI"]
    if FORMER_RATES in finland.periods:
        return dict(taxes)
    return {**taxes, "FI": replace(finland, periods=(FORMER_RATES, *finland.periods))}


def load_products(now: datetime, step: Step, *, renew: bool) -> None:
    """Add the demo shop's products. A product that exists is only changed if `renew`."""

    def load(product: catalogue_data.DemoProduct) -> None:
        product_id = catalogue_data.demo_product_id(product.key)
        present = queries.get_product_at_quorum(product_id)
        if present and not renew:
            # An earlier run may have ended before it had written the cards.
            operations.refresh_cards(product_id)
        else:
            made = _catalogue_product(product, now)
            if present is None:
                operations.add_former_prices(former_prices(made, now))
            version = present.version if present else 0
            save_reduced_as_allowed(replace(made, version=version), now)

    run_in_parallel(load, catalogue_data.PRODUCTS, step)


def save_reduced_as_allowed(product: Product, now: datetime) -> None:
    """Save a product, without crossed-out prices that are refused because the price was lower in the last 30 days."""
    try:
        operations.save_product(product, now)
    except ProductRefused as refused:
        reduced = product.get_variant(refused.variant_id) if refused.variant_id else None
        if refused.field != "compare_at" or reduced is None or reduced.compare_at is None:
            raise
        variants = (
            replace(each, compare_at=None) if each is reduced else each for each in product.variants
        )
        save_reduced_as_allowed(replace(product, variants=tuple(variants)), now)


def _catalogue_product(product: catalogue_data.DemoProduct, now: datetime) -> Product:
    # If all variants look alike, the product's photographs replace their pictures.
    has_looks = not product.photographs or len({each.picture for each in product.variants}) > 1
    variants = tuple(
        Variant(
            variant_id=catalogue_data.demo_variant_id(variant.sku),
            sku=variant.sku,
            options=variant.options,
            price=Money(variant.price, settings.CURRENCY),
            compare_at=Money(variant.compare_at, settings.CURRENCY) if variant.compare_at else None,
            picture=variant.picture if has_looks else "",
            weight_grams=variant.weight_grams,
            cost_price=Money(
                catalogue_data.usual_cost(variant.sku, variant.price), settings.CURRENCY
            ),
        )
        for variant in product.variants
    )
    return Product(
        product_id=catalogue_data.demo_product_id(product.key),
        slug=product.slug,
        name=product.name,
        brand=product.brand,
        description=product.description,
        details=product.details,
        category_id=catalogue_data.demo_category_id(product.category),
        option_names=product.option_names,
        tax_class=product.tax_class,
        variants=variants,
        featured=product.featured,
        related_ids=tuple(catalogue_data.demo_product_id(key) for key in product.related),
        pictures=tuple(_take_in(name, alt) for name, alt in product.photographs),
        created_at=now - timedelta(days=product.created_days_ago),
    )


def _take_in(name: str, alt: str) -> ProductPicture:
    """Store a photograph as if staff had uploaded it, and return the picture with its alternative text."""
    file = catalogue_data.PHOTOGRAPHS / f"{name}.jpg"
    return ProductPicture(str(take_in_photo(file.read_bytes(), file.name)), alt)


def former_prices(product: Product, since: datetime) -> dict[UUID, list[PricePoint]]:
    """Return the crossed-out prices of a product's variants, keyed by variant id, as price points 60 days before `since`."""
    return {
        each.variant_id: [PricePoint(since - timedelta(days=60), each.compare_at)]
        for each in product.variants
        if each.compare_at
    }


def load_stock(now: datetime, step: Step) -> None:
    """Receive the demo shop's units into its warehouses. Receipts of earlier loads are not repeated."""

    def receive(product: catalogue_data.DemoProduct) -> None:
        product_id = catalogue_data.demo_product_id(product.key)
        for variant in product.variants:
            variant_id = catalogue_data.demo_variant_id(variant.sku)
            for warehouse, units in variant.stock.items():
                if units:
                    receipt_id = uuid5(variant_id, f"receipt {warehouse}")
                    receive_stock(
                        product_id, variant_id, warehouse, units, FEW_LEFT_FROM, receipt_id, now
                    )
        copy_stock(product_id)

    run_in_parallel(receive, catalogue_data.PRODUCTS, step)


# Transfers from Berlin to Cork: the number of units, the days since the transfer, and whether the units have arrived.
TRANSFERS = ((4, 12, True), (3, 1, False))


def load_transfers(now: datetime, step: Step) -> None:
    """Make the transfers, with products that are in both warehouses. Transfers of earlier loads are not repeated."""
    in_both = [
        (product, variant)
        for product in catalogue_data.PRODUCTS
        for variant in product.variants
        if variant.stock.get("berlin", 0) > 10 and variant.stock.get("cork", 0)
    ]
    for (product, variant), (units, days_ago, has_arrived) in zip(in_both, TRANSFERS, strict=False):
        variant_id = catalogue_data.demo_variant_id(variant.sku)
        transfer = StockTransfer(
            transfer_id=uuid5(variant_id, "transfer berlin cork"),
            product_id=catalogue_data.demo_product_id(product.key),
            variant_id=variant_id,
            source="berlin",
            destination="cork",
            units=units,
            reason="Cork runs low",
            state=LEAVING,
            actor="Demo staff",
            started_at=now - timedelta(days=days_ago),
        )
        started = do_again_if_late(partial(start_transfer, transfer))
        if has_arrived:
            arrived_at = transfer.started_at + timedelta(days=2)
            do_again_if_late(partial(end_transfer, started, "cork", transfer.actor, arrived_at))
        step()


def load_logins(now: datetime, step: Step) -> None:
    """Create the accounts of the demo shop's three logins. Real shops refuse these logins."""

    def load(login: Login) -> None:
        user = register_user(
            login.email,
            login.name,
            login.password,
            now,
            login.role,
            login="demo",
            user_id=login.user_id,
        )
        enrol_demo_second_factor(user, now)

    for login in LOGINS:
        do_again_if_late(partial(load, login))
        step()


def load_promotions(now: datetime, step: Step) -> None:
    """Create the demo shop's promotions and codes. Promotions that exist or have ended are not changed."""
    for terms in PROMOTIONS:
        key = uuid5(DEMO_NAMESPACE, terms.title).hex
        with suppress(CodeTaken, AlreadyCreated):
            do_again_if_late(partial(create_promotion, terms, now, key=key))
        step()


def load_reviews(now: datetime, step: Step) -> None:
    """Add reviews to products that have none."""

    def load(slug: str) -> None:
        product_id = queries.find_product_id_by_slug(slug)
        if product_id is not None:
            said = (each for each in catalogue_data.REVIEWS if each.slug == slug)
            reviews.load_reviews(product_id, [_review(product_id, each, now) for each in said])

    run_in_parallel(load, list(dict.fromkeys(each.slug for each in catalogue_data.REVIEWS)), step)


def _review(product_id: UUID, said: catalogue_data.DemoReview, now: datetime) -> Review:
    """Return a review that was written some days ago. Its writer and the number of days are the same at each load."""
    user_id = uuid5(DEMO_NAMESPACE, f"{said.slug} {said.title}")
    written_at = truncate_to_milliseconds(
        now - timedelta(days=3 + user_id.int % 400, seconds=user_id.int % 86_400)
    )
    return Review(
        product_id=product_id,
        user_id=user_id,
        review_id=_time_id(written_at, user_id),
        stars=said.stars,
        title=said.title,
        body=said.body,
        name=said.name,
        state=PUBLISHED,
        # Four of five reviewers have bought the product in this shop.
        verified=user_id.int % 5 > 0,
        version=1,
        change_id=user_id,
        written_at=written_at,
        answer=said.answer,
        answered_at=written_at + timedelta(days=1) if said.answer else None,
    )


def load_questions(now: datetime, step: Step) -> None:
    """Add questions to products that have none."""

    def load(slug: str) -> None:
        product_id = queries.find_product_id_by_slug(slug)
        if product_id is not None and not list_texts_of_product(product_id):
            asked = (each for each in catalogue_data.QUESTIONS if each.slug == slug)
            questions.load_questions(
                [text for each in asked for text in _texts(product_id, each, now)]
            )

    run_in_parallel(load, list(dict.fromkeys(each.slug for each in catalogue_data.QUESTIONS)), step)


def _texts(product_id: UUID, asked: catalogue_data.DemoQuestion, now: datetime) -> Iterator[Text]:
    """Yield a question that was asked some weeks ago, and its answers from the days after it."""
    key = uuid5(DEMO_NAMESPACE, f"{asked.slug} {asked.body}")
    # A question without answers was asked a few days ago.
    days = 10 + key.int % 300 if asked.answers else 1 + key.int % 3
    written_at = truncate_to_milliseconds(now - timedelta(days=days, seconds=key.int % 86_400))
    question_id = _time_id(written_at, key)
    question = Text(
        product_id=product_id,
        question_id=question_id,
        answer_id=QUESTION,
        user_id=key,
        body=asked.body,
        name=asked.name,
        is_shops=False,
        state=PUBLISHED,
        version=1,
        change_id=key,
        written_at=written_at,
        held_for="" if asked.answers else UNANSWERED,
        queued_at=None if asked.answers else written_at,
    )
    yield question
    for number, (name, body) in enumerate(asked.answers, start=1):
        answered_at = written_at + timedelta(days=number, hours=number)
        own = uuid5(key, body)
        yield replace(
            question,
            answer_id=_time_id(answered_at, own),
            user_id=own,
            body=body,
            name=name,
            is_shops=not name,
            change_id=own,
            written_at=answered_at,
        )


def _time_id(moment: datetime, key: UUID) -> UUID:
    """Return a time-based id (UUID version 1) that is always the same for a moment and a key."""
    made: UUID = uuid_from_time(moment, key.int % 2**47, key.int % 2**14)
    return made


def rebuild_derived(now: datetime, step: Step) -> None:
    """Rebuild the data derived from the products: front page, related products, search suggestions, search index and sitemap."""
    products = do_again_if_late(lambda: list(queries.iterate_products()))
    for rebuild in (
        lambda: operations.rebuild_featured(products),
        lambda: operations.rebuild_related(products, list_bought_together()),
        lambda: operations.rebuild_prefixes(products),
        lambda: build_index(products),
        lambda: write_sitemap(products, now),
    ):
        do_again_if_late(rebuild)
        step()
