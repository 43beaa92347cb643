"""I6: a voucher code is not used more often than its limit allows, and each order with a code has one claim on the code."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from cassandra_db import Row, current_time, read, scan
from consistency.findings import Check, Scope, Violation, call
from consistency.stock import ONE_SWEEP
from inventory.operations import RESERVATION_DURATION
from orders.lifecycle.entities import Order
from orders.lifecycle.states import CANCELLED, EXPIRED
from orders.operations import apply_effects
from orders.queries import get_order
from promotions import queries
from promotions.operations import has_voucher_use, release_vouchers
from promotions.queries import CODE, UNLIMITED
from promotions.rules import code_key

CODES = scan(
    "I6", "SELECT DISTINCT key FROM voucher_uses WHERE token(key) > :start AND token(key) <= :end"
)
CLAIMS = read(
    "I6",
    "SELECT claim, used, order_id, person_claim, claimed_at FROM voucher_uses WHERE key = :key",
    timeout=30,
)
# After this time a checkout without an order has released its use of a code.
RELEASED_WITHIN = RESERVATION_DURATION + 2 * ONE_SWEEP


def _iterate_code_keys(scope: Scope | None) -> Iterator[str]:
    if scope is not None:
        yield from sorted(code_key(code) for code in scope.codes)
    else:
        yield from (row.key for row in CODES.iterate_table())


def _check_code(key: str) -> Iterator[Violation]:
    rows = CLAIMS.all(key=key)
    if not rows or rows[0].used is None:
        return
    claims = [row for row in rows if row.claim and row.claim.startswith("order:")]
    persons = {row.claim: row for row in rows if row.claim and row.claim.startswith("user:")}
    yield from _check_counts(key, rows[0], claims)
    yield from _check_customers(key, claims, persons)
    for row in claims:
        yield from _check_claim(key, row)


def _check_counts(key: str, head: Row, claims: Sequence[Row]) -> Iterator[Violation]:
    what = f"code {key}"
    actual = f"{head.used} used, {len(claims)} claims"
    found = queries.get_promotion(CODE, key)
    limit = found.uses or UNLIMITED if found else UNLIMITED
    if head.used > limit:
        yield Violation("I6", what, f"is used more often than its limit of {limit}", actual)
    if head.used != len(claims):
        yield Violation("I6", what, "its uses are not its claims", actual)


def _check_customers(
    key: str, claims: Sequence[Row], customers: dict[str, Row]
) -> Iterator[Violation]:
    pairs = [(claim, row.order_id) for row in claims for claim in (row.person_claim or "").split()]
    of = dict(pairs)
    twice = [claim for claim, times in Counter(claim for claim, _ in pairs).items() if times > 1]
    for claim in sorted(twice):
        yield Violation("I6", f"code {key}, {claim}", "two orders have one use of this person")
    for claim in sorted(of.keys() | customers.keys()):
        if claim not in customers or of.get(claim) != customers[claim].order_id:
            order_id = customers[claim].order_id if claim in customers else of[claim]
            what = f"code {key}, {claim}, order {order_id}"
            yield Violation("I6", what, "the person's use and the order's are not one")


def _check_claim(key: str, row: Row) -> Iterator[Violation]:
    order = get_order(row.order_id)
    if order is None:
        if row.claimed_at and row.claimed_at < current_time() - RELEASED_WITHIN:
            what = f"code {key}, order {row.order_id}, which is none,"
            yield Violation(
                "I6", what, "has not given its use back", fix=call(release_vouchers, row.order_id)
            )
        return
    what = f"code {key}, order {order.number} ({order.order_id})"
    if order.state in (CANCELLED, EXPIRED):
        fault = f"is {order.state} and has not given its use back"
        yield Violation("I6", what, fault, fix=partial(apply_effects, order.order_id))
    elif code_key(order.voucher) != key:
        fault = "has a use of a code that it was not placed with"
        fix = call(release_vouchers, row.order_id, order.voucher)
        yield Violation("I6", what, fault, fix=fix)


def iterate_missing_uses(order: Order) -> Iterator[Violation]:
    """Yield a violation if an open order has a voucher code, but no use of the code. Raises CassandraUnavailable."""
    if (
        order.voucher
        and order.state not in (CANCELLED, EXPIRED)
        and not has_voucher_use(order.voucher, order.order_id)
    ):
        what = f"order {order.number} ({order.order_id}), code {code_key(order.voucher)}"
        fault = "was placed with a code, and has no use of it"
        yield Violation("I6", what, fault, fix=partial(apply_effects, order.order_id))


CHECKS = (Check("codes", ("I6",), _iterate_code_keys, _check_code),)
