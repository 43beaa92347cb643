"""The words of conversations: their folders, states, subjects and colours, and what was done to many at once."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy

from conversations.rules import ALL, OPEN, STARRED, TRASH, UNASSIGNED
from conversations.states import DONE, ORDER, PRODUCT, SPAM, WAITING_FOR_CUSTOMER, WAITING_FOR_US
from web.types import StrOrPromise

# The audit log's name for the act of reading a conversation.
CONVERSATION_LOOK = "conversation_looked_at"
# The folders of the inbox: what their addresses call them, and their labels. The label of one's own has one's id in it.
WAITING, MINE = "waiting", "mine"
FOLDERS: Mapping[str, str] = {
    WAITING: f" {WAITING_FOR_US}",
    "customer": f" {WAITING_FOR_CUSTOMER}",
    "open": OPEN,
    "done": f" {DONE}",
    MINE: "",
    "unassigned": UNASSIGNED,
    "starred": STARRED,
    "all": ALL,
    "spam": f" {SPAM}",
    "trash": TRASH,
}
STATES: Mapping[str, tuple[StrOrPromise, str]] = {
    WAITING_FOR_US: (gettext_lazy("Waiting for us"), "warn"),
    WAITING_FOR_CUSTOMER: (gettext_lazy("Waiting for the customer"), "calm"),
    DONE: (gettext_lazy("Done"), "good"),
    SPAM: (gettext_lazy("Spam"), "bad"),
}
# What a conversation is about, with its icon.
TOPICS: Mapping[str, tuple[StrOrPromise, str]] = {
    ORDER: (gettext_lazy("About an order"), "box"),
    PRODUCT: (gettext_lazy("About a product"), "bag"),
}
