"""The demo shop's rules for searches."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from uuid import uuid5

from catalogue.search_rules import ONE_WAY, PINNED, REDIRECT, SEARCH_RULES, TWO_WAY, SearchRule
from demo.loader import DEMO_NAMESPACE, do_again_if_late
from shop_settings.operations import change_settings

_RULES = (
    (TWO_WAY, "sofa, couch, settee", ""),
    (TWO_WAY, "jumper, sweater, pullover", ""),
    (TWO_WAY, "blanket, throw", ""),
    (ONE_WAY, "crockery, dishes", "plate, bowl, mug"),
    (ONE_WAY, "gift, present", "candle, vase, soap, mug"),
    (REDIRECT, "sale, deals, offers", "/deals/"),
    (REDIRECT, "new, new arrivals", "/new/"),
    (PINNED, "gift, gifts, gift ideas, present", "CND-FIG-180, MUG-OAT-350, SOAP-LAVENDER"),
)


def load_search_rules(now: datetime) -> None:
    """Add the demo shop's rules to a shop that has none."""
    keys = [str(uuid5(DEMO_NAMESPACE, f"{kind} {words}")) for kind, words, _ in _RULES]
    rules = {key: SearchRule(key, *rule) for key, rule in zip(keys, _RULES, strict=True)}

    def add(values: Mapping[str, SearchRule]) -> Mapping[str, SearchRule]:
        return values or rules

    do_again_if_late(partial(change_settings, SEARCH_RULES, add, now))
