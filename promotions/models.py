"""Tables of promotions, and of the uses of codes."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class Promotion(Model):
    """The terms of promotions, without a code (trigger 'automatic') or with one (trigger 'code').

    Staff change the name and the end, and raise the limits. For other terms they end a promotion and create another.
    Bound: 1,000 promotions a trigger (promotions.operations.MAX_PROMOTIONS).
    Writer: promotions.operations.create_promotion, change_promotion and end_promotion, only by conditional writes.
    """

    __table_name__ = "promotions"
    __partition_bytes__ = 2 * MB
    __personal_data__ = {"why": "the shop's own offers"}
    trigger = columns.Text(partition_key=True)
    # the code without case, spaces and dashes; an id for a promotion without a code
    key = columns.Text(primary_key=True)
    code = columns.Text()  # as the shop writes it
    title = columns.Text()  # for the shopper
    kind = columns.Text()  # one of promotions.rules.KINDS
    percent = columns.Decimal()
    amount = columns.BigInt()
    buy = columns.Integer()
    free = columns.Integer()
    category_id = columns.UUID()
    minimum = columns.BigInt()
    per_person = columns.Integer()  # 0 for no limit, as for all numbers of this table
    uses = columns.Integer()
    starts_at = columns.DateTime()
    ends_at = columns.DateTime()
    ended_at = columns.DateTime()  # when the staff ended the promotion
    made_at = columns.DateTime()


class VoucherUse(Model):
    """I6: the number of uses of a code, and the orders that use it.

    The static `used` and `remaining` are never null: conditional arithmetic on null is applied in Cassandra, but writes nothing.
    A use is taken if `used` is below the promotion's limit, which staff can raise. `remaining` counts down from the first limit,
    for processes of an earlier version that run during an upgrade.
    A row is a claim: 'order:<id>' for each order. If the code limits the uses per customer, 'user:<person>:<n>' is the claim for
    a customer's n-th use. (A customer is a guest's address, or a member's account and confirmed address.) One batch takes or
    gives back a use with its claims.
    Bound: 400 bytes a use, in up to four rows; 75,000 uses of a code are 30 MB. A larger offer needs several codes, or none.
    Codes without limits have rows, too, for the consistency check and for giving uses back.
    Writer: promotions.operations.redeem_voucher and release_voucher, only by conditional batches.
    """

    __table_name__ = "voucher_uses"
    __partition_bytes__ = 30 * MB
    __personal_data__ = {
        "why": "a customer is a keyed hash here, which leads to nobody without the shop's key and the customer's id or address"
    }
    key = columns.Text(partition_key=True)
    claim = columns.Text(primary_key=True)
    used = columns.Integer(static=True)
    remaining = columns.Integer(static=True)
    order_id = columns.UUID()
    # of an order's claim: the claims of its customer, with spaces between, or ''
    person_claim = columns.Text()
    person = columns.Text()  # the customer's keys, with spaces between
    claimed_at = columns.DateTime()


class VoucherByOrder(Model):
    """The codes that an order may use. A row is written before the claim, so a crash leaves no claim without a row.

    Bound: the codes that were tried for one order, until the order or its reservations end.
    Writer: promotions.operations.redeem_voucher and release_vouchers.
    """

    __table_name__ = "vouchers_by_order"
    __partition_bytes__ = 50 * KB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    order_id = columns.UUID(partition_key=True)
    key = columns.Text(primary_key=True)
