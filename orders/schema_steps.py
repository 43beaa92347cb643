"""The steps by which tables of earlier versions become those of this one (jobs.schema)."""

from jobs.schema import Backfill
from orders.rebuild import fill_books, fill_sales, fill_user_stats

BOOKS = Backfill("books", "the books of what was paid before", fill_books)
BACKFILLS = [
    Backfill("customer-sums", "the list of customers by last order", fill_user_stats),
    Backfill("sales", "time, country, payment and promotions of what was sold before", fill_sales),
    BOOKS,
]
DROPS = [
    "orders_by_email",
    *(f"payments.{name}" for name in ("amount", "currency", "state", "started_at", "settled_at")),
]
