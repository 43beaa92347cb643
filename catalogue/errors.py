"""Why the catalogue refuses something: a write, with a text for the staff; a request, with a text for the shopper."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalogue.entities import CategoryNode, Product


class ProductRefused(ValueError):
    """The product breaks a rule of the catalogue. `field` says in which field, and `variant_id` of which variant.

    `others` are the further reasons for which the same save is refused.
    """

    def __init__(self, message: str, field: str = "", variant_id: UUID | None = None) -> None:
        super().__init__(message)
        self.field, self.variant_id = field, variant_id
        self.others: Sequence[ProductRefused] = ()


class MediaUnavailable(Exception):
    """The storage of uploaded files does not answer, or takes no more."""


class DecoderFailed(Exception):
    """The process that decodes a picture was killed or broke; that is not always the picture's fault."""


class PhotoRefused(ValueError):
    """The upload is no picture that the shop takes; the text says why."""


class SlugTaken(ProductRefused):
    """The address belongs to another product."""


class SkuTaken(ProductRefused):
    """The SKU belongs to another variant."""


class ProductChanged(Exception):
    """Somebody else has saved the product since it was read. `product` is what it is now."""

    def __init__(self, product: Product | None) -> None:
        super().__init__(_("Someone else has changed this product in the meantime."))
        self.product = product


class CategoryRefused(ValueError):
    """The category breaks a rule of the catalogue. `field` says in which field."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class CategoryChanged(Exception):
    """Somebody else has changed the category since it was read. `category` is what it is now, None if it is gone."""

    def __init__(self, category: CategoryNode | None) -> None:
        super().__init__(_("Someone else has changed this category in the meantime."))
        self.category = category


class NoLongerSold(Exception):
    """The variant is not sold any more."""

    def __init__(self, name: str = "") -> None:
        super().__init__(
            _("%(name)s is no longer sold.") % {"name": name}
            if name
            else _("This product is no longer sold.")
        )


class ShareImageBusy(Exception):
    """This process is making another JPEG of a drawing: ask again in some seconds."""
