"""A member's address book."""

from collections.abc import Sequence
from uuid import UUID

from accounts import queries
from accounts.addresses import Address
from accounts.errors import AddressBookFull, NoSuchAddress, NoSuchUser
from cassandra_db import SEND_AGAIN, applied_if, conditional_write

# The slots are numbered, so that not even a race can add more addresses than allowed.
ADDRESS_ADDED = conditional_write(
    "Q8",
    "UPDATE users SET addresses[:key] = :address WHERE user_id = :user_id IF email != null AND addresses[:free] = null",
)
ADDRESS_CHANGED = conditional_write(
    "Q8",
    "UPDATE users SET addresses[:key] = :address WHERE user_id = :user_id IF addresses[:there] != null",
)
ADDRESS_REMOVED = conditional_write(
    "Q8",
    """UPDATE users SET addresses[:key] = null, default_address = :default WHERE user_id = :user_id
       IF addresses[:there] != null""",
)
ADDRESS_PREFERRED = conditional_write(
    "Q8",
    "UPDATE users SET default_address = :key WHERE user_id = :user_id IF addresses[:there] != null",
)
ADDRESSES_FILLED = conditional_write(
    "Q8",
    """UPDATE users SET phone = :phone, addresses = :addresses, default_address = :default WHERE user_id = :user_id
       IF email != null AND phone = null AND verified_at = null""",
)
MAX_ADDRESSES = 20


def fill_address_book(user_id: UUID, phone: str, addresses: Sequence[Address]) -> None:
    """Store the phone and the addresses of a new account, which nobody has used yet. The first address is the default.

    A second call changes nothing. Raises CassandraUnavailable.
    """
    ADDRESSES_FILLED.apply(
        if_lost=SEND_AGAIN,
        user_id=user_id,
        phone=phone,
        addresses={str(slot): each.stored_fields() for slot, each in enumerate(addresses, 1)},
        default="1" if addresses else "",
    )


def save_address(user_id: UUID, address: Address, *, default: bool = False) -> str:
    """Add an address to a member's address book, or change the address that has its key. Return the key.

    Raises NoSuchAddress if the address to change was removed. Also raises AddressBookFull, NoSuchUser, CassandraUnavailable.
    """
    key = address.key
    if not key:
        key = _add_address(user_id, address)
    elif not ADDRESS_CHANGED.apply(
        if_lost=SEND_AGAIN, user_id=user_id, key=key, there=key, address=address.stored_fields()
    ):
        raise NoSuchAddress
    if default:
        ADDRESS_PREFERRED.apply(if_lost=SEND_AGAIN, user_id=user_id, key=key, there=key)
    return key


def _add_address(user_id: UUID, address: Address) -> str:
    fields = address.stored_fields()
    while True:
        member = queries.get_user(user_id)
        if member is None:
            raise NoSuchUser
        taken = set(member.addresses or {})
        free = next(
            (str(slot) for slot in range(1, MAX_ADDRESSES + 1) if str(slot) not in taken), None
        )
        if free is None:
            raise AddressBookFull
        # Another tab may have taken the slot since the read: try the next slot.
        if ADDRESS_ADDED.apply(
            if_lost=applied_if(
                lambda row: bool(row.addresses) and dict(row.addresses).get(free) == fields  # noqa: B023 called at once
            ),
            user_id=user_id,
            key=free,
            free=free,
            address=fields,
        ):
            return free


def remove_address(user_id: UUID, key: str) -> None:
    """Remove an address from a member's address book. If it was the default, the next address becomes the default.

    Raises NoSuchAddress, CassandraUnavailable.
    """
    member = queries.get_user(user_id)
    rest = [each for each in queries.list_addresses(member) if each.key != key] if member else []
    if not ADDRESS_REMOVED.apply(
        if_lost=applied_if(lambda row: key not in (row.addresses or {})),
        user_id=user_id,
        key=key,
        there=key,
        default=rest[0].key if rest else "",
    ):
        raise NoSuchAddress
