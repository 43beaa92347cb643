"""The errors of accounts, with texts for the person who sees them."""

from django.utils.translation import gettext as _


class EmailTaken(Exception):
    """An account with this e-mail address exists."""


class AccountChanged(Exception):
    """The password or the e-mail address has changed since it was read; nothing was written."""


class SaveRefused(Exception):
    """A user object cannot write this change by itself. The error's text names the operation that can."""


class AddressBookFull(Exception):
    """The member has as many addresses as an account can keep."""

    def __str__(self) -> str:
        return _("Your address book is full: it holds 20 addresses. Remove one to add another.")


class NoSuchAddress(Exception):
    """The address is not in the address book, or was removed."""


class NoSuchUser(Exception):
    """The account does not exist, or was erased."""


class AlreadyEnrolled(Exception):
    """The user already has a second factor, which must be reset first."""


class TooManyNotes(Exception):
    """The customer has as many notes as allowed."""

    def __str__(self) -> str:
        return _("There are 200 notes on this customer, which is the limit.")


class BlockChanged(Exception):
    """A customer was blocked or unblocked since the page was shown; nothing was written."""


class BlockRefused(Exception):
    """One of the staff, a login of the demo shop or an account that is being deleted cannot be blocked."""

    def __str__(self) -> str:
        return _(
            "People with a role, demo logins and accounts that are being deleted can’t be blocked."
        )


class RoleChanged(Exception):
    """The role has changed since the page showed it; nothing was written."""

    def __str__(self) -> str:
        return _("Someone else has changed this role. The current role is shown.")


class LastAdmin(Exception):
    """The change would leave the shop without an admin."""

    def __str__(self) -> str:
        return _("This is the last admin. Make someone else an admin first.")
