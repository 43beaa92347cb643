"""An order keeps the version of the terms that its shopper has accepted."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import localdate
from lxml import html

from catalogue.entities import Product
from orders import privacy, queries
from tests.checkout.shopper import Shopper, count_reserved, remembered, text, token_in
from tests.drafts.test_drafts import link_of, make_content, make_stocked, send
from tests.factories import make_user, sign_in_staff
from tests.reads import existing
from tests.text_pages.saved_pages import own_pages, own_settings, save

__all__ = ["own_pages", "own_settings"]

pytestmark = pytest.mark.usefixtures("own_pages")


def find_links(page: Any) -> list[str]:
    return [each for each in page.xpath("//main//a/@href") if "/terms/versions/" in each]


def test_x478_the_order_keeps_the_version_that_the_checkout_showed_wherever_it_is_shown(
    mug: Product, deliver_mail: Callable[[str], Any]
) -> None:
    save("terms", 1, text="What Ada accepts")
    email = f"{uuid4().hex}@example.com"
    shopper = Shopper((mug, 1))
    page = shopper.look(email=email)
    assert find_links(page) == [reverse("terms_version", args=[1])]
    order, bank = shopper.place(email=email)
    assert order.terms_version == 1
    shopper.pay(bank)
    save("terms", 2, text="What comes later")
    own = html.fromstring(shopper.client.get(reverse("orders:detail", args=[order.number])).content)
    (link,) = find_links(own)
    assert link == f"{reverse('terms_version', args=[1])}?on={localdate(order.placed_at)}"
    assert "What Ada accepts" in text(html.fromstring(Client().get(link).content))
    staff = sign_in_staff(Client(), make_user("Will", role="warehouse"))
    shown = staff.get(reverse("adminpanel:order", args=[order.number]))
    assert link in shown.content.decode()
    bodies = [each.body for each in deliver_mail(email)]
    assert any(link in each for each in bodies), bodies
    exported = privacy._order_data(order)
    assert exported["terms_version"] == 1


def test_x478_changed_terms_are_shown_before_an_order_is_placed(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    token = shopper.token()
    save("terms", 1)
    refused = shopper.send(token)
    assert refused.status_code == 409
    page = html.fromstring(refused.content)
    assert "Our terms of sale have changed." in text(page)
    assert count_reserved(mug) == 0
    assert shopper.send(token_in(page)).status_code == 303
    (order_id,) = remembered(shopper.client)
    assert existing(queries.get_order(order_id)).terms_version == 1
    # An order that is sent again is the same one, whatever has become of the terms.
    save("terms", 2)
    assert shopper.send(token_in(page)).status_code == 303
    assert len(remembered(shopper.client)) == 1


def test_x478_an_offer_is_accepted_with_the_terms_that_it_showed(client: Client) -> None:
    draft = send(make_content(make_stocked()))
    address = link_of(draft)
    page = html.fromstring(client.get(address).content)
    (shown,) = page.xpath("//input[@name='terms']/@value")
    assert find_links(page) == [reverse("terms_version", args=[0])]
    save("terms", 1)
    for sent in ({"terms": shown}, {}):
        refused = client.post(address, {"payment": "card"} | sent)
        found = "terms of sale have changed" in refused.content.decode()
        assert (refused.status_code, found) == (409, True)
    assert client.post(address, {"payment": "card", "terms": "1"}).status_code in (302, 303)
    assert draft.order_id
    assert existing(queries.get_order(draft.order_id)).terms_version == 1
