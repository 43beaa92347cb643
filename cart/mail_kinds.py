"""The mail that invites somebody to a cart, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import SAMPLE_END, MailKind, MailPlaceholder

MAILS = [
    MailKind(
        "cart_invitation",
        _("A member shares a cart with someone."),
        _("Someone shared a cart with you at {shop}"),
        _("Hello,\n\n{details}\n\nTo join, open this link by {day}:"),
        _(
            "You need an account with this email address, {email}. If you don’t have one yet, create one first:"
            " {register}\n\nIf you don’t know who this is or don’t want to join, you can ignore this email."
            " The invitation expires by itself."
        ),
        _("View invitation"),
        placeholders={
            "details": MailPlaceholder(
                _("Who shares which cart, and as what"), "details", is_typed=True
            ),
            "day": MailPlaceholder(_("The last day to join"), "day"),
            "email": MailPlaceholder(_("The invited address"), "email", is_typed=True),
            "register": MailPlaceholder(_("Where an account is created"), "register_url"),
        },
        required=("details", "register"),
        sample={
            "details": _(
                "Someone who goes by the name “Ada” shared a cart with you. You can view it."
            ),
            "day": "4 December",
            "register_url": "https://shop.example/account/register/",
        }
        | SAMPLE_END,
    )
]
