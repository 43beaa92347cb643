"""What may be refused when the catalogue is written; the messages are for the staff."""


class ProductRefused(ValueError):
    """The product breaks a rule of the catalogue."""


class SlugTaken(ProductRefused):
    """The address belongs to another product."""


class SkuTaken(ProductRefused):
    """The SKU belongs to another variant."""


class CategoryRefused(ValueError):
    """The category breaks a rule of the catalogue."""
