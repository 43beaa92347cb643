"""Saved replies: texts that staff write once and put into their replies. They are settings with a partition of their own."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import settings_copy
from web.types import StrOrPromise

PARTITION, MAX_REPLIES = "saved_replies", 200
MAX_NAME, MAX_TEXT = 60, 5000
# What a placeholder stands for. It is filled in when the reply is put into a message.
PLACEHOLDERS: Mapping[str, StrOrPromise] = {
    "customer": gettext_lazy("the customer’s name"),
    "order": gettext_lazy("the order’s number"),
    "tracking": gettext_lazy("the tracking numbers of the order’s parcels"),
    "product": gettext_lazy("the product’s name"),
    "staff": gettext_lazy("your own name"),
}
_PLACEHOLDER = re.compile(r"\{\s*([^{}\n]*?)\s*\}")
CURRENT_REPLIES = settings_copy(PARTITION)
# Starts to read the saved replies while a page waits for other data.
prefetch_replies = CURRENT_REPLIES.prefetch


@dataclass(frozen=True)
class SavedReply:
    """A saved reply. `text` may have placeholders, such as {customer}."""

    key: str
    name: str
    text: str


def find_unknown(text: str) -> list[str]:
    """Return what stands in braces in a text and is no placeholder, each once."""
    found = [name for name in _PLACEHOLDER.findall(text) if name not in PLACEHOLDERS]
    return list(dict.fromkeys(f"{{{name}}}" for name in found))


def find_unfilled(text: str) -> list[str]:
    """Return the placeholders that still stand in a message, each once."""
    found = [name for name in _PLACEHOLDER.findall(text) if name in PLACEHOLDERS]
    return list(dict.fromkeys(f"{{{name}}}" for name in found))


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Return the text with its placeholders filled in. One without a value stays, so that the writer sees it."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)


def _check(snapshot: SettingsSnapshot, _today: date) -> None:
    for reply in snapshot.get_values(SAVED_REPLIES).values():
        if unknown := find_unknown(reply.text):
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise SettingRefused(
                _("%(unknown)s is no placeholder. Use one of these: %(known)s")
                % {"unknown": ", ".join(unknown), "known": known},
                "text",
            )


SAVED_REPLIES = SettingKind(
    "saved_replies",
    lambda key, value: SavedReply(**pick_fields(SavedReply, value) | {"key": key}),
    asdict,
    dict[str, SavedReply],
    _check,
    PARTITION,
    MAX_REPLIES,
)


def list_replies(snapshot: SettingsSnapshot) -> list[SavedReply]:
    """Return the saved replies, by name."""
    found = snapshot.get_values(SAVED_REPLIES).values()
    return sorted(found, key=lambda reply: (reply.name.casefold(), reply.key))
