"""The demo's logins (DEMO_LOGINS). They are public: no real shop lets them in (accounts.demo_logins, accounts.backends)."""

from dataclasses import dataclass
from uuid import UUID, uuid5

_OURS = UUID("a1f5c0de-52a8-4c4e-8f6b-0d5c9b7e2f10")


@dataclass(frozen=True)
class Login:
    """A login to try the shop out with."""

    label: str
    email: str
    name: str
    password: str
    role: str = ""
    totp: str = ""  # the second factor's secret, base 32: its page shows the present code

    @property
    def user_id(self) -> UUID:
        """The same in each demo shop, so that loading again makes no second login."""
        return uuid5(_OURS, self.email)


LOGINS = (
    Login("Shopper", "shopper@stoa.example", "Sam Shopper", "come on in"),
    Login(
        "Staff",
        "staff@stoa.example",
        "Toni Staff",
        "pack and send",
        role="warehouse",
        totp="STOASHOWROOMPACKANDSENDTOGETHER2",
    ),
    Login(
        "Admin",
        "admin@stoa.example",
        "Ada Admin",
        "keys of the house",
        role="admin",
        totp="STOASHOWROOMKEYSOFTHEHOUSEFORALL",
    ),
)
