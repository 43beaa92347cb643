"""What can go wrong with accounts, in words fit for their reader."""


class EmailTaken(Exception):
    """There is an account for this e-mail address."""


class AddressBookFull(Exception):
    """A member has as many addresses as an account can keep."""

    def __str__(self) -> str:
        return "Your address book is full: it holds 20 addresses. Remove one first."


class NoSuchAddress(Exception):
    """The address is not in the address book, or no longer."""


class NoSuchUser(Exception):
    """There is no such account, or no longer."""
