"""What a process with a wrong clock has left is named and repaired, and every copy has a rule that looks at it."""

from datetime import UTC, date, datetime, timedelta
from time import time_ns
from uuid import uuid4

import time_machine

from accounts import audit_log
from analytics import queries as sales
from analytics.figures import SoldLine
from analytics.operations import Sale, mark_day_changed, record_sale, roll_up_day
from catalogue import operations as catalogue
from catalogue import queries as products
from consistency import catalogue as catalogue_rules
from consistency import lists
from consistency.findings import Scope
from consistency.runner import RULES
from devtools.keyspaces import list_models
from inventory.operations import copy_stock
from jobs.leases import get_lease
from mail.operations import queue_mail
from promotions.operations import redeem_voucher
from tests.consistency.test_check_consistency import cql, found, repair
from tests.factories import make_order, make_product, make_stock, make_user
from tests.jobs.test_clock import leave_in_future
from tests.promotions.test_vouchers import make_voucher

DAY = timedelta(days=1)
# Which rule compares a copy with its original, or sees to it that a list leads to all that it has to.
RULES_BY_COPY = {
    "stock_by_product": "I13",
    **dict.fromkeys(("orders_by_user", "order_years_by_user", "orders_by_email"), "I3"),
    **dict.fromkeys(("orders_by_status", "order_days_by_status", "order_ids_by_number"), "I3"),
    **dict.fromkeys(("sales_facts", "daily_sales"), "I7"),
    "users_by_email": "I8",
    "reservations_by_minute": "I4",
    **dict.fromkeys(("products_by_category", "list_positions_by_product"), "I14"),
    **dict.fromkeys(("featured_products", "related_products", "products_by_name_prefix"), "I14"),
    **dict.fromkeys(("product_ids_by_slug", "variants_by_sku"), "I14"),
    **dict.fromkeys(lists.RULES, "I14"),
}
# Originals; notes for the worker, which are gone when it has looked; and what conditional batches alone write beside its original.
NO_COPIES = {
    *(
        "leases",
        "rate_limit_slots",
        "products",
        "categories",
        "inventory",
        "stock_ledger",
        "backorders",
    ),
    *("product_changes", "sales_days", "mails", "outbox_by_minute", "promotions", "voucher_uses"),
    *("subscriptions_by_variant", "items_by_cart", "carts_by_idempotency_key", "people_by_cart"),
    *("pending_cart_moves_by_minute", "users", "sessions", "verified_users_by_minute", "staff"),
    *("second_factors", "audit_log", "erasures", "orders", "order_items", "payments"),
    *("payment_webhooks", "pending_effects_by_minute", "testbank_payments", "testbank_notices"),
    "carts_by_user",  # a person's role there is a copy, which nobody asks: people_by_cart decides
    "sessions_by_user",  # rows with the session's own TTL, written before it and again after it
}


def in_a_day() -> int:
    """A write timestamp of tomorrow."""
    return time_ns() // 1000 + DAY // timedelta(microseconds=1)


def test_i11_a_lease_in_the_future_is_named_and_put_right() -> None:
    job = f"test-{uuid4()}"
    now = datetime.now(UTC)
    leave_in_future(job, now)
    (named,) = found(Scope(jobs=frozenset({job})), "I11")
    assert named.startswith(f"I11 job {job}: its lease is dated in the future")
    assert repair(Scope(jobs=frozenset({job})), "I11").is_clean
    lease = get_lease(job)
    assert (lease.last_run, lease.held_until) == (None, None)
    assert datetime.fromisoformat(lease.position) < now


def test_i13_stock_of_a_wrong_clock_is_repaired_above_its_timestamp_and_stays_named() -> None:
    product = make_product("Hourglass")
    variant_id = product.variants[0].variant_id
    make_stock(5, product_id=product.product_id, variant_id=variant_id)
    copy_stock(product.product_id)
    only = Scope(products=frozenset({product.product_id}), tables=frozenset({"stock_by_product"}))
    assert found(only, "I13") == []
    wrong = "UPDATE stock_by_product USING TIMESTAMP %s SET available = 50 WHERE product_id = %s AND variant_id = %s AND warehouse_id = 'berlin'"
    cql(wrong, in_a_day(), product.product_id, variant_id)
    copy_stock(product.product_id)
    (named,) = found(only, "I13")
    assert "pages show other units than there are (50, not 5)" in named, "an ordinary write is lost"
    assert repair(only, "I13").is_clean
    mine = f"I12 stock_by_product: {product.product_id}"
    assert [each for each in found(only, "I12") if each.startswith(mine)], "until it has passed"
    with time_machine.travel(datetime.now(UTC) + DAY + timedelta(minutes=1), tick=True):
        assert not [each for each in found(only, "I12") if each.startswith(mine)]


def test_i7_figures_of_a_wrong_clock_are_added_up_again() -> None:
    day = date(2031, 5, 6)
    placed = datetime(2031, 5, 6, 12, tzinfo=UTC)
    line = SoldLine(1, uuid4(), uuid4(), 3, 3000, 2521, 0, 0, 0)
    order_id = uuid4()
    record_sale(Sale(order_id, placed, 1, "EUR", (line,)))
    with time_machine.travel(datetime.now(UTC) + DAY, tick=True):
        mark_day_changed(day)
        roll_up_day(day)
        cql(
            "UPDATE daily_sales USING TIMESTAMP %s SET units = 99 WHERE month = %s AND day = %s AND category_id = %s AND currency = 'EUR'",
            *(
                in_a_day(),
                date(2031, 5, 1),
                day,
                next(iter(sales.list_daily_sales(day, day))).category_id,
            ),
        )
    roll_up_day(day)
    only = Scope(days=frozenset({day}))
    (named,) = [each for each in found(only, "I7") if "figures" in each]
    assert "the figures are not the sum of the facts" in named
    assert not [each for each in repair(only, "I7").violations if "figures" in each.fault]


def test_i14_cards_and_addresses_are_what_the_product_says() -> None:
    product = make_product("Sextant")
    catalogue.refresh_cards(product.product_id)
    only = Scope(products=frozenset({product.product_id}))
    assert found(only, "I14") == []
    sku = product.variants[0].sku
    cql("DELETE FROM product_ids_by_slug WHERE slug = %s", product.slug)
    cql("DELETE FROM variants_by_sku WHERE sku = %s", sku)
    category_id, sort, sort_key = sorted(catalogue.list_positions(product.product_id))[0]
    cql(
        "UPDATE products_by_category USING TIMESTAMP %s SET name = 'Octant' WHERE category_id = %s AND sort = %s AND sort_key = %s AND product_id = %s",
        *(in_a_day(), category_id, sort, sort_key, product.product_id),
    )
    catalogue.refresh_cards(product.product_id)
    assert sorted(each.split(": ")[1].split(" (")[0] for each in found(only, "I14")) == [
        "its SKU leads elsewhere, or nowhere",
        "its address leads elsewhere, or nowhere",
        "its cards are not what it says",
    ]
    assert repair(only, "I14").is_clean
    assert products.find_product_id_by_slug(product.slug) == product.product_id


def test_i14_what_a_list_has_to_lead_to_is_there() -> None:
    now, user = datetime.now(UTC), make_user()
    mail_id = queue_mail(uuid4(), "asked", user.email, "registration", {"url": "x"}, now)
    code, order_id = make_voucher(uses=5), make_order().order_id
    redeem_voucher(code, "", order_id, now)
    audit_log.add_entry("login", now, by=user.pk)
    month = now.date().replace(day=1)
    cql("DELETE FROM mails_by_recipient WHERE recipient = %s AND mail_id = %s", user.email, mail_id)
    cql("DELETE FROM vouchers_by_order WHERE order_id = %s", order_id)
    cql("DELETE FROM audit_log_by_actor WHERE actor_id = %s AND month = %s", user.pk, month)
    for table, mine in (
        ("mails_by_recipient", str(mail_id)),
        ("vouchers_by_order", str(order_id)),
        ("audit_log_by_actor", str(user.pk)),
    ):
        missing = [each for each in lists._check_list(table) if mine in each.subject]
        assert missing, table
        for each in missing:
            assert each.fix
            each.fix(now)
        assert not [each for each in lists._check_list(table) if mine in each.subject], table


def test_i14_cards_elsewhere_are_what_their_products_say() -> None:
    product = make_product("Astrolabe")
    prefix = f"zz{uuid4().hex[:6]}"
    cql(
        "INSERT INTO products_by_name_prefix (prefix, rank, product_id, name) VALUES (%s, 1, %s, 'Sundial')",
        *(prefix, product.product_id),
    )
    cql(
        "DELETE FROM product_changes WHERE day = %s AND shard IN (0, 1, 2, 3, 4, 5, 6, 7)",
        datetime.now(UTC).date(),
    )
    mine = f"products_by_name_prefix, product {product.product_id}"
    (named,) = [
        each
        for each in catalogue_rules._check_shown("products_by_name_prefix")
        if each.subject == mine
    ]
    assert named.fix
    named.fix(datetime.now(UTC))
    assert not [
        each
        for each in catalogue_rules._check_shown("products_by_name_prefix")
        if each.subject == mine
    ]


def test_every_copy_has_a_rule_and_a_repair() -> None:
    tables = {model.__table_name__ for model in list_models()}
    unknown = tables - RULES_BY_COPY.keys() - NO_COPIES
    assert unknown == set(), "name its rule, or say that it is no copy"
    assert set(RULES_BY_COPY.values()) <= set(RULES)
    assert (RULES_BY_COPY.keys() | NO_COPIES) == tables
