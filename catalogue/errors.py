"""Why the catalogue refuses something: a write, with a text for the staff; a request, with a text for the shopper."""

from django.utils.translation import gettext as _


class ProductRefused(ValueError):
    """The product breaks a rule of the catalogue."""


class SlugTaken(ProductRefused):
    """The address belongs to another product."""


class SkuTaken(ProductRefused):
    """The SKU belongs to another variant."""


class CategoryRefused(ValueError):
    """The category breaks a rule of the catalogue."""


class NoLongerSold(Exception):
    """The variant is not sold any more."""

    def __init__(self, name: str = "") -> None:
        super().__init__(
            _("%(name)s is no longer sold.") % {"name": name}
            if name
            else _("This product is no longer sold.")
        )
