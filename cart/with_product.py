"""The visitor's carts that contain a product, for the product's page (Q10, X131)."""

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest
from django.template.loader import render_to_string

from cart import owner, queries
from cart.entities import CartWithProduct
from cart.request_cart import get_request_cart


@dataclass(frozen=True)
class CartsWithProduct:
    """The data of the part of a product's page that names the carts with the product."""

    carts: tuple[CartWithProduct, ...]


def prefetch_units_in_carts(request: HttpRequest) -> list[queries.PendingUnits]:
    """Start reading the products' units in the visitor's carts, if the visitor has carts. Raises CassandraUnavailable."""
    owner_id = owner.get_owner_id(request)
    if owner_id is None:
        return []
    carts = get_request_cart(request).prefetch_badge(owner_id).first()
    return queries.prefetch_units(owner_id, carts)


def render_carts_with_product(reading: list[queries.PendingUnits], product_id: UUID) -> str:
    """Return the HTML that lists the carts with a product and their units of it; "" if no cart has it. Raises CassandraUnavailable."""
    found = queries.find_carts_with_product(reading, product_id)
    if not found:
        return ""
    context = {"carts_with_product": CartsWithProduct(tuple(found))}
    return render_to_string("cart/_with_product.html", context)
