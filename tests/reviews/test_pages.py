"""The pages of reviews: of the product, the writer's, the readers' votes and reports, and the staff's."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from cassandra_db import current_time
from catalogue.entities import Product
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from orders.operations import mark_parcel_delivered, pack_parcel, ship_parcel
from orders.queries import list_items
from reviews import queries
from reviews.entities import Review
from tests.factories import make_order, make_product, make_user, sign_in_staff
from web.rate_limits import get_rate_limit

TEXT = "I have used it every day for three weeks, and it still looks new. Would buy again."


@pytest.fixture
def alice() -> User:
    return make_user("Alice Liddell")


def address(name: str, product: Product) -> str:
    return reverse(f"reviews:{name}", args=(product.slug,))


def typed(**fields: Any) -> dict[str, Any]:
    return {
        "stars": "4",
        "title": "Good jug",
        "body": f"{TEXT} {uuid4().hex}",
        "version": "0",
        "operation": str(uuid4()),
    } | fields


def own(product: Product, user: User) -> Review:
    found = queries.get_review(product.product_id, user.user_id)
    assert found
    return found


def send(client: Client, product: Product, status: int = 302, **fields: Any) -> str:
    answer = client.post(address("write", product), typed(**fields))
    assert answer.status_code in ((302, 303) if status == 302 else (status,))
    return answer.content.decode()


def test_x228_a_member_writes_changes_and_withdraws_a_review(
    client: Client, product: Product, alice: User
) -> None:
    assert "/account/login" in client.get(address("write", product)).url  # type: ignore[attr-defined]
    client.force_login(alice)
    assert "Publish review" in client.get(address("write", product)).content.decode()
    form = typed()
    for _twice in range(2):
        assert client.post(address("write", product), form).status_code in (302, 303)
    assert (own(product, alice).version, own(product, alice).name) == (1, "Alice L.")
    shown = Client().get(reverse("product", args=(product.slug,))).content.decode()
    for text in ("Good jug", "Alice L.", '"aggregateRating"', "Rated", "5 stars"):
        assert text in shown
    # Another tab still has the empty form.
    page = send(client, product, 409, title="Second thoughts", stars="1")
    assert "Good jug" in page
    assert "Second thoughts" in page
    assert own(product, alice).stars == 4
    send(client, product, version="1", stars="2", title="Less good")
    assert queries.get_rating_at_quorum(product.product_id).counts == (0, 1, 0, 0, 0)
    for fields in ({"version": "1"}, {"version": "2"}, {"version": "2"}):
        answer = client.post(address("withdraw", product), fields | {"operation": str(uuid4())})
    # The third one was sent from a page that was open in another tab: it is so already.
    assert (answer.status_code, answer["Location"]) == (303, address("list", product))
    assert own(product, alice).state == WITHDRAWN
    assert "No reviews yet" in client.get(address("list", product)).content.decode()


def test_x228_bad_input_stays_in_the_form(client: Client, product: Product, alice: User) -> None:
    client.force_login(alice)
    for fields, sentence in (
        ({"stars": ""}, "Choose one to five stars"),
        ({"stars": "6"}, "Choose one to five stars"),
        ({"title": ""}, "Enter a title"),
        ({"body": "short"}, "Enter a review of 10 characters or more"),
    ):
        page = send(client, product, 422, **fields)
        assert sentence in page
        assert fields.get("body", "used it every day") in page
    assert queries.get_review(product.product_id, alice.user_id) is None


def test_x229_what_looks_wrong_waits_for_the_staff(
    client: Client, product: Product, alice: User
) -> None:
    client.force_login(alice)
    send(client, product, body="Cheaper at www.example.org, look there.")
    assert (own(product, alice).state, own(product, alice).held_for) == (HELD, "links")
    assert "reading your review" in client.get(address("write", product)).content.decode()
    same = f"{TEXT} {uuid4().hex}"
    for name, held_for in (("Ben", ""), ("Cem", "repeated")):
        user = make_user(name)
        client.force_login(user)
        send(client, product, body=same)
        assert own(product, user).held_for == held_for


def test_x230_readers_vote_and_report(client: Client, product: Product, alice: User) -> None:
    client.force_login(alice)
    send(client, product)
    review, reader = own(product, alice), make_user("Ben")
    vote = {"review": str(review.review_id), "helpful": "1"}
    client.post(address("vote", product), vote)
    assert queries.count_votes(review.review_id) == 0  # one's own
    client.force_login(reader)
    for _tab in range(2):
        assert client.post(address("vote", product), vote).status_code in (302, 303)
    page = client.get(address("list", product), {"sort": "helpful"}).content.decode()
    assert "1 person found this helpful" in page
    client.post(address("vote", product), vote | {"helpful": "0"})
    assert queries.count_votes(review.review_id) == 0
    for _twice in range(2):
        client.post(address("report", product), {"review": str(review.review_id)})
    assert (own(product, alice).held_for, own(product, alice).version) == ("reported", 2)
    for bad in ({}, {"review": str(uuid4()), "helpful": "1"}, vote | {"helpful": "7"}):
        assert client.post(address("vote", product), bad).status_code == 404
    for query in ({"stars": "4"}, {"stars": "1"}, {"sort": "no"}):
        assert client.get(address("list", product), query).status_code == 200
    # X277: what is no number of stars is not all of them.
    assert client.get(address("list", product), {"stars": "x"}).status_code == 404
    assert client.get(address("list", product), {"after": "forged"}).status_code == 404


def test_x231_staff_decide_undo_and_answer(client: Client, product: Product, alice: User) -> None:
    client.force_login(alice)
    send(client, product, body="See https://example.org for a better one.")
    ids: tuple[UUID, UUID] = (product.product_id, alice.user_id)
    sam = sign_in_staff(Client(), make_user("Sam", role="support"))
    detail, decide, answer = (
        reverse(f"adminpanel:{name}", args=ids)
        for name in ("review", "review_decide", "review_answer")
    )
    assert "Contains a link" in sam.get(reverse("adminpanel:reviews")).content.decode()
    assert "better one" in sam.get(detail).content.decode()

    def act(status: int = 302, at: str = decide, **fields: Any) -> str:
        seen = {"version": str(own(product, alice).version), "operation": str(uuid4())}
        got = sam.post(at, seen | fields)
        assert got.status_code in ((302, 303) if status == 302 else (status,))
        return got.content.decode()

    assert "Enter a reason for refusing it" in act(422, act="refuse")
    act(act="refuse", reason="Please leave out the link.")
    assert own(product, alice).state == REFUSED
    assert "Please leave out the link." in client.get(address("write", product)).content.decode()
    # What was refused is not published by sending another text.
    send(client, product, version=str(own(product, alice).version))
    assert (own(product, alice).state, own(product, alice).held_for) == (HELD, "again")
    send(client, product, version=str(own(product, alice).version))
    assert (own(product, alice).state, own(product, alice).held_for) == (HELD, "again")
    # Nor by taking it back and writing it anew.
    client.post(
        address("withdraw", product),
        {"version": str(own(product, alice).version), "operation": str(uuid4())},
    )
    send(client, product, version=str(own(product, alice).version))
    assert (own(product, alice).state, own(product, alice).held_for) == (HELD, "again")
    stale = act(409, act="publish", version="1")
    assert "has changed since you opened the page" in stale
    act(act="publish")
    act(act="hold")
    act(act="publish")
    act(at=answer, answer="Thank you for the hint.")
    assert own(product, alice).state == PUBLISHED
    assert "Thank you for the hint." in client.get(address("list", product)).content.decode()
    packer = sign_in_staff(Client(), make_user("Pam", role="warehouse"))
    assert packer.get(detail).status_code == 403


def test_x231_the_rules_are_a_setting_of_the_shop() -> None:
    ann = sign_in_staff(Client(), make_user("Ann", role="admin"))
    page = ann.get(reverse("adminpanel:review_rules"))
    assert "idiot" in page.content.decode()
    long = ann.post(
        reverse("adminpanel:review_rules"),
        {"words": "x" * 41, "version": page.context["form"]["version"].value()},
    )
    assert (long.status_code, "up to 40 letters" in long.content.decode()) == (422, True)


def test_x232_verified_is_who_has_received_it(alice: User) -> None:
    order = make_order(paid=True, user_id=alice.user_id)
    (item,) = list_items(order)
    assert not queries.has_received(alice.user_id, item.product_id)
    now = current_time()
    packed = pack_parcel(order, "berlin", {item.line_number: 1}, actor="staff", now=now)
    sent = ship_parcel(packed, "1", actor="staff", now=now)
    assert not queries.has_received(alice.user_id, item.product_id)
    assert mark_parcel_delivered(sent, "1", actor="staff", now=now).fulfilment == "delivered"
    assert queries.has_received(alice.user_id, item.product_id)
    assert not queries.has_received(alice.user_id, uuid4())
    assert not queries.has_received(uuid4(), item.product_id)


def test_s104_reports_votes_and_edits_have_limits_and_a_repeat_is_answered_as_before(
    client: Client, product: Product, alice: User, settings: Any
) -> None:
    for kind in ("report", "vote", "edit"):
        assert get_rate_limit(kind).per_account == 10
    settings.RATE_LIMITS |= {"report": (2, 3, 0, 3600), "vote": (2, 3, 0, 3600)}
    products = [product, make_product("Cup"), make_product("Bowl"), make_product("Pan")]
    writers = [Client(REMOTE_ADDR=f"203.0.113.{number}") for number in range(4)]
    reviews = []
    for writer, sold in zip(writers, products, strict=True):
        writer.force_login(user := make_user("Cem"))
        send(writer, sold)
        reviews.append(own(sold, user))

    def press(reader: Client, name: str, number: int) -> int:
        sent = {"review": str(reviews[number].review_id), "helpful": "1"}
        return reader.post(address(name, products[number]), sent).status_code

    others = Client(REMOTE_ADDR=client.defaults["REMOTE_ADDR"])
    client.force_login(alice)
    others.force_login(make_user("Ben"))
    for name in ("report", "vote"):
        # The third is one too many; what was taken is said again.
        assert [press(client, name, number) for number in (0, 1, 2, 0, 1)] == [
            303,
            303,
            429,
            303,
            303,
        ]
        # Others in the network have what is left of it.
        assert [press(others, name, number) for number in (2, 3, 2)] == [303, 429, 303]
    assert [queries.count_votes(each.review_id) for each in reviews] == [1, 1, 1, 0]


def test_s104_an_edit_too_many_keeps_what_was_typed_and_one_that_was_taken_is_said_again(
    client: Client, product: Product, alice: User, settings: Any
) -> None:
    settings.RATE_LIMITS |= {"edit": (2, 0, 0, 3600), "review": (0, 0, 0, 3600)}
    client.force_login(alice)
    send(client, product)
    taken = [typed(version=str(version)) for version in (1, 2)]
    for form in (*taken, taken[-1]):
        assert client.post(address("write", product), form).status_code in (302, 303)
    page = send(client, product, 429, version="3", title="A third thought")
    assert "A third thought" in page
    assert "then try again" in page
    assert own(product, alice).version == 3


def test_x261_one_person_who_writes_much_sends_nobody_else_of_the_network_to_the_staff(
    client: Client, alice: User, settings: Any
) -> None:
    settings.RATE_LIMITS |= {"review": (2, 3, 0, 3600)}
    client.force_login(alice)
    reasons = []
    for name in ("Jug", "Cup", "Bowl", "Pan"):
        send(client, sold := make_product(name))
        reasons.append(own(sold, alice).held_for)
    assert reasons == ["", "", "crowd", "crowd"]
    for name, held_for in (("Ben", ""), ("Cem", "crowd")):
        client.force_login(user := make_user(name))
        send(client, sold)
        assert own(sold, user).held_for == held_for
