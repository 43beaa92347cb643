"""Why the catalogue refuses something: a write, with a text for the staff; a request, with a text for the shopper."""


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

    def __init__(self, name: str = "That") -> None:
        super().__init__(f"{name} is no longer sold.")
