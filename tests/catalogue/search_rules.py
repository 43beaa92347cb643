"""Saves and removes rules for searches."""

from uuid import uuid4

from catalogue.search_rules import PARTITION, SEARCH_RULES, SearchRule
from shop_settings.operations import remove_setting, save_setting
from shop_settings.queries import get_settings_at_quorum
from tests.clock import now


def make_search_rule(kind: str, words: str, target: str = "") -> SearchRule:
    """Save a new rule. Raises SettingRefused."""
    rule = SearchRule(str(uuid4()), kind, words, target)
    save_setting(SEARCH_RULES, rule.key, rule, "", now())
    return rule


def remove_search_rule(rule: SearchRule) -> None:
    remove_setting(SEARCH_RULES, rule.key, SEARCH_RULES.fingerprint(rule), now())


def list_rules() -> dict[str, SearchRule]:
    """Return the stored rules, by key."""
    return dict(get_settings_at_quorum(PARTITION).get_values(SEARCH_RULES))
