"""Papers and tables of orders on the staff's pages; where stock lies; a scanner at the packing table."""

from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from lxml import html
from pypdf import PdfReader

from adminpanel.orders.papers import file_id_of, needs_code
from orders import operations
from orders.lifecycle.entities import Order
from orders.papers.order_files import ORDER_FILES
from orders.queries import get_order, list_items
from spreadsheets import queries
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import (
    make_draft,
    make_order,
    make_payment,
    make_product,
    make_stock,
    make_user,
    sign_in_staff,
)

NEW, LIST = reverse("adminpanel:paper_new"), reverse("adminpanel:papers")


def form_fields(answer: Any, action: str) -> dict[str, Any]:
    forms = html.fromstring(answer.content).forms
    form = next(each for each in forms if (each.get("action") or "").endswith(action))
    fields = {each.name: each.value or "" for each in form.inputs if each.name}
    del fields["csrfmiddlewaretoken"]
    return fields | {"order": [each.value for each in form.inputs if each.name == "order"]}


def make_papers(client: Client, kind: str, *orders: Order, form_id: str = "") -> Any:
    """Submit the form that makes a file. A PDF is the answer itself; the address of its page is added as a Location."""
    page = client.get(NEW, {"order": [str(each.order_id) for each in orders]})
    fields = form_fields(page, NEW)
    fields |= {"kind": kind} | ({"file_id": form_id} if form_id else {})
    answer = client.post(NEW, fields)
    if answer.status_code == 200:
        file_id = file_id_of(UUID(fields["file_id"]), kind, [("orders", fields["orders"])])
        answer["Location"] = reverse("adminpanel:paper", args=[file_id])
    return answer


def fetched(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def text_of(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages)


def test_x176_s96_selected_orders_are_printed_at_once_and_fetched_for_an_hour(will: Client) -> None:
    orders = [make_order(paid=True, quantity=2, notes="Ring twice") for _ in range(2)]
    page = will.get(NEW, {"order": [str(each.order_id) for each in orders]}).content.decode()
    assert "Print or export 2 orders" in page
    assert "2 pages or more" in page
    assert "Up to one page" in page
    answer = make_papers(will, "slips", *orders)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
    assert answer["Content-Disposition"].startswith("inline")
    shown = text_of(fetched(answer))
    assert all(each.number in shown for each in orders)
    address = answer["Location"]
    shown = will.get(address).content.decode()
    assert "Open PDF" in shown
    assert "Packing slips" in will.get(LIST).content.decode()
    sent = will.post(f"{address}file/")
    assert sent["Content-Type"] == "application/pdf"
    assert "no-store" in sent["Cache-Control"]
    text = text_of(fetched(sent))
    for order in orders:
        assert order.number in text
        assert list_items(order)[0].sku in text
    assert "Ring twice" in text
    # Its address alone, as somebody may have kept it, opens the page.
    assert will.get(f"{address}file/")["Location"] == address
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1, minutes=1), tick=False):
        assert will.post(f"{address}file/")["Location"] == address
        assert "Open PDF" not in will.get(address).content.decode()


def test_x176_a_form_that_is_sent_twice_makes_one_file_and_another_choice_another(
    will: Client,
) -> None:
    order = make_order(paid=True)
    page = will.get(NEW, {"order": str(order.order_id)})
    form_id = str(page.context["form"]["file_id"].value())
    twice = [make_papers(will, "labels", order, form_id=form_id) for _ in range(2)]
    other = make_papers(will, "picking", order, form_id=form_id)
    assert twice[0]["Location"] == twice[1]["Location"] != other["Location"]
    assert "Ada Lovelace" in text_of(fetched(will.post(f"{twice[0]['Location']}file/")))


def test_x176_x177_all_that_a_filter_finds_is_selected(
    will: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A day that no other test has, and an order on it that nobody has paid.
    now = datetime(2060, 1, 1, 12, tzinfo=UTC) + timedelta(days=uuid4().int % 9000)
    orders = [make_order(now=now) for _ in range(2)]
    day = now.date().isoformat()
    chosen = {"all": "1", "column": "to_pay", "first_day": day, "last_day": day}
    page = will.get(NEW, chosen)
    heading = html.fromstring(page.content).findtext(".//h1") or ""
    assert " ".join(heading.split()) == "Print or export 2 orders"
    fields = form_fields(page, NEW)
    text = text_of(fetched(will.post(NEW, fields | {"kind": "picking"})))
    assert all(each.number in text.partition("Nothing is to be packed for:")[2] for each in orders)
    # The worker looks for them: they may be any number.
    table = will.post(NEW, fields | {"kind": "deliveries"})["Location"]
    assert "Being written" in will.get(table).content.decode()
    monkeypatch.setattr("adminpanel.orders.paper_forms.MAX_PRINTED_ORDERS", 1)
    refused = will.post(NEW, fields | {"kind": "slips"})
    assert refused.status_code == 422
    assert "A document can have 1 orders." in refused.content.decode()
    assert form_fields(refused, NEW)["last_day"] == day


def test_x176_what_cannot_be_made_is_said_and_kept(will: Client) -> None:
    order = make_order(paid=True)
    refused = make_papers(will, "", order)
    assert refused.status_code == 422
    assert "Choose one" in refused.content.decode()
    assert str(order.order_id) in refused.content.decode()
    nothing = will.get(NEW, follow=True).content.decode()
    assert "Select orders first" in nothing
    missing = will.get(reverse("adminpanel:paper", args=[uuid4()]))
    assert missing.status_code == 404


def test_s96_papers_are_for_who_works_on_orders_and_each_fetch_is_logged() -> None:
    wanda = make_user("Wanda", role="warehouse")
    answer = make_papers(sign_in_staff(Client(), wanda), "labels", make_order(paid=True))
    address = answer["Location"]
    task = queries.get_task(UUID(address.strip("/").split("/")[-1]))
    assert task
    cleo = sign_in_staff(Client(), make_user("Cleo", role="catalogue"))
    for url in (LIST, NEW, address):
        assert cleo.get(url).status_code == 403, url
    assert cleo.post(f"{address}file/").status_code == 403
    # Nor by the address of a file of products.
    assert cleo.get(reverse("adminpanel:export_file", args=[task.task_id])).status_code == 404
    assert "Address labels" not in cleo.get(reverse("adminpanel:spreadsheets")).content.decode()
    fetched(sign_in_staff(Client(), wanda).post(f"{address}file/"))
    actions = [each.act for each in list_entries_this_month(wanda)]
    assert {"adminpanel:paper_new", "adminpanel:paper_file"} <= set(actions)


def test_s106_a_code_is_asked_before_many_names_and_addresses_go_out(
    will: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    personal = {name for name, kind in ORDER_FILES.items() if needs_code(kind, 26)}
    assert personal == {
        *("everything", "slips", "labels", "orders", "deliveries", "invoices", "customers")
    }
    always = {name for name, kind in ORDER_FILES.items() if needs_code(kind, 1)}
    assert always == {"customers"}
    monkeypatch.setattr("adminpanel.orders.papers.MAX_WITHOUT_CODE", 1)
    orders, is_fresh = [make_order(paid=True) for _ in range(2)], False
    monkeypatch.setattr("adminpanel.code_again.has_fresh_code", lambda _session: is_fresh)
    right = [make_papers(will, "labels", orders[0]), make_papers(will, "picking", *orders)]
    assert [each.status_code for each in right] == [200, 200]
    asked = make_papers(will, "labels", *orders)
    (field,) = html.fromstring(asked.content).xpath("//main//input[@name='code']")
    assert asked.status_code == 422
    # What was chosen is still there, and a wrong code makes nothing.
    chosen = html.fromstring(asked.content).xpath("//input[@name='kind'][@checked]/@value")
    fields = form_fields(asked, NEW) | {"kind": "labels"}
    assert (chosen, fields["orders"].count(",")) == (["labels"], 1)
    assert will.post(NEW, fields | {"code": "000000"}).status_code == 422
    is_fresh = True
    made = will.post(NEW, fields)
    assert text_of(fetched(made)).count("Ada Lovelace") == 2
    file_id = file_id_of(UUID(fields["file_id"]), "labels", [("orders", fields["orders"])])
    address = reverse("adminpanel:paper", args=[file_id])
    is_fresh = False
    # A colleague made it, or it took the worker long: who fetches it enters a code.
    refused = will.post(f"{address}file/")
    (field,) = html.fromstring(refused.content).xpath("//main//input[@name='code']")
    assert (refused.status_code, field.xpath("ancestor::form")[0].get("action")) == (
        422,
        f"{address}file/",
    )
    is_fresh = True
    assert text_of(fetched(will.post(f"{address}file/"))).count("Ada Lovelace") == 2


def test_s106_a_forms_id_leads_past_no_code_to_a_file_that_is_there(
    will: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = [make_order(paid=True) for _ in range(2)]
    sue = sign_in_staff(Client(), make_user("Sue", role="support"))
    colleagues, own = (make_papers(each, "labels", *orders)["Location"] for each in (sue, will))
    others = make_papers(sue, "labels", orders[0])["Location"]
    monkeypatch.setattr("adminpanel.orders.papers.MAX_WITHOUT_CODE", 1)
    monkeypatch.setattr("adminpanel.code_again.has_fresh_code", lambda _session: False)
    chosen = [("orders", str(orders[0].order_id))]
    for address, kind in (
        (colleagues, "labels"),
        (own, "labels"),
        (own, "slips"),
        (others, "labels"),
    ):
        file_id = file_id_of(UUID(address.strip("/").split("/")[-1]), kind, chosen)
        answer = make_papers(will, kind, orders[0], form_id=str(file_id))
        assert (answer.status_code, answer["Location"]) == (303, address)


def test_s106_a_file_has_what_its_role_needs_and_is_no_other_roles(will: Client) -> None:
    order = make_order(paid=True, notes="Ring twice")
    page = will.get(NEW, {"order": str(order.order_id)})
    kinds = html.fromstring(page.content).xpath("//input[@name='kind']/@value")
    assert kinds == ["everything", "picking", "slips", "labels", "deliveries", "order-lines"]
    assert make_papers(will, "orders", order).status_code == 422
    deliveries = make_papers(will, "deliveries", order)["Location"]
    table = fetched(will.post(f"{deliveries}file/")).decode()
    assert "Ring twice" in table
    assert "Ada Lovelace" in table
    for unneeded in (order.email, f"{order.total.amount:.2f}", "billing", "payment", "voucher"):
        assert unneeded not in table, unneeded
    sue = sign_in_staff(Client(), make_user("Sue", role="support"))
    whole = make_papers(sue, "orders", order)["Location"]
    assert order.email in fetched(sue.post(f"{whole}file/")).decode()
    for answer in (will.get(whole), will.post(f"{whole}file/")):
        assert answer.status_code == 404
    assert whole in sue.get(LIST).content.decode()
    assert whole not in will.get(LIST).content.decode()


def test_x499_everything_that_selected_orders_need_is_one_file_and_the_first_choice(
    will: Client,
) -> None:
    orders = [make_order(paid=True, quantity=2) for _ in range(2)]
    page = will.get(NEW, {"order": [str(each.order_id) for each in orders]})
    (chosen,) = html.fromstring(page.content).xpath("//input[@name='kind'][@checked]")
    assert chosen.get("value") == "everything"
    answer = make_papers(will, "everything", *orders)
    picks, *slips, labels = [
        each.extract_text() for each in PdfReader(BytesIO(fetched(answer))).pages
    ]
    assert "2 orders" in picks
    assert [order.number in slip for order, slip in zip(orders, slips, strict=True)] == [True, True]
    assert all("Packing slip" in slip and " / 4" in slip for slip in slips)
    assert all(order.number in labels for order in orders)
    assert " / 4" not in labels, "a label has no foot"


# ---- Places


def test_x179_a_place_is_typed_once_and_orders_the_picking_list(will: Client) -> None:
    first, second = make_order(paid=True, quantity=2), make_order(paid=True)
    urls = {}
    for order, place in ((first, "B-7"), (second, "A-12-3")):
        item = list_items(order)[0]
        urls[place] = reverse("adminpanel:stock_place", args=[item.product_id, item.variant_id])
        fields = {"warehouse": "berlin", "place": place, "seen_place": ""}
        assert will.post(urls[place], fields).status_code == 303
        # Sent twice it is so already.
        assert will.post(urls[place], fields).status_code == 303
    stale = will.post(urls["B-7"], {"warehouse": "berlin", "place": "C-1", "seen_place": ""})
    assert stale.status_code == 409
    assert "It’s “B-7” now." in stale.content.decode()
    assert 'value="C-1"' in stale.content.decode(), "nothing that was typed is lost"
    long = will.post(urls["B-7"], {"warehouse": "berlin", "place": "C" * 21, "seen_place": "B-7"})
    assert long.status_code == 422
    nowhere = will.post(urls["B-7"], {"warehouse": "cork", "place": "C-1", "seen_place": ""})
    assert "No stock here yet." in nowhere.content.decode()
    page = will.get(urls["B-7"], follow=True).content.decode()
    assert 'value="B-7"' in page
    made = make_papers(will, "picking", first, second)
    text = text_of(fetched(will.post(f"{made['Location']}file/")))
    assert text.index("A-12-3") < text.index("B-7")
    assert f"2 × {first.number}" in text.replace("\xa0", " ")


# ---- Scanning


def scan(client: Client, order: Order, sku: str, fields: dict[str, Any] | None = None) -> Any:
    if fields is None:
        page = client.get(reverse("adminpanel:order", args=[order.number]))
        fields = pack_fields(page)
    url = reverse("adminpanel:pack_scan", args=[order.number, "berlin"])
    return client.post(url, fields | {"scan": sku})


def pack_fields(answer: Any) -> dict[str, Any]:
    return form_fields(answer, "/pack/berlin/")


def test_x178_a_scanned_sku_counts_a_unit_of_its_line(will: Client) -> None:
    mugs, bowl = make_product("Mug"), make_product("Bowl")
    for each in (mugs, bowl):
        make_stock(9, product_id=each.product_id, variant_id=each.variants[0].variant_id)
    order = make_payment(
        operations.place_order(make_draft((mugs, 2), (bowl, 1)), datetime.now(UTC))
    )
    lines = {item.sku: f"line_{item.line_number}" for item in list_items(order)}
    mug, other = mugs.variants[0].sku, bowl.variants[0].sku
    unknown = scan(will, order, "NOBODYS")
    assert unknown.status_code == 422
    assert "NOBODYS isn’t in this order" in unknown.content.decode()
    assert pack_fields(unknown)[lines[mug]] == "2", "nothing was counted"
    once = scan(will, order, f" {mug.lower()} ")
    assert once.status_code == 200
    fields = pack_fields(once)
    assert (fields[lines[mug]], fields[lines[other]]) == ("1", "")
    twice = scan(will, order, mug, fields)
    fields = pack_fields(twice)
    assert fields[lines[mug]] == "2"
    assert "is-full" in twice.content.decode()
    # As a browser does that loads the page again: the same is counted, not one more.
    assert pack_fields(scan(will, order, mug, pack_fields(once))) == fields
    too_many = scan(will, order, mug, fields)
    assert too_many.status_code == 422
    assert f"All of {mug} packed: 2" in too_many.content.decode()
    assert pack_fields(too_many)[lines[mug]] == "2"
    # What was scanned is what is packed.
    packed = will.post(reverse("adminpanel:pack", args=[order.number, "berlin"]), fields)
    assert packed.status_code == 303
    found = get_order(order.order_id)
    assert found
    (parcel,) = found.parcels()
    assert parcel.lines == {int(lines[mug].removeprefix("line_")): 2}
