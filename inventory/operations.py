"""Everything that happens to stock. Each step is one conditional batch in one partition, and doing it twice does it once.

    received > available > held > committed > shipped

A hold's id is made of order, line and warehouse, so a step that was repeated (or whose answer was lost) meets its
own row and is recognised. Arithmetic reads a value once a batch: so one static UPDATE and one row in each.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from time import time_ns
from uuid import UUID

from cassandra_db import Outcome, Statement, conditional, conditional_batch, read, write, write_together
from catalogue import operations as catalogue
from inventory.errors import OutOfStock
from inventory.queries import (
    SENTINEL,
    WAREHOUSES,
    Allocation,
    Want,
    hold_id_for,
    numbers_started,
    stock_in,
    word_of,
)

# How long units are kept for somebody who is paying.
HOLD_FOR = timedelta(minutes=10)
# How often a hold looks again when others were faster, before it gives up.
ROUNDS = 10


RECEIVE = conditional(
    "Q16",
    """UPDATE inventory SET available = available + :units, received = received + :units, threshold = :threshold
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF received >= 0""",
)
RECEIPT = conditional(
    "Q16",
    """INSERT INTO inventory (variant_id, warehouse_id, hold_id, quantity, state, held_at)
       VALUES (:variant_id, :warehouse_id, :receipt_id, :units, 'received', :now) IF NOT EXISTS""",
)
SEED = conditional(
    "Q16",
    """INSERT INTO inventory (variant_id, warehouse_id, hold_id, product_id, available, held, committed, shipped, received, threshold)
       VALUES (:variant_id, :warehouse_id, :sentinel, :product_id, 0, 0, 0, 0, 0, :threshold) IF NOT EXISTS""",
)
SHELF = write(
    "Q16",
    """INSERT INTO stock_by_product (product_id, variant_id, warehouse_id, threshold)
       VALUES (:product_id, :variant_id, :warehouse_id, :threshold)""",
)


def stock_received(
    product_id: UUID, variant_id: UUID, warehouse_id: str, units: int, threshold: int, receipt_id: UUID, now: datetime
) -> bool:
    """Add goods that have arrived; a receipt that was booked before changes nothing. Tells whether it was booked now.

    Pages show it after `stock_copied`, which the caller calls once for all of a product's receipts.
    Raises ValueError for fewer than one unit, CassandraUnavailable.
    """
    if units < 1:
        raise ValueError("a receipt has at least one unit")
    place = {"variant_id": variant_id, "warehouse_id": warehouse_id}
    # First, so that whoever copies the stock knows of this shelf.
    SHELF.run(product_id=product_id, threshold=threshold, **place)

    def book() -> Outcome:
        return conditional_batch(
            RECEIVE.bind(units=units, threshold=threshold, **place),
            RECEIPT.bind(units=units, receipt_id=receipt_id, now=now, **place),
            mine=lambda row: row.hold_id == receipt_id and row.held_at == now,
        )

    booked = book()
    if booked.current is None and not booked:
        SEED.apply(mine=lambda _: True, sentinel=SENTINEL, product_id=product_id, threshold=threshold, **place)
        booked = book()
    return booked.applied


HINT = write(
    "Q17",
    """INSERT INTO holds_by_minute (minute, variant_id, warehouse_id, hold_id, order_id, quantity)
       VALUES (:minute, :variant_id, :warehouse_id, :hold_id, :order_id, :quantity)""",
)
HINT_REMOVED = write(
    "Q17",
    """DELETE FROM holds_by_minute
       WHERE minute = :minute AND variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id = :hold_id""",
)
HOLD = conditional(
    "Q17",
    """UPDATE inventory SET available = available + :minus, held = held + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF available >= :units""",
)
HOLD_ROW = conditional(
    "Q17",
    """INSERT INTO inventory (variant_id, warehouse_id, hold_id, quantity, state, order_id, held_at)
       VALUES (:variant_id, :warehouse_id, :hold_id, :units, 'held', :order_id, :now) IF NOT EXISTS""",
)


def held(
    order_id: UUID, wants: Sequence[Want], now: datetime, take: int = 0, check: Callable[[], None] = lambda: None
) -> tuple[Allocation, ...]:
    """Keep an order's units for ten minutes: all of them or none, never more than there are (Q17).

    All from one warehouse if one has everything, else from as few as needed. Repeating it finds the same holds again.
    The hint for the sweeper is written first: a crash leaves a hint too many, never one too few. At most one process
    may hold for an order at a time (orders.operations sees to that; `check` raises when its claim may be over).
    Raises OutOfStock, with nothing held; CassandraUnavailable, or what `check` raises, with what may be held left to
    the sweeper.
    """
    given_back: set[UUID] = set()
    try:
        return _held(order_id, wants, now, take, check, given_back)
    except OutOfStock:
        # Meanwhile somebody may have copied the stock without the units that were ours for a moment.
        for product_id in given_back:
            stock_copied(product_id)
        raise


def _held(
    order_id: UUID,
    wants: Sequence[Want],
    now: datetime,
    take: int,
    check: Callable[[], None],
    given_back: set[UUID],
) -> tuple[Allocation, ...]:
    for _ in range(ROUNDS):
        available, before = _looked(order_id, wants, take)
        if _covers(before, wants):
            return before
        check()
        if before:
            released(before)
            given_back |= {each.product_id for each in before}
            continue
        plan = _planned(order_id, wants, available, take)
        hinted(order_id, plan, max(now, datetime.now(UTC)) + HOLD_FOR)
        kept: list[Allocation] = []
        for each in plan:
            check()
            if not _kept(order_id, each, now):
                break
            kept.append(each)
        else:
            return plan
        released(kept)
        given_back |= {each.product_id for each in kept}
    raise OutOfStock({want.variant_id: sum(available[want.variant_id].values()) for want in wants})


def hinted(order_id: UUID, allocations: Iterable[Allocation], until: datetime) -> None:
    """Note when these holds run out, for the sweeper, which lives in real time whatever `now` an importer passes."""
    minute = minute_of(until)
    write_together(
        [
            HINT.bind(
                minute=minute,
                variant_id=each.variant_id,
                warehouse_id=each.warehouse_id,
                hold_id=each.hold_id,
                order_id=order_id,
                quantity=each.quantity,
            )
            for each in allocations
        ]
    )


def hint_removed(minute: datetime, variant_id: UUID, warehouse_id: str, hold_id: UUID) -> None:
    """Forget when a hold runs out, because it has ended. Raises CassandraUnavailable."""
    HINT_REMOVED.run(minute=minute, variant_id=variant_id, warehouse_id=warehouse_id, hold_id=hold_id)


def minute_of(moment: datetime) -> datetime:
    """Return the minute in which a moment lies."""
    return moment.replace(second=0, microsecond=0)


def _looked(
    order_id: UUID, wants: Sequence[Want], take: int
) -> tuple[dict[UUID, dict[str, int]], tuple[Allocation, ...]]:
    """Read what there is of each variant in each warehouse, and what this order holds already."""
    reading = []
    for want in wants:
        for place in WAREHOUSES:
            hold_id = hold_id_for(order_id, want.line_number, want.variant_id, place, take)
            reading.append((want, place, hold_id, numbers_started(want.variant_id, place, hold_id)))
    available: dict[UUID, dict[str, int]] = {want.variant_id: {} for want in wants}
    before = []
    for want, place, hold_id, pending in reading:
        for row in pending.rows():
            available[want.variant_id][place] = row.available or 0
            if row.hold_id == hold_id:
                before.append(
                    Allocation(want.line_number, want.product_id, want.variant_id, place, row.quantity, hold_id)
                )
    return available, _in_order(before)


def _covers(allocations: Iterable[Allocation], wants: Sequence[Want]) -> bool:
    units = {want.line_number: want.quantity for want in wants}
    for each in allocations:
        units[each.line_number] -= each.quantity
    return not any(units.values())


def _planned(
    order_id: UUID, wants: Sequence[Want], available: dict[UUID, dict[str, int]], take: int
) -> tuple[Allocation, ...]:
    """Choose the warehouses. Raises OutOfStock when all of them together have too little."""
    needed: dict[UUID, int] = {}
    for want in wants:
        needed[want.variant_id] = needed.get(want.variant_id, 0) + want.quantity
    short = {v: sum(available[v].values()) for v, units in needed.items() if sum(available[v].values()) < units}
    if short:
        raise OutOfStock(short)

    def lines_from(place: str) -> int:
        return sum(available[v].get(place, 0) >= units for v, units in needed.items())

    # Whoever can send most lines whole comes first; with equal numbers the warehouses' own order decides.
    places = sorted(WAREHOUSES, key=lambda place: -lines_from(place))
    left = {v: dict(there) for v, there in available.items()}
    plan = []
    for want in wants:
        there = left[want.variant_id]
        whole = [place for place in places if there.get(place, 0) >= want.quantity]
        missing = want.quantity
        for place in whole[:1] or places:
            units = min(there.get(place, 0), missing)
            if units:
                there[place] -= units
                missing -= units
                hold_id = hold_id_for(order_id, want.line_number, want.variant_id, place, take)
                plan.append(Allocation(want.line_number, want.product_id, want.variant_id, place, units, hold_id))
    return _in_order(plan)


def _in_order(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    # Everybody takes goods in the same order, so two orders never wait for each other's.
    return tuple(sorted(allocations, key=lambda each: (each.variant_id, each.warehouse_id, each.line_number)))


def _kept(order_id: UUID, each: Allocation, now: datetime) -> bool:
    place = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    outcome = conditional_batch(
        HOLD.bind(units=each.quantity, minus=-each.quantity, **place),
        HOLD_ROW.bind(hold_id=each.hold_id, units=each.quantity, order_id=order_id, now=now, **place),
        mine=lambda row: row.hold_id == each.hold_id and row.quantity == each.quantity,
    )
    there = outcome.current
    return outcome.applied or (there is not None and there.hold_id == each.hold_id and there.quantity == each.quantity)


RELEASE = conditional(
    "Q17",
    """UPDATE inventory SET available = available + :units, held = held + :minus
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF held >= :units""",
)
RESTOCK = conditional(
    "Q17",
    """UPDATE inventory SET available = available + :units, committed = committed + :minus
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF committed >= :units""",
)
COMMIT = conditional(
    "Q17",
    """UPDATE inventory SET held = held + :minus, committed = committed + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF held >= :units""",
)
SHIP = conditional(
    "Q17",
    """UPDATE inventory SET committed = committed + :minus, shipped = shipped + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF committed >= :units""",
)
COMMITTED_ROW = conditional(
    "Q17",
    """UPDATE inventory SET state = 'committed'
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id = :hold_id
       IF state = 'held' AND quantity = :units""",
)
ENDED_ROW = conditional(
    "Q17",
    """DELETE FROM inventory
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id = :hold_id
       IF state = :state AND quantity = :units""",
)


def released(allocations: Iterable[Allocation]) -> None:
    """Give units back, held or committed, so that others can buy them; what was given back before stays so.

    Raises CassandraUnavailable.
    """
    for each in _in_order(allocations):
        if _ended(each, RELEASE, "held") == "committed":
            _ended(each, RESTOCK, "committed")


def committed(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Keep held units for good, because they are paid for. Returns those that were not held any more.

    Raises CassandraUnavailable.
    """
    return tuple(each for each in _in_order(allocations) if _committed(each) != "committed")


def shipped(allocations: Iterable[Allocation]) -> None:
    """Note that units have left the house; what had left before stays so. Raises CassandraUnavailable."""
    for each in _in_order(allocations):
        if _ended(each, SHIP, "committed") == "held":
            # Paid for, and on its way before anybody had noted it.
            _committed(each)
            _ended(each, SHIP, "committed")


def _ended(each: Allocation, numbers: Statement, state: str) -> str | None:
    """Move the units and delete the hold if it is in `state`. Returns the hold's state now, None when it is gone."""
    place = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    outcome = conditional_batch(
        numbers.bind(units=each.quantity, minus=-each.quantity, **place),
        ENDED_ROW.bind(hold_id=each.hold_id, state=state, units=each.quantity, **place),
        mine=lambda row: row.state is None,
    )
    return None if outcome or outcome.current is None else outcome.current.state


def _committed(each: Allocation) -> str | None:
    place = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    outcome = conditional_batch(
        COMMIT.bind(units=each.quantity, minus=-each.quantity, **place),
        COMMITTED_ROW.bind(hold_id=each.hold_id, units=each.quantity, **place),
        mine=lambda row: row.state == "committed",
    )
    return "committed" if outcome else outcome.current.state if outcome.current else None


SHELVES = read(
    "Q16", "SELECT variant_id, warehouse_id, available, threshold FROM stock_by_product WHERE product_id = :product_id"
)
COPY = write(
    "Q16",
    """UPDATE stock_by_product USING TIMESTAMP :read_at SET available = :available, threshold = :threshold
       WHERE product_id = :product_id AND variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)


def stock_copied(product_id: UUID) -> None:
    """Write a product's stock anew for its pages, from a read of the numbers themselves.

    The copy carries the time at which its read began: of two that overtake each other the one that looked later
    stays. When the product's word changes (in stock, few left, out), its cards are told. Raises CassandraUnavailable.
    """
    read_at = time_ns() // 1000
    shelves = SHELVES.all(product_id=product_id)
    reading = [(row, numbers_started(row.variant_id, row.warehouse_id)) for row in shelves]
    fresh = []
    for row, pending in reading:
        now_there = pending.one()
        if now_there is not None:
            fresh.append(row._replace(available=now_there.available, threshold=now_there.threshold))
    if not fresh:
        return
    word = word_of(stock_in(fresh).values())
    if word != word_of(stock_in(shelves).values()):
        catalogue.stock_word_changed(product_id, word)
    # Last: after a crash the next copy sees the change again, and tells the cards again.
    write_together([COPY.bind(product_id=product_id, read_at=read_at, **row._asdict()) for row in fresh])
