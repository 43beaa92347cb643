"""The mails about questions, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import PRODUCT, SAMPLE_END, MailKind, MailPlaceholder

_LOOK = {"name": "Stoneware mug", "reason": _("It is about another product.")} | SAMPLE_END

MAILS = [
    MailKind(
        "question_answered",
        _("A member’s question has an answer."),
        _("Your question about {product} has an answer"),
        _("Hello,\n\nSomebody has answered your question about {product}."),
        _("You’re getting this email because you asked a question about a product."),
        _("Read the answer"),
        placeholders={"product": PRODUCT},
        sample=_LOOK,
    ),
    MailKind(
        "question_refused",
        _("A question or an answer is not published, with the reason."),
        _("We haven’t published what you wrote about {product}"),
        _(
            "Hello,\n\nWe haven’t published your question or answer about {product}, because:\n\n{reason}"
        ),
        _("You’re getting this email because you wrote about a product."),
        _("Look at what you wrote"),
        placeholders={"product": PRODUCT, "reason": MailPlaceholder(_("The reason"), "reason")},
        required=("reason",),
        sample=_LOOK,
    ),
]
