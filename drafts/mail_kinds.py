"""The mail with an offer, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import NAME, MailKind, MailPlaceholder

MAILS = [
    MailKind(
        "offer",
        _("Staff send an offer: the link to view and order it."),
        _("Your offer from {shop}"),
        _("Hello {name},\n\n{details}"),
        _("Nothing is ordered before you do that. If you didn’t ask us for it, ignore this email."),
        _("View offer"),
        placeholders={
            "name": NAME,
            "details": MailPlaceholder(_("What the offer is for"), "details"),
        },
        template="offer",
        sample={
            "name": "Ada Lovelace",
            "details": _("As you asked, we’ve put together an order for you:"),
            "promise": _("€39.90 in all, with delivery. The prices hold until 4 December 2026."),
        },
    )
]
