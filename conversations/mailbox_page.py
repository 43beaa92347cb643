"""The contents of a member's mailbox page: its labels with their exact counts, and the conversations under one of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from cassandra_db import PendingResult
from conversations import queries
from conversations.access import list_customer_ids
from conversations.entities import Label, ListedConversation, ListedTopic, MailboxEntry
from conversations.rules import ARCHIVE, EMPTIABLE, INBOX, STARRED, TRASH
from web.types import StrOrPromise

# What addresses call the fixed labels.
FOLDERS = {"inbox": INBOX, "starred": STARRED, "archive": ARCHIVE, "trash": TRASH}
# What each act puts on (True) or takes off.
LABEL_ACTS = {
    "archive": (ARCHIVE, True),
    "inbox": (INBOX, True),
    "trash": (TRASH, True),
    "restore": (TRASH, False),
    "star": (STARRED, True),
    "unstar": (STARRED, False),
}


@dataclass(frozen=True)
class Folder:
    """A label of a mailbox as a page lists it: what addresses call it, its name, and whether it is the open one."""

    slug: str
    label: Label
    title: StrOrPromise
    is_current: bool
    list_page: str = "conversations:list"

    @property
    def url(self) -> str:
        return f"{reverse(self.list_page)}?{urlencode({'folder': self.slug})}"

    @property
    def can_be_emptied(self) -> bool:
        return self.label.key in EMPTIABLE and self.label.count > 0


@dataclass(frozen=True)
class MailboxRow:
    """A conversation in the list, with the labels that its member has made."""

    listed: ListedConversation
    labels: tuple[Label, ...]
    is_starred: bool
    is_ticked: bool

    @property
    def value(self) -> str:
        """What a form sends for the row: `forms.TickedField`."""
        return ticked_value(self.listed.conversation_id, self.listed.last_at.timestamp())


def ticked_value(conversation_id: UUID, seconds: float) -> str:
    """Return what a form sends for a conversation of which messages up to a moment were shown."""
    return f"{conversation_id}.{round(seconds * 1000)}"


@dataclass(frozen=True)
class MailboxPage:
    """A page of the mailbox. `as_guest` are the conversations that the member has begun as a guest, on the first page."""

    folders: tuple[Folder, ...]
    own: tuple[Folder, ...]
    folder: Folder
    rows: tuple[MailboxRow, ...]
    after: str
    next: str
    as_guest: tuple[ListedTopic, ...]

    @property
    def next_url(self) -> str:
        return f"{self.folder.url}&{urlencode({'after': self.next})}"

    @property
    def main_act(self) -> tuple[str, StrOrPromise]:
        return find_main_act(self.folder.label.key)

    @property
    def acts(self) -> dict[str, dict[str, StrOrPromise]]:
        return list_acts({each.label.label_id: each.label for each in self.own})


def find_main_act(key: str) -> tuple[str, StrOrPromise]:
    """Return the act of the first button for conversations under a fixed label: its name in a form, and its words."""
    return {
        ARCHIVE: ("inbox", _("Move to inbox")),
        TRASH: ("restore", _("Take out of the trash")),
    }.get(key, ("archive", _("Archive")))


def list_acts(labels: Mapping[UUID, Label]) -> dict[str, dict[str, StrOrPromise]]:
    """Return all that can be done to conversations, in groups: the words of each act by its name in a form."""
    return {
        _("Move or mark"): {
            "unread": _("Mark as unread"),
            "read": _("Mark as read"),
            "star": _("Add a star"),
            "unstar": _("Remove the star"),
            "inbox": _("Move to inbox"),
            "archive": _("Archive"),
            "trash": _("Move to the trash"),
            "restore": _("Take out of the trash"),
        },
        **list_label_acts(labels),
    }


def list_label_acts(labels: Mapping[UUID, Label]) -> dict[str, dict[str, StrOrPromise]]:
    """Return the acts that put labels of the mailbox's own on conversations, or take them off."""
    own = sort_own(labels)
    return {
        _("Add label"): {f"label:{each.label_id}": each.name for each in own},
        _("Remove label"): {f"unlabel:{each.label_id}": each.name for each in own},
    }


def describe_changed(count: int) -> str:
    """Return how many conversations were changed, as a sentence."""
    text = ngettext("%(count)s conversation changed.", "%(count)s conversations changed.", count)
    return text % {"count": count}


def sort_own(labels: Mapping[UUID, Label]) -> list[Label]:
    """Return the labels that the member has made, by name."""
    return sorted(
        (each for each in labels.values() if not each.is_fixed), key=lambda each: each.key
    )


def get_mailbox_page(
    user: User, labels_read: PendingResult, slug: str, after: str, ticked: Collection[UUID] = ()
) -> MailboxPage | None:
    """Return a page of a label's conversations, or None if there is no such label. Raises InvalidPageToken, CassandraUnavailable."""
    labels = queries.labels_from_rows(user.pk, labels_read.rows())
    found = {name: queries.find_label(user.pk, labels, key) for name, key in FOLDERS.items()}
    fixed = tuple(Folder(name, each, each.name, name == slug) for name, each in found.items())
    own = tuple(
        Folder(str(each.label_id), each, each.name, str(each.label_id) == slug)
        for each in sort_own(labels)
    )
    folder = next((each for each in (*fixed, *own) if each.is_current), None)
    if folder is None:
        return None
    reading = queries.prefetch_label_page(user.pk, folder.label, after)
    guest = []
    if slug == "inbox" and not after:
        guest = [
            queries.BY_CUSTOMER.start(customer_id=each) for each in list_customer_ids(user)[1:]
        ]
    page = queries.label_page(reading)
    return MailboxPage(
        fixed,
        own,
        folder,
        tuple(_make_row(each, labels, ticked) for each in page.rows),
        after,
        page.next_token,
        tuple(
            ListedTopic(row.conversation_id, row.subject or "")
            for pending in guest
            for row in pending.rows()
        ),
    )


def _make_row(
    listed: ListedConversation, labels: Mapping[UUID, Label], ticked: Collection[UUID]
) -> MailboxRow:
    found = {each: labels[each] for each in listed.label_ids if each in labels}
    return MailboxRow(
        listed,
        tuple(sort_own(found)),
        any(each.key == STARRED for each in found.values()),
        listed.conversation_id in ticked,
    )


@dataclass(frozen=True)
class Placement:
    """Where a conversation is in its member's mailbox: the labels that it has, for the buttons of its page."""

    entry: MailboxEntry
    labels: Mapping[UUID, Label]

    @property
    def value(self) -> str:
        return ticked_value(self.entry.conversation_id, self.entry.placed_at.timestamp())

    @property
    def own(self) -> list[Label]:
        return sort_own(self._put_on)

    @property
    def fixed(self) -> list[Label]:
        """The fixed labels that the page names: all but the inbox."""
        return [each for each in self._put_on.values() if each.is_fixed and each.key != INBOX]

    @property
    def main_act(self) -> tuple[str, StrOrPromise]:
        return find_main_act(next((each.key for each in self.fixed if each.key != STARRED), ""))

    @property
    def acts(self) -> dict[str, dict[str, StrOrPromise]]:
        return list_acts(self.labels)

    @property
    def _put_on(self) -> dict[UUID, Label]:
        return {each: self.labels[each] for each in self.entry.label_ids if each in self.labels}
