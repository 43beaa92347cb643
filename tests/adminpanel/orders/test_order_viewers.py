"""Who else is on an order: seen by the others, gone when they leave."""

from django.test import Client
from django.urls import reverse

from accounts.models import User
from cassandra_db import read
from orders.lifecycle.entities import Order
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import make_user, sign_in_staff

POLL = {"HX-Request": "true", "X-Refreshes-Itself": "1"}
TTL_LEFT = read("Q12", "SELECT TTL(name) AS seconds FROM viewers_by_order WHERE number = :number")


def poll(client: Client, order: Order, seen: str = "") -> tuple[int, str]:
    address = reverse("adminpanel:viewers", args=[order.number])
    answer = client.get(address, {"seen": seen}, headers=POLL)
    return answer.status_code, answer.content.decode()


def test_x189_who_has_an_order_open_is_named_to_the_others_until_they_leave(
    staff_client: Client, ann: User
) -> None:
    order, other = make_order_with_events("paid"), make_order_with_events()
    ben = sign_in_staff(Client(), make_user("Ben <b>", role="support"))
    page = reverse("adminpanel:order", args=[order.number])
    first = staff_client.get(page)
    assert "viewing this order" not in first.content.decode(), "nobody is told of themselves"
    assert "writes=2" in first["X-Cassandra"], "who has it open, and the look's entry"
    assert "writes=1" in staff_client.get(page)["X-Cassandra"], "who has it open"
    text = ben.get(page).content.decode()
    assert ann.name in text.partition('id="viewers"')[2].partition("</p>")[0]
    assert "is also viewing this order" in text
    status, told = poll(staff_client, order)
    assert (status, "Ben &lt;b&gt;" in told) == (200, True)
    fingerprint = told.partition("?seen=")[2][:16]
    assert poll(staff_client, order, fingerprint)[0] == 204, "nothing new"
    assert "Ben" not in poll(staff_client, other)[1]
    assert all(0 < row.seconds <= 15 for row in TTL_LEFT.all(number=order.number))
    leaving = reverse("adminpanel:viewers", args=[order.number])
    assert ben.get(leaving, {"left": "1"}, headers=POLL).status_code == 204
    status, told = poll(staff_client, order, fingerprint)
    assert (status, "hidden" in told, "Ben" in told) == (200, True, False)


def test_x189_the_poll_is_for_who_may_see_orders_and_its_address_leads_to_the_page(
    staff_client: Client,
) -> None:
    order = make_order_with_events()
    address = reverse("adminpanel:viewers", args=[order.number])
    answer = staff_client.get(address)
    assert (answer.status_code, answer["Location"]) == (302, address.removesuffix("viewers/"))
    assert staff_client.get("/staff/orders/nothing/viewers/", headers=POLL).status_code == 404
    catalogue = sign_in_staff(Client(), make_user("Cleo", role="catalogue"))
    assert catalogue.get(address, headers=POLL).status_code == 403
