"""What a browser sends of a product's page."""

from typing import Any
from uuid import UUID, uuid4

from django.urls import reverse

from adminpanel.catalogue.product_forms import ProductForm
from adminpanel.catalogue.variant_grid import VariantGrid
from catalogue import queries
from catalogue.entities import Product
from inventory.queries import get_stock
from tests.factories import make_category

NEW = reverse("adminpanel:product_new")


def address(product: Product, name: str = "product", *more: UUID) -> str:
    return reverse(f"adminpanel:{name}", args=(product.product_id, *more))


def stored(product_id: UUID) -> Product:
    found = queries.get_product_at_quorum(product_id)
    assert found
    return found


def sent_grid(grid: VariantGrid) -> dict[str, str]:
    """What the options and rows of a grid send."""
    sent = {"shown_pictures": grid.shown_pictures}
    for option in grid.options:
        sent[f"option-{option.number}-name"] = option.name
        sent[f"option-{option.number}-values"] = option.values
    for row in grid.rows:
        start = f"variant-{row.number}-"
        sent |= {f"{start}id": str(row.variant_id), f"{start}values": row.values_text}
        sent[f"{start}seen"] = row.seen
        sent |= {cell.name: cell.value for cell in row.cells if cell.value or not cell.is_checkbox}
    return sent


def typed(product: Product, cells: dict[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    """What the page of a product sends as it is shown, with some cells and fields typed anew."""
    form = ProductForm.of(product, [])
    values = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in values.items() if value not in (None, False)}
    grid = VariantGrid.of(product, get_stock(product.product_id))
    return sent | sent_grid(grid) | (cells or {}) | changes


def typed_new(cells: dict[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    """What the page of a new product sends: one variant, without options."""
    own = {
        "variant-0-id": "",
        "variant-0-values": "[]",
        "variant-0-sku": f"st-{uuid4().hex[:10]}",
        "variant-0-price": "89.50",
        "variant-0-weight_grams": "4200",
        "variant-0-sold": "on",
    }
    fields = {
        "product_id": str(uuid4()),
        "save_id": str(uuid4()),
        "name": "Oak stool",
        "category_id": str(make_category("Stools").category_id),
        "brand": "Hald",
        "tax_class": "standard",
    }
    return fields | own | (cells or {}) | changes
