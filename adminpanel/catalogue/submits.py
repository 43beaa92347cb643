"""Saves the forms of products and variants. If the catalogue refuses to save, the errors are shown beside the fields."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.access import note_changes
from adminpanel.catalogue.variant_forms import PriceForm
from adminpanel.catalogue.variant_grid import VariantGrid
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from catalogue import operations
from catalogue.entities import Product, Variant
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.variants import fingerprint_variant
from web.forms import Form

# The names of form fields, keyed by the names that the catalogue uses when it refuses a value.
FORM_FIELDS = {"related_ids": "related", "planned": "starts", "successor_id": "successor"}


def show_refusal(form: Any, refused: ProductRefused, others: Iterable[Variant] = ()) -> None:
    """Add each reason of a refusal to its field's errors, or else to the errors of the whole form.

    `others` are variants whose fields the form does not have. A reason about one of them names its SKU.
    """
    skus: dict[UUID | None, str] = {each.variant_id: each.sku for each in others}
    said: dict[tuple[str | None, str], None] = {}
    for each in (refused, *refused.others):
        field, sku = FORM_FIELDS.get(each.field, each.field), skus.get(each.variant_id)
        name = field if field in form.fields and not sku else None
        said[name, f"{sku}: {each}" if sku else str(each)] = None
    for name, text in said:
        form.add_error(name, text)


def show_product_refusal(
    form: Form, grid: VariantGrid, refused: ProductRefused, variants: Sequence[Variant]
) -> None:
    """Add each reason of a refusal to its cell of the grid, to its field, or to the form's errors; there it names the SKU."""
    left = [each for each in (refused, *refused.others) if not grid.show_refusal(each)]
    if left:
        first, *first.others = left
        show_refusal(form, first, variants)


def list_others(product: Product, variant: Variant) -> list[Variant]:
    """Return all variants of a product except this one."""
    return [each for each in product.variants if each.variant_id != variant.variant_id]


def get_variant_or_404(product: Product, variant_id: UUID) -> tuple[Variant, str]:
    """Return a variant of the product, and its fingerprint. Raises Http404."""
    variant = found_or_404(product.get_variant(variant_id), "variant")
    return variant, fingerprint_variant(variant)


def save_variant_form(
    request: HttpRequest, product: Product, form: PriceForm
) -> tuple[Product, int]:
    """Save a variant. Return the newest product, and the answer's status: 303 if the variant was saved.

    If it was not saved, the form has errors.
    """
    if not form.is_valid():
        return product, HTTPStatus.UNPROCESSABLE_ENTITY
    typed = form.build()
    try:
        saved = operations.save_variant(
            product.product_id, typed, form.cleaned_data["seen"], current_time()
        )
    except ProductChanged as changed:
        newer = changed.product or product
        _show_newer_variant(form, newer)
        return newer, HTTPStatus.CONFLICT
    except ProductRefused as refused:
        show_refusal(form, refused, list_others(product, typed))
        return product, HTTPStatus.UNPROCESSABLE_ENTITY
    note_changes(request, PriceForm.describe(form.variant), PriceForm.describe(typed))
    messages.success(request, _("Saved %(sku)s.") % {"sku": typed.sku})
    return saved, HTTPStatus.SEE_OTHER


def _show_newer_variant(form: PriceForm, product: Product) -> None:
    """Show the newly saved values beside the fields. The next submit may overwrite them."""
    newer = product.get_variant(form.variant.variant_id)
    if newer is None:
        return
    form.add_error(
        None, _("Someone else has changed this variant. Save again to keep what you typed.")
    )
    typed = form.build()
    for name, text in PriceForm.describe(newer).items():
        if name in form.fields and text != PriceForm.describe(typed)[name]:
            form.add_error(name, _("Saved now: %(text)s") % {"text": text or _("empty")})
    form.keep_typed(seen=fingerprint_variant(newer))
