"""What is stored, read past the shop's code, by plain CQL; and the answers that clients got, row by row, beside it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, Session
from cassandra.policies import WhiteListRoundRobinPolicy
from django.conf import settings

from benchmarks.buyers import GOOD_CARD, NO_ANSWER, Buyer
from cassandra_db import QUORUM
from tests.environment import KEYSPACE
from tests.proof import ProofReport

WAREHOUSES = ("berlin", "cork")
NUMBERS = ("received", "available", "reserved", "committed", "shipped")


@contextmanager
def connect_node(host: str = "", port: int = 0) -> Iterator[Session]:
    """Speak to one node alone, by default the suite's, past all of the shop's code; a change of the schema waits for no other."""
    database = settings.DATABASES["default"]
    host, port = (
        host or database["HOST"].split(",")[0],
        port or database["OPTIONS"]["connection"]["port"],
    )
    profile = ExecutionProfile(
        WhiteListRoundRobinPolicy([host]), consistency_level=QUORUM, request_timeout=60
    )
    driver = Cluster(
        [host],
        port,
        protocol_version=4,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        max_schema_agreement_wait=0,
    )
    try:
        yield driver.connect()
    finally:
        driver.shutdown()


@dataclass(frozen=True)
class StoredOrder:
    """An order as it stands in the tables; sums in cents."""

    order_id: UUID
    number: str
    state: str
    payment: str
    total: int
    captured: int
    at_bank: int
    committed: int  # units that are committed for it
    reserved: int
    ordered: int  # units of its lines

    @property
    def is_sold(self) -> bool:
        """Whether it is paid, once, with all of its units reserved for it."""
        paid = (self.state, self.payment) == (
            "confirmed",
            "paid",
        ) and self.captured == self.at_bank == self.total
        return paid and (self.committed, self.reserved) == (self.ordered, 0)

    @property
    def has_nothing_left(self) -> bool:
        """Whether neither money nor units are with it."""
        return not (self.at_bank or self.captured or self.committed or self.reserved)

    def __str__(self) -> str:
        return (
            f"order {self.number}, {self.state}, {self.payment}; €{self.captured / 100:.2f} taken, €{self.at_bank / 100:.2f} at the"
            f" bank; {self.committed} of {self.ordered} units committed"
        )


def list_stored_orders(
    connected: Session, email: str, units_by_order: Mapping[UUID, Counter[str]]
) -> list[StoredOrder]:
    """Read the orders of a mailbox; `units_by_order` says what is reserved for each order."""

    def rows(columns: str, table: str, key: str, value: object) -> list[tuple[object, ...]]:
        return list(
            connected.execute(f"SELECT {columns} FROM {KEYSPACE}.{table} WHERE {key} = %s", [value])  # noqa: S608
        )

    by_year = (
        f"SELECT order_id FROM {KEYSPACE}.orders_by_email_and_year WHERE email = %s AND year = %s"  # noqa: S608
    )
    order_ids = [
        order_id
        for (year,) in rows("year", "order_years_by_email", "email", email)
        for (order_id,) in connected.execute(by_year, [email, year])
    ]
    found = []
    for order_id in order_ids:
        assert isinstance(order_id, UUID)
        number, state, payment, total, captured = rows(
            "number, state, payment, total, captured", "orders", "order_id", order_id
        )[0]
        payments = [each for (each,) in rows("payment_id", "payments", "order_id", order_id)]
        taken = [
            row[0] or 0
            for each in payments
            for row in rows("captured", "testbank_payments", "payment_id", each)
        ]
        units = [each for (each,) in rows("quantity", "order_items", "order_id", order_id)]
        mine = units_by_order.get(order_id, Counter())
        sums = (total, captured or 0, sum(taken), mine["committed"], mine["reserved"], sum(units))  # type: ignore[arg-type]
        found.append(StoredOrder(order_id, str(number), str(state), str(payment), *sums))  # type: ignore[arg-type]
    return found


def read_stock(
    connected: Session, variant_id: UUID
) -> tuple[Counter[str], dict[UUID, Counter[str]]]:
    """Read a variant's numbers over all warehouses, and how many units are reserved for each order, by state."""
    sums: Counter[str] = Counter()
    units_by_order: dict[UUID, Counter[str]] = {}
    query = f"""SELECT order_id, state, quantity, {", ".join(NUMBERS)} FROM {KEYSPACE}.inventory
                WHERE variant_id = %s AND warehouse_id = %s"""  # noqa: S608
    for warehouse in WAREHOUSES:
        rows = list(connected.execute(query, [variant_id, warehouse]))
        sums.update(dict(zip(NUMBERS, rows[0][3:], strict=True)) if rows else {})
        for order_id, state, quantity, *_ in rows:
            if order_id:
                units_by_order.setdefault(order_id, Counter())[state] += quantity
    return sums, units_by_order


def report_buyers(
    proof_report: ProofReport,
    buyers: Sequence[Buyer],
    variants: Sequence[UUID],
    describe: Callable[[Buyer], str],
) -> None:
    """Add a row for each buyer and each variant that they wanted.

    A buyer whom the shop confirmed a paid order has that one and no other; any other buyer has paid nothing and has nothing reserved.
    The committed units are those of confirmed orders.
    """
    with connect_node() as plain:
        numbers = {variant_id: read_stock(plain, variant_id) for variant_id in variants}
        units_by_order: dict[UUID, Counter[str]] = {}
        for _, by_order in numbers.values():
            for order_id, units in by_order.items():
                units_by_order.setdefault(order_id, Counter()).update(units)
        confirmed: set[UUID] = set()
        for buyer in buyers:
            orders = list_stored_orders(plain, buyer.email, units_by_order)
            confirmed |= {order.order_id for order in orders if order.number == buyer.paid_number}
            sold = [order.number for order in orders if order.is_sold]
            agrees = sold == [buyer.paid_number] * bool(buyer.paid_number)
            agrees &= all(order.is_sold or order.has_nothing_left for order in orders)
            stored = "; ".join(map(str, orders)) or "no order"
            proof_report.add_row(
                describe(buyer),
                _words(buyer),
                stored,
                is_match=agrees,
                table="What the shop answered",
            )
    for number, (sums, by_order) in enumerate(numbers.values(), start=1):
        sold_units = sum(
            by_order[order_id]["committed"] for order_id in confirmed & by_order.keys()
        )
        proof_report.add_row(
            f"{sums['received']} units of article {number} were for sale",
            f"the shop confirmed orders with {sold_units} of them",
            ", ".join(f"{sums[name]} {name}" for name in NUMBERS),
            is_match=(sums["committed"], sums["reserved"], sums["available"])
            == (sold_units, 0, sums["received"] - sold_units),
            table="The stock afterwards",
        )


def buyer_name(buyer: Buyer) -> str:
    """Return a short name for a buyer."""
    return buyer.email.split("@")[0][:12]


def _words(buyer: Buyer) -> str:
    words = f"paid, order {buyer.paid_number}" if buyer.paid_number else f"“{buyer.last_heading}”"
    if buyer.unpaid_number and buyer.card != GOOD_CARD:
        words = f"order {buyer.unpaid_number}: declined; gave it up"
    retries = buyer.answers[NO_ANSWER] + buyer.answers[503]
    return f"{words} (asked again {retries}×)" if retries else words
