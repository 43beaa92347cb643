"""What makes an order cheaper, and who has used it."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class Promotion(Model):
    """The terms of promotions: those that apply by themselves (trigger 'automatic'), and those with a code (trigger 'code').

    Terms never change: an offer is ended and another made.
    Bound: 1,000 a trigger (promotions.operations.MAX_PROMOTIONS).
    Writer: promotions.operations.create_promotion and end_promotion, by conditional writes alone.
    """

    __table_name__ = "promotions"
    __partition_bytes__ = 2 * MB
    __personal_data__ = {"why": "the shop's own offers"}
    trigger = columns.Text(partition_key=True)
    # the code without case, spaces and dashes; an id where there is no code
    key = columns.Text(primary_key=True)
    code = columns.Text()  # as it is written
    title = columns.Text()  # for the shopper
    kind = columns.Text()  # one of promotions.rules.KINDS
    percent = columns.Decimal()
    amount = columns.BigInt()
    buy = columns.Integer()
    free = columns.Integer()
    category_id = columns.UUID()
    minimum = columns.BigInt()
    per_person = columns.Integer()  # 0 for no limit, as with all numbers here
    uses = columns.Integer()
    starts_at = columns.DateTime()
    ends_at = columns.DateTime()
    ended_at = columns.DateTime()  # by the staff
    made_at = columns.DateTime()


class VoucherUse(Model):
    """I6: how often a code was used, and by which orders.

    `used` and `remaining` are static and always there, never null: Cassandra's conditional arithmetic on null applies and
    writes nothing. A row is a claim: 'order:<id>' for each order, and 'user:<person>:<n>' for the n-th use of one
    customer, where the code has a limit for that: a guest's address, or a member's account and confirmed address. One batch
    takes a use with all its rows, one gives it back with all: exactly once.
    Bound: the uses of one code; three rows each, four for an international address, some 400 bytes a use. A code without limits has its rows, too: the consistency
    check counts them, and a use that is given back is known by its row. 75,000 uses of one code are some 30 MB; an offer to
    more than that needs no code, or several.
    Writer: promotions.operations.redeem_voucher and release_voucher, by conditional batches alone.
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
    # of an order's row: the rows of its customer, with spaces between; '' if there are none
    person_claim = columns.Text()
    person = columns.Text()  # whose use it is: the customer's keys, with spaces between
    claimed_at = columns.DateTime()


class VoucherByOrder(Model):
    """Which codes an order may have taken a use of: written before the claim, so that a crash leaves a row too many.

    Bound: the codes that were tried for one order; they go once the order has ended, or its reservations have.
    Writer: promotions.operations.redeem_voucher and release_vouchers.
    """

    __table_name__ = "vouchers_by_order"
    __partition_bytes__ = 50 * KB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    order_id = columns.UUID(partition_key=True)
    key = columns.Text(primary_key=True)
