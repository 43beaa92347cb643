"""The states of a conversation. Each has a label of its own in the shop's mailbox (rules.SHOP_LABELS)."""

WAITING_FOR_US = "waiting_for_us"
WAITING_FOR_CUSTOMER = "waiting_for_customer"
DONE = "done"
SPAM = "spam"
STATES = (WAITING_FOR_US, WAITING_FOR_CUSTOMER, DONE, SPAM)
# The conversation is being deleted: reads find none, and the worker finishes it.
DELETED = "deleted"

# The kinds of messages. Customers do not see notes.
CUSTOMER, SHOP, NOTE = "customer", "shop", "note"

# What a conversation is about.
ORDER, PRODUCT, OTHER = "order", "product", "other"
