"""Named carts: one active, many saved, for guests and members alike."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class CartByUser(Model):
    """K1, K4, U2: an owner's carts by name, and which of them is active (static, so there cannot be two).

    Bound: 100 carts an owner (cart.operations.MAX_CARTS).
    Writer: cart.operations, by conditional batches alone.
    """

    __table_name__ = "carts_by_user"
    owner_id = columns.UUID(partition_key=True)
    name_key = columns.Text(primary_key=True)  # the name casefolded
    active_cart_id = columns.UUID(static=True)
    cart_count = columns.Integer(static=True)
    cart_id = columns.UUID()
    cart_name = columns.Text()
    created_at = columns.DateTime()
    activated_at = columns.DateTime()


class ItemByCart(Model):
    """Q9, Q10, K5, U1: a cart's lines (kind 'line', key = variant id) and the operations of a day (kind 'op', key = operation id).

    The static counts and the subtotal equal the lines, always (fault 18). Only operations have a TTL (fault 17).
    Bound: 1,000 lines (cart.operations.MAX_LINES) and the operations of a day.
    Writer: cart.operations, by conditional batches alone.
    """

    __table_name__ = "items_by_cart"
    cart_id = columns.UUID(partition_key=True)
    kind = columns.Text(primary_key=True)
    key = columns.Text(primary_key=True)
    version = columns.Integer(static=True)
    line_count = columns.Integer(static=True)
    item_count = columns.Integer(static=True)
    subtotal = columns.BigInt(static=True)
    currency = columns.Text(static=True)
    changed_at = columns.DateTime(static=True)
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
