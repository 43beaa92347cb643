"""One scan for several functions: each gets all products, and none ends with fewer."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

import pytest

from benchmarks.shared_scan import CHUNK, share_scan
from catalogue.entities import Product
from jobs.rows import collect_failed_rows, guard_row


def make_products(count: int) -> list[Product]:
    return cast("list[Product]", list(range(count)))


def test_x575_each_function_gets_all_products_in_their_order() -> None:
    products = make_products(5 * CHUNK + 1)

    def take_one(found: Iterable[Product]) -> Any:
        return next(iter(found))

    assert share_scan(iter(products), list, take_one, len_of) == [products, 0, len(products)]
    assert share_scan((), list, len_of) == [[], 0]


def len_of(products: Iterable[Product]) -> int:
    return sum(1 for _ in products)


def test_x575_a_scan_that_fails_ends_no_function_as_if_it_were_complete() -> None:
    complete = list[str]()

    def scan() -> Iterator[Product]:
        yield from make_products(3 * CHUNK)
        raise ConnectionError("the node is away")

    def note(products: Iterable[Product]) -> None:
        len_of(products)
        complete.append("as if complete")

    with pytest.raises(ConnectionError):
        share_scan(scan(), note, note)
    assert complete == []


def test_x575_a_function_that_fails_ends_the_scan() -> None:
    seen = list[int]()

    def scan() -> Iterator[Product]:
        for number, product in enumerate(make_products(10_000 * CHUNK)):
            seen.append(number)
            yield product

    def fail(products: Iterable[Product]) -> None:
        next(iter(products))
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        share_scan(scan(), len_of, fail)
    assert len(seen) < 10_000 * CHUNK


def test_x575_rows_that_a_function_guards_are_collected() -> None:
    def guarded(products: Iterable[Product]) -> None:
        for product in products:
            with guard_row(product):
                raise ValueError("broken")

    with collect_failed_rows() as failed:
        share_scan(make_products(2), guarded, guarded)
    assert len(failed.failures) == 4
