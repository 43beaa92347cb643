"""Orders that have gone some way."""

from datetime import UTC, datetime

import pytest

from orders import operations
from orders.lifecycle.entities import Order
from tests.adminpanel.conftest import make_order_with_events


@pytest.fixture
def arrived() -> Order:
    return make_order_with_events("paid", "packed", "shipped", "delivered")


@pytest.fixture
def requested_return(arrived: Order) -> Order:
    return operations.request_return(
        arrived, {1: 2}, "Too small", actor="shopper", now=datetime.now(UTC)
    )
