"""What the shop itself puts into its pages of text: the seller, periods, delivery prices and more."""

from datetime import date
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from inventory.warehouses import list_open_warehouses
from payments.gateways import list_enabled_methods
from shop_settings.brand import get_brand
from shop_settings.terms import get_terms
from storefront.delivery_tables import make_delivery_table, weight_rows
from text_pages.drawing import Placeholder
from web.types import StrOrPromise


def _days(count: int) -> str:
    return ngettext("%(count)s day", "%(count)s days", count) % {"count": count}


def _part(label: StrOrPromise, name: str, *, is_wide: bool = False) -> Placeholder:
    """Return a placeholder that is drawn by a template, which gets the terms of the day."""

    def draw(day: date) -> str:
        return render_to_string(f"text_pages/{name}.html", {"terms": get_terms(day)})

    return Placeholder(label, draw, is_part=True, is_wide=is_wide)


def _draw_delivery_methods(_day: date) -> str:
    context: dict[str, Any] = {"table": make_delivery_table(), "weights": weight_rows()}
    return render_to_string("text_pages/delivery_methods.html", context)


def _draw_payment_methods(_day: date) -> str:
    context = {"methods": list_enabled_methods()}
    return render_to_string("text_pages/payment_methods.html", context)


def _draw_demo_notice(_day: date) -> str:
    return render_to_string("text_pages/demo_notice.html") if settings.DEMO else ""


PLACEHOLDERS = {
    "shop": Placeholder(
        gettext_lazy("The shop’s name"), lambda day: get_brand().name, is_of_today=True
    ),
    "seller_name": Placeholder(
        gettext_lazy("The seller’s name"), lambda day: get_terms(day).seller_name
    ),
    "seller_address": Placeholder(
        gettext_lazy("The seller’s address, in one line"),
        lambda day: ", ".join(get_terms(day).seller_address),
    ),
    "seller_email": Placeholder(
        gettext_lazy("A link to the seller’s mailbox"),
        lambda day: format_html('<a href="mailto:{0}">{0}</a>', get_terms(day).email),
    ),
    "return_days": Placeholder(
        gettext_lazy("How long items can be returned, such as “30 days”"),
        lambda day: _days(get_terms(day).return_days),
    ),
    "withdrawal_days": Placeholder(
        gettext_lazy("How long the contract can be withdrawn from, such as “14 days”"),
        lambda day: _days(get_terms(day).withdrawal_days),
    ),
    "order_link_days": Placeholder(
        gettext_lazy("How long a browser can open an order without an account"),
        lambda day: _days(settings.ORDER_LINK_DAYS),
        is_of_today=True,
    ),
    "warehouses": Placeholder(
        gettext_lazy("The places from which you send, such as “Cork or Dublin”"),
        lambda day: get_text_list([each.name for each in list_open_warehouses()], _("or")),
        is_of_today=True,
    ),
    "seller": _part(gettext_lazy("The seller’s name, address, mailbox and VAT number"), "seller"),
    "withdrawal": _part(
        gettext_lazy("The right of withdrawal, as consumers have to be told of it"), "withdrawal"
    ),
    "payment_methods": Placeholder(
        gettext_lazy("The payment methods"), _draw_payment_methods, is_part=True, is_of_today=True
    ),
    "delivery_methods": Placeholder(
        gettext_lazy("The table of countries, delivery methods and prices"),
        _draw_delivery_methods,
        is_part=True,
        is_wide=True,
        is_of_today=True,
    ),
    "contact": _part(gettext_lazy("A box with a button to write to you"), "contact", is_wide=True),
    "demo_notice": Placeholder(
        gettext_lazy("In a demo shop, that nothing is sold"), _draw_demo_notice, is_part=True
    ),
}
