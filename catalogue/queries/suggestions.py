"""Q3: the products that the search box suggests for the beginning of a word. catalogue/operations/suggestions.py writes them."""

from cassandra_db import LOCAL_ONE, read
from catalogue.entities import Suggestion
from catalogue.words import PREFIX_LETTERS, split_words
from pricing.money import from_minor_units

MAX_SUGGESTIONS = 10


# Q3: suggestions for a prefix of a word.
BY_PREFIX = read(
    "Q3",
    """SELECT rank, product_id, name, slug, picture, price, price_varies, currency, category_name
       FROM products_by_name_prefix WHERE prefix = :prefix LIMIT 200""",
    consistency=LOCAL_ONE,
)


def list_suggestions(typed: str, most: int = MAX_SUGGESTIONS) -> list[Suggestion]:
    """Return suggested products: their names have, for each typed word, a word that begins with the typed one.

    Only the partition of the longest typed word is read. If that word has fewer than two letters, nothing is suggested. Raises
    CassandraUnavailable.
    """
    parts = split_words(typed)
    longest = max(parts, key=len, default="")
    if len(longest) < PREFIX_LETTERS.start:
        return []
    rows = BY_PREFIX.all(prefix=longest[: PREFIX_LETTERS.stop - 1])
    fitting = [row for row in rows if _begins(split_words(row.name), parts)]
    return [
        Suggestion(
            row.product_id,
            row.name,
            row.slug,
            row.picture,
            from_minor_units(row.price, row.currency),
            bool(row.price_varies),
            row.category_name or "",
        )
        for row in fitting[:most]
    ]


def _begins(name: list[str], typed: list[str]) -> bool:
    return all(any(word.startswith(part) for word in name) for part in typed)
