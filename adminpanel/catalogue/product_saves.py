"""Saves a product's page: the product in one conditional batch, then each stock cell as a correction (decision 103)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.http import QueryDict
from django.utils.translation import gettext as _

from adminpanel.catalogue.product_forms import (
    ProductForm,
    fingerprint_product,
    make_save_id,
    make_slug,
)
from adminpanel.catalogue.product_pages import find_related_ids
from adminpanel.catalogue.stock_cells import Booking, book_stock_cells
from adminpanel.catalogue.variant_grid import VariantGrid
from adminpanel.catalogue.variant_rows import RefusedCell
from adminpanel.conflicts import get_seen_version
from catalogue import operations, queries
from catalogue.entities import Product
from catalogue.errors import ProductChanged, SlugTaken
from inventory.warehouses import find_warehouse_name
from spreadsheets.columns import blank_product

# The audit log names at most this many changes of a save.
MAX_NOTED = 40


@dataclass(frozen=True)
class ProductEdit:
    """What a valid form and a valid grid ask for. `save_id` is the same if the form is sent again unchanged."""

    form: ProductForm
    grid: VariantGrid
    related_ids: tuple[UUID, ...]
    successor_id: UUID | None
    save_id: UUID
    seen: str

    def apply_to(self, product: Product) -> Product:
        """Return the product with all that was typed, but for its stock. Raises ProductRefused."""
        changed = self.form.apply_to(product, self.related_ids, self.successor_id)
        if not changed.slug:
            skus = [row.texts["sku"] for row in self.grid.rows]
            slugs = (product.slug, *map(make_slug, (changed.name, *skus[:1])))
            changed = replace(changed, slug=next(filter(None, slugs), product.product_id.hex))
        return self.grid.apply_to(changed)

    def apply_to_seen(self, product: Product) -> Product:
        """Return the product with all that was typed; the same object if nothing differs. Raises ProductChanged if it is not as seen."""
        if fingerprint_product(product) != self.seen:
            raise ProductChanged(product)
        changed = self.apply_to(product)
        return product if fingerprint_product(changed) == self.seen else changed


def make_edit(form: ProductForm, grid: VariantGrid, data: QueryDict) -> ProductEdit:
    """Return what a valid form and grid ask for. If SKUs are unknown, the form has errors. Raises CassandraUnavailable."""
    clean = form.cleaned_data
    related_ids, unknown = find_related_ids(clean["related"])
    successor = [clean["successor"]] if clean["successor"] else []
    successor_ids, unknown_successor = find_related_ids(successor)
    for field, skus in (("related", unknown), ("successor", unknown_successor)):
        if skus:
            form.add_error(field, _("No product has the SKU %(sku)s.") % {"sku": skus[0]})
    save_id = make_save_id(clean["save_id"], data)
    seen = get_seen_version(data)
    return ProductEdit(form, grid, related_ids, next(iter(successor_ids), None), save_id, seen)


def save_edit(product_id: UUID, edit: ProductEdit, now: datetime, *, is_new: bool) -> Product:
    """Save a product's edit and return the product. If this edit has been saved before, nothing is written.

    Raises ProductChanged if somebody else has changed the product since it was shown, and all errors of `save_product`.
    """
    try:
        if is_new:
            made = edit.apply_to(blank_product(product_id, ""))
            return _save_under_free_address(made, now, edit.save_id)
        return operations.change_product(product_id, edit.apply_to_seen, now, edit.save_id)
    except ProductChanged as changed:
        saved = changed.product
        if saved is None or queries.get_save_id(product_id) != edit.save_id:
            raise
        # The form was sent again: its first submit has saved the product, and perhaps died before the stock.
        edit.apply_to(saved)
        return saved


def _save_under_free_address(product: Product, now: datetime, save_id: UUID) -> Product:
    """Save a new product. If its address is taken, append letters of its id to the address. Raises like `save_product`."""
    try:
        return operations.save_product(product, now, save_id=save_id)
    except SlugTaken:
        slug = f"{make_slug(product.slug, 80)}-{product.product_id.hex[:6]}"
        return operations.save_product(replace(product, slug=slug), now, save_id=save_id)


def book_stock(
    product: Product, edit: ProductEdit, actor: str, now: datetime
) -> tuple[dict[str, int], dict[str, int], list[RefusedCell]]:
    """Book the stock cells of a saved edit. Return the units before and after, keyed by cell in words, and the refused cells."""
    cells = edit.grid.list_stock_cells()
    reason = edit.form.cleaned_data["stock_reason"] or _("Changed on the product’s page")
    booking = Booking(product.product_id, edit.save_id, actor, reason, now)
    refused = book_stock_cells(booking, cells)
    not_booked = {each.cell for each in refused}
    skus = {each.variant_id: each.sku for each in product.variants}
    booked = {
        f"{skus[each.variant_id]}, {find_warehouse_name(each.warehouse_id)}": each
        for each in cells
        if each not in not_booked
    }
    before = {name: each.seen or 0 for name, each in booked.items()}
    return before, {name: each.units for name, each in booked.items()}, refused


def cut_changes(
    before: Mapping[str, object], after: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the values that differ, before and after, at most MAX_NOTED; the last one says how many are left out."""
    names: Sequence[str] = [
        name for name in {**before, **after} if before.get(name) != after.get(name)
    ]
    more = len(names) - MAX_NOTED
    kept = names[:MAX_NOTED]
    end = {"more": more} if more > 0 else {}
    return {n: before.get(n, "") for n in kept}, {n: after.get(n, "") for n in kept} | end
