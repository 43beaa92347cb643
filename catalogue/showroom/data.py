"""Everything the showroom sells, in one place for whoever loads it."""

from catalogue.showroom.categories import CATEGORIES
from catalogue.showroom.clothing import CLOTHING
from catalogue.showroom.desk import DESK
from catalogue.showroom.goods import (
    Category,
    Product,
    Variant,
    Warehouse,
    category_id,
    product_id,
    variant_id,
)
from catalogue.showroom.home import HOME
from catalogue.showroom.kitchen import KITCHEN

__all__ = [
    "CATEGORIES",
    "PRODUCTS",
    "WAREHOUSES",
    "Category",
    "Product",
    "Variant",
    "Warehouse",
    "category_id",
    "product_id",
    "variant_id",
]

WAREHOUSES: tuple[Warehouse, ...] = (
    Warehouse("berlin", "Berlin", "Berlin", "DE"),
    Warehouse("cork", "Cork", "Cork", "IE"),
)

PRODUCTS: tuple[Product, ...] = (*HOME, *KITCHEN, *CLOTHING, *DESK)
