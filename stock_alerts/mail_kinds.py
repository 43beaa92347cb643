"""The mails about variants that are back in stock, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import PRODUCT, SAMPLE_END, MailKind

_LOOK = {"name": _("Table lamp, Brass")}

MAILS = [
    MailKind(
        "confirm_subscription",
        _("A visitor requests a back-in-stock alert: the link that confirms it."),
        _("Confirm your back-in-stock alert for {product}"),
        _(
            "Hello,\n\nYou, or someone who entered your email address, asked to be told when this is back in stock"
            " at {shop}: {product}.\n\nTo confirm, open this link within seven days. We’ll email you once it’s back:"
        ),
        _("If this wasn’t you, you can ignore this email. Without the link, we keep nothing."),
        _("Notify me"),
        placeholders={"product": PRODUCT},
        sample=_LOOK,
    ),
    MailKind(
        "back_in_stock",
        _("A variant is back in stock: to everyone with an alert."),
        _("{product} is back in stock"),
        _("Hello,\n\nGood news: {product} is back in stock."),
        _(
            "We can’t reserve one for you, so it may sell out again. This is the only email we send you about it."
        ),
        _("View product"),
        _("Stop all back-in-stock emails"),
        placeholders={"product": PRODUCT},
        sample=_LOOK | SAMPLE_END,
    ),
]
