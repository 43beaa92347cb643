"""`manage.py stock show|receive|adjust|ahead|rebuild SKU`: show and change the stock of a variant."""

import getpass
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.core.management.base import BaseCommand, CommandError

from cassandra_db import current_time
from catalogue.queries import find_variant_by_sku
from inventory import operations, queries
from inventory.entities import BACKORDER, DEFAULT_THRESHOLD, PREORDER
from inventory.errors import NotEnoughAvailable, NothingReceived, StockChanged, StockNumbersChanging
from inventory.warehouses import list_open_warehouses, list_stock_locations, list_warehouses


def _parse_warehouse(typed: str) -> str:
    return _parse_one_of(list_warehouses(), typed)


def _parse_open_warehouse(typed: str) -> str:
    return _parse_one_of([each.key for each in list_open_warehouses()], typed)


def _parse_location(typed: str) -> str:
    return _parse_one_of(list_stock_locations(), typed)


def _parse_one_of(known: Sequence[str], typed: str) -> str:
    """Return the typed key if it is known. Raises ArgumentTypeError, which names the known keys."""
    if typed not in known:
        raise ArgumentTypeError(f"{typed!r} is none of {', '.join(known)}")
    return typed


class Command(BaseCommand):
    help = "Show a variant's stock, receive units, correct a number, allow backorders, or rebuild the numbers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        show = actions.add_parser("show", help="the numbers of each warehouse, and of backorders")
        receive = actions.add_parser("receive", help="units have arrived")
        adjust = actions.add_parser("adjust", help="a number is not what was counted")
        ahead = actions.add_parser("ahead", help="sell before it has arrived")
        rebuild = actions.add_parser(
            "rebuild", help="rebuild the numbers from ledger and reservations"
        )
        for each in (show, receive, adjust, ahead, rebuild):
            each.add_argument("sku")
        # A closed warehouse receives nothing, but its numbers can be corrected.
        for each, parse in ((receive, _parse_open_warehouse), (adjust, _parse_warehouse)):
            each.add_argument("warehouse", type=parse)
            each.add_argument("units", type=int)
        receive.add_argument(
            "--receipt",
            default="",
            help="the delivery note: one that was booked before changes nothing",
        )
        receive.add_argument(
            "--few", type=int, help="up to how many it is low, and the shop says that few are left"
        )
        adjust.add_argument("--reason", required=True)
        ahead.add_argument("kind", choices=(BACKORDER, PREORDER, "end"))
        ahead.add_argument("--limit", type=int, default=0, help="how many may be promised at once")
        ahead.add_argument(
            "--on", type=date.fromisoformat, help="when they are expected: 2026-12-03"
        )
        rebuild.add_argument("warehouse", type=_parse_location)

    def handle(self, *args: Any, action: str, sku: str, **options: Any) -> None:
        found = find_variant_by_sku(sku)
        if found is None:
            raise CommandError(f"There is no SKU {sku}.")
        handlers: dict[str, Callable[..., None]] = {
            "show": self.show,
            "receive": self.receive,
            "adjust": self.adjust,
            "ahead": self.set_backorder,
            "rebuild": self.rebuild,
        }
        try:
            handlers[action](found.product_id, found.variant_id, **options)
        except (
            ValueError,
            LookupError,
            NotEnoughAvailable,
            NothingReceived,
            StockChanged,
            StockNumbersChanging,
        ) as error:
            raise CommandError(str(error)) from error
        if action in ("receive", "adjust") and (
            waiting := queries.list_waiting_orders(found.variant_id)
        ):
            # Waiting orders come before new buyers. Pages show the units that are left after these orders have theirs.
            self.stdout.write(
                f"Orders that wait for it: {len(waiting)}. The worker keeps theirs first."
            )
            return
        operations.copy_stock(found.product_id)

    def show(self, product_id: UUID, variant_id: UUID, **_: Any) -> None:
        for warehouse in list_stock_locations():
            numbers = vars(queries.get_stock_numbers(variant_id, warehouse))
            self.stdout.write(
                f"{warehouse}: " + ", ".join(f"{units} {name}" for name, units in numbers.items())
            )

    def receive(
        self,
        product_id: UUID,
        variant_id: UUID,
        *,
        warehouse: str,
        units: int,
        receipt: str,
        few: int | None,
        **_: Any,
    ) -> None:
        receipt_id = uuid5(variant_id, f"receipt {warehouse} {receipt}") if receipt else uuid4()
        booked = operations.receive_stock(
            *(product_id, variant_id, warehouse, units),
            DEFAULT_THRESHOLD if few is None else few,
            receipt_id,
            current_time(),
            _current_actor(),
        )
        if few is not None:
            row = queries.prefetch_stock_numbers(variant_id, warehouse).one()
            operations.set_threshold(
                variant_id, warehouse, few, seen=row.threshold if row else None
            )
        self.stdout.write(f"{units} received." if booked else "That delivery was booked before.")

    def adjust(
        self,
        product_id: UUID,
        variant_id: UUID,
        *,
        warehouse: str,
        units: int,
        reason: str,
        **_: Any,
    ) -> None:
        operations.adjust_stock(
            *(variant_id, warehouse, units),
            adjustment_id=uuid4(),
            actor=_current_actor(),
            reason=reason,
            now=current_time(),
        )
        self.stdout.write(f"{abs(units)} {'more' if units > 0 else 'fewer'}.")

    def set_backorder(
        self,
        product_id: UUID,
        variant_id: UUID,
        *,
        kind: str,
        limit: int,
        on: date | None,
        **_: Any,
    ) -> None:
        chosen = "" if kind == "end" else kind
        free = operations.set_backorder(
            product_id, variant_id, chosen, limit, on, actor=_current_actor(), now=current_time()
        )
        self.stdout.write(
            f"{free} more may be sold ahead." if chosen else "Not sold ahead any more."
        )

    def rebuild(self, product_id: UUID, variant_id: UUID, *, warehouse: str, **_: Any) -> None:
        was, made = operations.rebuild_stock_numbers(variant_id, warehouse)
        self.stdout.write("They were right." if was == made else f"{was} became {made}.")


def _current_actor() -> str:
    return f"{getpass.getuser()}, by manage.py"
