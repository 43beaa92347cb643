"""What the staff set changes while somebody checks out: what was shown holds, or the difference is told."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.urls import reverse

from pricing.delivery_settings import DELIVERY
from pricing.tax import TAX, DatedRates
from shop_settings.operations import remove_setting, save_setting
from shop_settings.queries import get_settings_at_quorum
from tests.checkout.shopper import Shopper, text, token_in
from tests.factories import make_stocked_product
from tests.shop_settings.saved import own_settings

__all__ = ["own_settings"]

pytestmark = pytest.mark.usefixtures("own_settings")
# Monday, ten minutes before midnight in Dublin, and one after it.
EVENING = datetime(2027, 3, 1, 23, 50, tzinfo=UTC)
MORNING = datetime(2027, 3, 2, 0, 1, tzinfo=UTC)


def change_method(key: str, **changes: Any) -> None:
    before = get_settings_at_quorum().get_values(DELIVERY)[key]
    now = datetime.now(UTC)
    save_setting(DELIVERY, key, replace(before, **changes), DELIVERY.fingerprint(before), now)


def test_x161_a_rate_that_changes_at_midnight_is_told_before_anything_is_ordered(
    shopper: Shopper,
) -> None:
    germany = get_settings_at_quorum().get_values(TAX)["DE"]
    later = DatedRates(date(2027, 3, 2), (Decimal(16), Decimal(5)))
    planned = replace(germany, periods=(*germany.periods, later))
    save_setting(TAX, "DE", planned, TAX.fingerprint(germany), datetime.now(UTC))
    with time_machine.travel(EVENING):
        token = shopper.token()
    with time_machine.travel(MORNING):
        told = shopper.send(token)
        assert told.status_code == 409
        words = text(told)
        assert "The tax is now €2.33. It was €2.70 before." in words
        assert "Delivery is now Standard, DHL, Thursday 4 March to Friday 5 March." in words
        order, _ = shopper.place()
    assert [part.rate for part in order.taxes] == [Decimal(16)]


def test_x161_what_the_staff_change_meanwhile_is_told_and_an_order_keeps_what_it_had(
    shopper: Shopper,
) -> None:
    token = shopper.token()
    change_method("standard-de", carrier="Mules", last_day=9, price=Decimal("7.00"))
    told = shopper.send(token)
    assert told.status_code == 409
    for sentence in (
        "Delivery is now Standard, Mules",
        "Delivery now costs €7.00. It was €4.90 before.",
    ):
        assert sentence in text(told)
    token = token_in(told)
    placed = shopper.send(token)
    assert placed.status_code == 303
    methods = get_settings_at_quorum().get_values(DELIVERY)
    seen = DELIVERY.fingerprint(methods["standard-de"])
    remove_setting(DELIVERY, "standard-de", seen, datetime.now(UTC))
    # The same submit once more still leads to its payment; another order cannot be sent so.
    assert shopper.send(token)["Location"] == placed["Location"]
    other = Shopper((make_stocked_product(), 1))
    gone = other.typed("delivery")
    assert gone.status_code == 422
    assert "Choose one of these delivery methods" in text(gone)


def test_x157_what_is_too_heavy_and_where_nothing_goes_is_said_beside_its_field(
    shopper: Shopper,
) -> None:
    change_method("standard-de", max_grams=100)
    refused = shopper.typed("delivery")
    assert (refused.status_code, "too heavy for this one" in text(refused)) == (422, True)
    assert shopper.typed("delivery", delivery="express").status_code == 303
    change_method("express-de", countries=("IE",), max_grams=None, is_active=False)
    refused = shopper.typed("delivery")
    assert (refused.status_code, "too heavy to be sent there" in text(refused)) == (422, True)
    change_method("standard-de", is_active=False)
    refused = shopper.typed("details")
    assert (refused.status_code, "We don’t deliver to Germany" in text(refused)) == (422, True)
    assert "Germany" not in text(shopper.client.get(reverse("delivery")))
