"""The reasons why the catalogue refuses a write or a request, with texts for staff and shoppers."""

from collections.abc import Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from catalogue.entities import CategoryNode, Product


class ProductRefused(ValueError):
    """The product breaks a rule of the catalogue at `field` and `variant_id`. `others` are further refusals of the save."""

    def __init__(self, message: str, field: str = "", variant_id: UUID | None = None) -> None:
        super().__init__(message)
        self.field, self.variant_id = field, variant_id
        self.others: Sequence[ProductRefused] = ()


class MediaUnavailable(Exception):
    """The storage of uploaded files does not answer, or it is full."""


class DecoderFailed(Exception):
    """The process that decodes a picture was killed or failed, perhaps through no fault of the picture."""


class PhotoRefused(ValueError):
    """The shop refuses the uploaded picture; the error's text says why."""


class SlugTaken(ProductRefused):
    """The address belongs to another product."""


class SkuTaken(ProductRefused):
    """The SKU belongs to another variant."""


class RedirectRefused(ValueError):
    """An address cannot be redirected, or not to the entered one. The text says why."""


class RedirectChanged(RedirectRefused):
    """Somebody else has changed the redirect since it was read. `target` is its target now; "" if it was removed."""

    def __init__(self, target: str, address: str) -> None:
        text = _("It leads to %(address)s now.") if target else _("It was removed.")
        super().__init__(text % {"address": address or target})
        self.target = target


class ProductChanged(Exception):
    """Somebody else has saved the product since it was read. `product` is the product as it is now."""

    def __init__(self, product: Product | None) -> None:
        super().__init__(_("Someone else has changed this product."))
        self.product = product


class CategoryRefused(ValueError):
    """The category breaks a rule of the catalogue. `field` says at which field."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class CategoryChanged(Exception):
    """Somebody else has changed the category since it was read. `category` is the category as it is now; None if it was removed."""

    def __init__(self, category: CategoryNode | None) -> None:
        super().__init__(_("Someone else has changed this category."))
        self.category = category


class NoLongerSold(Exception):
    """The variant is no longer sold."""

    def __init__(self, name: str = "") -> None:
        text = _("%(name)s is no longer sold.") if name else _("This product is no longer sold.")
        super().__init__(text % {"name": name})


class ShareImageBusy(Exception):
    """This process is making another JPEG at the moment: ask again in some seconds."""
