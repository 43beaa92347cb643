"""The demo shop's logins (DEMO_LOGINS). They are public: a real shop refuses them (accounts.demo_logins, accounts.backends)."""

from dataclasses import dataclass
from uuid import UUID, uuid5

_OURS = UUID("a1f5c0de-52a8-4c4e-8f6b-0d5c9b7e2f10")


@dataclass(frozen=True)
class Login:
    """A login with which visitors try out the demo shop."""

    label: str
    email: str
    name: str
    password: str
    role: str = ""
    totp: str = ""  # the second factor's secret in base 32; the login page shows the present code

    @property
    def user_id(self) -> UUID:
        """The account's id. It is the same in each demo shop, so that a second load creates no second account."""
        return uuid5(_OURS, self.email)


LOGINS = (
    Login("Shopper", "shopper@shop.example", "Sam Shopper", "come on in"),
    Login(
        "Staff",
        "staff@shop.example",
        "Toni Staff",
        "pack and send",
        role="warehouse",
        totp="SHOPSHOWROOMPACKANDSENDTOGETHER2",
    ),
    Login(
        "Admin",
        "admin@shop.example",
        "Ada Admin",
        "keys of the house",
        role="admin",
        totp="SHOPSHOWROOMKEYSOFTHEHOUSEFORALL",
    ),
)
