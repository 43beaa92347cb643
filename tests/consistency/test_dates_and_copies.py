"""What a process with a wrong clock has left is named and repaired, and every copy has a rule that looks at it."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from time import time_ns
from uuid import UUID, uuid4

import pytest
import time_machine
from moneyed import EUR, Money

from accounts import audit_log
from analytics.figures import SoldLine
from analytics.operations import Sale, mark_day_changed, record_sale, roll_up_day
from cart.operations import create_cart
from cart.operations.sharing import invite_person
from cart.people import CartUser
from cassandra_db import read, write_after
from cassandra_db.partitions import list_models
from catalogue import operations, queries
from catalogue.card_rows import RelatedCard, pack_related
from catalogue.prices import PricePoint
from catalogue.queries import find_product_id_by_slug, find_variant_by_sku
from consistency import catalogue, dates, lists
from consistency.card_lists import CARD_LISTS, check_card_list
from consistency.findings import Scope, Violation
from consistency.runner import RULES
from inventory.operations import copy_stock
from jobs.leases import get_lease
from jobs.minutes import floor_to_minute
from mail.operations import queue_mail
from promotions.operations import redeem_voucher
from tests.consistency.test_check_consistency import cql, found, repair
from tests.factories import make_order, make_product, make_user
from tests.jobs.test_clock import leave_in_future
from tests.promotions.test_vouchers import make_voucher
from web.origin import Origin

DAY = timedelta(days=1)
ORIGIN_TTL = read(
    "test",
    """SELECT TTL(address) AS seconds FROM audit_log_by_actor
       WHERE actor_id = :actor_id AND month = :month AND at = :at AND part = :part""",
)
# Which rule compares a copy with its original, or sees to it that a list leads to all that it has to.
RULES_BY_COPY = {
    "stock_by_product": "I13",
    "stock_items_by_warehouse": "I26",
    "open_stock_transfers": "I27",
    "stock_history": "I28",
    **dict.fromkeys(("orders_by_user", "order_years_by_user"), "I3"),
    **dict.fromkeys(("orders_by_email_and_year", "order_years_by_email"), "I3"),
    **dict.fromkeys(("orders_by_status", "order_days_by_status", "board_counts"), "I3"),
    "order_ids_by_number": "I3",
    **dict.fromkeys(("orders_by_search_term", "search_terms_by_order"), "I32"),
    **dict.fromkeys(("users_by_search_term", "search_terms_by_user"), "I32"),
    "tracking_numbers": "I32",
    **dict.fromkeys(("sales_facts", "daily_sales_by_dimension"), "I7"),
    **dict.fromkeys(("book_entries", "book_sums", "open_invoices"), "I53"),
    "past_orders_by_owner": "I54",
    "unmatched_payments": "I55",
    "users_by_email": "I8",
    **dict.fromkeys(("user_stats", "customers_by_last_order"), "I35"),
    **dict.fromkeys(
        ("reviews_by_product", "reviews_by_user", "reviews_to_moderate", "moderation_days"), "I38"
    ),
    "questions_by_user": "I40",
    **dict.fromkeys(("watchers_by_product", "watched_products"), "I43"),
    **dict.fromkeys(("conversations_by_customer", "conversations_by_topic"), "I44"),
    "labels_by_user": "I45",
    "conversations_by_label": "I46",
    **dict.fromkeys(("posts_by_user", "posts_by_month", "posts_by_tag", "posts_by_product"), "I47"),
    **dict.fromkeys(("likes_by_post", "comments_by_user"), "I48"),
    "people_by_handle": "I49",
    "follows_by_followed": "I50",
    "reservations_by_minute": "I4",
    **dict.fromkeys(("products_by_category", "list_positions_by_product"), "I14"),
    **dict.fromkeys(CARD_LISTS, "I14"),
    **dict.fromkeys(("product_ids_by_slug", "variants_by_sku"), "I14"),
    "product_schedule_by_minute": "I18",
    **dict.fromkeys(("bulk_changes", "bulk_change_rows"), "I21"),
    **dict.fromkeys(("order_changes", "order_change_rows"), "I33"),
    **dict.fromkeys(("spreadsheet_tasks", "spreadsheet_rows"), "I24"),
    **dict.fromkeys(lists.RULES, "I14"),
    # The pages' settings are the copies of these.
    "text_page_versions": "I51",
}
# Originals; notes for the worker, which are gone when it has looked; and what conditional batches alone write beside its original.
NO_COPIES = {
    "draft_orders",
    *(
        "leases",
        "rate_limit_slots",
        "products",
        "price_history",
        "categories",
        "shop_settings",
        "front_page_pins",
        "inventory",
        "stock_ledger",
        "stock_transfers",
        "backorders",
    ),
    "remembered_mappings",  # what staff chose; a file with these columns is asked about anew without it
    *("picture_uploads", "waiting_uploads_by_day", "fetched_pictures"),
    *(
        "product_changes_by_hour",
        "sales_days",
        "mails",
        "outbox_by_minute",
        "promotions",
        "voucher_uses",
    ),
    *("subscriptions_by_variant", "items_by_cart", "carts_by_idempotency_key", "people_by_cart"),
    *("pending_cart_moves_by_minute", "users", "sessions", "verified_users_by_minute", "staff"),
    *("second_factors", "audit_log", "erasures", "orders", "order_items", "payments"),
    *("payment_webhooks", "pending_effects_by_minute", "testbank_payments", "testbank_notices"),
    *("customer_notes", "customer_looks", "pending_user_stats_by_minute", "named_users_by_hour"),
    *("ratings_by_product", "votes_by_review", "pending_reviews_by_period"),
    *("questions_by_product", "pending_questions_by_period"),
    *("notifications", "pending_notifications_by_minute", "due_digests_by_quarter"),
    *("conversations", "message_claims", "attachments", "message_drafts", "contact_requests"),
    *("pending_conversations_by_minute", "pending_attachments_by_hour", "emptied_labels_by_minute"),
    *("viewers_by_conversation", "blocked_senders"),
    "review_request_stops",
    *("posts", "post_comments", "likes_by_user", "profiles", "follows_by_user", "blocks_by_user"),
    *("pending_posts_by_minute", "pending_likes_by_minute", "pending_feeds_by_minute"),
    *("likes_by_post_partitions", "follows_by_followed_partitions", "crowded_people"),
    # Made anew every hour; feeds are filtered by the follows and posts themselves.
    *("likes_by_hour", "likes_counter", "popular_posts", "feed_by_user"),
    "delivered_orders_by_day",  # for the one who asks for reviews, gone after 60 days; an effect of the event writes it
    # Counted from events that are gone in three days: afterwards there is nothing to compare them with.
    *("events", "visitor_salts", "hourly_visits", "product_views", "top_products"),
    *("top_searches", "search_clicks", "daily_visits", "live_minutes"),
    *("sensors", "sensordata"),
    # Counted anew each night from all products; what was in stock last night nothing knows today.
    *("stock_values", "products_needing_attention"),
    "sensor_quarters",  # what each process has seen: a lowest and a highest that nothing else keeps apart
    *("past_orders", "people_rows"),
    *("late_book_entries", "book_months", "pending_book_days_by_minute"),
    "book_differences",  # compared anew each night, with the time of the comparison
    *("redirects", "missing_addresses"),
    "customer_months",  # it only says where to look for rows of customers_by_last_order
    "customer_segments",  # counted anew each night, with the time of the count
    "daily_customers",  # an order whose person was erased since does not say any more which it was
    "carts_by_user",  # a person's role there is a copy, which nobody asks: people_by_cart decides
    "mails_by_person",  # nothing else says whom a mail to another mailbox names: there is nothing to compare it with
    "failed_mails_by_day",  # what staff have sent again is taken out
    "undeliverable_addresses",
    "consistency_checks",  # what was found when: nothing else knows
    "viewers_by_order",  # rows of seconds
    "recent_order_tags",  # what staff are offered, with a TTL; the orders decide
    "unpaid_units",  # rows guarded by a version, with a TTL; the orders themselves decide
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
    product = make_product("Hourglass", stock=5)
    variant_id = product.variants[0].variant_id
    copy_stock(product.product_id)
    only = Scope(products=frozenset({product.product_id}), tables=frozenset({"stock_by_product"}))
    assert found(only, "I13") == []
    wrong = "UPDATE stock_by_product USING TIMESTAMP %s SET available = 50 WHERE product_id = %s AND variant_id = %s AND warehouse_id = 'berlin'"
    cql(wrong, in_a_day(), product.product_id, variant_id)
    (named,) = found(only, "I13")
    assert "pages show other units than there are (50, not 5)" in named
    assert repair(only, "I13").is_clean
    mine = f"I12 stock_by_product: {product.product_id}"
    assert [each for each in found(only, "I12") if each.startswith(mine)], "until it has passed"
    with time_machine.travel(datetime.now(UTC) + DAY + timedelta(minutes=1), tick=True):
        assert not [each for each in found(only, "I12") if each.startswith(mine)]


def test_i13_a_product_that_says_other_than_its_stock_is_named_and_put_right() -> None:
    product = make_product("Hourglass", stock=5)
    copy_stock(product.product_id)
    operations.set_availability(product.product_id, "out", ())
    only = Scope(products=frozenset({product.product_id}))
    (named,) = found(only, "I13")
    assert "its availability is not what its stock says (out, not in)" in named
    assert repair(only, "I13").is_clean
    operations.set_availability(product.product_id, "in", ())
    (named,) = found(only, "I13")
    variant_id = product.variants[0].variant_id
    assert f"its variants in stock are not those that its stock says ({variant_id})" in named
    assert repair(only, "I13").is_clean
    assert found(only, "I13") == []


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
            """UPDATE daily_sales_by_dimension USING TIMESTAMP %s SET units = 99
               WHERE month = %s AND dimension = 'customer' AND day = %s AND key = '?' AND currency = 'EUR'""",
            *(in_a_day(), date(2031, 5, 1), day),
        )
    roll_up_day(day)
    only = Scope(days=frozenset({day}))
    (named,) = [each for each in found(only, "I7") if "figures" in each]
    assert "the figures are not the sum of the facts" in named
    assert not [each for each in repair(only, "I7").violations if "figures" in each.fault]


def test_i14_cards_and_addresses_are_what_the_product_says() -> None:
    product = make_product("Sextant")
    operations.refresh_cards(product.product_id)
    only = Scope(products=frozenset({product.product_id}))
    assert found(only, "I14") == []
    sku = product.variants[0].sku
    cql("DELETE FROM product_ids_by_slug WHERE slug = %s", product.slug)
    cql("DELETE FROM variants_by_sku WHERE sku = %s", sku)
    category_id, sort, sort_key = sorted(operations.list_positions(product.product_id))[0]
    cql(
        "UPDATE products_by_category USING TIMESTAMP %s SET name = 'Octant' WHERE category_id = %s AND sort = %s AND sort_key = %s AND product_id = %s",
        *(in_a_day(), category_id, sort, sort_key, product.product_id),
    )
    operations.refresh_cards(product.product_id)
    assert sorted(each.split(": ")[1].split(" (")[0] for each in found(only, "I14")) == [
        "its SKU leads elsewhere, or nowhere",
        "its address leads elsewhere, or nowhere",
        "its cards are not what it says",
    ]
    assert repair(only, "I14").is_clean
    assert find_product_id_by_slug(product.slug) == product.product_id


def test_i14_a_card_that_its_product_does_not_know_is_deleted() -> None:
    kept, lost = (make_product(name, listed=True) for name in ("Sextant", "Octant"))
    only = Scope(
        products=frozenset({kept.product_id, lost.product_id}),
        tables=frozenset({"products_by_category"}),
    )
    assert found(only, "I14") == []
    places = operations.list_positions(kept.product_id)
    category_id, sort, _ = sorted(places)[0]
    cql(
        "INSERT INTO products_by_category (category_id, sort, sort_key, product_id, name) VALUES (%s, %s, %s, %s, 'Sextant')",
        *(category_id, sort, b"\0", kept.product_id),
    )
    # As after a restore of a backup whose tables are of different moments.
    cql("DELETE FROM products WHERE product_id = %s", lost.product_id)
    named = found(only, "I14")
    assert all("has a card that its product does not know" in each for each in named)
    assert len([each for each in named if str(kept.product_id) in each]) == 1
    assert len([each for each in named if str(lost.product_id) in each]) == len(places)
    assert repair(only, "I14").is_clean
    assert found(only, "I14") == []
    assert operations.list_positions(kept.product_id) == places


def test_i14_lists_have_two_minutes_to_follow_what_changes_by_itself() -> None:
    product = make_product("Clepsydra", price="30.00", listed=True)
    begins = datetime.now(UTC) + DAY
    variants = (replace(product.variants[0], planned=(PricePoint(begins, Money("25", EUR)),)),)
    operations.save_product(replace(product, variants=variants), datetime.now(UTC))
    only = Scope(products=frozenset({product.product_id}))
    for late, named in ((1, 0), (3, 1)):
        with time_machine.travel(begins + timedelta(minutes=late), tick=True):
            assert len(found(only, "I14")) == named


def test_i17_what_was_claimed_and_never_saved_is_free_again_after_a_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product, lost = make_product("Orrery"), make_product("Alidade")
    cql("DELETE FROM products WHERE product_id = %s", lost.product_id)
    only = Scope(
        products=frozenset({product.product_id, lost.product_id}),
        tables=frozenset({"product_ids_by_slug", "variants_by_sku"}),
    )
    assert found(only, "I17") == [], "its form may be sent again"
    monkeypatch.setattr(catalogue, "CLAIMED_FOR_NOTHING", -DAY)
    assert sorted(each.split(": ")[0] for each in found(only, "I17")) == [
        f"I17 the SKU {lost.variants[0].sku}",
        f"I17 the address {lost.slug}",
    ]
    assert repair(only, "I17").is_clean
    assert find_product_id_by_slug(lost.slug) is None
    assert find_variant_by_sku(lost.variants[0].sku) is None
    assert find_product_id_by_slug(product.slug) == product.product_id


def test_i17_a_sku_that_a_variant_had_before_is_free_again_a_day_after_the_last_save() -> None:
    product, other = make_product("Orrery"), make_product("Alidade")
    former = f"F-{uuid4().hex.upper()}"
    operations.save_product(replace(product, slug=f"{product.slug}-x"), datetime.now(UTC))
    only = Scope(
        products=frozenset({product.product_id}),
        tables=frozenset({"product_ids_by_slug", "variants_by_sku"}),
    )
    cql(
        "INSERT INTO variants_by_sku (sku, product_id, variant_id) VALUES (%s, %s, %s) USING TIMESTAMP %s",
        *(former, product.product_id, product.variants[0].variant_id),
        in_a_day() - 3 * DAY // timedelta(microseconds=1),
    )
    assert found(only, "I17") == [], "open pages and carts name it"
    with time_machine.travel(datetime.now(UTC) + DAY + timedelta(minutes=1), tick=True):
        assert [each.split(": ")[0] for each in found(only, "I17")] == [f"I17 the SKU {former}"]
        assert repair(only, "I17").is_clean
    stolen = (replace(other.variants[0], sku=former),)
    operations.save_product(replace(other, variants=stolen), datetime.now(UTC))
    assert find_product_id_by_slug(product.slug) == product.product_id


def test_i14_i17_an_old_address_leads_to_its_product_alone_and_is_free_once_it_is_given_up() -> (
    None
):
    kept, former = (f"/products/{uuid4().hex}" for _ in range(2))
    product = make_product("Orrery")
    operations.save_product(replace(product, old_addresses=kept), datetime.now(UTC))
    only = Scope(
        products=frozenset({product.product_id}), tables=frozenset({"product_ids_by_slug"})
    )
    cql("DELETE FROM product_ids_by_slug WHERE slug = %s", kept)
    cql(
        "INSERT INTO product_ids_by_slug (slug, product_id) VALUES (%s, %s) USING TIMESTAMP %s",
        *(former, product.product_id),
        in_a_day() - 3 * DAY // timedelta(microseconds=1),
    )
    assert [each.split(": ")[0] for each in found(only, "I14")] == [
        f"I14 product {product.product_id}"
    ]
    assert repair(only, "I14").is_clean
    assert find_product_id_by_slug(kept) == product.product_id
    with time_machine.travel(datetime.now(UTC) + DAY + timedelta(minutes=1), tick=True):
        assert [each.split(": ")[0] for each in found(only, "I17")] == [f"I17 the address {former}"]
        assert repair(only, "I17").is_clean
    assert find_product_id_by_slug(former) is None
    assert find_product_id_by_slug(product.slug) == product.product_id


def test_i18_a_product_that_will_come_is_scheduled() -> None:
    product = make_product("Planimeter")
    # A microsecond is none of a row's: it is not a minute later.
    comes = floor_to_minute(datetime.now(UTC) + DAY) + timedelta(microseconds=1)
    saved = operations.save_product(replace(product, active_from=comes), datetime.now(UTC))
    only = Scope(products=frozenset({product.product_id}))
    assert found(only, "I18") == []
    (minute,) = {operations.schedule_minute(each) for each in saved.moments}
    operations.DELETE_SCHEDULE.run(minute=minute, product_id=product.product_id)
    (named,) = found(only, "I18")
    assert "lists will not follow" in named
    assert repair(only, "I18").is_clean


def missing_in(table: str, mine: str) -> list[Violation]:
    return [each for each in lists.check_list(table) if mine in each.subject]


def fix(violation: Violation) -> None:
    """Fix it as the runner does."""
    assert violation.fix
    with write_after(violation.written):
        violation.fix(datetime.now(UTC))


def test_i14_what_a_list_has_to_lead_to_is_there() -> None:
    now, user = datetime.now(UTC), make_user()
    mail_id = queue_mail(uuid4(), "asked", user.email, "registration", {"url": "x"}, now)
    code, order_id = make_voucher(uses=5), make_order().order_id
    redeem_voucher(code, (), order_id, now)
    audit_log.add_entry("login", now, by=user.pk)
    month = now.date().replace(day=1)
    owner_id, invited = uuid4(), f"{uuid4().hex}@example.com"
    cart_id = create_cart(owner_id, "Ours", uuid4(), now)
    invite_person(CartUser(owner_id, "Ann", "ann@example.com"), cart_id, invited, "viewer", now)
    cql("DELETE FROM mails_by_recipient WHERE recipient = %s AND mail_id = %s", user.email, mail_id)
    cql("DELETE FROM invitations_by_email WHERE email = %s", invited)
    cql("DELETE FROM vouchers_by_order WHERE order_id = %s", order_id)
    cql("DELETE FROM audit_log_by_actor WHERE actor_id = %s AND month = %s", user.pk, month)
    for table, mine in (
        ("mails_by_recipient", str(mail_id)),
        ("invitations_by_email", invited),
        ("vouchers_by_order", str(order_id)),
        ("audit_log_by_actor", str(user.pk)),
    ):
        missing = missing_in(table, mine)
        assert missing, table
        for each in missing:
            fix(each)
        assert not missing_in(table, mine), table


def test_i14_an_entry_of_the_audit_log_is_written_again_with_all_that_is_left_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit_log, "current_origin", lambda: Origin("192.0.2.7", "Firefox"))
    now, user_id = datetime.now(UTC), uuid4()
    month = now.date().replace(day=1)
    entry = audit_log.open_entry("order_note", now, by=user_id, name="Ann")
    audit_log.close_entry(entry, "done", {"status": "draft → active"})
    cql(
        "INSERT INTO audit_log (book, day, at, part, address, device) VALUES (%s, %s, %s, 0, '192.0.2.7', 'Firefox') USING TTL 1000",
        *(audit_log.STAFF, now.date(), entry.at),
    )
    before = audit_log.list_actor_entries(user_id, month, "", 5)
    cql("DELETE FROM audit_log_by_actor WHERE actor_id = %s AND month = %s", user_id, month)
    missing = missing_in("audit_log_by_actor", str(user_id))
    assert len(missing) == 2, "before the act, and after it"
    for each in missing:
        fix(each)
    assert audit_log.list_actor_entries(user_id, month, "", 5) == before
    place = {"actor_id": user_id, "month": month, "at": entry.at, "part": 0}
    row = ORIGIN_TTL.one(**place)
    assert row
    assert 0 < row.seconds <= 1000, "it goes when it would have gone"


def test_i14_what_was_deleted_meanwhile_is_not_listed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    email = f"{uuid4().hex}@example.com"
    mail_id = queue_mail(uuid4(), "asked", email, "registration", {"url": "x"}, datetime.now(UTC))
    seen = [row for row in lists.MAILS.iterate_table() if row.mail_id == mail_id]
    cql("DELETE FROM mails_by_recipient WHERE recipient = %s", email)
    (missing,) = missing_in("mails_by_recipient", str(mail_id))
    cql("DELETE FROM mails WHERE mail_id = %s IF EXISTS", mail_id)
    fix(missing)
    assert lists.MAIL_LISTED.one(recipient=email, mail_id=mail_id) is None
    # A node that has missed the deletion answers the scan.
    monkeypatch.setattr(lists.MAILS, "iterate_table", lambda: iter(seen))
    assert seen
    assert not missing_in("mails_by_recipient", str(mail_id))


def test_i14_what_is_left_of_a_mail_that_was_sent_30_days_ago_has_to_be_listed_nowhere() -> None:
    mail_id = uuid4()
    cql("UPDATE mails SET attempts = 1 WHERE mail_id = %s IF recipient = null", mail_id)
    assert not missing_in("mails_by_recipient", str(mail_id))


def wrong_cards(table: str, product_id: UUID) -> list[Violation]:
    mine = f"{table}, product {product_id}"
    return [each for each in check_card_list(table) if each.subject == mine]


def forget_changes() -> None:
    """As if no product had changed lately."""
    hour = floor_to_minute(datetime.now(UTC)).replace(minute=0)
    for number in range(25):
        cql(
            "DELETE FROM product_changes_by_hour WHERE hour = %s",
            hour - number * timedelta(hours=1),
        )


def test_i14_cards_elsewhere_are_what_their_products_say_and_no_other_card_is_written() -> None:
    """Neither a card with an ordinary stamp nor one of tomorrow, on any of the three lists."""
    product, ended = make_product("Astrolabe"), make_product("Sundial")
    operations.save_product(replace(ended, status="archived"), datetime.now(UTC))
    forget_changes()
    lists_of_cards = {
        "featured_products": ("feature_type, position, product_id", f"test-{uuid4().hex}"),
        "products_by_name_prefix": ("prefix, rank, product_id", f"zz{uuid4().hex[:6]}"),
    }
    tables = (*lists_of_cards, "related_cards")
    stamped = {row for table in tables for row in stamped_rows(table)}
    cards = (
        (1, product.product_id, in_a_day()),
        (2, product.product_id, time_ns() // 1000),
        (3, ended.product_id, time_ns() // 1000),
    )
    for table, (key, partition) in lists_of_cards.items():
        for rank, shown_id, stamp in cards:
            cql(
                f"INSERT INTO {table} ({key}, name) VALUES (%s, %s, %s, 'Sextant') USING TIMESTAMP %s",  # noqa: S608
                *(partition, rank, shown_id, stamp),
            )
    shown = replace(queries.product_card(product), name="Sextant")
    for _, shown_id, stamp in cards:
        cql(
            "INSERT INTO related_cards (product_id, cards) VALUES (%s, %s) USING TIMESTAMP %s",
            *(
                uuid4(),
                pack_related([RelatedCard(replace(shown, product_id=shown_id), False)]),
                stamp,
            ),
        )
    for table in tables:
        wrong = wrong_cards(table, product.product_id) + wrong_cards(table, ended.product_id)
        assert len(wrong) == 3, table
        for each in wrong:
            fix(each)
        assert not wrong_cards(table, product.product_id), table
        assert not wrong_cards(table, ended.product_id), table
    newly_stamped = {row for table in tables for row in stamped_rows(table)} - stamped
    assert len(newly_stamped) == 3, "what is not wrong can still be written"


def stamped_rows(table: str) -> set[str]:
    """The rows of a table that are stamped in the future."""
    return {each.subject for each in dates.check_stamps(table)}


def test_i14_a_list_that_is_not_mutual_waits_for_the_daily_job() -> None:
    product, other = make_product("Compass"), make_product("Chart")
    operations.refresh_related(replace(other, related_ids=(product.product_id,)))
    changed = operations.save_product(replace(product, name="Pocket compass"), datetime.now(UTC))
    operations.refresh_related(changed)
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
    forget_changes()
    operations.record_product_change(product.product_id, an_hour_ago)
    assert not wrong_cards("related_cards", product.product_id)
    forget_changes()
    (wrong,) = wrong_cards("related_cards", product.product_id)
    fix(wrong)
    assert not wrong_cards("related_cards", product.product_id)
    (related,) = operations.list_related_with_pins(other.product_id)
    assert (related.card.name, related.pinned) == ("Pocket compass", True)


def test_every_copy_has_a_rule_and_a_repair() -> None:
    tables = {model.__table_name__ for model in list_models()}
    unknown = tables - RULES_BY_COPY.keys() - NO_COPIES
    assert unknown == set(), "name its rule, or say that it is no copy"
    assert set(RULES_BY_COPY.values()) <= set(RULES)
    assert (RULES_BY_COPY.keys() | NO_COPIES) == tables
