"""The mail to staff about low stock, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import MailKind, MailPlaceholder

MAILS = [
    MailKind(
        "low_stock",
        _("Every morning, to staff who turned it on: the SKUs that are low in stock."),
        _("{headline}"),
        _("Good morning,\n\nThese are low in stock:"),
        _("You turned this email on. Stop it at the bottom of the stock page."),
        _("View stock"),
        placeholders={"headline": MailPlaceholder(_("How many SKUs are low"), "headline")},
        template="low_stock",
        sample={
            "headline": _("1 SKU is low in stock"),
            "count": 1,
            "links": [("Berlin", "https://shop.example/staff/stock/")],
            "lines": [
                {
                    "variant": {"sku": "LMP-BRS", "label": _("Brass")},
                    "product": {"name": _("Table lamp")},
                    "warehouse": "Berlin",
                    "numbers": {"available": 2},
                    "threshold": 5,
                    "incoming": 10,
                }
            ],
        },
    )
]
