"""The kinds of visitors' events that the shop counts."""

PAGE_KINDS = ("product", "category", "search")
ORDER = "order"
# A visitor opens a product from the results of a search.
CLICK = "click"
KINDS = (*PAGE_KINDS, CLICK, "add", "checkout", ORDER)
