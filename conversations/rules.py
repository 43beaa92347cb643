"""The bounds of conversations, and the labels that every mailbox has."""

from uuid import UUID, uuid5

from django.utils.translation import gettext_lazy as _

from conversations.states import DONE, SPAM, WAITING_FOR_CUSTOMER, WAITING_FOR_US

MAX_MESSAGES = 1000  # of a conversation; then a new one follows it
MAX_BODY = 20_000  # characters of a message
MAX_MESSAGE_BYTES = 64 * 1024
MAX_SUBJECT = 150
MAX_ATTACHMENTS = 10
MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024  # of a message's files together
CHUNK_BYTES = 1024 * 1024
MAX_LABELS = 10  # of a conversation, besides the fixed ones
MAX_OWN_LABELS = 80  # of a mailbox
MAX_AT_ONCE = 100  # conversations that one act changes
EXCERPT_LENGTH = 160

# The mailbox of the shop; every other mailbox has its member's id.
SHOP_MAILBOX = UUID("5f6d6169-6c62-4f78-8000-000000000001")
NOBODY = UUID(int=0)

LABEL_COLORS = ("grey", "red", "orange", "yellow", "green", "teal", "blue", "purple")


def fixed_label_id(user_id: UUID, name: str) -> UUID:
    """Return the id that a fixed label has before it is emptied for the first time."""
    return uuid5(user_id, f"label {name}")


# Fixed labels are rows like others; their keys begin with a space, which no typed name does.
INBOX, ARCHIVE, STARRED, TRASH = " inbox", " archive", " starred", " trash"
UNASSIGNED = " unassigned"
ALL, OPEN = " all", " open"
MEMBER_LABELS = {INBOX: _("Inbox"), STARRED: _("Starred"), ARCHIVE: _("Archive"), TRASH: _("Trash")}
SHOP_LABELS = {
    f" {WAITING_FOR_US}": _("Waiting for us"),
    f" {WAITING_FOR_CUSTOMER}": _("Waiting for the customer"),
    OPEN: _("Open"),
    f" {DONE}": _("Done"),
    f" {SPAM}": _("Spam"),
    UNASSIGNED: _("Unassigned"),
    STARRED: _("Starred"),
    TRASH: _("Trash"),
    ALL: _("All"),
}

# What people put on and take off themselves; the other fixed labels follow the conversation's state and assignee.
MOVABLE = (INBOX, ARCHIVE, STARRED, TRASH)
EMPTIABLE = (STARRED, TRASH)


def assignee_label(user_id: UUID) -> str:
    """Return the key of the label for the conversations that a staff member works on."""
    return f" assigned {user_id.hex}"
