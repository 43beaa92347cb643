"""The words for a product's status, availability and tax class, and for the sort orders."""

from django.utils.translation import gettext_lazy

from catalogue.staff_search import STAFF_SORTS
from pricing.tax import TAX_CLASSES

STATUS_LABELS = {
    "draft": gettext_lazy("Draft"),
    "active": gettext_lazy("Active"),
    "archived": gettext_lazy("Archived"),
}
AVAILABILITY_LABELS = {
    "in": gettext_lazy("In stock"),
    "few": gettext_lazy("Few left"),
    "ahead": gettext_lazy("Can be ordered ahead"),
    "out": gettext_lazy("Out of stock"),
}
SORT_LABELS = {
    "changed": gettext_lazy("Last changed first"),
    "newest": gettext_lazy("Newest first"),
    "name": gettext_lazy("Name"),
    "price": gettext_lazy("Price: low to high"),
    "price-down": gettext_lazy("Price: high to low"),
}
TAX_LABELS = {"standard": gettext_lazy("Standard rate"), "reduced": gettext_lazy("Reduced rate")}
assert SORT_LABELS.keys() == STAFF_SORTS.keys()
assert TAX_LABELS.keys() == set(TAX_CLASSES)
