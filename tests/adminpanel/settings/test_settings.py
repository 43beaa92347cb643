"""The staff's pages of what is set for the whole shop."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from django.utils.timezone import localdate
from moneyed import EUR, Money

from accounts.audit_log import STAFF
from adminpanel.settings.delivery_forms import DeliveryForm, WeightsForm
from adminpanel.settings.forms import SettingForm, TermsForm, WarehouseForm
from adminpanel.settings.tax_forms import TaxForm
from cassandra_db import current_time
from consistency.stock import CHECKS
from inventory.queries import prefetch_low_items
from inventory.warehouses import WAREHOUSE, find_warehouse_key, find_warehouse_name, list_warehouses
from orders.operations import place_order
from pricing.delivery import list_delivery_methods
from pricing.delivery_settings import DELIVERY
from pricing.tax import TAX, get_tax_rates
from pricing.weight_settings import PARCEL, WEIGHTS
from shop_settings.kinds import SettingKind
from shop_settings.operations import change_settings
from shop_settings.queries import get_settings_at_quorum
from shop_settings.terms import TERMS, get_terms
from spreadsheets.entities import FileRow, PlannedRow
from spreadsheets.layouts import LAYOUTS
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_draft, make_product, make_stock, make_user, sign_in_staff
from tests.shop_settings.saved import own_settings

__all__ = ["own_settings"]

LIST, NEW = reverse("adminpanel:delivery_methods"), reverse("adminpanel:delivery_method_new")
pytestmark = pytest.mark.usefixtures("own_settings")


@pytest.fixture
def ada(client: Client) -> Client:
    return sign_in_staff(client, make_user("Ada", role="admin"))


def address(name: str, key: str) -> str:
    return reverse(f"adminpanel:{name}", args=(key,))


def values(kind: SettingKind[Any]) -> Mapping[str, Any]:
    return get_settings_at_quorum().get_values(kind)


def typed(form: SettingForm[Any], **changes: Any) -> dict[str, Any]:
    """What a form would send as it is shown, with some fields typed anew."""
    shown = {
        name: value
        for name in form.fields
        if (value := form[name].value()) is not False and value not in (None, "")
    }
    return {name: value for name, value in (shown | changes).items() if value is not None}


def of(key: str, **changes: Any) -> dict[str, Any]:
    return typed(DeliveryForm(values(DELIVERY)[key]), **changes)


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_x157_a_method_is_added_changed_and_removed_and_each_act_is_in_the_log(
    client: Client,
) -> None:
    user = make_user("Ada", role="admin")
    ada = sign_in_staff(client, user)
    page = words(ada.get(LIST))
    assert "Denmark" in page
    assert "DPD Ireland" in page
    sent = {
        "key": str(uuid4()),
        "name": "Bike courier",
        "countries": ["IE"],
        "carrier": "Two Wheels",
        "price": "3.50",
        "first_day": "0",
        "last_day": "1",
        "max_kg": "8.5",
        "position": "7",
        "is_active": "on",
    }
    for _ in range(2):  # sent twice it is one
        assert ada.post(NEW, sent)["Location"] == LIST
    (key,) = (key for key, each in values(DELIVERY).items() if each.name == "Bike courier")
    bike = list_delivery_methods("IE")[-1]
    assert (bike.code, bike.label, bike.days) == (
        "bike-courier",
        "Bike courier, Two Wheels",
        (0, 1),
    )
    assert (bike.takes(8500), bike.takes(8501)) == (True, False)
    assert "Two Wheels" in words(ada.get(LIST))
    where = address("delivery_method", key)
    assert ada.post(where, of(key, price="2"))["Location"] == LIST
    assert list_delivery_methods("IE")[-1].price.amount == Decimal(2)
    seen = DELIVERY.fingerprint(values(DELIVERY)[key])
    for _ in range(2):
        removed = ada.post(address("delivery_method_remove", key), {"version": seen})
        assert removed["Location"] == LIST
    assert key not in values(DELIVERY)
    assert ada.get(where).status_code == 404
    log = [each for each in list_entries_this_month(user, STAFF) if "delivery" in each.act]
    assert [each.act.partition(":")[2] for each in log] == [
        *["delivery_method_remove"] * 2,
        "delivery_method",
        *["delivery_method_new"] * 2,
    ]
    (price,) = (value for name, value in log[2].changes.items() if "rice" in name)
    assert "3.50" in price


def test_x157_what_shoppers_are_shown_follows_at_once(ada: Client) -> None:
    guest, product = Client(), make_product()
    page = reverse("product", args=(product.slug,))
    assert "To Germany in 2 to 3 working days for €4.90" in words(guest.get(page))
    ada.post(
        address("delivery_method", "standard-de"), of("standard-de", price="5.55", last_day="4")
    )
    assert "To Germany in 2 to 4 working days for €5.55" in words(guest.get(page))
    assert "€5.55" in words(guest.get("/help/delivery/"))
    # What is picked up is not sent, and what takes no product of this weight is not its method.
    first = of("express-de", is_pickup="on", position="0", price="0")
    ada.post(address("delivery_method", "express-de"), first)
    assert not list_delivery_methods("DE")[0].carrier
    assert "To Germany in 2 to 4 working days for €5.55" in words(guest.get(page))
    ada.post(address("delivery_method", "standard-fr"), of("standard-fr", max_kg="0.1"))
    (express,) = list_delivery_methods("FR")[1:]
    shown = words(guest.get(page, {"country": "FR"}))
    assert f"for €{express.price.amount}" in shown


def test_x157_bad_input_is_said_beside_its_field_and_stays_typed(ada: Client) -> None:
    where, before = address("delivery_method", "standard-fr"), values(DELIVERY)
    violations: list[Any] = []
    for fields, sentence in (
        ({"name": ""}, "Enter a name"),
        ({"countries": []}, "Choose at least one country"),
        ({"countries": ["US"]}, "Choose only countries from this list"),
        (
            {"countries": ["FR", "DE"]},
            "Standard would be offered to Germany twice at the same time",
        ),
        ({"price": "cheap"}, "Enter an amount from 0 to 10,000"),
        ({"price": "1e99"}, "Enter an amount from 0 to 10,000"),
        ({"first_day": "9", "last_day": "8"}, "Enter at least the earliest number of days"),
        ({"carrier": ""}, "Enter a carrier, or select pickup"),
        ({"max_kg": "0"}, "Enter a weight from 0.1 to 10,000 kg"),
        ({"valid_from": "soon"}, "Enter a day, such as 2027-01-01"),
        (
            {"valid_from": "2027-02-01", "valid_until": "2027-01-01"},
            "Enter the first day or a later one",
        ),
        ({"valid_until": "9999-12-31"}, "Enter a day before the year 3000"),
        ({"position": "-1"}, "Enter a whole number from 0 to 99"),
    ):
        answer = ada.post(where, of("standard-fr", **({"free_from": "77.77"} | fields)))
        page = words(answer)
        if (answer.status_code, sentence in page, "77.77" in page) != (422, True, True):
            violations.append((fields, answer.status_code))
    assert violations == []
    assert values(DELIVERY) == before


def test_x158_a_stale_edit_shows_both_and_keeps_what_was_typed(ada: Client) -> None:
    where, mine = address("delivery_method", "standard-fr"), of("standard-fr", price="6.66")
    ada.post(where, of("standard-fr", price="7.77"))
    answer = ada.post(where, mine)
    page = words(answer)
    assert answer.status_code == 409
    assert "Someone else has changed this" in page
    assert "7.77" in page
    assert 'value="6.66"' in page
    newer = DELIVERY.fingerprint(values(DELIVERY)["standard-fr"])
    assert ada.post(where, mine | {"overwrite": newer})["Location"] == LIST
    assert values(DELIVERY)["standard-fr"].price == Decimal("6.66")
    stale = ada.post(
        address("delivery_method_remove", "standard-fr"), {"version": newer}, follow=True
    )
    assert "standard-fr" in values(DELIVERY)
    assert "Someone else has changed this" in words(stale)


def test_x159_a_country_that_is_left_without_a_method_is_said_before_it_is_saved(
    ada: Client,
) -> None:
    lux, until = address("delivery_method", "standard-lu"), localdate() + timedelta(days=10)
    assert ada.post(lux, of("standard-lu", is_active=None))["Location"] == LIST
    express = next(
        key
        for key, each in values(DELIVERY).items()
        if each.code == "express" and "LU" in each.countries
    )
    left = [each for each in values(DELIVERY)[express].countries if each != "LU"]
    where, day = address("delivery_method", express), until + timedelta(days=1)
    for changes, sentence in (
        ({"countries": left}, "Shoppers in Luxembourg can’t order any more"),
        ({"max_kg": "5"}, "Orders of more than 5 kg can’t be sent to Luxembourg any more."),
        (
            {"valid_until": until.isoformat()},
            f"From {day.day} {day:%b %Y}, shoppers in Luxembourg can’t order",
        ),
    ):
        sent = of(express, **changes)
        asked = ada.post(where, sent)
        assert (asked.status_code, sentence in words(asked)) == (422, True), sentence
        assert "Nothing has been saved yet" in words(asked)
    confirmed = asked.context["confirmed"]
    # A confirmation is for what was shown, and for nothing else.
    assert ada.post(where, sent | {"countries": left, "confirmed": confirmed}).status_code == 422
    assert ada.post(where, sent | {"confirmed": confirmed})["Location"] == LIST
    assert f"From {day.day} {day:%b %Y}, shoppers in Luxembourg can’t order" in words(ada.get(LIST))
    remove = address("delivery_method_remove", express)
    seen = DELIVERY.fingerprint(values(DELIVERY)[express])
    asked = ada.post(remove, {"version": seen})
    assert (asked.status_code, "Shoppers in Luxembourg can’t order" in words(asked)) == (422, True)
    assert ada.post(remove, {"version": seen, "confirmed": seen})["Location"] == LIST
    guest, product = Client(), make_product()
    home, shop = words(guest.get("/")), reverse("product", args=(product.slug,))
    assert list_delivery_methods("LU") == ()
    assert "To 14 countries" in home
    for page in (shop, reverse("cart:show"), reverse("checkout:details")):
        assert guest.get(page, {"country": "LU"}).status_code in (200, 302), page


def test_x160_rates_are_planned_by_day_and_said_wrong_beside_their_field(ada: Client) -> None:
    where, taxes = address("country_tax", "FI"), reverse("adminpanel:tax_rates")
    planned = {"from_1": "2027-01-01", "standard_1": "24", "reduced_1": "10"}
    form = typed(TaxForm(values(TAX)["FI"]))
    for fields, sentence in (
        ({"standard_0": ""}, "Fill in the whole line, or clear all of it"),
        ({"standard_0": "101"}, "Enter a rate from 0 to 100"),
        ({"from_0": "2099-01-01"}, "No rates hold today"),
        (planned | {"from_1": "2026-01-01"}, "Another line already starts on this day"),
    ):
        answer = ada.post(where, form | fields)
        assert (answer.status_code, sentence in words(answer)) == (422, True), sentence
    assert ada.post(where, form | planned)["Location"] == taxes
    assert "24 % / 10 % from 1 Jan 2027" in words(ada.get(taxes))
    assert get_tax_rates("FI").by_class["standard"] == Decimal("25.5")
    assert ada.post(where, form | {"standard_0": "26"}).status_code == 409
    # A stale edit keeps all of its lines, also where fewer are saved by now.
    longer = typed(TaxForm(values(TAX)["FI"]), from_3="2028-01-01", standard_3="23", reduced_3="9")
    ada.post(where, typed(TaxForm(values(TAX)["FI"])) | dict.fromkeys(planned, ""))
    stale = ada.post(where, longer)
    assert (stale.status_code, 'value="2028-01-01"' in words(stale)) == (409, True)
    newer = TAX.fingerprint(values(TAX)["FI"])
    assert ada.post(where, longer | {"overwrite": newer})["Location"] == taxes
    assert [str(each.valid_from) for each in values(TAX)["FI"].periods][1:] == [
        "2027-01-01",
        "2028-01-01",
    ]
    ada.post(where, typed(TaxForm(values(TAX)["FI"]), is_added="on"))
    assert get_tax_rates("FI").is_added


def test_x190_what_heavier_parcels_cost_is_set_at_once_and_said_wrong_beside_its_field(
    ada: Client,
) -> None:
    where, little = reverse("adminpanel:parcel_weights"), Money("10.00", EUR)
    form = typed(WeightsForm(values(WEIGHTS)[PARCEL]))
    for fields, field, sentence in (
        ({"surcharge_0": "1"}, "surcharge_0", "have no surcharge"),
        ({"kg_1": "4"}, "kg_1", "Enter the weights from light to heavy"),
        ({"surcharge_2": "1.00"}, "surcharge_2", "A heavier parcel can’t cost less"),
        ({"surcharge_3": ""}, "surcharge_3", "Fill in the whole line"),
        ({"kg_0": "much"}, "kg_0", "Enter a weight from 0.1 to 1,000 kg"),
    ):
        answer = ada.post(where, form | fields)
        assert (answer.status_code, sentence in words(answer)) == (422, True), sentence
        assert answer.context["form"].errors.keys() >= {field}
    empty = dict.fromkeys((each for each in form if each[:2] in ("kg", "su")), "")
    assert "Enter at least the weight limit" in words(ada.post(where, form | empty))
    lighter = form | {"kg_2": "15", "surcharge_2": "7.50", "kg_3": "", "surcharge_3": ""}
    assert ada.post(where, lighter)["Location"] == LIST
    standard = next(each for each in list_delivery_methods("DE") if each.code == "standard")
    assert [standard.price_for(little, grams) for grams in (5_000, 15_000, 15_001)] == [
        Money(price, EUR) for price in ("4.90", "12.40", "17.30")
    ]
    # Who had the page open meanwhile is told.
    assert ada.post(where, form | {"surcharge_1": "3"}).status_code == 409
    assert "Up to 15 kg costs €7.50 more" in words(ada.get(reverse("delivery")))


def test_x191_what_was_typed_into_a_method_that_is_removed_meanwhile_stays(ada: Client) -> None:
    where, mine = address("delivery_method", "express-fr"), of("express-fr", price="6.66")
    version = DELIVERY.fingerprint(values(DELIVERY)["express-fr"])
    remove = address("delivery_method_remove", "express-fr")
    ada.post(remove, {"version": version, "confirmed": version})
    assert "express-fr" not in values(DELIVERY)
    answer = ada.post(where, mine)
    assert (answer.status_code, 'value="6.66"' in words(answer)) == (409, True)
    assert ada.post(where, mine | {"overwrite": ""})["Location"] == LIST
    assert values(DELIVERY)["express-fr"].price == Decimal("6.66")
    assert ada.get(address("delivery_method", "nothing-like-it")).status_code == 404


def test_x162_terms_hold_from_their_day_on_and_stand_where_the_seller_is_named(ada: Client) -> None:
    new, terms = reverse("adminpanel:terms_new"), reverse("adminpanel:terms")
    assert 'name="return_days" value="30"' in words(ada.get(new))
    today, first = localdate(), values(TERMS)["first"]
    changes = {"seller_name": "Ada & Daughters", "return_days": "45", "version": None}
    sent = typed(TermsForm(first), **changes, valid_from=today.isoformat(), key=str(uuid4()))
    for fields, sentence in (
        ({"valid_from": ""}, "Other terms begin on this day already"),
        ({"valid_from": str(today - timedelta(days=1))}, "Enter today or a later day"),
        ({"withdrawal_days": "13"}, "Enter a whole number from 14 to 3,650"),
        ({"email": "nobody"}, "email"),
    ):
        answer = ada.post(new, sent | fields)
        assert (answer.status_code, sentence in words(answer)) == (422, True), sentence
    for _ in range(2):
        assert ada.post(new, sent)["Location"] == terms
    assert len(values(TERMS)) == 2
    assert get_terms(today - timedelta(days=1)).seller_name == first.seller_name
    page = words(Client().get(reverse("terms")))
    assert "Ada &amp; Daughters" in page
    assert "45 days" in page
    assert "Ada &amp; Daughters" in words(ada.get(terms))
    assert "45-day returns" in words(Client().get("/"))
    # What was promised and issued already changes only if that was said before.
    former, day = address("terms_detail", "first"), f"{today.day} {today:%b %Y}"
    again = typed(TermsForm(first), vat_id="IE7", return_days="14")
    asked = ada.post(former, again)
    assert asked.status_code == 422
    assert asked.context["consequences"] == [
        f"Invoices already issued, before {day}, will name {first.seller_line}, VAT IE7.",
        f"Orders already placed, before {day}, can be sent back for 14 days instead of 30.",
    ]
    assert "Nothing has been saved yet" in words(asked)
    assert values(TERMS)["first"] == first
    confirmed = {"confirmed": asked.context["confirmed"]}
    assert ada.post(former, again | confirmed)["Location"] == terms
    assert values(TERMS)["first"].return_days == 14
    # What is about the days to come alone is saved at once.
    later = typed(TermsForm(values(TERMS)["first"]), refund_code_above="7")
    assert ada.post(former, later)["Location"] == terms


def test_s91_the_shop_is_set_by_admins_alone() -> None:
    for role in ("support", "warehouse", "catalogue", "analyst"):
        staff = sign_in_staff(Client(), make_user("Sam", role=role))
        for where in (LIST, NEW, address("country_tax", "FI"), reverse("adminpanel:terms")):
            assert staff.get(where).status_code == 403, (role, where)
        sent = of("standard-de", price="0")
        assert staff.post(address("delivery_method", "standard-de"), sent).status_code == 403
    assert values(DELIVERY)["standard-de"].price == Decimal("4.90")


def plan_counts(places: Mapping[str, str]) -> list[PlannedRow]:
    """What a file would do that says that three units of each SKU lie there."""
    layout = LAYOUTS["stock"]
    cells = [{"sku": sku, "warehouse": place, "units": "3"} for sku, place in places.items()]
    rows = [FileRow(n, layout.key(each), ((n, each),)) for n, each in enumerate(cells, 2)]
    return layout.plan(rows, uuid4(), current_time())


def test_x163_warehouses_have_an_order_and_a_closed_one_gets_nothing_new(ada: Client) -> None:
    new, places = reverse("adminpanel:warehouse_new"), reverse("adminpanel:warehouses")
    sent = {"name": "Lyon", "country": "FR", "position": "0", "is_open": "on"}
    for fields, sentence in (
        ({"name": "cork"}, "Another warehouse has this name already"),
        ({"name": "Take"}, "A warehouse can’t be called take"),
        ({"name": "—"}, "Enter a name with letters or digits"),
        ({"country": "US"}, "Choose a country"),
    ):
        answer = ada.post(new, sent | fields)
        assert (answer.status_code, sentence in words(answer)) == (422, True), sentence
    for _ in range(2):
        assert ada.post(new, sent)["Location"] == places
    assert list_warehouses() == ("berlin", "lyon", "cork")
    berlin = address("warehouse", "berlin")
    form = typed(WarehouseForm(values(WAREHOUSE)["berlin"]), is_open=None)
    asked = ada.post(berlin, form)
    assert (asked.status_code, "Berlin gets no new stock" in words(asked)) == (422, True)
    confirmed = asked.context["confirmed"]
    assert ada.post(berlin, form | {"confirmed": confirmed})["Location"] == places
    assert list_warehouses() == ("lyon", "cork", "berlin")
    assert "from our warehouse in Lyon or Cork" in words(Client().get("/help/delivery/"))
    # What lies there is sold on, and sent after what the others have.
    product = make_product()
    variant_id = product.variants[0].variant_id
    make_stock(3, cork=2, product_id=product.product_id, variant_id=variant_id)
    orders = [place_order(make_draft((product, 1)), current_time()) for _ in range(4)]
    assert [list(each.reserved_units) for each in orders] == [["cork"]] * 2 + [["berlin"]] * 2
    stock = reverse("adminpanel:product_stock", args=(product.product_id,))
    received = {
        "variant": str(variant_id),
        "warehouse": "berlin",
        "units": "1",
        "receive": "1",
        "key": str(uuid4()),
        "seen": "3",
    }
    refused = ada.post(stock, received)
    assert (refused.status_code, "This warehouse is closed" in words(refused)) == (422, True)
    sku = product.variants[0].sku
    with pytest.raises(CommandError, match="none of lyon, cork"):
        call_command("stock", "receive", sku, "berlin", "3")
    call_command("stock", "adjust", sku, "berlin", "1", "--reason", "found")
    other = make_product()
    counted = {sku: "berlin", other.variants[0].sku: "BERLIN"}
    assert [each.plan for each in plan_counts(counted)] == ["changed", "faulty"]
    # That it is empty is as it should be: nobody is told that it runs low.
    assert list(prefetch_low_items()) == ["lyon", "cork"]
    cork = address("warehouse", "cork")
    ada.post(cork, typed(WarehouseForm(values(WAREHOUSE)["cork"]), name="Cork harbour"))
    assert list_warehouses() == ("lyon", "cork", "berlin")
    # People read and write what it is called now.
    assert find_warehouse_name("cork") == "Cork harbour"
    (meant, unknown) = plan_counts({sku: " cork HARBOUR ", other.variants[0].sku: "Paris"})
    assert (meant.plan, meant.key) == ("changed", f"{sku} cork")
    assert "cork (Cork harbour)" in unknown.faults[0].text
    # Its former name is free again, and its key is not.
    closed = {"name": "Cork", "country": "IE", "position": "5"}
    for _ in range(2):
        assert ada.post(new, closed)["Location"] == places
    assert list_warehouses() == ("lyon", "cork", "berlin", "cork-2")
    assert find_warehouse_key("Cork") == "cork-2"
    assert find_warehouse_key("cork") == "cork", "as files from here say it"
    for key in ("cork", "lyon"):
        form = typed(WarehouseForm(values(WAREHOUSE)[key]), is_open=None)
        asked = ada.post(address("warehouse", key), form)
        last = ada.post(address("warehouse", key), form | {"confirmed": asked.context["confirmed"]})
    assert (last.status_code, "One warehouse has to stay open" in words(last)) == (422, True)
    # A warehouse that is gone from the settings is missed where something lies.
    (check,) = (each for each in CHECKS if "I31" in each.rules)
    assert [each.rule for each in check.find_violations((variant_id, "cork"))] == []
    known = {key: each for key, each in values(WAREHOUSE).items() if key != "cork"}
    change_settings(WAREHOUSE, lambda _: known, current_time())
    (named,) = (each for each in check.find_violations((variant_id, "cork")))
    assert (named.rule, named.fault) == ("I31", "lies where there is no warehouse any more")
