"""What can go wrong with accounts, in words fit for their reader."""

from django.utils.translation import gettext as _


class EmailTaken(Exception):
    """An account with this e-mail address exists."""


class AccountChanged(Exception):
    """The password or the address has changed meanwhile; nothing was changed."""


class SaveRefused(Exception):
    """A user object cannot write this itself. The text names the operation that does."""


class AddressBookFull(Exception):
    """The member has as many addresses as an account can keep."""

    def __str__(self) -> str:
        return _("Your address book is full: it holds 20 addresses. Remove one to add another.")


class NoSuchAddress(Exception):
    """The address is not in the address book, or no longer."""


class NoSuchUser(Exception):
    """There is no such account, or no longer."""


class AlreadyEnrolled(Exception):
    """The user has a second factor, which must be reset first."""


class TooManyNotes(Exception):
    """The customer has as many notes as allowed."""

    def __str__(self) -> str:
        return _("There are 200 notes on this customer, which is the limit.")


class BlockChanged(Exception):
    """A customer was blocked or unblocked meanwhile; nothing was changed."""


class BlockRefused(Exception):
    """One of the staff, a login of the demo shop or an account that is being deleted cannot be blocked."""

    def __str__(self) -> str:
        return _(
            "People with a role, demo logins and accounts that are being deleted can’t be blocked."
        )


class RoleChanged(Exception):
    """The role has changed since the page showed it; nothing was changed."""

    def __str__(self) -> str:
        return _("Someone else has changed this role in the meantime. This is what it is now.")


class LastAdmin(Exception):
    """No admin would be left."""

    def __str__(self) -> str:
        return _("This is the last admin. Make someone else an admin first.")
