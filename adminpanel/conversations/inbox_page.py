"""The contents of the staff's inbox: its folders with their exact counts, and the conversations of one of them."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.queries import list_staff
from accounts.roles import MESSAGE_STAFF, is_allowed
from adminpanel.conversations.labels import FOLDERS, MINE, STATES, TOPICS, WAITING
from adminpanel.parameters import parse_id
from cassandra_db.process_copies import RecentValue
from conversations import queries
from conversations.entities import Label, ListedConversation
from conversations.mailbox_page import Folder, list_label_acts, sort_own, ticked_value
from conversations.rules import SHOP_MAILBOX, STARRED, TRASH, assignee_label
from conversations.search import FoundConversations
from web.types import StrOrPromise

_PAGE = "adminpanel:messages"


@dataclass(frozen=True)
class InboxRow:
    """A conversation in the inbox. `state` is shown where conversations of several states stand together."""

    listed: ListedConversation
    labels: tuple[Label, ...]
    state: tuple[StrOrPromise, str] | None
    topic: StrOrPromise
    topic_icon: str
    assignee: str
    is_starred: bool
    is_ticked: bool
    value: str  # what a form sends for the row: `conversations.forms.TickedField`


@dataclass(frozen=True)
class Inbox:
    """The inbox with an open folder, or with what a search has found (`folder` is None)."""

    folders: tuple[Folder, ...]
    own_labels: tuple[Folder, ...]
    folder: Folder | None
    rows: tuple[InboxRow, ...]
    acts: Mapping[str, Mapping[str, StrOrPromise]]
    now: datetime
    after: str = ""
    next: str = ""
    found: FoundConversations | None = None

    @property
    def is_waiting(self) -> bool:
        return bool(self.folder and self.folder.slug == WAITING)

    @property
    def own_url(self) -> str:
        return self._url(self.after)

    @property
    def next_url(self) -> str:
        return self._url(self.next)

    def _url(self, after: str) -> str:
        first = self.folder.url if self.folder else reverse(_PAGE)
        return f"{first}&{urlencode({'after': after})}" if after else first

    @property
    def fingerprint(self) -> str:
        """A hash of all that the page shows. An open page sends it, and learns whether it is current."""
        parts = [
            *(f"{each.slug}={each.label.count},{each.label.unread_count}" for each in self.folders),
            *(f"{each.title}={each.label.count},{each.label.color}" for each in self.own_labels),
            *(f"{each.listed} {each.labels} {each.assignee}" for each in self.rows),
            self.now.strftime("%H:%M"),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def list_people() -> dict[UUID, str]:
    """Return the names of the staff who may work on conversations, by id. Raises CassandraUnavailable."""
    people = [each for each in list_staff() if each.active and is_allowed(each.role, MESSAGE_STAFF)]
    people.sort(key=lambda each: each.name.casefold())
    return {each.pk: each.name or each.email for each in people}


# To read them takes a statement each, so pages show a copy. What is sent to one of them is checked anew.
current_people = RecentValue(list_people, 30.0)


def get_inbox(
    staff: User, slug: str, after: str, now: datetime, ticked: Collection[UUID] = ()
) -> Inbox | None:
    """Return a page of a folder, or None if there is no such folder. `ticked` are the ticked conversations.

    Raises InvalidPageToken, CassandraUnavailable.
    """
    labels = queries.get_labels(SHOP_MAILBOX)
    folders, own = list_folders(staff, labels, slug)
    folder = next((each for each in (*folders, *own) if each.is_current), None)
    if folder is None:
        return None
    is_waiting = folder.slug == WAITING
    reading = queries.prefetch_label_page(
        SHOP_MAILBOX, folder.label, after, oldest_first=is_waiting
    )
    people = current_people.get()
    page = queries.label_page(reading)
    rows = _list_rows(page.rows, labels, people, ticked, folder, now)
    acts = list_acts(staff, labels, people)
    return Inbox(folders, own, folder, rows, acts, now, after, page.next_token)


def get_found(
    staff: User, found: FoundConversations, now: datetime, ticked: Collection[UUID] = ()
) -> Inbox:
    """Return the inbox with what a search has found. Raises CassandraUnavailable."""
    labels = queries.get_labels(SHOP_MAILBOX)
    people = current_people.get()
    rows = _list_rows(found.rows, labels, people, ticked, None, now)
    folders, own = list_folders(staff, labels)
    acts = list_acts(staff, labels, people)
    return Inbox(folders, own, None, rows, acts, now, found=found)


def list_folders(
    staff: User, labels: Mapping[UUID, Label], current: str = ""
) -> tuple[tuple[Folder, ...], tuple[Folder, ...]]:
    """Return the fixed folders and the shop's own labels. `current` is the open one: its slug, or its label's id."""
    keys = {**FOLDERS, MINE: assignee_label(staff.pk)}
    fixed = {slug: queries.find_label(SHOP_MAILBOX, labels, key) for slug, key in keys.items()}
    return (
        tuple(
            Folder(slug, label, _("Mine") if slug == MINE else label.name, slug == current, _PAGE)
            for slug, label in fixed.items()
        ),
        tuple(
            Folder(
                str(label.label_id), label, label.name, parse_id(current) == label.label_id, _PAGE
            )
            for label in sort_own(labels)
        ),
    )


def _list_rows(
    listed: Sequence[ListedConversation],
    labels: Mapping[UUID, Label],
    people: Mapping[UUID, str],
    ticked: Collection[UUID],
    folder: Folder | None,
    now: datetime,
) -> tuple[InboxRow, ...]:
    assignees = {
        queries.find_label(SHOP_MAILBOX, labels, assignee_label(user_id)).label_id: name
        for user_id, name in people.items()
    }
    is_of_one_state = folder and folder.label.key.strip() in STATES
    found = []
    for row in listed:
        put_on = {each: labels[each] for each in row.label_ids if each in labels}
        keys = {each.key for each in put_on.values()}
        state = next((STATES[key.strip()] for key in keys if key.strip() in STATES), None)
        if TRASH in keys:
            state = (_("Trash"), "plain")
        found.append(
            InboxRow(
                row,
                tuple(sort_own(put_on)),
                None if is_of_one_state else state,
                *TOPICS.get(row.topic, ("", "")),
                next((assignees[each] for each in row.label_ids if each in assignees), ""),
                STARRED in keys,
                row.conversation_id in ticked,
                ticked_value(row.conversation_id, now.timestamp()),
            )
        )
    return tuple(found)


def list_acts(
    staff: User, labels: Mapping[UUID, Label], people: Mapping[UUID, str]
) -> dict[str, dict[str, StrOrPromise]]:
    """Return all that can be done to many conversations, in groups: the words of each act by its name in a form."""
    others = {f"assign:{each}": name for each, name in people.items() if each != staff.pk}
    return {
        _("Status"): {
            "done": _("Mark as done"),
            "open": _("Open again"),
            "spam": _("Mark as spam"),
            "trash": _("Move to the trash"),
            "restore": _("Take out of the trash"),
            "star": _("Add a star"),
            "unstar": _("Remove the star"),
            "read": _("Mark as read"),
            "unread": _("Mark as unread"),
        },
        _("Assign to"): {f"assign:{staff.pk}": _("Me"), **others, "assign:": _("Unassigned")},
        **list_label_acts(labels),
    }
