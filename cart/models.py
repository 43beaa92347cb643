"""The tables of carts. Guests and members have named carts, one of which is active."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class CartByUser(Model):
    """K1, K4, U2: an owner's carts, keyed by name, and the active cart. The active cart's column is static, so there is only one.

    Bound: 100 carts an owner (cart.limits.MAX_CARTS).
    Writer: cart.operations, only by conditional batches.
    """

    __table_name__ = "carts_by_user"
    __partition_bytes__ = 100 * KB
    __personal_data__ = {"columns": ("owner_id",), "on_erase": "deleted"}
    owner_id = columns.UUID(partition_key=True)
    name_key = columns.Text(primary_key=True)  # the name casefolded
    active_cart_id = columns.UUID(static=True)
    cart_count = columns.Integer(static=True)
    cart_id = columns.UUID()
    cart_name = columns.Text()
    created_at = columns.DateTime()
    activated_at = columns.DateTime()
    # '' for the owner; else viewer, editor or buyer: a copy, because the role in people_by_cart counts
    role = columns.Text()
    shared_by = columns.Text()  # the owner's name, for other people


class ItemByCart(Model):
    """Q9, Q10, K5, U1: the contents of a cart, and the idempotency keys of its changes within a day.

    Lines (kind 'line', key = variant id), saved lines (kind 'later'), the idempotency keys of a day (kind 'op', key =
    idempotency key) and removed lines while the emptying of a cart can be undone (kind 'undo', key = idempotency key/variant
    id). The row without kind and key sorts first: a read of the sums stops at it.

    The static counts and the subtotal always equal the lines (fault 18). Only kinds 'op' and 'undo' have a TTL (fault 17).
    Bound: 1,000 lines (cart.limits.MAX_LINES) and the idempotency keys of a day.
    Writer: cart.operations, only by conditional batches.
    """

    __table_name__ = "items_by_cart"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("owner_id",), "on_erase": "deleted"}
    cart_id = columns.UUID(partition_key=True)
    kind = columns.Text(primary_key=True)
    key = columns.Text(primary_key=True)
    version = columns.Integer(static=True)
    line_count = columns.Integer(static=True)
    item_count = columns.Integer(static=True)
    subtotal = columns.BigInt(static=True)
    currency = columns.Text(static=True)
    changed_at = columns.DateTime(static=True)
    later_count = columns.Integer(static=True)
    owner_id = columns.UUID(static=True)
    # whether a guest owns the cart: then the whole cart is removed 30 days after its last change
    guest = columns.Boolean(static=True)
    voucher_code = columns.Text(static=True)  # the code as it was typed; null for none
    # the time at which the cart was deleted; a day later it is removed
    deleted_at = columns.DateTime(static=True)
    # the checkout that claims this cart, or claimed it last; also the id of its order
    checkout_id = columns.UUID(static=True)
    # the number of the cart's checkouts that had ended without payment before this one
    checkout_number = columns.Integer(static=True)
    product_id = columns.UUID()
    variant_id = columns.UUID()
    sku = columns.Text()
    name = columns.Text()
    slug = columns.Text()
    options = columns.Map(columns.Text, columns.Text)
    picture = columns.Text()
    price = columns.BigInt()
    quantity = columns.Integer()
    added_at = columns.DateTime()
    # for a move between carts: JSON with the moved units
    note = columns.Text()


class CartByIdempotencyKey(Model):
    """U1: the cart to which a submit of "Add to cart" went, so that a repeat goes there, too. The rows expire after a day.

    Bound: one row a partition.
    Writer: cart.operations.idempotency, only by conditional writes.
    """

    __table_name__ = "carts_by_idempotency_key"
    __partition_bytes__ = 1 * KB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {"why": "an idempotency key leads back to nobody"}
    idempotency_key = columns.UUID(partition_key=True)
    cart_id = columns.UUID()


class PendingCartMoveByMinute(Model):
    """Running moves between two carts.

    A row is written before the first cart changes, and removed after the second cart has changed.
    Bound: the moves of a minute. The worker finishes interrupted moves.
    Writer: cart.operations.transfers.
    """

    __table_name__ = "pending_cart_moves_by_minute"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "why": "a person's id alone, until the worker has finished the move, minutes later"
    }
    minute = columns.DateTime(partition_key=True)
    move_id = columns.UUID(primary_key=True)
    kind = columns.Text()  # move or merge
    person_id = columns.UUID()
    source_id = columns.UUID()
    target_id = columns.UUID()


class PersonByCart(Model):
    """A cart's people, invitations and links.

    People (kind 'person', key = user id), open invitations (kind 'invitation', key made of cart and e-mail address, with a
    TTL of 14 days) and links (kind 'link', key = link id). Expired invitations make `row_count` too high: before a refusal
    the rows are counted again.
    Bound: 20 rows a cart (static row_count; cart.operations.sharing.MAX_PEOPLE).
    Writer: cart.operations.sharing, only by conditional batches.
    """

    __table_name__ = "people_by_cart"
    __partition_bytes__ = 20 * KB
    __personal_data__ = {"columns": ("key", "name", "email"), "on_erase": "deleted"}
    cart_id = columns.UUID(partition_key=True)
    kind = columns.Text(primary_key=True)
    key = columns.Text(primary_key=True)
    row_count = columns.Integer(static=True)
    # the cart's name on the owner's list, for people who do not have the cart on their list
    cart_name = columns.Text(static=True)
    owner_name = columns.Text(static=True)
    role = columns.Text()  # viewer, editor or buyer
    name = columns.Text()  # the person's name
    email = columns.Text()
    added_at = columns.DateTime()


class InvitationByEmail(Model):
    """Carts to which an e-mail address was invited, for the erasure of the address. A row is written before its invitation.

    Bound: 16 days of invitations to one address, 16 bytes each: at most 190 kB by LIMIT_INVITATION (30 an hour).
    Writer: cart.operations.sharing; the rows go after 16 days, after the invitations.
    """

    __table_name__ = "invitations_by_email"
    __partition_bytes__ = 190 * KB
    __options__ = {"default_time_to_live": 14 * 24 * 3600}
    __personal_data__ = {"columns": ("email",), "on_erase": "deleted"}
    email = columns.Text(partition_key=True)  # casefolded
    cart_id = columns.UUID(primary_key=True)
