"""The staff's texts of mails: which braces they may have, and how they are stored and filled.

A text is stored by the mail's name and its own, never with a mail that is sent: the worker and the pages keep a copy for
five seconds. A text that is None is the shop's own (mail.kinds).
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date

from django.utils.translation import gettext as _

from mail.kinds import MailKind
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import settings_copy

# Only what writes a mail reads this partition.
PARTITION, MAX_MAILS = "mails", 150
CURRENT_TEXTS = settings_copy(PARTITION)
MAX_SUBJECT, MAX_TEXT = 150, 3000
_BRACES = re.compile(r"\{([a-z_]+)\}")
# An empty value takes the space before it along: "Hello {name}," becomes "Hello,".
_FILLED = re.compile(r"( ?)\{([a-z_]+)\}")


@dataclass(frozen=True)
class MailTexts:
    """The staff's texts of a kind of mail (`key`)."""

    key: str
    subject: str | None = None
    intro: str | None = None
    closing: str | None = None


def _check(snapshot: SettingsSnapshot, _today: date) -> None:
    for texts in snapshot.get_values(MAIL_TEXTS).values():
        for name, bound in (("subject", MAX_SUBJECT), ("intro", MAX_TEXT), ("closing", MAX_TEXT)):
            if len(getattr(texts, name) or "") > bound:
                raise SettingRefused(_("The text is too long."), name)


MAIL_TEXTS = SettingKind(
    "mail texts",
    lambda key, value: MailTexts(**pick_fields(MailTexts, value) | {"key": key}),
    asdict,
    dict[str, MailTexts],
    _check,
    PARTITION,
    MAX_MAILS,
)


def get_mail_texts(key: str) -> MailTexts:
    """Return the staff's texts of a kind of mail, at most five seconds old. Raises CassandraUnavailable."""
    return CURRENT_TEXTS.get().get_values(MAIL_TEXTS).get(key) or MailTexts(key)


def get_text(kind: MailKind, texts: MailTexts | None, name: str) -> str:
    """Return a text as mails have it: `name` is one of mail.kinds.TEXTS."""
    own: str | None = getattr(texts, name) if texts else None
    return kind.get_text(name) if own is None else own


def find_broken_brace(kind: MailKind, name: str, text: str) -> str:
    """Return what is wrong with a text's placeholders, with those that exist; "" if they are right."""
    known = {
        each: placeholder
        for each, placeholder in kind.all_placeholders.items()
        if name != "subject" or not placeholder.is_typed
    }
    those = _("You can use: %(names)s.") % {"names": ", ".join(f"{{{each}}}" for each in known)}
    for used in _BRACES.findall(text):
        if used not in known:
            return _("You can’t use {%(name)s} here.") % {"name": used} + " " + those
    if re.search(r"[{}]", _BRACES.sub("", text)):
        return _("A brace is open, or holds more than a name.") + " " + those
    return ""


def list_missing(kind: MailKind, texts: Mapping[str, str]) -> list[str]:
    """Return the placeholders that the mail can't do without, and that no text names."""
    said = set(_BRACES.findall(texts["intro"] + texts["closing"]))
    return [each for each in kind.required if each not in said]


def fill_text(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders filled. A text of an earlier version may name one that is gone: it is left out."""

    def fill(found: re.Match[str]) -> str:
        value = values.get(found[2], "")
        return found[1] + value if value else ""

    return _FILLED.sub(fill, text)
