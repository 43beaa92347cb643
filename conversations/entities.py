"""Conversations, messages, labels and the rows of a mailbox, as pages see them. Times are UTC with milliseconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from conversations.states import CUSTOMER, NOTE, OTHER


@dataclass(frozen=True)
class Attachment:
    """A file of a message. `digest` is the SHA-256 of its content; `content_type` is what the content was found to be."""

    attachment_id: UUID
    name: str
    content_type: str
    size: int  # bytes
    digest: str

    @property
    def is_image(self) -> bool:
        """Whether pages may show the file; other files are only downloaded."""
        return self.content_type in ("image/jpeg", "image/png", "image/webp")


@dataclass(frozen=True)
class Sender:
    """Who writes a message. `email` and `is_verified` are about mails: from which address one came, and whether it is the customer's."""

    author_id: UUID | None
    name: str
    email: str = ""
    is_verified: bool = True


@dataclass(frozen=True)
class Customer:
    """The customer of a conversation: a member, or a guest whose id is made of the address."""

    customer_id: UUID
    email: str
    name: str
    is_member: bool


@dataclass(frozen=True)
class Topic:
    """What a conversation is about: an order or a product with its id, or something else."""

    kind: str = OTHER
    topic_id: UUID | None = None


@dataclass(frozen=True)
class Message:
    """A message of a conversation."""

    message_id: UUID
    kind: str  # states.CUSTOMER, SHOP or NOTE
    sender: Sender
    body: str
    written_at: datetime
    quoted: str = ""
    mail_message_id: str = ""
    recipients: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_from_customer(self) -> bool:
        return self.kind == CUSTOMER

    @property
    def is_note(self) -> bool:
        return self.kind == NOTE


@dataclass(frozen=True)
class Conversation:
    """The head of a conversation. `version` goes up with each change of its state or assignee."""

    conversation_id: UUID
    customer: Customer
    subject: str
    topic: Topic
    state: str
    waiting_since: datetime | None
    assignee_id: UUID | None
    message_count: int
    version: int
    follows_id: UUID | None = None
    continued_id: UUID | None = None  # the conversation that continues this full one
    is_continuing: bool = False  # it has one, which may not be begun, and is not done yet
    last_customer_id: UUID | None = None  # the newest message of each side
    last_shop_id: UUID | None = None
    told_until: UUID | None = None  # up to here the customer was mailed and notified


@dataclass(frozen=True)
class NewMessage:
    """A message to store. A repeat with the same `source_id` stores it once."""

    source_id: UUID
    kind: str
    sender: Sender
    body: str
    quoted: str = ""
    mail_message_id: str = ""
    recipients: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class Label:
    """A label of a mailbox with its exact counts of conversations. `is_fixed` labels belong to the shop's software.

    `key` is a fixed label's constant (rules.INBOX, …), another label's casefolded name.
    """

    label_id: UUID
    name: str
    color: str  # a name of rules.LABEL_COLORS
    count: int
    unread_count: int
    first_year: int
    is_fixed: bool = False
    key: str = ""
    is_stored: bool = True  # False: a fixed label without a row yet


@dataclass(frozen=True)
class MailboxEntry:
    """A conversation's row in a mailbox: its labels, and whether its newest message is unread."""

    conversation_id: UUID
    label_ids: frozenset[UUID]
    placed_at: datetime
    unread: bool
    version: int
    last_message_id: UUID | None = None
    read_until: UUID | None = None
    change_id: UUID | None = None
    is_copied: bool = True  # whether the copies in `conversations_by_label` are complete
    former_places: frozenset[tuple[UUID, datetime]] = frozenset()  # where older copies may be

    @property
    def places(self) -> frozenset[tuple[UUID, datetime]]:
        """The label and time of each copy of the row."""
        return frozenset((label_id, self.placed_at) for label_id in self.label_ids)


@dataclass(frozen=True)
class ListedTopic:
    """A conversation in the list of a customer, an order or a product."""

    conversation_id: UUID
    subject: str


@dataclass(frozen=True)
class Draft:
    """What a person has typed and not sent."""

    conversation_id: UUID
    body: str
    saved_at: datetime


@dataclass(frozen=True)
class ListedConversation:
    """A row of a list of conversations."""

    conversation_id: UUID
    last_at: datetime
    sender: str
    subject: str
    excerpt: str
    topic: str
    unread: bool
    has_files: bool
    label_ids: frozenset[UUID]


@dataclass(frozen=True)
class ConversationPage:
    """A page of a label's conversations, and the token of the next page; "" at the end."""

    rows: tuple[ListedConversation, ...]
    next_token: str = ""


@dataclass(frozen=True)
class Mailbox:
    """A mailbox's labels by id. `entries` has the rows of the conversations that were asked for, by id."""

    user_id: UUID
    labels: Mapping[UUID, Label]
    entries: Mapping[UUID, MailboxEntry]
