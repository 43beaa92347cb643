"""The names of the keys by which sales are added up: of categories, products, countries and so on."""

from collections.abc import Callable, Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from adminpanel.parameters import parse_id
from analytics.dimensions import NO_PROMOTION, NOT_KNOWN, STAFF_DISCOUNT
from catalogue.queries import get_category_tree, get_products, leave_out
from payments.gateways import METHODS
from pricing.delivery_settings import country_name
from promotions.queries import AUTOMATIC, CODE, list_promotions_by_trigger


def name_keys(by: str, keys: Sequence[str]) -> dict[str, str]:
    """Return the names of a dimension's keys. Raises CassandraUnavailable."""
    known = [key for key in keys if key != NOT_KNOWN]
    found = _NAMES[by](known) if by in _NAMES else {}
    return {key: found.get(key) or _("Not known") for key in keys}


def _name_categories(keys: Sequence[str]) -> dict[str, str]:
    names = {
        str(node.category_id): " › ".join(each.name for each in node.path)
        for node in get_category_tree().nodes
    }
    return {key: names.get(key, _("Deleted category")) for key in keys}


def _name_products(keys: Sequence[str]) -> dict[str, str]:
    """Return the names of products, and of variants, whose keys are the ids of the product and the variant."""
    ids = {key: [UUID(each) for each in key.split()] for key in keys}
    products = get_products({product_id for product_id, *_ in ids.values()}, leave_out)
    found = {}
    for key, (product_id, *variant_ids) in ids.items():
        product = products.get(product_id)
        found[key] = product.name if product else _("Deleted product")
        variant = product.get_variant(variant_ids[0]) if product and variant_ids else None
        if variant:
            found[key] += f", {variant.label}" * bool(variant.label) + f" ({variant.sku})"
    return found


def _name_promotions(keys: Sequence[str]) -> dict[str, str]:
    listed = list_promotions_by_trigger([AUTOMATIC, CODE]).values()
    promotions = [row for rows in listed for row in rows]
    # An order of an earlier version knows only the promotion's name.
    older = _("%(name)s (older orders)")
    names = {row.title: older % {"name": row.title} for row in promotions}
    names |= {row.key: row.title + (f" ({row.code})" if row.code else "") for row in promotions}
    names |= {NO_PROMOTION: _("No promotion"), STAFF_DISCOUNT: _("Discount by staff")}
    return {
        key: names.get(key) or (_("Deleted promotion") if parse_id(key) else key) for key in keys
    }


_NAMES: dict[str, Callable[[Sequence[str]], dict[str, str]]] = {
    "category": _name_categories,
    "product": _name_products,
    "variant": _name_products,
    "country": lambda keys: {key: country_name(key) for key in keys},
    "promotion": _name_promotions,
    "payment": lambda keys: {key: _(METHODS[key].name) if key in METHODS else key for key in keys},
    "customer": lambda _keys: {"first": _("First order"), "returning": _("Returning customers")},
}
