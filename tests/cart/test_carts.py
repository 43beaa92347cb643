"""Named carts: exactly one active, names that are unique to a reader, and nothing is lost."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from cart import cards, jobs, limits, operations, queries
from cart.errors import CartFull, InvalidCartName, NameTaken, NoSuchCart, TooManyCarts, UndoExpired
from cart.names import MAX_NAME_LENGTH, adopted_name, clean_name, free_name, name_key
from cart.operations import carts, cleanup
from cart.undo import parse_undo
from cassandra_db import RAISE_UNKNOWN
from cassandra_db.session import get_session
from catalogue.entities import Product
from tests.cart.guests import get_active_cart, owner
from tests.cart.products import make_mug
from tests.cart.test_operations import NOW, add, cart_of, full
from tests.cart.test_views import submit_add
from tests.factories import PASSWORD, make_product, make_user
from tests.reads import existing

PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Mobile/15E148 Safari/604"
TABLET = "Mozilla/5.0 (Linux; Android 15; SM-X910) AppleWebKit/537 Safari/537"
COMPUTER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537 Chrome/142 Safari/537"


def named(person: UUID) -> dict[str, bool]:
    """Return a person's carts by name, and which is active."""
    return {
        each.name: each.is_active
        for each in queries.listed_carts_from_rows(queries.CARTS.all(owner_id=person))
    }


def make(person: UUID, name: str, operation: UUID | None = None) -> UUID:
    return operations.create_cart(person, name, operation or uuid4(), NOW)


def lines(cart_id: UUID) -> dict[str, int]:
    return {line.key: line.quantity for line in queries.get_cart(cart_id).lines}


def test_x45_one_of_many_is_active_and_takes_what_is_added() -> None:
    person, product = uuid4(), make_mug()
    gifts = make(person, "Gifts for Mom")
    birthday = make(person, "My Birthday")
    assert named(person) == {"Gifts for Mom": False, "My Birthday": True}
    assert add(person, product).cart_id == birthday
    assert operations.switch_cart(person, gifts, NOW) == "Gifts for Mom"
    assert add(person, product).cart_name == "Gifts for Mom"
    assert named(person) == {"Gifts for Mom": True, "My Birthday": False}


def test_the_same_submit_makes_one_cart() -> None:
    person, operation = uuid4(), uuid4()
    assert make(person, "Gifts", operation) == make(person, "Gifts", operation)
    assert named(person) == {"Gifts": True}
    assert carts.created_cart_id(uuid4(), operation) != carts.created_cart_id(person, operation)


def test_names_are_unique_to_a_reader(subtests: pytest.Subtests) -> None:
    for same in ("gifts", "GIFTS", "  Gifts ", "Ｇifts", "Gi\u200bfts"):
        with subtests.test(same):
            person = uuid4()
            make(person, "Gifts")
            with pytest.raises(NameTaken, match="You already have a cart called"):
                make(person, same)
            make(uuid4(), same)


def test_what_is_no_name_is_refused_in_words(subtests: pytest.Subtests) -> None:
    for bad in ("", "   ", "\u200b", "\u202e", "\n\t", "x" * (MAX_NAME_LENGTH + 1)):
        with subtests.test(bad), pytest.raises(InvalidCartName):
            make(uuid4(), bad)


def test_a_name_is_kept_as_it_reads() -> None:
    names = {
        "  Two   words ": "Two words",
        "a\u202eb": "ab",
        "🎁": "🎁",
        "Straße": "Straße",
        "<b>": "<b>",
    }
    assert {typed: clean_name(typed) for typed in names} == names
    assert name_key("STRASSE") == name_key("Straße")


def test_a_taken_name_gets_a_number() -> None:
    assert free_name("Gifts", {name_key("gifts"), name_key("Gifts (2)")}) == "Gifts (3)"
    assert len(free_name("x" * MAX_NAME_LENGTH, {"x" * MAX_NAME_LENGTH})) <= MAX_NAME_LENGTH


def test_a_cart_is_renamed_also_in_its_case_alone() -> None:
    person, product = uuid4(), make_mug()
    gifts = make(person, "gifts")
    add(person, product)
    for name in ("Gifts", "Presents", "Presents"):
        assert operations.rename_cart(person, gifts, name, NOW) == name
        assert named(person) == {name: True}
    make(person, "Kitchen")
    with pytest.raises(NameTaken):
        operations.rename_cart(person, gifts, "KITCHEN", NOW)
    assert set(named(person)) == {"Presents", "Kitchen"}


def test_a_deleted_cart_comes_back_with_all_that_was_in_it() -> None:
    person, product = uuid4(), make_mug()
    first = make(person, "First")
    add(person, product, quantity=2)
    second = make(person, "Second")
    undo = operations.delete_cart(person, second, NOW)
    assert named(person) == {"First": True}
    undo = operations.delete_cart(person, first, NOW)
    assert named(person) == {}
    assert parse_undo(undo.token()) == undo
    make(person, "FIRST")
    for _ in range(2):
        assert operations.undelete_cart(person, undo, NOW) == "First (2)"
    assert named(person) == {"FIRST": False, "First (2)": True}
    assert cart_of(person).item_count == 2
    add(person, product)
    assert cart_of(person).item_count == 3


def test_undo_is_for_the_one_who_deleted() -> None:
    person = uuid4()
    undo = operations.delete_cart(person, make(person, "Mine"), NOW)
    with pytest.raises(UndoExpired):
        operations.undelete_cart(uuid4(), undo, NOW)
    assert parse_undo("made-up") is None


def test_a_deleted_cart_takes_nothing_and_its_submit_does_not_bring_it_back() -> None:
    person, product, operation = uuid4(), make_mug(), uuid4()
    gone = make(person, "Gone", operation)
    add(person, product)
    operations.delete_cart(person, gone, NOW)
    with pytest.raises(NoSuchCart):
        operations.change_line_quantity(person, gone, product.variants[0], 3, NOW)
    with pytest.raises(NoSuchCart):
        make(person, "Gone", operation)
    added = add(person, product)
    assert (added.cart_name, lines(gone)) == ("My cart", {str(product.variants[0].variant_id): 1})


def test_an_add_meets_a_cart_whose_deletion_broke_off_and_goes_into_the_next() -> None:
    person, product = uuid4(), make_mug()
    remaining, gone = make(person, "Kept"), make(person, "Gone")
    add(person, product, 1)
    carts.MARK_DELETED.apply(if_lost=RAISE_UNKNOWN, cart_id=gone, owner_id=person, now=NOW)
    assert add(person, product).cart_id == remaining
    assert named(person) == {"Kept": True}


ACTS: dict[str, Callable[[UUID, UUID], Any]] = {
    "rename": lambda person, cart: operations.rename_cart(person, cart, "Mine", NOW),
    "switch": lambda person, cart: operations.switch_cart(person, cart, NOW),
    "delete": lambda person, cart: operations.delete_cart(person, cart, NOW),
    "duplicate": lambda person, cart: operations.duplicate_cart(person, cart, uuid4(), NOW),
    "empty": lambda person, cart: operations.empty_cart(person, cart, uuid4(), NOW),
}


def test_somebody_elses_cart_is_as_one_that_does_not_exist(subtests: pytest.Subtests) -> None:
    for name, act in ACTS.items():
        with subtests.test(name):
            alice, charlie = uuid4(), uuid4()
            hers = make(alice, "Hers")
            for cart_id in (hers, uuid4()):
                with pytest.raises(NoSuchCart):
                    act(charlie, cart_id)
            assert named(alice) == {"Hers": True}
            assert named(charlie) == {}


def test_x45_the_hundred_and_first_cart_is_refused_and_the_last_ones_are_counted_before() -> None:
    person = uuid4()
    with pytest.raises(TooManyCarts, match="You have 100 carts"):
        make(full(person), "One more")
    assert limits.cart_limit_message(89) == ""
    assert limits.cart_limit_message(90) == "You can add 10 more carts. The limit is 100."
    assert limits.cart_limit_message(99) == "You can add 1 more cart. The limit is 100."
    assert limits.line_limit_message(900).startswith("You can add 100 more items to this cart.")
    assert limits.unit_limit_message(899) == limits.line_limit_message(899) == ""
    assert limits.unit_limit_message(990) == "You can add 9 more of this item. The limit is 999."


def test_x45_a_thousand_lines_fill_a_cart() -> None:
    person, product = uuid4(), make_mug()
    cart_id = add(person, product).cart_id
    get_session().execute(
        "UPDATE items_by_cart SET line_count = 1000 WHERE cart_id = %s", (cart_id,)
    )
    with pytest.raises(CartFull, match="It can hold 1000 different items"):
        add(person, product, 1)


def test_x45_how_much_space_is_left_is_shown_on_adding_and_in_the_cart(client: Client) -> None:
    bead = make_product("Bead", stock=999)
    text = submit_add(client, bead, quantity="899", headers={"HX-Request": "true"}).content.decode()
    assert "The limit is" not in text
    text = submit_add(client, bead, headers={"HX-Request": "true"}).content.decode()
    assert "You can add 99 more of this item. The limit is 999." in text
    get_session().execute(
        "UPDATE items_by_cart SET line_count = 950 WHERE cart_id = %s", (active(client),)
    )
    assert (
        "You can add 50 more items to this cart. The limit is 1000 different items."
        in client.get(reverse("cart:show")).content.decode()
    )


# At login


def test_x44_each_guest_cart_comes_along_and_named_ones_keep_their_names() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    first = add(guest, product).cart_id
    gifts = make(guest, "Gifts")
    add(guest, product, 1)
    kitchen = make(guest, "Kitchen")
    make(member, "KITCHEN")
    add(member, product)
    names = operations.claim_guest_carts(guest, member, NOW, "tablet").names
    assert set(names) == {
        "From your tablet, 21 November",
        "Gifts",
        "Kitchen, from your tablet, 21 November",
    }
    assert named(guest) == {}
    assert named(member)["KITCHEN"]
    for cart_id in (first, gifts, kitchen):
        row = existing(queries.SUMS.one(cart_id=cart_id))
        assert (row.owner_id, row.guest) == (member, False)
    assert lines(first) == {str(product.variants[0].variant_id): 1}


def test_x44_what_is_saved_for_later_comes_along() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    cart_id = add(guest, product).cart_id
    operations.save_line_for_later(
        guest, cart_id, str(product.variants[0].variant_id), uuid4(), NOW
    )
    assert operations.claim_guest_carts(guest, member, NOW, "phone").names == (
        "From your phone, 21 November",
    )


def test_a_name_that_comes_from_elsewhere_fits() -> None:
    long = "x" * MAX_NAME_LENGTH
    assert len(adopted_name(long, "computer", NOW, {long})) <= MAX_NAME_LENGTH
    assert adopted_name("My cart (2)", "phone", NOW, ()) == "From your phone, 21 November"


# Through the shop's pages


def cart_pages(client: Client, name: str = "carts") -> str:
    response = client.get(reverse(f"cart:{name}"))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def submit_new_cart(client: Client, name: str, **fields: Any) -> Any:
    return client.post(reverse("cart:make"), {"name": name, "operation": str(uuid4())} | fields)


def active(client: Client) -> UUID:
    found = existing(get_active_cart(owner(client)))
    return found.cart_id


def test_x16_no_carts_yet_offers_a_next_step(client: Client) -> None:
    text = cart_pages(client)
    assert "No carts yet" in text
    assert 'name="name"' in text


def test_x45_the_active_carts_name_stands_in_the_header_and_beside_each_add(
    client: Client, teapot: Product
) -> None:
    assert submit_new_cart(client, "Gifts for Mom").status_code == 303
    text = client.get(reverse("product", args=[teapot.slug])).content.decode()
    assert 'class="cart-badge__name cart-name">Gifts for Mom<' in text
    assert re.search(r"Adds to <span class=\"strong cart-name\">Gifts for Mom</span>", text)
    answer = submit_add(client, teapot, headers={"HX-Request": "true"}).content.decode()
    assert "is in <strong>Gifts for Mom</strong>" in answer
    assert 'hx-swap-oob="innerHTML:.cart-name">Gifts for Mom<' in answer


def test_x45_switching_from_any_page_comes_back_to_it(client: Client, teapot: Product) -> None:
    submit_new_cart(client, "First")
    first = active(client)
    submit_new_cart(client, "Second")
    text = client.get(reverse("product", args=[teapot.slug])).content.decode()
    here = existing(re.search(r'name="next" value="([^"]+)"', text))
    assert f'name="cart" value="{first}"' in text
    response = client.post(reverse("cart:switch"), {"cart": first, "next": here[1]})
    assert (response.status_code, response["Location"]) == (
        303,
        reverse("product", args=[teapot.slug]),
    )
    assert "First is now your active cart." in client.get(response["Location"]).content.decode()
    assert active(client) == first


def test_x266_switching_leads_to_no_other_site(client: Client, subtests: pytest.Subtests) -> None:
    submit_new_cart(client, "First")
    for to in (
        *("//evil.example", "https://evil.example/", "\\\\evil", "javascript:alert(1)", ""),
        "//testserver/cart/",
    ):
        with subtests.test(to):
            response = client.post(reverse("cart:switch"), {"cart": active(client), "next": to})
            assert response["Location"] == reverse("cart:carts")


def test_x60_a_taken_name_is_explained_beside_the_field_and_kept(client: Client) -> None:
    submit_new_cart(client, "Gifts")
    response = submit_new_cart(client, "gIFTS <b>")
    assert response.status_code == 303
    response = submit_new_cart(client, "gifts")
    text = response.content.decode()
    assert response.status_code == 422
    assert "You already have a cart called “gifts”. Choose another name." in text
    assert 'value="gifts"' in text
    assert "<title>Error: " in text
    assert "gIFTS <b>" not in text
    response = client.post(reverse("cart:rename", args=[active(client)]), {"name": "Gifts"})
    assert response.status_code == 422
    assert 'value="Gifts"' in response.content.decode()


def test_x45_a_cart_is_deleted_and_brought_back_without_a_script(
    client: Client, teapot: Product
) -> None:
    submit_new_cart(client, "Gifts")
    submit_add(client, teapot, quantity="2")
    response = client.post(reverse("cart:delete", args=[active(client)]))
    assert response.status_code == 303
    text = client.get(response["Location"]).content.decode()
    assert "Gifts was deleted." in text
    token = existing(re.search(r'name="undo" value="([^"]+)"', text))
    for _ in range(2):
        assert client.post(reverse("cart:undo"), {"undo": token[1]}).status_code == 303
    assert "Gifts was restored." in cart_pages(client)
    found = existing(get_active_cart(owner(client)))
    assert (found.name, found.item_count) == ("Gifts", 2)
    assert client.post(reverse("cart:undo"), {"undo": "made-up"}).status_code == 422


def test_the_list_shows_what_is_in_each_cart(client: Client, teapot: Product) -> None:
    submit_add(client, teapot, quantity="2")
    submit_new_cart(client, "Gifts")
    text = cart_pages(client)
    assert text.count('<li class="cart-card') == 2
    assert text.index(">Gifts</a>") < text.index(">My cart</a>")  # the active one first
    assert "€24.00" in text
    assert "2 items" in text
    assert "Active" in text
    assert "Empty" in text
    assert "/pictures/" in text


def test_the_list_of_carts_takes_a_guest_two_rounds_and_one_for_other_carts(
    client: Client, teapot: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit_add(client, teapot)
    assert "rounds=2" in client.get(reverse("cart:carts"))["X-Cassandra"]
    # The products of the other carts cost a round more (decision 009), and those of no cart beyond a hundred are read.
    submit_new_cart(client, "Gifts")
    client.get(reverse("cart:carts"))  # the cookie knows the new one from here on
    assert "rounds=3" in client.get(reverse("cart:carts"))["X-Cassandra"]
    monkeypatch.setattr(cards, "AT_ONCE", 0)
    answer = client.get(reverse("cart:carts"))
    assert "rounds=2" in answer["X-Cassandra"]
    assert "€" not in html.fromstring(answer.content).xpath("//main")[0].text_content()


def test_a_cart_that_is_not_active_has_a_page_and_stays_on_it(
    client: Client, teapot: Product
) -> None:
    submit_add(client, teapot, quantity="2")
    first = active(client)
    submit_new_cart(client, "Gifts")
    page = reverse("cart:one", args=[first])
    text = client.get(page).content.decode()
    assert "Teapot" in text
    line = queries.get_cart(first).lines[0]
    response = client.post(
        reverse("cart:change"), {"cart": first, "line": line.key, "quantity": "5"}
    )
    assert (response.status_code, response["Location"]) == (303, page)
    assert queries.get_cart(first).item_count == 5
    response = client.post(reverse("cart:remove"), {"cart": first, "line": line.key})
    assert response["Location"].startswith(page)
    assert active(client) != first


def test_a_foreign_cart_answers_as_one_that_does_not_exist(
    client: Client, teapot: Product, subtests: pytest.Subtests
) -> None:
    submit_add(client, teapot)
    for name in (
        "one",
        "rename",
        "duplicate",
        "empty",
        "delete",
        "merge",
        "move",
        "later",
        "now",
        "drop",
    ):
        with subtests.test(name):
            charlie = Client()
            submit_add(charlie, teapot)
            foreign, key = active(charlie), queries.get_cart(active(charlie)).lines[0].key
            answers = []
            for cart_id in (foreign, uuid4()):
                args = [cart_id, key] if name in ("move", "later", "now", "drop") else [cart_id]
                url = reverse(f"cart:{name}", args=args)
                sent = {"name": "Mine", "into": str(active(client)), "operation": str(uuid4())}
                answers.append([client.post(url, sent).status_code, client.get(url).status_code])
            assert answers[0] == answers[1]
            assert answers[0][0] in (404, 405)
            assert queries.get_cart(foreign).item_count == 1


def test_x44_at_login_the_carts_say_where_they_come_from(
    teapot: Product, subtests: pytest.Subtests
) -> None:
    for agent, device in ((PHONE, "phone"), (TABLET, "tablet"), (COMPUTER, "computer")):
        with subtests.test(device):
            client, member = Client(), make_user()
            add(member.user_id, make_mug())
            submit_add(client, teapot)
            sent = {"email": member.email, "password": PASSWORD}
            assert (
                client.post(
                    reverse("accounts:login"), sent, headers={"User-Agent": agent}
                ).status_code
                == 303
            )
            brought = [
                name for name in named(member.user_id) if name.startswith(f"From your {device}, ")
            ]
            assert len(brought) == 1
            assert named(member.user_id)["My cart"]


# What the worker removes


def swept(now: datetime, *cart_ids: UUID) -> list[bool]:
    found = {row.cart_id: row for row in cleanup.iterate_stale_carts(now)}
    return [each in found and cleanup.remove_stale_cart(found[each], now) for each in cart_ids]


def test_a_guests_cart_lives_for_30_days_after_its_last_change_and_goes_as_a_whole() -> None:
    """Fault 17."""
    guest, member, product = uuid4(), uuid4(), make_mug()
    old = operations.add_line(
        guest, product, product.variants[0], 1, uuid4(), NOW, guest=True
    ).cart_id
    mine = add(member, product).cart_id
    operations.save_line_for_later(guest, old, str(product.variants[0].variant_id), uuid4(), NOW)
    later = NOW + timedelta(days=29)
    operations.add_line(guest, product, product.variants[1], 1, uuid4(), later, guest=True)
    assert swept(NOW + timedelta(days=31), old, mine) == [False, False]
    assert len(lines(old)) == 1
    assert swept(later + timedelta(days=31), old, mine) == [True, False]
    assert (
        get_session()
        .execute("SELECT cart_id, version, kind FROM items_by_cart WHERE cart_id = %s", (old,))
        .one()
        is None
    )
    assert named(guest) == {}
    assert named(member) == {"My cart": True}


def test_an_add_at_the_moment_of_the_sweep_keeps_the_cart() -> None:
    guest, product = uuid4(), make_mug()
    cart_id = operations.add_line(
        guest, product, product.variants[0], 1, uuid4(), NOW, guest=True
    ).cart_id
    late = NOW + timedelta(days=31)
    (seen,) = [row for row in cleanup.iterate_stale_carts(late) if row.cart_id == cart_id]
    operations.add_line(guest, product, product.variants[1], 1, uuid4(), late, guest=True)
    assert not cleanup.remove_stale_cart(seen, late)
    assert len(lines(cart_id)) == 2


def test_a_deleted_cart_goes_after_a_day_and_one_that_is_listed_again_comes_back() -> None:
    person, product = uuid4(), make_mug()
    add(person, product)
    gone, half = make(person, "Gone"), make(person, "Half")
    operations.delete_cart(person, gone, NOW)
    operations.delete_cart(person, half, NOW)
    carts.add_cart_to_list(person, half, "Half", NOW)  # its undo broke off here
    assert swept(NOW + timedelta(hours=24), gone, half) == [False, False]
    assert swept(NOW + timedelta(hours=26), gone, half) == [True, False]
    operations.switch_cart(person, half, NOW)
    assert add(person, product).cart_id == half
    assert queries.SUMS.one(cart_id=gone) is None


def test_owners_without_carts_are_forgotten_and_can_start_anew() -> None:
    person, product = uuid4(), make_mug()
    operations.delete_cart(person, add(person, product).cart_id, NOW)
    jobs.remove_stale_carts(NOW)
    assert queries.CARTS.all(owner_id=person) == []
    assert add(person, product).cart_name == "My cart"
