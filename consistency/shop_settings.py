"""I30: the shop's settings can be parsed, and obey the rules of their kinds."""

from collections.abc import Iterator

from django.utils.timezone import localdate

from catalogue.colour_settings import COLOURS
from catalogue.filter_settings import FILTERS
from catalogue.front_page import FRONT_BLOCKS
from catalogue.search_rules import SEARCH_RULES
from consistency.findings import Check, Violation, table_subjects
from conversations.saved_replies import SAVED_REPLIES
from inventory.warehouses import WAREHOUSE
from mail.texts import MAIL_TEXTS
from moderation.rules import REVIEW_RULES
from pricing import delivery_settings, tax, weight_settings
from shop_settings import restores, terms
from shop_settings.brand import BRAND
from shop_settings.errors import SettingRefused
from shop_settings.menus import MENUS
from shop_settings.queries import get_settings_at_quorum
from text_pages.pages import TEXT_PAGES

KINDS = {
    kind.name: kind
    for kind in (
        *(delivery_settings.DELIVERY, weight_settings.WEIGHTS),
        *(tax.TAX, terms.TERMS, WAREHOUSE, restores.RESTORES),
        *(FRONT_BLOCKS, BRAND, MENUS, TEXT_PAGES),
        *(REVIEW_RULES, FILTERS, COLOURS, SEARCH_RULES, SAVED_REPLIES, MAIL_TEXTS),
    )
}


def _check_settings(_: str) -> Iterator[Violation]:
    for partition in dict.fromkeys(kind.partition for kind in KINDS.values()):
        yield from _check_partition(partition)


def _check_partition(partition: str) -> Iterator[Violation]:
    settings = get_settings_at_quorum(partition)
    kinds = [kind for kind in KINDS.values() if kind.partition == partition]
    readable = set(KINDS)
    for name, stored in settings.stored.items():
        for key, value in stored.items():
            try:
                KINDS[name].parse(key, value)
            except (KeyError, TypeError, ValueError, ArithmeticError) as error:
                readable.discard(name)
                fault = "cannot be read"
                yield Violation("I30", f"setting {name} {key}", fault, f"{type(error).__name__}")
    if len(readable) < len(KINDS):
        return
    for kind in kinds:
        try:
            kind.check(settings, localdate())
        except SettingRefused as refused:
            yield Violation("I30", f"settings {kind.name}", "break their rules", str(refused))


CHECKS = (Check("settings", ("I30",), table_subjects(("shop_settings",)), _check_settings),)
