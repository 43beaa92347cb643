"""More buyers than units, all at once, over real HTTP (the large one: `python -m benchmarks.flash_sale`)."""

from collections.abc import Iterator

import pytest

from benchmarks import flash_sale
from tests.serving import Web

BUYERS, UNITS = 60, 10


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    shops = [
        Web(tmp_path_factory.mktemp(f"web{number}"), CHECKOUTS_AT_ONCE="1", CHECKOUTS_NEXT="1") for number in range(2)
    ]
    try:
        for web in shops:
            web.start()
        yield [web.port for web in shops]
    finally:
        for web in shops:
            web.stop()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", flash_sale.SALES)
def test_a_flash_sale_sells_what_there_is(name: str, ports: list[int]) -> None:
    kind = flash_sale.SALES[name]
    sale = flash_sale.made(name, kind, ports[: kind.servers], BUYERS, UNITS)
    flash_sale.held(sale, 0.5, looks_before=1.0)
    print(sale.line())
    assert not sale.wrong
