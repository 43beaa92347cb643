"""Describes entries of the audit log in words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import audit_log, queries
from accounts.audit_log import AuditLogEntry
from accounts.models import User
from adminpanel.names import list_names
from adminpanel.parameters import parse_id
from catalogue.queries import get_category_tree, prefetch_product, product_from_rows
from orders.lifecycle.labels import staff_label

PAGE_LENGTH = 40
# The words for the acts, keyed by the act's name. An act without words here is a page that was refused.
ACTS = {
    "adminpanel:board_columns": gettext_lazy("Chose the board’s columns"),
    "adminpanel:density": gettext_lazy("Chose the density of lists"),
    "adminpanel:move": gettext_lazy("Changed an order’s status"),
    "adminpanel:note": gettext_lazy("Added a note"),
    "adminpanel:mail_again": gettext_lazy("Resent an email"),
    "adminpanel:mail_text": gettext_lazy("Changed the texts of an email"),
    "adminpanel:mail_text_preview": gettext_lazy("Previewed the texts of an email"),
    "adminpanel:mail_text_test": gettext_lazy("Sent a test email"),
    "adminpanel:mail_text_reset": gettext_lazy("Reset the texts of an email"),
    "adminpanel:mail_allow": gettext_lazy("Allowed emails to an address"),
    "adminpanel:tags": gettext_lazy("Changed an order’s tags"),
    "adminpanel:pack": gettext_lazy("Packed a parcel"),
    "adminpanel:pack_scan": gettext_lazy("Scanned a parcel"),
    "adminpanel:order_changes_new": gettext_lazy("Edited orders in bulk"),
    "adminpanel:order_changes_preview": gettext_lazy("Previewed a bulk edit of orders"),
    "adminpanel:paper_new": gettext_lazy("Created documents of orders"),
    "adminpanel:paper_file": gettext_lazy("Downloaded documents of orders"),
    "adminpanel:parcel": gettext_lazy("Updated a parcel"),
    "adminpanel:sent_back": gettext_lazy("Updated a return"),
    "adminpanel:return_refund": gettext_lazy("Refunded a return"),
    "adminpanel:refund": gettext_lazy("Refunded a customer"),
    "adminpanel:lines": gettext_lazy("Changed an order’s items"),
    "adminpanel:door": gettext_lazy("Changed a delivery address"),
    "adminpanel:received": gettext_lazy("Recorded a payment"),
    "adminpanel:unmatched_payment_settle": gettext_lazy("Settled a payment after a restore"),
    "adminpanel:money_sent": gettext_lazy("Sent a refund"),
    "adminpanel:second_factor": gettext_lazy("Entered a sign-in code"),
    "adminpanel:recovery_codes": gettext_lazy("Created recovery codes"),
    "adminpanel:person_find": gettext_lazy("Looked up a person"),
    "adminpanel:person_role": gettext_lazy("Changed a role"),
    "adminpanel:person_sessions_end": gettext_lazy("Ended sessions"),
    "adminpanel:person_factor_reset": gettext_lazy("Reset a two-step sign-in"),
    "adminpanel:draft": gettext_lazy("Saved a draft order"),
    "adminpanel:draft_send": gettext_lazy("Sent an offer"),
    "adminpanel:draft_order": gettext_lazy("Ordered for a customer"),
    "adminpanel:draft_delete": gettext_lazy("Deleted a draft order"),
    "adminpanel:customer_find": gettext_lazy("Searched for a customer"),
    "adminpanel:customers_export": gettext_lazy("Exported customers"),
    "adminpanel:customer_note": gettext_lazy("Added a note on a customer"),
    "adminpanel:customer_block": gettext_lazy("Blocked a customer"),
    "adminpanel:customer_unblock": gettext_lazy("Unblocked a customer"),
    "adminpanel:customer_export": gettext_lazy("Downloaded a customer’s data"),
    "adminpanel:customer_erase": gettext_lazy("Deleted a customer’s account"),
    "adminpanel:messages_change": gettext_lazy("Changed conversations"),
    "adminpanel:conversation_new": gettext_lazy("Wrote a message to a customer"),
    "adminpanel:conversation_reply": gettext_lazy("Answered a customer’s message"),
    "adminpanel:conversation_read": gettext_lazy("Read a customer’s new messages"),
    "adminpanel:conversation_draft": gettext_lazy("Kept the draft of an answer"),
    "adminpanel:conversation_note": gettext_lazy("Added a note to a conversation"),
    "adminpanel:conversation_assign": gettext_lazy("Assigned a conversation"),
    "adminpanel:conversation_state": gettext_lazy("Changed a conversation’s status"),
    "adminpanel:conversation_labels": gettext_lazy("Changed a conversation’s labels"),
    "adminpanel:message_label_new": gettext_lazy("Added a label"),
    "adminpanel:message_label": gettext_lazy("Changed a label"),
    "adminpanel:message_label_empty": gettext_lazy("Emptied a label"),
    "adminpanel:message_label_delete": gettext_lazy("Deleted a label"),
    "adminpanel:saved_reply_new": gettext_lazy("Added a saved reply"),
    "adminpanel:saved_reply": gettext_lazy("Changed a saved reply"),
    "adminpanel:saved_reply_remove": gettext_lazy("Deleted a saved reply"),
    "adminpanel:sender_block": gettext_lazy("Blocked a sender"),
    "adminpanel:sender_unblock": gettext_lazy("Unblocked a sender"),
    "adminpanel:review_decide": gettext_lazy("Decided about a review"),
    "adminpanel:review_picture_remove": gettext_lazy("Removed a picture of a review"),
    "adminpanel:review_answer": gettext_lazy("Answered a review"),
    "adminpanel:question_decide": gettext_lazy("Decided about a question or an answer"),
    "adminpanel:question_answer": gettext_lazy("Answered a question"),
    "posts:staff_post_decide": gettext_lazy("Decided about a post"),
    "posts:staff_picture_remove": gettext_lazy("Removed a picture of a post"),
    "posts:staff_comment_decide": gettext_lazy("Decided about a comment"),
    "adminpanel:review_rules": gettext_lazy("Changed the rules for reviews"),
    "customer_looked_at": gettext_lazy("Viewed a customer"),
    "order_looked_at": gettext_lazy("Viewed an order"),
    "draft_looked_at": gettext_lazy("Viewed a draft order"),
    "import_looked_at": gettext_lazy("Viewed an import about customers"),
    "conversation_looked_at": gettext_lazy("Viewed a conversation"),
    "blocked_senders_looked_at": gettext_lazy("Viewed blocked senders"),
    "person_searched": gettext_lazy("Searched for customers or orders"),
    "people_suggested": gettext_lazy("Found customers or orders while typing in the search"),
    "adminpanel:product_new": gettext_lazy("Added a product"),
    "adminpanel:product": gettext_lazy("Changed a product"),
    "adminpanel:product_status": gettext_lazy("Changed a product’s status"),
    "adminpanel:product_copy": gettext_lazy("Duplicated a product"),
    "adminpanel:product_stock": gettext_lazy("Received or adjusted stock"),
    "adminpanel:stock_threshold": gettext_lazy("Changed a low-stock threshold"),
    "adminpanel:stock_place": gettext_lazy("Changed a stock location"),
    "adminpanel:stock_transfer_new": gettext_lazy("Sent stock to another warehouse"),
    "adminpanel:stock_transfer_end": gettext_lazy("Ended a transfer of stock"),
    "adminpanel:stock_mail": gettext_lazy("Changed their low-stock email"),
    "adminpanel:product_pictures": gettext_lazy("Changed a product’s pictures"),
    "adminpanel:product_upload": gettext_lazy("Uploaded pictures"),
    "adminpanel:product_price": gettext_lazy("Changed a price"),
    "adminpanel:product_count": gettext_lazy("Adjusted stock"),
    "adminpanel:product_prices": gettext_lazy("Scheduled a price"),
    "adminpanel:category_new": gettext_lazy("Added a category"),
    "adminpanel:category": gettext_lazy("Changed a category"),
    "adminpanel:category_move": gettext_lazy("Moved a category up or down"),
    "adminpanel:category_picture": gettext_lazy("Changed a category’s picture"),
    "adminpanel:category_upload": gettext_lazy("Uploaded pictures of a category"),
    "adminpanel:category_order": gettext_lazy("Changed the order of a category’s products"),
    "adminpanel:category_remove": gettext_lazy("Removed a category"),
    "adminpanel:filter": gettext_lazy("Changed a filter"),
    "adminpanel:colour": gettext_lazy("Changed a colour"),
    "adminpanel:menu": gettext_lazy("Changed a menu"),
    "adminpanel:front_block_new": gettext_lazy("Added a block to the front page"),
    "adminpanel:front_block": gettext_lazy("Changed a block of the front page"),
    "adminpanel:front_block_move": gettext_lazy("Moved a block of the front page"),
    "adminpanel:front_block_remove": gettext_lazy("Removed a block of the front page"),
    "adminpanel:text_page_new": gettext_lazy("Added a page of text"),
    "adminpanel:text_page": gettext_lazy("Changed a page of text"),
    "adminpanel:text_page_offline": gettext_lazy("Took a page of text offline, or put it online"),
    "adminpanel:text_page_take_back": gettext_lazy(
        "Cancelled a scheduled version of a page of text"
    ),
    "adminpanel:front_page_row": gettext_lazy("Pinned products on the front page"),
    "adminpanel:search_rule_new": gettext_lazy("Added a rule for searches"),
    "adminpanel:search_rule": gettext_lazy("Changed a rule for searches"),
    "adminpanel:search_rule_remove": gettext_lazy("Deleted a rule for searches"),
    "adminpanel:redirects": gettext_lazy("Saved a redirect"),
    "adminpanel:redirect_remove": gettext_lazy("Removed a redirect"),
    "adminpanel:book_invoices": gettext_lazy("Created a file of a month’s invoices"),
    "adminpanel:bulk_change_new": gettext_lazy("Edited products in bulk"),
    "adminpanel:import_new": gettext_lazy("Uploaded an import file"),
    "adminpanel:import_columns": gettext_lazy("Matched the columns of an import file"),
    "adminpanel:import_apply": gettext_lazy("Applied an import file"),
    "adminpanel:faulty_rows": gettext_lazy("Downloaded an import’s rows with errors"),
    "adminpanel:export_new": gettext_lazy("Created an export file"),
    "adminpanel:bulk_change_undo": gettext_lazy("Undid a bulk edit of products"),
    "adminpanel:brand": gettext_lazy("Changed the brand"),
    "adminpanel:brand_preview": gettext_lazy("Previewed a brand"),
    "adminpanel:brand_restore": gettext_lazy("Restored a brand"),
    "adminpanel:brand_upload": gettext_lazy("Uploaded pictures of the brand"),
    "adminpanel:delivery_method_new": gettext_lazy("Added a delivery method"),
    "adminpanel:delivery_method": gettext_lazy("Changed a delivery method"),
    "adminpanel:delivery_method_remove": gettext_lazy("Removed a delivery method"),
    "adminpanel:warehouse_new": gettext_lazy("Added a warehouse"),
    "adminpanel:warehouse": gettext_lazy("Changed a warehouse"),
    "adminpanel:terms_new": gettext_lazy("Scheduled terms"),
    "adminpanel:terms_detail": gettext_lazy("Changed the shop’s terms"),
    "adminpanel:parcel_weights": gettext_lazy("Changed the weight surcharges"),
    "adminpanel:country_tax": gettext_lazy("Changed a country’s tax rates"),
    "adminpanel:promotion_make": gettext_lazy("Created a promotion"),
    "adminpanel:promotion": gettext_lazy("Changed a promotion"),
    "adminpanel:promotion_duplicate": gettext_lazy("Replaced a promotion"),
    "adminpanel:promotion_end": gettext_lazy("Ended a promotion"),
    "adminpanel:promotion_resume": gettext_lazy("Resumed a promotion"),
    "login": gettext_lazy("Signed in"),
    "login_failed": gettext_lazy("Failed to sign in"),
    "logout": gettext_lazy("Signed out"),
    "staff add": gettext_lazy("Gave a role"),
    "staff remove": gettext_lazy("Removed a role"),
    "changepassword": gettext_lazy("Changed a password"),
    "staff second-factor-reset": gettext_lazy("Reset a two-step sign-in"),
    "registered": gettext_lazy("Created an account"),
    "password_changed": gettext_lazy("Changed the password"),
    "email_changed": gettext_lazy("Changed the email address"),
    "sessions_ended": gettext_lazy("Ended sessions"),
    "erased": gettext_lazy("Deleted the account"),
}
TONES = {"done": "good", "refused": "warn", "failed": "bad"}
OUTCOMES = {
    "done": gettext_lazy("Done"),
    "refused": gettext_lazy("Refused"),
    "failed": gettext_lazy("Failed"),
}
# The reasons why an act did not succeed, keyed by the HTTP status of its answer.
REASONS = {
    "400": gettext_lazy("the form was invalid"),
    "403": gettext_lazy("not allowed"),
    "404": gettext_lazy("not found"),
    "409": gettext_lazy("changed by someone else"),
    "422": gettext_lazy("corrections were needed"),
    "429": gettext_lazy("too many attempts"),
    "500": gettext_lazy("an error in the shop"),
    "503": gettext_lazy("the database was unavailable"),
}
_OUTCOME = re.compile(r"(done|refused|failed)(?:: (.*?))?(?: \(([0-9]{3})\))?")
# Form fields that mean nothing to readers of the log, such as versions, keys and buttons.
_TECHNICAL = frozenset(
    [
        "after",
        "back",
        "change_id",
        "confirmed",
        "count",
        "next",
        "note_id",
        "operation",
        "overwrite",
        "press",
        "save",
        "sealed",
        "seen",
        "shown",
        "shown_at",
        "shown_rule",
        "source_id",
        "task_id",
        "until",
        "version",
        "way",
        "widget",
    ]
)
FIELDS = {
    "act": gettext_lazy("Change"),
    "block_reason": gettext_lazy("Reason"),
    "by": gettext_lazy("Amount"),
    "customer_note": gettext_lazy("Note"),
    "compare_at": gettext_lazy("Crossed-out price"),
    "event": gettext_lazy("Step"),
    "lines": gettext_lazy("Quantities"),
    "sku": gettext_lazy("SKU"),
    "slug": gettext_lazy("Address"),
    "uses": gettext_lazy("How often"),
    "weight_grams": gettext_lazy("Weight in grams"),
}
_NOT_KEPT = "(not kept)"


@dataclass(frozen=True)
class AuditLogLine:
    """An entry of the audit log, in words."""

    entry: AuditLogEntry
    who: str
    what: str
    subject: str
    fields: tuple[tuple[str, str], ...]
    outcome: str
    tone: str

    @property
    def moment(self) -> datetime:
        return self.entry.moment


@dataclass(frozen=True)
class AuditLogPage:
    """A page of the log. If it shows one user's acts, `who` and `name` are the user's. `next` is the next page's token."""

    book: str
    who: UUID | None
    name: str
    lines: tuple[AuditLogLine, ...]
    next: str


def get_day_page(book: str, day: date, after: str) -> AuditLogPage:
    """Return a page of the log entries of one day. Raises InvalidPageToken, CassandraUnavailable."""
    entries, following = audit_log.list_day_entries(book, day, after, PAGE_LENGTH)
    return AuditLogPage(book, None, "", _lines(entries), following)


def get_actor_page(who: UUID, day: date, after: str) -> AuditLogPage:
    """Return a page of one user's acts, in the month that contains `day`. Raises InvalidPageToken, CassandraUnavailable."""
    entries, following = audit_log.list_actor_entries(who, day.replace(day=1), after, PAGE_LENGTH)
    return AuditLogPage("", who, list_names([who])[who], _lines(entries), following)


@dataclass(frozen=True)
class _Names:
    """The names of the objects whose ids are on a page of the log."""

    people: dict[UUID, User]
    things: dict[UUID, str]

    def describe(self, text: str) -> str:
        """Return a text with each id replaced by a name. Ids without a known name are left out."""
        return " ".join(filter(None, map(self._describe_word, text.split(" "))))

    def _describe_word(self, word: str) -> str:
        if (found := parse_id(word)) is None:
            return word
        person = self.people.get(found)
        return f"{person.name}, {person.email}" if person else self.things.get(found, "")


def _lines(entries: list[AuditLogEntry]) -> tuple[AuditLogLine, ...]:
    subjects = [(entry.act, parse_id(entry.subject.partition(" ")[0])) for entry in entries]
    products = {each for act, each in subjects if each and act.startswith("adminpanel:product")}
    reading = [prefetch_product(each) for each in products]
    ids = {entry.actor_id for entry in entries} | {each for _, each in subjects}
    people = queries.get_users({each for each in ids if each} - products)
    things = {each.category_id: each.name for each in get_category_tree().nodes}
    for pending in reading:
        if product := product_from_rows(pending.rows()):
            things[product.product_id] = product.name
    names = _Names(people, things)
    return tuple(_line(entry, names) for entry in entries)


def _line(entry: AuditLogEntry, names: _Names) -> AuditLogLine:
    word = entry.outcome.partition(" ")[0].rstrip(":")
    page = entry.act.partition(":")[2].replace("_", " ") or entry.act
    return AuditLogLine(
        entry,
        _who(entry, names.people),
        str(ACTS.get(entry.act) or _("Asked for %(page)s") % {"page": page}),
        names.describe(entry.subject),
        tuple(_list_fields(entry, names)),
        describe_outcome(entry.outcome) or _("No outcome: interrupted, or still running"),
        TONES.get(word, "plain") if entry.outcome else "warn",
    )


def _list_fields(entry: AuditLogEntry, names: _Names) -> Iterator[tuple[str, str]]:
    """Yield the submitted fields and the changed values in words. A field that was changed is yielded only as a change."""
    sent = {
        name: value
        for name, value in entry.fields.items()
        if name not in _TECHNICAL and name not in entry.changes and value != _NOT_KEPT
    }
    for name, value in (*sent.items(), *entry.changes.items()):
        words = staff_label("event", value) if name == "event" else names.describe(value)
        if words:
            yield str(FIELDS.get(name) or name.replace("_", " ").capitalize()), words


def describe_outcome(outcome: str) -> str:
    """Return in words how an act ended: "Refused: it had changed in the meantime" for "refused (409)"."""
    found = _OUTCOME.fullmatch(outcome)
    if found is None:
        return outcome
    what, said, status = found.groups()
    if what == "failed":
        # Readers of the log do not know the name of the error.
        said, status = None, status or "500"
    reason = said or REASONS.get(status)
    return f"{OUTCOMES[what]}: {reason}" if reason else str(OUTCOMES[what])


def _who(entry: AuditLogEntry, people: dict[UUID, User]) -> str:
    if entry.actor:
        return entry.actor
    if entry.actor_id is None:
        return _("Unknown")
    person = people.get(entry.actor_id)
    return f"{person.name}, {person.email}" if person else _("Deleted account")
