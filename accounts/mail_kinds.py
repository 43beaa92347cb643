"""The mails about accounts, with the shop's own texts."""

from django.utils.translation import gettext_lazy as _

from mail.kinds import NAME, MailKind, MailPlaceholder

_NAMED = {"name": NAME}
_NOT_YOU = _(
    "If this wasn’t you, you can ignore this email. Whoever asked wasn’t told that you have an account."
)
_ADDRESS = {"email": MailPlaceholder(_("The new email address"), "email", is_typed=True)}
_LOOK = {"name": "Ada Lovelace"}

MAILS = [
    MailKind(
        "registration",
        _("Someone requests an account: the link that creates it."),
        _("Finish creating your account at {shop}"),
        _(
            "Hello,\n\nYou, or someone who entered your email address, asked for an account at {shop}.\n\n"
            "To finish, open this link within 24 hours and choose your name and password:"
        ),
        _(
            "If this wasn’t you, you can ignore this email. Without the link, no account is created."
        ),
        _("Create account"),
    ),
    MailKind(
        "registered_already",
        _("Someone requests an account with an address that has one."),
        _("You already have an account at {shop}"),
        _(
            "Hello,\n\nYou, or someone who entered your email address, asked for an account at {shop}."
            " This address already has an account, so nothing has changed.\n\nSign in here with your password:"
        ),
        _NOT_YOU,
        _("Sign in"),
    ),
    MailKind(
        "reset",
        _("A member has forgotten the password: the link that sets a new one."),
        _("Set a new password at {shop}"),
        _(
            "Hello,\n\nYou, or someone who entered your email address, asked for a new password at {shop}.\n\n"
            "Open this link within one hour to choose one. It works once:"
        ),
        _("If this wasn’t you, you can ignore this email. Your password stays the same."),
        _("Choose a new password"),
    ),
    MailKind(
        "reset_unknown",
        _("Someone requests a new password for an address without an account."),
        _("No account at {shop} for this email address"),
        _(
            "Hello,\n\nYou, or someone who entered your email address, asked for a new password at {shop}."
            " There is no account for this address whose password could be reset.\n\n"
            "You may have used another address. You can also create an account:"
        ),
        _(
            "If this wasn’t you, you can ignore this email. Whoever asked wasn’t told that you have no account."
        ),
        _("Create an account"),
    ),
    MailKind(
        "invitation",
        _(
            "A customer is imported from another shop, with an invitation: the link that sets a password."
        ),
        _("Set a password for your account at {shop}"),
        _(
            "Hello {name},\n\n{shop} has a new online shop, and your account has moved with it. Your old password hasn’t."
            "\n\nOpen this link within 30 days to choose a new one. It works once:"
        ),
        _(
            "Without a password nobody can sign in to the account. You can also ask for a link later, on the sign-in page."
        ),
        _("Choose a password"),
        placeholders=_NAMED,
        sample=_LOOK,
    ),
    MailKind(
        "password_changed",
        _("A member’s password was changed."),
        _("Your password at {shop} was changed"),
        _(
            "Hello {name},\n\nThe password of your account at {shop} was just changed."
            " You’ve been signed out on all your other devices.\n\nIf this wasn’t you, set a new password right away:"
        ),
        _("If this was you, you don’t need to do anything."),
        _("Set a new password"),
        placeholders=_NAMED,
        sample=_LOOK,
    ),
    MailKind(
        "email_confirm",
        _("A member changes the email address: the link that confirms the new one."),
        _("Confirm your new email address at {shop}"),
        _(
            "Hello,\n\nYou asked to use this email address for your account at {shop}.\n\n"
            "To confirm, open this link within 24 hours in a browser where you’re signed in:"
        ),
        _(
            "If this wasn’t you, someone entered your address by mistake and you can ignore this email."
        ),
        _("Confirm email address"),
    ),
    MailKind(
        "email_taken",
        _("A member wants to change to an address that has an account."),
        _("You already have an account at {shop}"),
        _(
            "Hello,\n\nSomeone asked to use this email address for another account at {shop}."
            " This address already has an account, so nothing has changed.\n\n"
            "If this was you, sign in to your existing account:"
        ),
        _NOT_YOU,
        _("Sign in"),
    ),
    MailKind(
        "email_change_requested",
        _("A member changes the email address: the notice to the present one."),
        _("Someone wants to change your email address at {shop}"),
        _(
            "Hello {name},\n\nSomeone who knows your password asked to change the email address of your account"
            " at {shop} to {email}. Nothing has changed yet: they first have to open a link that we sent there.\n\n"
            "If this wasn’t you, change your password right away. This also cancels that link:"
        ),
        _("If this was you, you don’t need to do anything here."),
        _("Change your password"),
        placeholders=_NAMED | _ADDRESS,
        sample=_LOOK,
    ),
    MailKind(
        "email_changed",
        _("A member has changed the email address: the last mail to the former one."),
        _("Your email address at {shop} was changed"),
        _(
            "Hello {name},\n\nThe email address of your account at {shop} is now {email}. Sign in with it from now on."
            " We’ll send our emails there, and this is the last one to your old address."
        ),
        _("If this wasn’t you, reply to this email right away and we’ll look into it."),
        placeholders=_NAMED | _ADDRESS,
        sample=_LOOK,
    ),
    MailKind(
        "email_welcome",
        _("A member has changed the email address: the first mail to the new one."),
        _("This is now your email address at {shop}"),
        _(
            "Hello {name},\n\nYour account at {shop} now uses this email address. Sign in with it from now on."
            " We’ll send our emails here."
        ),
        _("If this wasn’t you, reply to this email and we’ll look into it."),
        placeholders=_NAMED,
        sample=_LOOK,
    ),
    MailKind(
        "erased",
        _("A member’s account was deleted."),
        _("Your account at {shop} was deleted"),
        _(
            "Hello {name},\n\nAs you asked, we’ve deleted your account, your carts, your addresses and your"
            " back-in-stock alerts, and removed your name from your orders.\n\nFor each order we keep what tax law"
            " requires: its number, dates, items and amounts, without your personal data."
        ),
        _("This is our last email. We’ll forget this address 30 days from now."),
        placeholders=_NAMED,
        sample=_LOOK,
    ),
    MailKind(
        "access_changed",
        _("An admin has changed a staff member’s role."),
        _("Your access to {shop} has changed"),
        _(
            "Hello {name},\n\n{details}\n\nYou’ve been signed out on all your devices. See where you’re signed in:"
        ),
        _("If you didn’t expect this, contact whoever manages the shop’s accounts."),
        _("See my devices"),
        placeholders=_NAMED | {"details": MailPlaceholder(_("What has changed"), "what")},
        required=("details",),
        sample=_LOOK | {"what": _("You now have access to the warehouse’s pages.")},
    ),
]
