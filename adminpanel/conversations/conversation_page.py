"""The contents of a conversation's page: its messages with the order's events between them, and what stands beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from accounts.access import has_permission
from accounts.models import User
from adminpanel.conversations.inbox_page import current_people, list_people
from adminpanel.orders.history import StaffHistoryEntry, staff_history
from adminpanel.other_viewers import OtherViewers, list_other_viewers
from catalogue.entities import Product
from catalogue.queries import prefetch_product, product_from_rows
from conversations import queries, viewers
from conversations.entities import Conversation, Label, ListedTopic, MailboxEntry, Message
from conversations.mailbox_page import sort_own
from conversations.operations.blocked_senders import prefetch_blocked
from conversations.operations.drafts import draft_from_rows, prefetch_draft
from conversations.operations.entries import find_newest_id
from conversations.rules import SHOP_MAILBOX, STARRED, TRASH
from conversations.saved_replies import CURRENT_REPLIES, SavedReply, list_replies, prefetch_replies
from conversations.states import ORDER, PRODUCT
from conversations.thread_page import Moment, make_timeline
from orders.lifecycle.entities import Order
from orders.queries import order_from_rows, prefetch_order
from orders.viewers import viewers_from_rows

MAX_OTHERS = 10


@dataclass(frozen=True)
class ConversationPage:
    """The contents of a conversation's page. `entry` is its row in the shop's mailbox."""

    conversation: Conversation
    messages: Sequence[Message]
    labels: Mapping[UUID, Label]
    entry: MailboxEntry | None
    people: Mapping[UUID, str]
    replies: Sequence[SavedReply]
    viewers: OtherViewers
    draft: str
    order: Order | None
    product: Product | None
    others: Sequence[ListedTopic]
    is_blocked: bool
    can_open_customer: bool
    before: UUID | None  # the message before which the page shows older ones

    @property
    def newest_seen(self) -> UUID | None:
        """The newest message of either side that the page shows, for a reply that must not overlook a later one."""
        return find_newest_id(self.conversation)

    @property
    def earlier(self) -> UUID | None:
        """The message before which older ones are, or None."""
        return self.messages[0].message_id if len(self.messages) == queries.PAGE_SIZE else None

    @property
    def own_labels(self) -> list[Label]:
        return sort_own(self._put_on)

    @property
    def label_choices(self) -> list[tuple[Label, bool]]:
        """All labels of the shop's own, and whether the conversation has each."""
        return [(each, each.label_id in self._put_on) for each in sort_own(self.labels)]

    @property
    def is_starred(self) -> bool:
        return any(each.key == STARRED for each in self._put_on.values())

    @property
    def is_in_trash(self) -> bool:
        return any(each.key == TRASH for each in self._put_on.values())

    @property
    def _put_on(self) -> dict[UUID, Label]:
        ids = self.entry.label_ids if self.entry else ()
        return {each: self.labels[each] for each in ids if each in self.labels}

    @property
    def earlier_events(self) -> list[StaffHistoryEntry]:
        """The order's events before the first message of the page, oldest first."""
        return [each for each in self._events if each.at < self._begin]

    @property
    def timeline(self) -> list[Moment]:
        """The messages, and between them the order's events since the first one."""
        return make_timeline(self.messages, [(each.at, each) for each in self._events], self.before)

    @property
    def _events(self) -> list[StaffHistoryEntry]:
        return list(reversed(staff_history(self.order))) if self.order else []

    @property
    def _begin(self) -> datetime:
        return self.messages[0].written_at if self.messages else datetime.max.replace(tzinfo=UTC)

    def list_values(self, staff: User) -> dict[str, str]:
        """Return what the placeholders of saved replies stand for in this conversation."""
        parcels = self.order.parcels() if self.order else ()
        return {
            "customer": self.conversation.customer.name,
            "order": self.order.number if self.order else "",
            "tracking": ", ".join(each.tracking for each in parcels if each.tracking),
            "product": self.product.name if self.product else "",
            "staff": staff.name,
        }


def get_conversation_page(
    conversation_id: UUID, staff: User, before: UUID | None = None
) -> ConversationPage | None:
    """Return a conversation's page, or None. `before` is a message: then the page has older ones. Raises CassandraUnavailable."""
    before = before if before and before.version == 1 else None
    head = queries.prefetch_conversation(conversation_id)
    messages = queries.prefetch_messages(conversation_id, before)
    labels = queries.prefetch_labels(SHOP_MAILBOX)
    entries = queries.prefetch_entries(SHOP_MAILBOX, [conversation_id])
    viewing, draft = (
        viewers.prefetch_viewers(conversation_id),
        prefetch_draft(staff.pk, conversation_id),
    )
    prefetch_replies()
    conversation = queries.conversation_from_rows(head.rows())
    if conversation is None:
        return None
    customer, topic = conversation.customer, conversation.topic
    order = prefetch_order(topic.topic_id) if topic.kind == ORDER and topic.topic_id else None
    product = prefetch_product(topic.topic_id) if topic.kind == PRODUCT and topic.topic_id else None
    others = queries.BY_CUSTOMER.start(customer_id=customer.customer_id)
    blocked = prefetch_blocked(customer.email) if customer.email else None
    found_draft = draft_from_rows(draft.rows())
    people = current_people.get()
    if conversation.assignee_id and conversation.assignee_id not in people:
        people = list_people()
    return ConversationPage(
        conversation=conversation,
        messages=queries.messages_from_rows(messages.rows()),
        labels=queries.labels_from_rows(SHOP_MAILBOX, labels.rows()),
        entry=queries.entries_from_rows(entries.rows()).get(conversation_id),
        people=people,
        replies=list_replies(CURRENT_REPLIES.get()),
        viewers=list_other_viewers(conversation_id, viewers_from_rows(viewing.rows()), staff),
        draft=found_draft.body if found_draft else "",
        order=order_from_rows(order.rows()) if order else None,
        product=product_from_rows(product.rows()) if product else None,
        others=[
            ListedTopic(row.conversation_id, row.subject or "")
            for row in others.rows()
            if row.conversation_id != conversation_id
        ][:MAX_OTHERS],
        is_blocked=bool(blocked and blocked.rows()),
        before=before,
        can_open_customer=customer.is_member and has_permission(staff, "adminpanel.customer"),
    )
