"""The kinds of events that are counted of a visit."""

PAGE_KINDS = ("product", "category", "search")
ORDER = "order"
KINDS = (*PAGE_KINDS, "add", "checkout", ORDER)
