"""The staff's search for customers by the words of their names, with one bounded read."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.search_terms import HEAD
from cassandra_db import PendingResult, read
from catalogue.words import name_has_words, split_words

# The most rows that are read, and the most customers that are shown.
MAX_ROWS, MAX_SHOWN = 200, 20
_LAST_LETTER = chr(0x10FFFF)

BY_TERM = read(
    "customer search",
    """SELECT user_id, name, since FROM users_by_search_term
       WHERE head = :head AND term >= :first AND term <= :last LIMIT :most""",
)


@dataclass(frozen=True)
class FoundCustomer:
    """A customer whose name matches the search. `since` is the time at which the account was made, in UTC."""

    user_id: UUID
    name: str
    since: datetime


@dataclass(frozen=True)
class CustomerSearch:
    """A search that was started: the typed words, and the pending read. The read is None if too few letters were typed."""

    words: tuple[str, ...]
    reading: PendingResult | None


def prefetch_customer_search(typed: str) -> CustomerSearch:
    """Start the search for customers by the beginnings of words in their names. `found_customers` returns the result."""
    words = tuple(split_words(typed))
    # The longest word matches the fewest names; the names that it finds are compared with the other words.
    term = max(words, key=len, default="")
    if len(term) < HEAD:
        return CustomerSearch(words, None)
    reading = BY_TERM.start(head=term[:HEAD], first=term, last=term + _LAST_LETTER, most=MAX_ROWS)
    return CustomerSearch(words, reading)


def found_customers(search: CustomerSearch) -> tuple[list[FoundCustomer], bool]:
    """Return the found customers, sorted by name, at most MAX_SHOWN, and whether there are more. Raises CassandraUnavailable."""
    rows = list(search.reading.rows()) if search.reading else []
    found = {
        row.user_id: FoundCustomer(row.user_id, row.name, row.since)
        for row in rows
        if name_has_words(row.name, search.words)
    }
    ordered = sorted(found.values(), key=lambda each: (each.name.casefold(), each.since))
    return ordered[:MAX_SHOWN], len(rows) == MAX_ROWS or len(ordered) > MAX_SHOWN
