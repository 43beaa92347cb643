"""Changes of many conversations at once: what each act does, and which conversations it skips."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid5

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import queries
from conversations.entities import Conversation, Label, Mailbox
from conversations.errors import ConversationChanged, NoSuchConversation, NoSuchLabel, TooManyLabels
from conversations.mailbox_page import LABEL_ACTS, describe_changed
from conversations.operations.mailboxes import mark_read, mark_unread, relabel
from conversations.operations.messages import assign, set_state
from conversations.rules import MAX_LABELS, SHOP_MAILBOX, TRASH
from conversations.states import DONE, SPAM, WAITING_FOR_US
from web.types import StrOrPromise

STATE_ACTS = {"done": DONE, "open": WAITING_FOR_US, "spam": SPAM}
GONE, NEWS, CHANGED, ALREADY, FULL = "gone", "news", "changed", "already", "full"
REASONS: Mapping[str, StrOrPromise] = {
    GONE: gettext_lazy("%(count)s no longer there"),
    NEWS: gettext_lazy("%(count)s with a message that you haven’t seen"),
    CHANGED: gettext_lazy("%(count)s that someone else has just changed"),
    ALREADY: gettext_lazy("%(count)s already like that"),
    FULL: gettext_lazy("%(count)s with the maximum number of labels"),
}


@dataclass
class Outcome:
    """How many conversations were changed, and how many were skipped, by reason."""

    done: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        text = describe_changed(self.done)
        if not self.skipped:
            return text
        reasons = [REASONS[each] % {"count": count} for each, count in self.skipped.items()]
        return _("%(changed)s Skipped: %(reasons)s.") % {
            "changed": text,
            "reasons": ", ".join(map(str, reasons)),
        }


@dataclass(frozen=True)
class Change:
    """An act on conversations: its name in the form, up to when the page showed messages of each, the form's id, and the time."""

    act: str
    shown: Mapping[UUID, datetime]
    operation: UUID
    now: datetime

    def apply(self) -> Outcome:
        """Change the conversations; return what was done. Raises NoSuchLabel, CassandraUnavailable."""
        conversation_ids = list(self.shown)
        kind, _colon, value = self.act.partition(":")
        if kind in STATE_ACTS or kind == "assign":
            return self._change_heads(conversation_ids, kind, UUID(value) if value else None)
        if kind in ("read", "unread"):
            return self._mark(conversation_ids, is_read=kind == "read")
        return self._relabel(conversation_ids, kind, value)

    def _change_heads(
        self, conversation_ids: Sequence[UUID], kind: str, assignee_id: UUID | None
    ) -> Outcome:
        outcome = Outcome()
        reading = [queries.prefetch_conversation(each) for each in conversation_ids]
        for conversation_id, pending in zip(conversation_ids, reading, strict=True):
            found = queries.conversation_from_rows(pending.rows())
            if reason := self._refuse(found, kind, assignee_id):
                outcome.skipped[reason] += 1
                continue
            assert found
            change_id = uuid5(self.operation, f"{self.act} {conversation_id}")
            seen, now = found.version, self.now
            try:
                if kind == "assign":
                    assign(conversation_id, assignee_id, seen=seen, change_id=change_id, now=now)
                else:
                    state = STATE_ACTS[kind]
                    set_state(conversation_id, state, seen=seen, change_id=change_id, now=now)
                outcome.done += 1
            except ConversationChanged:
                outcome.skipped[CHANGED] += 1
            except NoSuchConversation:
                outcome.skipped[GONE] += 1
        return outcome

    def _refuse(self, found: Conversation | None, kind: str, assignee_id: UUID | None) -> str:
        """Return why a conversation is skipped, or ""."""
        if found is None:
            return GONE
        if kind == "assign":
            return ALREADY if found.assignee_id == assignee_id else ""
        if found.state == STATE_ACTS[kind] or (kind == "open" and found.state not in (DONE, SPAM)):
            return ALREADY
        if kind != "open" and self._has_news(found.conversation_id, found.last_customer_id):
            return NEWS
        return ""

    def _has_news(self, conversation_id: UUID, message_id: UUID | None) -> bool:
        return bool(message_id and queries.get_moment(message_id) >= self.shown[conversation_id])

    def _mark(self, conversation_ids: Sequence[UUID], *, is_read: bool) -> Outcome:
        outcome, mailbox = Outcome(), queries.get_mailbox(SHOP_MAILBOX, conversation_ids)
        for conversation_id in conversation_ids:
            entry = mailbox.entries.get(conversation_id)
            if entry is None:
                outcome.skipped[GONE] += 1
            elif entry.last_message_id is None or entry.unread is not is_read:
                outcome.skipped[ALREADY] += 1
            elif not is_read:
                mark_unread(SHOP_MAILBOX, conversation_id)
                outcome.done += 1
            elif self._has_news(conversation_id, entry.last_message_id):
                outcome.skipped[NEWS] += 1
            else:
                mark_read(SHOP_MAILBOX, conversation_id, entry.last_message_id)
                outcome.done += 1
        return outcome

    def _relabel(self, conversation_ids: Sequence[UUID], kind: str, value: str) -> Outcome:
        mailbox = queries.get_mailbox(SHOP_MAILBOX, conversation_ids)
        if kind in LABEL_ACTS:
            key, is_added = LABEL_ACTS[kind]
            label = queries.find_label(SHOP_MAILBOX, mailbox.labels, key)
        else:
            found = mailbox.labels.get(UUID(value))
            if found is None or found.is_fixed:
                raise NoSuchLabel
            label, is_added = found, kind == "label"
        outcome, fitting = Outcome(), []
        for conversation_id in conversation_ids:
            if reason := self._refuse_label(mailbox, conversation_id, label, is_added):
                outcome.skipped[reason] += 1
            else:
                fitting.append(conversation_id)
        added, removed = ({label.label_id}, set()) if is_added else (set(), {label.label_id})
        try:
            changed = relabel(SHOP_MAILBOX, fitting, added, removed)
        except TooManyLabels:
            changed = 0
        outcome.done = changed
        if changed < len(fitting):
            outcome.skipped[CHANGED] += len(fitting) - changed
        return outcome

    def _refuse_label(
        self, mailbox: Mailbox, conversation_id: UUID, label: Label, is_added: bool
    ) -> str:
        entry = mailbox.entries.get(conversation_id)
        if entry is None:
            return GONE
        if (label.label_id in entry.label_ids) is is_added:
            return ALREADY
        own = [mailbox.labels[each] for each in entry.label_ids if each in mailbox.labels]
        has_all = sum(not each.is_fixed for each in own) >= MAX_LABELS
        if is_added and not label.is_fixed and has_all:
            return FULL
        is_trashed = is_added and label.key == TRASH
        has_news = self._has_news(conversation_id, entry.last_message_id)
        return NEWS if is_trashed and has_news else ""
