"""A filter that cannot be read lists, counts and changes nothing, wherever one stands."""

from collections.abc import Iterator
from math import inf
from pathlib import Path
from uuid import uuid4

import pytest
from django.http import QueryDict
from django.test import Client, override_settings
from django.urls import reverse

from adminpanel.catalogue.product_filter import ProductFilterForm
from adminpanel.customers.forms import CustomerFilterForm
from adminpanel.orders.selection import OrderFilterForm, list_selected_orders
from adminpanel.promotions.forms import PromotionForm
from catalogue.search_index import READER, build_index
from promotions.rules import PERCENTAGE
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import make_product, make_user, sign_in_staff
from web.forms import FilterForm

LONG = "x" * 101
# Of each list what nobody can mean, field by field.
UNREADABLE = {
    "products": {"q": LONG, "status": "odd", "category": "odd", "stock": "odd", "brand": LONG},
    "board": {
        "country": "XX",
        "delivery": "odd",
        "payment": "odd",
        "method": "odd",
        "first_day": "yesterday",
        "last_day": "2026-02-30",
        "sku": LONG,
        "tag": LONG,
    },
    "stock": {"warehouse": "odd", "show": "odd", "q": LONG},
    "log": {"book": "odd", "day": "yesterday", "who": "odd"},
    "sales": {
        "first": "yesterday",
        "last": "2026-02-30",
        "period": "odd",
        "by": "odd",
        "currency": "odd",
    },
    "books": {"month": "2026-13"},
    "customers": {
        **dict.fromkeys(("spent_from", "spent_to"), "1.001"),
        **dict.fromkeys(("orders_from", "orders_to"), "-1"),
        **dict.fromkeys(("first_day", "last_day"), "yesterday"),
        "country": "XX",
        "tag": LONG,
    },
    "searches": {"first": "yesterday", "last": "odd"},
    "visits": {"first": "yesterday", "last": "odd", "by": "odd", "category": "odd", "product": "1"},
}


@pytest.fixture(autouse=True)
def listed(tmp_path: Path) -> Iterator[None]:
    """A product that the lists would show."""
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([make_product(f"Mug {uuid4().hex}")])
        READER.looked_at = -inf
        assert ProductFilterForm({}).list_product_ids()[1] == 1
        yield


def test_x277_a_filter_that_cannot_be_read_finds_nothing(client: Client) -> None:
    sign_in_staff(client, make_user(role="admin"))
    make_order_with_events("paid")
    wrong = []
    for page, fields in UNREADABLE.items():
        for name, value in fields.items():
            answer = client.get(reverse(f"adminpanel:{page}"), {name: value})
            text = answer.content.decode()
            if (answer.status_code, "No results" in text) != (422, True):
                wrong.append(f"{page}, {name}: {answer.status_code}")
            if any(each in text for each in ("Ensure ", "Select a valid", "Enter a valid")):
                wrong.append(f"{page}, {name}: Django's words")
            # The field that looks through the whole shop is another one.
            if 'id="bar_q_error"' in text:
                wrong.append(f"{page}, {name}: said in the side bar")
            listed = answer.context.get("lines") or getattr(answer.context.get("board"), "rows", ())
            if listed or "<tbody" in text or 'name="all"' in text:
                wrong.append(f"{page}, {name}: lists something")
    assert wrong == []


def test_x277_each_field_of_a_filter_has_something_that_it_cannot_read() -> None:
    forms = {each.__name__ for each in _all_filters(FilterForm)}
    assert forms == {
        "ProductFilterForm",
        "OrderFilterForm",
        "StockListForm",
        "StockValueForm",
        "AuditLogForm",
        "CustomerFilterForm",
        "MonthForm",
        "PeriodForm",
        "SalesForm",
        "VisitsForm",
    }
    for page, form in (
        ("products", ProductFilterForm),
        ("board", OrderFilterForm),
        ("customers", CustomerFilterForm),
    ):
        filters = form.base_fields.keys() - form.PLACES - {"reduced", "bare", "no_alt"}
        assert filters == UNREADABLE[page].keys()


def _all_filters(form: type[FilterForm]) -> set[type[FilterForm]]:
    below = {each for each in form.__subclasses__() if each.__module__.startswith("adminpanel")}
    return below.union(*(_all_filters(each) for each in below))


def test_x277_no_change_and_no_file_is_of_what_such_a_filter_does_not_find(client: Client) -> None:
    sign_in_staff(client, make_user(role="admin"))
    make_order_with_events("paid")
    for name, value in UNREADABLE["board"].items():
        sent = QueryDict(mutable=True)
        sent.update({"all": "1", name: value})
        assert list_selected_orders(sent) == ([], 0), name
    everything = {"all": "1", "q": LONG}
    assert ProductFilterForm(everything).list_product_ids() == ([], 0)
    answers = [
        client.get(reverse("adminpanel:bulk_change_new"), everything),
        client.get(reverse("adminpanel:paper_new"), {"all": "1", "sku": LONG}),
        client.get(reverse("adminpanel:order_changes_new"), {"all": "1", "sku": LONG}),
    ]
    assert [each.status_code for each in answers] == [302, 302, 302]
    export = {"q": LONG, "layout": "prices", "format": "csv", "task_id": uuid4()}
    refused = client.post(reverse("adminpanel:export_new"), export)
    assert refused.status_code == 422
    assert "No product, or more than" in refused.content.decode()


def test_x277_days_without_a_neighbour_and_columns_of_another_board_select_nothing(
    client: Client,
) -> None:
    sign_in_staff(client, make_user(role="admin"))
    make_order_with_events("paid")
    for name, value in (("first_day", "0001-01-01"), ("last_day", "9999-12-31"), ("column", "odd")):
        assert list_selected_orders(QueryDict(f"all=1&{name}={value}")) == ([], 0)
    answer = client.get(reverse("adminpanel:board"), {"last_day": "9999-12-31"})
    assert answer.status_code == 422
    promotion = {"ends": "9999-12-31", "starts": "0001-01-01"}
    form = PromotionForm(PERCENTAGE, promotion)
    assert {"ends", "starts"} <= form.errors.keys()


def test_x277_a_filter_that_can_be_read_is_beside_one_that_cannot(client: Client) -> None:
    sign_in_staff(client, make_user(role="admin"))
    answer = client.get(reverse("adminpanel:board"), {"sku": LONG, "country": "DE"})
    assert ("sku", LONG) in answer.context["board"].view.fields
    assert ("country", "DE") in answer.context["board"].view.fields
