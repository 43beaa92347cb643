"""Everything the showroom sells, in one place for whoever loads it."""

from demo.showroom.categories import CATEGORIES
from demo.showroom.clothing import CLOTHING
from demo.showroom.desk import DESK
from demo.showroom.goods import Category, Product, Variant, Warehouse, category_id, product_id, variant_id
from demo.showroom.home import HOME
from demo.showroom.kitchen import KITCHEN

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
