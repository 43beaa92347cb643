"""How each job comes upon rows, so that a test can have one of them fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid1, uuid4

import pytest
import tantivy
from cassandra.util import uuid_from_time

from accounts import queries as accounts
from accounts.operations.email_change import EMAIL_PROOFS
from accounts.operations.erasure import ERASURES
from accounts.operations.search_terms import NAMES_UNDER_WAY
from cart.operations.transfers import PENDING_MOVES
from catalogue import bulk_changes
from catalogue import operations as catalogue
from catalogue import queries as catalogue_queries
from catalogue.bulk_acts import BulkAct
from catalogue.search_index import build_index
from conversations.operations.attachments import PENDING_UPLOADS
from conversations.operations.pending import EMPTIED, PENDING
from conversations.rules import NOBODY
from inventory.entities import LEAVING, StockTransfer
from inventory.operations.reservations import DUE_EXPIRIES
from jobs.due_rows import DueRows
from jobs.leases import get_position
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from notifications.operations import ANNOUNCED, DIGESTS
from orders.operations.pending_effects import DUE_EFFECTS
from orders.operations.user_stats import DUE_USER_STATS
from posts.operations.feeds import PENDING_FEEDS
from posts.operations.pending import PENDING_LIKES, PENDING_POSTS
from questions.operations import PENDING_TEXTS
from reviews.operations import PENDING_REVIEWS
from reviews.requests import floor_to_day
from spreadsheets import entities
from tests.factories import make_product
from tests.posts.posting import publish

NOW = datetime.now(UTC)
MINUTE_NOW = floor_to_minute(NOW)
Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class RowJob:
    """How a job comes upon rows, and where it looks for the one that failed."""

    handler: str
    # Makes the rows, and has the job list no others.
    make: Callable[[Patch], list[Any]]
    # Which row a call of the handler is about.
    row: Callable[..., Any] = lambda *args: args[0]
    returns: Any = 0
    # The rows that a later run finds; None if a row stays where the job looks.
    find: Callable[[], list[Any]] | None = None
    # When it runs, and the position it begins with.
    after: timedelta = timedelta(0)
    position: datetime | None = None
    # Rows are ids of stored products. The first one cannot be read, and the handler raises for none.
    unreadable: bool = False


def ids(count: int = 3) -> list[UUID]:
    """Ids of the first shard of each job."""
    return [UUID(int=uuid4().int // 4 * 4) for _ in range(count)]


def listing(path: str, rows: Callable[[list[Any]], Any]) -> Callable[[Patch], list[Any]]:
    """Have the function at `path` list fresh ids, as `rows` wraps them."""

    def make(patch: Patch) -> list[Any]:
        found = ids()
        patch.setattr(path, lambda *_, **__: rows(found))
        return found

    return make


def only(patch: Patch, path: str, is_ours: Callable[[Any], bool]) -> None:
    """Have a function that lists rows, or a dict by row, keep to ours."""
    module, _, name = path.rpartition(".")
    real = pytest.importorskip(module).__dict__[name]

    def listed(*args: Any, **named: Any) -> Any:
        found = real(*args, **named)
        if isinstance(found, dict):
            return {key: value for key, value in found.items() if is_ours(key)}
        return [each for each in found if is_ours(each)]

    patch.setattr(path, listed)


# ---- Rows that are noted, and noted again


def noted(
    table: DueRows,
    make_key: Callable[[UUID], dict[str, Any]],
    age: timedelta = timedelta(0),
    columns: int = 1,
) -> Callable[[Patch], list[Any]]:
    """Note three rows with these columns, due some time ago, and have the sweep begin before them and read no others of the table."""

    def make(patch: Patch) -> list[Any]:
        keys = [make_key(each) for each in ids()]
        for key in keys:
            table.note(NOW - age, **key)
        list_rows = DueRows.list_rows

        def list_own(read_from: DueRows, partitions: Any) -> list[Any]:
            rows = list_rows(read_from, partitions)
            first = next(iter(keys[0]))
            own = [key[first] for key in keys]
            return [row for row in rows if read_from != table or getattr(row, first) in own]

        patch.setattr(DueRows, "list_rows", list_own)
        # Other tests have run the job meanwhile, and so have moved its position past these rows.
        began = (NOW - timedelta(minutes=20)).isoformat()
        patch.setattr("jobs.due_rows.get_position", lambda _: began)
        return [first_or_all(list(key.values())[:columns]) for key in keys]

    return make


def find_noted(table: DueRows, *columns: str) -> Callable[[], list[Any]]:
    """Return the columns of the rows that are noted, for sweeps to come as well."""

    def find() -> list[Any]:
        rows = table.list_between(
            NOW - timedelta(minutes=20), datetime.now(UTC) + timedelta(hours=2)
        )
        return [first_or_all(getattr(row, each) for each in columns) for row in rows]

    return find


def first_or_all(values: Iterable[Any]) -> Any:
    found = tuple(values)
    return found[0] if len(found) == 1 else found


make_reviews = noted(
    PENDING_REVIEWS, lambda each: {"product_id": each, "user_id": uuid4()}, columns=2
)


find_reviews = find_noted(PENDING_REVIEWS, "product_id", "user_id")
make_names = noted(NAMES_UNDER_WAY, lambda each: {"user_id": each})
make_erasures = noted(ERASURES, lambda each: {"user_id": each}, 5 * MINUTE)
make_orders = noted(DUE_EFFECTS, lambda each: {"order_id": each}, 4 * MINUTE)
make_sums = noted(DUE_USER_STATS, lambda each: {"user_id": each}, 4 * MINUTE)
make_expiries = noted(
    DUE_EXPIRIES,
    lambda each: {
        "order_id": each,
        "variant_id": uuid4(),
        "warehouse_id": "berlin",
        "reservation_id": uuid4(),
        "quantity": 1,
    },
    4 * MINUTE,
)


make_moves = noted(
    PENDING_MOVES,
    lambda each: {
        "move_id": each,
        "kind": "move",
        "person_id": uuid4(),
        "source_id": uuid4(),
        "target_id": uuid4(),
    },
    4 * MINUTE,
)


find_orders = find_noted(DUE_EFFECTS, "order_id")


def make_proofs(patch: Patch) -> list[Any]:
    def find_user(user_id: UUID) -> SimpleNamespace:
        return SimpleNamespace(user_id=user_id, email="x", verified_at=NOW, is_active=True)

    patch.setattr(accounts, "get_user", find_user)
    return noted(EMAIL_PROOFS, lambda each: {"user_id": each})(patch)


make_questions = noted(
    PENDING_TEXTS,
    lambda each: {"product_id": each, "question_id": uuid1(), "answer_id": uuid1()},
    columns=3,
)


find_questions = find_noted(PENDING_TEXTS, "product_id", "question_id", "answer_id")


def make_changed(path: str) -> Callable[[Patch], list[Any]]:
    def make(patch: Patch) -> list[Any]:
        found = ids()
        for product_id in found:
            catalogue.record_product_change(product_id, datetime.now(UTC))
        only(patch, path, found.__contains__)
        return found

    return make


def find_scheduled() -> list[Any]:
    minutes = minutes_between(NOW + MINUTE, datetime.now(UTC) + 10 * MINUTE)
    return [product_id for _, product_id in catalogue.list_scheduled_products(minutes, 1000)]


def make_scheduled(patch: Patch) -> list[Any]:
    found = ids()
    for product_id in found:
        catalogue.schedule.schedule_moments(product_id, [MINUTE_NOW - MINUTE])
    only(patch, "catalogue.operations.list_scheduled_products", lambda each: each[1] in found)
    return found


# ---- Rows of which the position is kept


def find_from(job: str, at: datetime) -> Callable[[], list[Any]]:
    """Whether the job begins again with what is of a moment: then it finds the row that is still there."""

    def find() -> list[Any]:
        return [True] if datetime.fromisoformat(get_position(job)) <= at else []

    return find


def make_mails(patch: Patch) -> list[Any]:
    found = ids()
    entries = [SimpleNamespace(minute=MINUTE_NOW - 9 * MINUTE, mail_id=each) for each in found]
    patch.setattr("mail.operations._outbox_entries", lambda *_: (entries, []))
    patch.setattr("mail.queries.open_mail", lambda row: row)
    return found


DELIVERED = floor_to_day(NOW - timedelta(days=14))
FIRST_HOUR = NAMES_UNDER_WAY.find_partition(NOW) - timedelta(hours=30)


# ---- Rows that stay where they are


def make_categories(patch: Patch) -> list[Any]:
    long_ago = NOW - timedelta(days=1)
    nodes = [
        SimpleNamespace(category_id=each, changed_at=long_ago + n * MINUTE, name="x")
        for n, each in enumerate(ids(2))
    ]
    patch.setattr(
        "catalogue.queries.get_category_tree_at_quorum", lambda: SimpleNamespace(nodes=nodes)
    )
    return nodes


def make_category_products(patch: Patch) -> list[Any]:
    found = ids()
    node = SimpleNamespace(
        category_id=uuid4(),
        changed_at=NOW - timedelta(days=1),
        name="x",
        is_repinned=False,
        followed_to="",
        has_featured_list=False,
        order=SimpleNamespace(pinned_ids=()),
    )
    patch.setattr(
        "catalogue.queries.get_category_tree_at_quorum", lambda: SimpleNamespace(nodes=[node])
    )
    patch.setattr(
        "catalogue.queries.list_products_after", lambda *_: [(b"x", each) for each in found]
    )
    return found


def make_transfers(patch: Patch) -> list[Any]:
    began = NOW - timedelta(hours=1)
    found = [
        StockTransfer(each, uuid4(), uuid4(), "berlin", "cork", 1, "", LEAVING, "1", began)
        for each in ids()
    ]
    patch.setattr(
        "inventory.queries.get_transfers", lambda _: {each.transfer_id: each for each in found}
    )
    patch.setattr("catalogue.operations.list_changed_products", lambda *_: {})
    return found


def make_subscribed(patch: Patch) -> list[Any]:
    found = ids()
    rows = [SimpleNamespace(variant_id=each, product_id=each) for each in found]
    patch.setattr("stock_alerts.queries.iterate_subscribed_variants", lambda: iter(rows))
    return found


def make_arrivals(patch: Patch) -> list[Any]:
    found = ids()
    patch.setattr(
        "inventory.queries.list_backordered_variants", lambda: [(each, each) for each in found]
    )
    patch.setattr("inventory.queries.list_waiting_orders", lambda variant_id: [variant_id])
    return found


def make_offers(patch: Patch) -> list[Any]:
    found = ids()
    rows = [SimpleNamespace(draft_id=each, state="sent", mailed=0, version=1) for each in found]
    patch.setattr("drafts.queries.UNMAILED", SimpleNamespace(all=lambda **_: rows))
    patch.setattr("drafts.queries.get_draft", lambda draft_id: SimpleNamespace(draft_id=draft_id))
    return found


def make_done(patch: Patch) -> list[Any]:
    found = ids()
    rows = [[SimpleNamespace(conversation_id=each) for each in found]]
    patch.setattr(
        "conversations.operations.deletion.OLDEST",
        SimpleNamespace(all=lambda **_: rows.pop() if rows else []),
    )
    patch.setattr(
        "conversations.queries.find_label",
        lambda *_: SimpleNamespace(label_id=uuid4(), first_year=2020),
    )
    return found


def make_days(patch: Patch) -> list[Any]:
    days = [NOW.date() - timedelta(days=n) for n in (3, 4, 5)]
    sales = [SimpleNamespace(day=day, figures=SimpleNamespace(orders=10**6)) for day in days]
    patch.setattr("analytics.queries.list_sales_by", lambda *_: sales)
    return days


def make_popular(patch: Patch) -> list[Any]:
    found = ids()
    counted = [
        SimpleNamespace(
            product_id=each,
            former=None,
            was_bestseller=False,
            visitors=9,
            orders=0,
            top_category_id=None,
        )
        for each in found
    ]
    patch.setattr("analytics.popularity.count_interest", lambda *_: counted)
    return found


def make_exports(patch: Patch) -> list[Any]:
    long_ago = NOW - timedelta(days=400)
    found = [
        SimpleNamespace(task_id=each, state=entities.WRITTEN, changed_at=long_ago) for each in ids()
    ]
    patch.setattr("spreadsheets.queries.iterate_tasks", lambda _: found)
    return found


def make_stale_carts(patch: Patch) -> list[Any]:
    found = [SimpleNamespace(cart_id=each) for each in ids()]
    patch.setattr("cart.operations.cleanup.iterate_stale_carts", lambda _: iter(found))
    patch.setattr("cart.operations.cleanup.remove_empty_owners", lambda: 0)
    return found


def make_bulk_change(patch: Patch) -> list[Any]:
    found, change_id, now = ids(), uuid_from_time(datetime.now(UTC)), datetime.now(UTC)
    selected = [bulk_changes.Selected(each) for each in found]
    bulk_changes.start_change(change_id, BulkAct("featured", featured=True), selected, uuid4(), now)
    patch.setattr(type(bulk_changes.STORE), "list_unfinished", lambda *_: [change_id])
    return found


def make_products(patch: Patch) -> list[Any]:
    found = [make_product(f"Zq{uuid4().hex}") for _ in range(3)]
    patch.setattr("catalogue.queries.iterate_products", lambda *_: iter(found))
    # The jobs of all products would drop what is there of the others.
    patch.setattr("catalogue.operations.suggestions.PREFIXES", SimpleNamespace(iterate_table=list))
    patch.setattr("catalogue.operations.featured._write_rows", lambda *_: 0)
    patch.setattr("storefront.jobs.list_bought_together", dict)
    return found


def make_new_index(patch: Patch) -> list[Any]:
    return [each.product_id for each in make_products(patch)]


def make_changed_index(patch: Patch) -> list[Any]:
    return change_indexed(patch, make_new_index(patch))


def change_indexed(patch: Patch, found: list[Any]) -> list[Any]:
    build_index([])
    now = datetime.now(UTC)
    patch.setattr(
        "catalogue.search_index.list_changed_products", lambda *_: dict.fromkeys(found, now)
    )
    return found


def make_stored(patch: Patch) -> list[Any]:
    found = ids()
    for product_id in found:
        make_product(f"Zq{uuid4().hex}", product_id=product_id)
    read = catalogue_queries.PRODUCT_NOW.all
    patch.setattr(
        "catalogue.queries.products.PRODUCTS",
        SimpleNamespace(
            iterate_table=lambda: chain.from_iterable(read(product_id=each) for each in found)
        ),
    )
    patch.setattr(
        "catalogue.queries.get_front_page_pins", lambda types: dict.fromkeys(types, tuple(found))
    )
    patch.setattr("catalogue.operations.featured._write_rows", lambda *_: 0)
    return found


def make_stored_and_listed(patch: Patch) -> list[Any]:
    found = make_stored(patch)
    for product_id in found:
        catalogue.record_product_change(product_id, datetime.now(UTC))
    only(patch, "catalogue.operations.list_changed_products", found.__contains__)
    return found


def make_stored_and_indexed(patch: Patch) -> list[Any]:
    return change_indexed(patch, make_stored(patch))


def make_stored_and_subscribed(patch: Patch) -> list[Any]:
    found = make_stored(patch)
    rows = [SimpleNamespace(variant_id=each, product_id=each) for each in found]
    patch.setattr("stock_alerts.queries.iterate_subscribed_variants", lambda: iter(rows))
    return found


def make_webhooks(patch: Patch) -> list[Any]:
    found = [f"http://shop.invalid/{each}" for each in ids()]
    rows = [SimpleNamespace(url=each, body="", due_at=NOW - MINUTE) for each in found]
    patch.setattr("demo.testbank.queries.list_webhooks", lambda _: rows)
    patch.setattr(
        "demo.testbank.operations.record_webhook_attempt",
        lambda row, accepted, now: None if accepted else not_accepted.append(row.url),
    )
    return found


not_accepted: list[str] = []
VISIT_HOURS = [FIRST_HOUR + n * timedelta(hours=1) for n in range(3)]
YESTERDAY = NOW - timedelta(days=1)
ROW_JOBS: list[tuple[str, RowJob]] = [
    ("reviews", RowJob("reviews.jobs.refresh_review", make_reviews, lambda *key: key, find=find_reviews, after=3 * MINUTE)),
    ("reviews", RowJob("reviews.jobs.follow_pictures", make_reviews, lambda *key: key[:2], True, find_reviews, 3 * MINUTE)),
    ("reviews", RowJob("reviews.jobs.refresh_rating", lambda patch: [each for each, _ in make_reviews(patch)], find=lambda: [each for each, _ in find_reviews()], after=3 * MINUTE)),
    ("review requests", RowJob("reviews.requests.ask_for_review", listing("orders.queries.iterate_delivered", iter), find=find_from("review requests", DELIVERED), position=DELIVERED)),
    ("notifications", RowJob("notifications.jobs.prepare_news", noted(ANNOUNCED, lambda each: {"subject_id": each, "source": "orders", "detail": ""}), lambda _, subject_id, *rest: subject_id, [], find_noted(ANNOUNCED, "subject_id"))),
    ("digests", RowJob("notifications.jobs.send_digest", noted(DIGESTS, lambda each: {"user_id": each, "digest_at": NOW}), lambda user_id, _: user_id, False, find_noted(DIGESTS, "user_id"), 7 * MINUTE)),
    ("price alerts", RowJob("price_alerts.jobs.follow_product", make_changed("catalogue.operations.list_changed_products"), returns=(0, True), find=find_scheduled, after=timedelta(seconds=15))),
    ("conversations", RowJob("conversations.jobs.follow_conversation", noted(PENDING, lambda _: {"conversation_id": uuid1(), "user_id": NOBODY}), find=find_noted(PENDING, "conversation_id"))),
    ("emptied labels", RowJob("conversations.jobs.finish_emptied", noted(EMPTIED, lambda each: {"user_id": each, "label_id": uuid4(), "is_trash": False, "first_year": 2026}), lambda row, _: row.user_id, True, find_noted(EMPTIED, "user_id"), 3 * MINUTE)),
    ("attachments", RowJob("conversations.operations.attachments._is_sent", noted(PENDING_UPLOADS, lambda each: {"attachment_id": each, "source_id": uuid4(), "chunk_count": 1}), lambda row: row.attachment_id, True, lambda: [row.attachment_id for row in PENDING_UPLOADS.list_between(NOW, NOW + timedelta(hours=20))], timedelta(hours=8))),
    ("old conversations", RowJob("conversations.operations.deletion.delete_conversation", make_done)),
    ("questions", RowJob("questions.jobs.follow_text", make_questions, lambda *key: key, find=find_questions, after=3 * MINUTE)),
    ("posts", RowJob("posts.jobs.refresh_post", noted(PENDING_POSTS, lambda _: {"post_id": uuid1(), "what": "post"}), lambda post_id, _: post_id, find=find_noted(PENDING_POSTS, "post_id"), after=3 * MINUTE)),
    ("feeds", RowJob("posts.feed_jobs.finish_event", noted(PENDING_FEEDS, lambda each: {"subject_id": each, "what": "login"}), find=find_noted(PENDING_FEEDS, "subject_id"))),
    ("likes", RowJob("posts.like_jobs.finish_like", noted(PENDING_LIKES, lambda each: {"user_id": each, "post_id": publish().post_id}), lambda user_id, _: user_id, find=find_noted(PENDING_LIKES, "user_id"), after=3 * MINUTE)),
    ("catalogue lists", RowJob("catalogue.operations.refresh_cards", make_changed("catalogue.operations.list_changed_products"), find=find_scheduled, after=timedelta(seconds=15))),
    ("stock", RowJob("inventory.jobs.follow_product", make_changed("catalogue.operations.list_changed_products"), find=find_scheduled, after=timedelta(seconds=15))),
    ("stock", RowJob("inventory.operations.transfers.advance_transfer", make_transfers)),
    ("catalogue schedule", RowJob("catalogue.operations.follow_schedule", make_scheduled, lambda _, product_id: product_id, find=find_scheduled, position=MINUTE_NOW - MINUTE)),
    ("categories", RowJob("catalogue.operations.follow_category", make_categories)),
    ("categories", RowJob("catalogue.operations.categories.refresh_cards", make_category_products, find=find_scheduled)),
    ("search index", RowJob("catalogue.search_index.make_document", make_new_index, lambda product: product.product_id, tantivy.Document(id="x"), find_scheduled)),
    ("search index", RowJob("catalogue.search_index.make_document", make_changed_index, lambda product: product.product_id, tantivy.Document(id="x"), find_scheduled)),
    ("sitemap", RowJob("storefront.sitemap.find_last_change", make_products, returns=NOW)),
    ("product feeds", RowJob("storefront.feeds.list_items", make_products, returns=[])),
    ("front page", RowJob("catalogue.operations.featured.can_be_shown", make_products, lambda _, product, now: product, returns=False)),
    ("suggestions", RowJob("catalogue.operations.suggestions.prefix_rank", make_products, lambda product, _: product, returns=0)),
    ("related products", RowJob("catalogue.operations.related._send_related", lambda patch: [each.product_id for each in make_products(patch)], lambda _, product_id, __: product_id)),
    ("bulk changes", RowJob("catalogue.bulk_changes._change_product", make_bulk_change, lambda _, row: row.product_id)),
    ("account search", RowJob("accounts.operations.search_terms.save_search_terms", make_names, find=find_noted(NAMES_UNDER_WAY, "user_id"), after=7 * MINUTE)),
    ("erasures", RowJob("accounts.operations.erasure.erase_account", make_erasures, find=find_noted(ERASURES, "user_id"))),
    ("guest orders", RowJob("orders.operations.claim_guest_orders", make_proofs, find=find_noted(EMAIL_PROOFS, "user_id"))),
    ("orders", RowJob("orders.jobs.recover_order", make_orders, find=find_orders)),
    ("holds", RowJob("orders.jobs._end_reservations", make_expiries, lambda rows, now: rows[0].order_id, [], find_noted(DUE_EXPIRIES, "order_id"))),
    ("customer sums", RowJob("orders.operations.count_user_stats", make_sums, find=find_noted(DUE_USER_STATS, "user_id"))),
    ("goods that arrive", RowJob("orders.operations.backorders._allocate_order", make_arrivals)),
    ("late orders", RowJob("orders.jobs._mark_late", listing("orders.board_queries.list_board_orders", lambda found: ([SimpleNamespace(order_id=each, placed_at=NOW - timedelta(days=99)) for each in found], "")))),
    ("returning customers", RowJob("orders.operations.returning_customers.count_customers_of_day", make_days)),
    ("moves", RowJob("cart.jobs.finish_move", make_moves, lambda row, now: row.move_id, find=find_noted(PENDING_MOVES, "move_id"))),
    ("carts", RowJob("cart.operations.cleanup.remove_stale_cart", make_stale_carts)),
    ("mail", RowJob("mail.operations._Run.process_entry", make_mails, lambda _, entry, mail: entry.mail_id, True, find_from("mail 1 of 4", MINUTE_NOW - 9 * MINUTE), position=MINUTE_NOW - 9 * MINUTE)),
    ("back in stock", RowJob("stock_alerts.operations._notify_variant_subscribers", make_subscribed, lambda row, *_: row.variant_id)),
    ("offers", RowJob("drafts.operations.mail_offer", make_offers, lambda draft, _: draft.draft_id)),
    ("sales", RowJob("analytics.operations.roll_up_day", listing("analytics.queries.list_changed_days", lambda found: [(each, 2**60) for each in found]))),
    ("visits", RowJob("analytics.roll_up.roll_up_hour", lambda _: VISIT_HOURS, find=find_from("visits", FIRST_HOUR), position=FIRST_HOUR)),
    ("popular", RowJob("catalogue.operations.set_popularity", make_popular, position=NOW - timedelta(days=3))),
    ("product reports", RowJob("product_reports.operations.list_reasons", lambda patch: [each.product_id for each in make_products(patch)], lambda product, *_: product.product_id, (), position=NOW - timedelta(days=3))),
    ("old exports", RowJob("spreadsheets.operations.expire_export", make_exports)),
    ("incoming files", RowJob("catalogue.operations.picture_uploads.default_storage.get_modified_time", listing("catalogue.operations.picture_uploads.default_storage.listdir", lambda found: ([], [str(each) for each in found])), lambda path: UUID(path.rpartition("/")[2]), NOW)),
    ("test bank", RowJob("demo.testbank.jobs.post_webhook", make_webhooks, lambda url, _: url, True, lambda: list(not_accepted))),
    # Products that cannot be read where many are read at once.
    ("catalogue lists", RowJob("catalogue.operations.refresh_related", make_stored_and_listed, lambda product: product.product_id, find=find_scheduled, after=timedelta(seconds=15), unreadable=True)),
    ("search index", RowJob("catalogue.search_index.make_document", make_stored, lambda product: product.product_id, tantivy.Document(id="x"), find_scheduled, unreadable=True)),
    ("search index", RowJob("catalogue.search_index.make_document", make_stored_and_indexed, lambda product: product.product_id, tantivy.Document(id="x"), find_scheduled, unreadable=True)),
    ("front page", RowJob("catalogue.operations.featured.can_be_shown", make_stored, lambda _, product, now: product.product_id, returns=False, unreadable=True)),
    ("back in stock", RowJob("stock_alerts.operations._notify_variant_subscribers", make_stored_and_subscribed, lambda row, *_: row.product_id, unreadable=True)),
]  # fmt: skip


# Jobs whose rows are not tried above, and why.
OTHER_JOBS = {
    "gaps under labels": "it deletes gaps by one batch for each label, which none of its rows can fail alone",
    "bulk changes of orders": "its rows go through the loop of “bulk changes” (jobs.change_rows)",
    "uploads": "tests/adminpanel/catalogue/test_pictures.py has one that fails",
    "spreadsheets": "tests/spreadsheets/test_imports.py has files and rows that fail",
    "pictures by address": "tests/spreadsheets/test_links.py has a row that fails",
    "order days": "it deletes empty days by one statement each, which none of its rows can fail alone",
    "book sums": "tests/books/test_books.py has a day that fails",
    "books": "it closes one month",
    "reconciliation": "tests/books/test_orders.py has an order that fails",
    "customer segments": "it counts what it reads, and its rows are whole",
    "popular posts": "it counts the hours since its last run, which none of its rows can fail alone",
    "low stock mail": "it queues one text for a few of the staff",
}
