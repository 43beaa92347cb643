"""The popular searches that the search field suggests: each process keeps those of the last days in memory."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from analytics.days import shop_today
from analytics.queries import prefetch_top_searches
from analytics.roll_up import MIN_SEARCHERS
from cassandra_db import Row
from cassandra_db.process_copies import ProcessCopy
from catalogue.search_rules import fold_query, get_search_rules

DAYS = 7
MAX_SECONDS_OLD = 600


class _PendingDays:
    """The searches of the last days, which are read side by side."""

    def __init__(self) -> None:
        today = shop_today()
        self._days = prefetch_top_searches(today - timedelta(days) for days in range(DAYS))

    def rows(self) -> list[Row]:
        return [row for pending in self._days for row in pending.rows()]


def choose_popular(rows: Iterable[Row]) -> dict[str, str]:
    """Return the searches that MIN_SEARCHERS visitors made on one day, by their folded words: the most frequent first.

    Searches that mostly found nothing are left out.
    """
    searches, empty, spellings = Counter[str](), Counter[str](), dict[str, str]()
    for row in rows:
        folded = fold_query(row.words)
        # Older rows lack the number of visitors.
        if folded and (row.visitors or 0) >= MIN_SEARCHERS:
            searches[folded] += row.searches
            empty[folded] += row.empty
            spellings.setdefault(folded, row.words)
    return {
        folded: spellings[folded]
        for folded, number in searches.most_common()
        if 2 * empty[folded] < number
    }


POPULAR_SEARCHES = ProcessCopy(
    _PendingDays, choose_popular, MAX_SECONDS_OLD, lasts_without_cassandra=True
)
# Starts to read them while a page waits for other data.
prefetch_popular_searches = POPULAR_SEARCHES.prefetch


def find_popular_searches(words: Sequence[str], limit: int) -> list[str]:
    """Return popular searches that begin with these folded words, except blocked ones. Raises CassandraUnavailable."""
    begin, rules = " ".join(words), get_search_rules()
    fitting = (
        (folded, spelling)
        for folded, spelling in POPULAR_SEARCHES.get().items()
        if folded.startswith(begin)
    )
    allowed = [spelling for folded, spelling in fitting if not rules.is_blocked(folded.split())]
    return allowed[:limit]
