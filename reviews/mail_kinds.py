"""The mails about reviews, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import PRODUCT, SAMPLE_END, MailKind, MailPlaceholder

_ABOUT = {"product": PRODUCT, "reason": MailPlaceholder(_("The reason"), "reason")}

MAILS = [
    MailKind(
        "review_request",
        _("Two weeks after an order has arrived, once: how do you like it?"),
        _("How do you like your order?"),
        _(
            "Hello,\n\nYour order arrived two weeks ago. Would you tell others how you like it?"
            " Good or bad, a few words help."
        ),
        _("This is the only email in which we ask about this order."),
        _("Write a review"),
        _("Stop all emails that ask for reviews"),
        template="links",
        sample={"lines": [(_("Review Linen towel"), "https://shop.example/reviews/2/")]}
        | SAMPLE_END,
    ),
    MailKind(
        "review_refused",
        _("A review is not published, with the reason."),
        _("We haven’t published your review of {product}"),
        _("Hello,\n\nWe haven’t published your review of {product}, because:\n\n{reason}"),
        _("You’re getting this email because you wrote a review."),
        _("Change your review"),
        placeholders=_ABOUT,
        required=("reason",),
        sample={"name": "Stoneware mug", "reason": _("It is about the delivery.")} | SAMPLE_END,
    ),
]
