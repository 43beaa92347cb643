"""What staff say about searches: synonyms, redirects, pinned results, blocked suggestions. They are settings with a partition of their own."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import islice
from urllib.parse import parse_qs, urlsplit

from django.utils.translation import gettext as _

from catalogue.words import split_words, word_forms
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import settings_copy

TWO_WAY, ONE_WAY, REDIRECT, PINNED = "two_way", "one_way", "redirect", "pinned"
BLOCKED = "blocked"
PARTITION, MAX_RULES, MAX_TEXT_LENGTH = "search", 1000, 200
MAX_PINNED = 8
# A query is searched with at most this many synonyms. Each one costs as much as a further word.
MAX_SYNONYMS = 24
# "//host" and "/\host" would leave the shop.
_PATH = re.compile(r"/(?![/\\])[^\\\s\x00-\x1f]*")
Words = tuple[str, ...]


@dataclass(frozen=True)
class SearchRule:
    """A rule. `words` are searched words or queries, with commas between.

    `target` depends on the kind: what a one-way synonym also finds, a redirect's path, or the SKUs of pinned products. Words that
    are never suggested have none.
    """

    key: str
    kind: str
    words: str
    target: str = ""

    @property
    def queries(self) -> list[str]:
        """The queries of a redirect or of pinned results, folded; synonyms have none."""
        is_about_query = self.kind in (REDIRECT, PINNED)
        return list(map(" ".join, split_phrases(self.words))) if is_about_query else []

    @property
    def target_query(self) -> str:
        """The folded query of a redirect that leads to a search, or ""."""
        query = parse_qs(urlsplit(self.target).query).get("q", [""])[-1]
        return fold_query(query) if self.kind == REDIRECT else ""


def split_phrases(text: str) -> list[Words]:
    """Return the folded phrases of a text with commas between them; each phrase once."""
    phrases = (tuple(split_words(phrase)) for phrase in text.split(","))
    return list(dict.fromkeys(filter(None, phrases)))


def fold_query(query: str) -> str:
    """Return a query in the form in which rules for exactly this query are found."""
    return " ".join(split_words(query))


def is_path(text: str) -> bool:
    """Return whether a text can only be a path of the shop, not an address elsewhere."""
    return bool(_PATH.fullmatch(text))


class SearchRules:
    """All rules, prepared for searches."""

    def __init__(self, rules: Iterable[SearchRule]) -> None:
        self.redirects: dict[str, str] = {}
        self.pinned_skus: dict[str, Words] = {}
        self._blocked: dict[str, list[Words]] = {}
        self._synonyms: dict[str, list[tuple[Words, list[Words]]]] = {}
        for rule in rules:
            if rule.kind == REDIRECT:
                self.redirects |= dict.fromkeys(rule.queries, rule.target)
            elif rule.kind == PINNED:
                skus = tuple(filter(None, map(str.strip, rule.target.split(","))))
                self.pinned_skus |= dict.fromkeys(rule.queries, skus[:MAX_PINNED])
            elif rule.kind == BLOCKED:
                for phrase in split_phrases(rule.words):
                    for form in word_forms(phrase[0]):
                        self._blocked.setdefault(form, []).append(phrase)
            else:
                self._add_synonyms(rule)

    def _add_synonyms(self, rule: SearchRule) -> None:
        phrases = split_phrases(rule.words)
        meant = phrases if rule.kind == TWO_WAY else split_phrases(rule.target)
        for phrase in phrases:
            others = [other for other in meant if other != phrase]
            # As everywhere in the search, "t shirt" may be typed as one word.
            for spelling in {phrase, ("".join(phrase),)}:
                for form in word_forms(spelling[0]):
                    self._synonyms.setdefault(form, []).append((spelling, others))

    def find_synonyms(self, words: Sequence[str]) -> list[tuple[Words, list[Words]]]:
        """Return the query's words in phrases, each with its synonyms. Of two phrases the longer one counts."""
        found, place, left = list[tuple[Words, list[Words]]](), 0, MAX_SYNONYMS
        while place < len(words):
            fitting = [
                (len(phrase), others)
                for form in word_forms(words[place])
                for phrase, others in self._synonyms.get(form, ())
                if _begin_with(words[place:], phrase)
            ]
            length = max((each for each, _ in fitting), default=1)
            others = [each for size, some in fitting if size == length for each in some]
            others = list(islice(dict.fromkeys(others), left))
            found.append((tuple(words[place : place + length]), others))
            place, left = place + length, left - len(others)
        return found

    def is_blocked(self, words: Sequence[str]) -> bool:
        """Return whether a query contains a phrase that staff have blocked, in any form of its words."""
        return any(
            _begin_with(words[place:], phrase)
            for place, word in enumerate(words)
            for form in word_forms(word)
            for phrase in self._blocked.get(form, ())
        )


def _begin_with(words: Sequence[str], phrase: Words) -> bool:
    """Return whether words begin with a phrase, in any of its words' forms."""
    pairs = zip(words, phrase, strict=False)
    return len(words) >= len(phrase) and all(word_forms(a) & word_forms(b) for a, b in pairs)


def _check(snapshot: SettingsSnapshot, _today: date) -> None:
    rules, taken = snapshot.get_values(SEARCH_RULES).values(), set[str]()
    for rule in rules:
        if rule.kind == REDIRECT and not is_path(rule.target):
            raise SettingRefused(_("Enter a path of this shop, such as /deals/"), "target")
        if again := taken.intersection(rule.queries):
            text = _("“%(query)s” already has a redirect or pinned results")
            raise SettingRefused(text % {"query": min(again)}, "words")
        taken.update(rule.queries)
    redirected = {query for rule in rules if rule.kind == REDIRECT for query in rule.queries}
    if chained := redirected.intersection(rule.target_query for rule in rules):
        text = _("A redirect can’t lead to the search for “%(query)s”, which is redirected, too")
        raise SettingRefused(text % {"query": min(chained)}, "target")


SEARCH_RULES: SettingKind[SearchRule] = SettingKind(
    "search_rules",
    lambda key, value: SearchRule(**pick_fields(SearchRule, value) | {"key": key}),
    asdict,
    dict,
    _check,
    PARTITION,
    MAX_RULES,
)
CURRENT_RULES = settings_copy(PARTITION)
# Starts to read the rules while a page waits for other data.
prefetch_search_rules = CURRENT_RULES.prefetch


def get_search_rules() -> SearchRules:
    """Return all rules, at most five seconds old, or older while Cassandra is away. Raises CassandraUnavailable."""
    snapshot = CURRENT_RULES.get()
    return snapshot.compute(
        "rules", lambda: SearchRules(snapshot.get_values(SEARCH_RULES).values())
    )
