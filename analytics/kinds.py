"""The kinds of visitors' events that the shop counts."""

PAGE_KINDS = ("product", "category", "search")
ORDER = "order"
KINDS = (*PAGE_KINDS, "add", "checkout", ORDER)
