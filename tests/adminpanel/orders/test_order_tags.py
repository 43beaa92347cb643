"""Tags on an order: what staff put on it and take off, and what its history says of that."""

from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from adminpanel.orders.history import staff_history
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import InvalidTag, TooManyTags
from orders.lifecycle.transitions import Transition
from orders.operations import change_tags
from orders.tags import MAX_TAG_LENGTH, MAX_TAGS, normalize_tag
from tests.adminpanel.conftest import make_order_with_events
from tests.clock import now
from tests.orders.reads import fresh

STAFF = "staff:1:Ann"


def tag(order: Order, *add: str, remove: tuple[str, ...] = ()) -> Order:
    return change_tags(order, add, remove, actor=STAFF, now=now())


def test_x188_tags_are_put_on_an_order_and_taken_off_and_its_history_says_so() -> None:
    order = make_order_with_events("paid")
    tagged = tag(order, "  Gift   Wrap ", "URGENT", "gift wrap")
    assert tagged.tags == ("gift wrap", "urgent")
    assert tagged == fresh(order), "what was written is known"
    assert tagged.version == order.version + 1
    left = tag(tagged, "vip", remove=("urgent",))
    assert fresh(left).tags == ("gift wrap", "vip")
    entry = staff_history(left)[0]
    assert (entry.label, entry.details, entry.actor, entry.is_public) == (
        "Tags changed", "added: vip, removed: urgent", "Ann", False,
    )  # fmt: skip
    assert (left.changed_at, left.history) == (order.changed_at, order.history)
    assert len(tag(left, "vip", remove=("never there",)).events) == len(left.events), "no change"
    bare = tag(left, remove=left.tags)
    assert fresh(bare).tags == ()


def test_x188_two_who_tag_at_once_both_do_and_nothing_else_is_lost() -> None:
    order = make_order_with_events("paid")
    held = operations.transition_order(order, Transition("held", actor=STAFF, at=now()))
    one, two = tag(order, "one"), tag(order, "two")  # both have read it before it was held
    assert (one.state, two.tags, two.state) == (held.state, ("one", "two"), held.state)
    assert fresh(order) == two


def test_x188_a_submit_counts_once_and_only_so_many_tags_fit() -> None:
    order, submit_id = make_order_with_events(), uuid4()

    def submit(current: Order, *add: str, remove: tuple[str, ...] = ()) -> Order:
        return change_tags(current, add, remove, actor=STAFF, submit_id=submit_id, now=now())

    first = submit(order, "bulk")
    emptied = tag(first, remove=("bulk",))
    assert submit(emptied, "bulk").tags == (), "the same submit again changes nothing"
    full = tag(emptied, *(f"tag {number}" for number in range(MAX_TAGS)))
    with pytest.raises(TooManyTags):
        tag(full, "one more")
    assert tag(full, "another", remove=("tag 0",)).tags[0] == "another"
    for wrong in ("a,b", " ", "x" * (MAX_TAG_LENGTH + 1)):
        with pytest.raises(InvalidTag):
            tag(order, wrong)
    assert normalize_tag("x" * MAX_TAG_LENGTH)


def test_x188_the_page_shows_tags_and_says_what_is_wrong_beside_the_field(
    staff_client: Client,
) -> None:
    order = tag(make_order_with_events("paid"), "<b>old</b>")
    to = reverse("adminpanel:tags", args=[order.number])
    page = reverse("adminpanel:order", args=[order.number])
    assert 'value="&lt;b&gt;old&lt;/b&gt;"' in staff_client.get(page).content.decode()
    answer = staff_client.post(to, {"add": "Gift, call first"})
    assert (answer.status_code, answer["Location"]) == (303, page)
    assert "added: call first, gift." in staff_client.get(page).content.decode()
    assert staff_client.post(to, {"remove": "<b>old</b>"}).status_code == 303
    assert fresh(order).tags == ("call first", "gift")
    too_long = "x" * (MAX_TAG_LENGTH + 1)
    wrong = staff_client.post(to, {"add": f"fine, {too_long}"})
    assert wrong.status_code == 422
    assert "is too long" in wrong.content.decode()
    assert f'value="fine, {too_long}"' in wrong.content.decode(), "what was typed stays"
    assert staff_client.post(to, {"add": " "}).status_code == 422
    many = staff_client.post(to, {"add": ",".join(map(str, range(MAX_TAGS)))})
    assert (many.status_code, fresh(order).tags) == (422, ("call first", "gift"))
