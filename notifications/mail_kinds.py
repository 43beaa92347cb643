"""The mails of notifications, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import SAMPLE_END, MailKind, MailPlaceholder

_HEADLINE = MailPlaceholder(_("What it is about, in a few words"), "label")

MAILS = [
    MailKind(
        "notification",
        _("A member’s news, at once."),
        _("{headline}"),
        _("Hello,\n\n{details}."),
        button=_("Take a look"),
        placeholders={"headline": _HEADLINE, "details": MailPlaceholder(_("The news"), "text")},
        required=("details",),
        sample={"label": _("Lower price"), "text": _("Table lamp now costs €39.90")} | SAMPLE_END,
    ),
    MailKind(
        "digest",
        _("A member’s news of a day or a week, in one email."),
        _("{headline}"),
        _("Hello,\n\nHere’s what’s new for you at {shop}:"),
        button=_("Choose what we tell you"),
        placeholders={"headline": _HEADLINE},
        template="links",
        sample={
            "label": _("2 pieces of news for you"),
            "lines": [(_("Table lamp now costs €39.90"), "https://shop.example/p/lamp/")],
            "ends": [(_("Lower price"), "https://shop.example/notifications/end/1/")],
        },
    ),
]
