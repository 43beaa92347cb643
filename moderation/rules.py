"""The shop's rules for reviews, questions and answers: among others, which of them the staff read before they are published."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from catalogue.words import fold_text
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot
from shop_settings.queries import get_settings

MAX_REASON, MAX_ANSWER = 500, 2000
MAX_WORDS, MAX_WORD = 500, 40
KEY = "reviews"
# A URL, with or without its scheme: "example.com", "www.…", "https://…".
_LINK = re.compile(
    r"(?i)https?:|www\.|\b[\w-]{2,}\.(com|net|org|info|biz|shop|ru|cn|io|de|ie|eu|fr|uk|xyz|top)\b"
)


@dataclass(frozen=True)
class ReviewRules:
    """The rules: words that hold a text, whether erased people's texts stay, and whether buyers are asked for reviews."""

    words: tuple[str, ...] = ()
    keeps_erased_texts: bool = True
    asks_buyers: bool = True


def _parse(_key: str, value: Mapping[str, Any]) -> ReviewRules:
    return ReviewRules(
        tuple(value["words"]),
        bool(value["keeps_erased_texts"]),
        bool(value.get("asks_buyers", True)),
    )


def _dump(rules: ReviewRules) -> dict[str, Any]:
    return asdict(rules) | {"words": list(rules.words)}


def list_first_rules() -> dict[str, ReviewRules]:
    """Return the rules of a new shop."""
    return {KEY: ReviewRules(("idiot", "moron", "scumbag", "bastard", "whore"))}


def _check(snapshot: SettingsSnapshot, _today: date) -> None:
    rules = snapshot.get_values(REVIEW_RULES).get(KEY, ReviewRules())
    if len(rules.words) > MAX_WORDS or any(len(each) > MAX_WORD for each in rules.words):
        raise SettingRefused(
            _("Enter at most %(count)d words of up to %(letters)d letters")
            % {"count": MAX_WORDS, "letters": MAX_WORD},
            "words",
        )


REVIEW_RULES = SettingKind("reviews", _parse, _dump, list_first_rules, _check)


def get_review_rules() -> ReviewRules:
    """Return the shop's rules for reviews. Raises CassandraUnavailable."""
    return get_settings().get_values(REVIEW_RULES).get(KEY, ReviewRules())


def find_reason_to_hold(title: str, body: str, rules: ReviewRules) -> str:
    """Return why the staff must read a text before it is published: "links", "words" (of their list), or ""."""
    text = f"{title}\n{body}"
    if _LINK.search(text):
        return "links"
    present = set(re.findall(r"\w+", fold_text(text)))
    return "words" if any(fold_text(each) in present for each in rules.words) else ""


def shown_name(name: str) -> str:
    """Return a person's name as the public sees it, such as "Ada L."."""
    first, *others = name.split() or [""]
    return f"{first} {others[-1][0]}." if others else first
