"""The mails of conversations, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import SAMPLE_END, MailKind, MailPlaceholder

MAILS = [
    MailKind(
        "contact_confirm",
        _("A guest writes to the shop: the link that sends the message."),
        _("Confirm your message to {shop}"),
        _(
            "Hello,\n\nYou, or someone who entered your email address, wrote us a message."
            " To read and send it, open this link within two days:"
        ),
        _(
            "If this wasn’t you, you can ignore this email. Without the link, we delete the message."
        ),
        _("Read and send the message"),
    ),
    MailKind(
        "conversation_reply",
        _("Staff answer a customer."),
        _("{subject}"),
        _("{message}"),
        _("{answer}\n\nYou’re getting this email because you wrote to us."),
        _("Open the conversation"),
        placeholders={
            # An answer has the subject of what its reader wrote.
            "subject": MailPlaceholder(_("The subject"), "thread_subject"),
            "message": MailPlaceholder(_("The message"), "body", is_typed=True),
            "answer": MailPlaceholder(_("How to answer"), "answer"),
        },
        required=("message",),
        template="conversation_reply",
        sample={
            "thread_subject": _("Re: My lamp"),
            "body": _("Hello Ada,\n\nThe lamp takes bulbs with an E27 base.\n\nKind regards"),
            "answer": _("To answer, reply to this email, or write on the page."),
            "file_names": ["lamp.pdf"],
        }
        | SAMPLE_END,
    ),
]
