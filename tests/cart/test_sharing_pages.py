"""Sharing over HTTP: what each role may do and is refused, what links and invitations show, and what others changed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.models import User
from cart import operations, people, queries
from cart.access import BUY, EDIT, OWN, VIEW
from cart.entities import Cart
from cart.operations import sharing
from catalogue.entities import Product
from tests.cart.shared_carts import as_cart_user, make_person
from tests.clock import now
from tests.factories import PASSWORD, make_product, make_user
from tests.orders.crashes import kill_in
from tests.reads import existing

HTMX = {"HX-Request": "true"}
ROLES = {
    "viewer": (VIEW,),
    "editor": (VIEW, EDIT),
    "buyer": (VIEW, EDIT, BUY),
    "owner": (VIEW, EDIT, BUY, OWN),
}
NOT_ALLOWED = re.compile(r"is shared (by Ann|with you)\. You can")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(response: Any) -> str:
    text = " ".join(response.content.decode().split())
    return re.sub(
        r'"x-csrftoken": "[^"]*"|name="(csrfmiddlewaretoken|next)" value="[^"]*"', "", text
    )


@dataclass
class Scene:
    """Ann's cart with two products in it, and people in each role, each of whom has signed in once."""

    ann: User
    cart_id: UUID
    products: tuple[Product, Product]
    spare: Product
    users: dict[str, User]
    sessions: dict[str, str]

    @property
    def cart(self) -> Cart:
        return queries.get_cart(self.cart_id)

    def key(self, place: int = 0) -> str:
        return str(self.products[place].variants[0].variant_id)

    def as_(self, role: str) -> Client:
        """Return a browser with only the session of a person in this role, whose active cart is this one."""
        if role != "stranger":
            operations.switch_cart(self.users[role].user_id, self.cart_id, now())
        client = Client()
        client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[role]
        return client


def in_stock(name: str) -> Product:
    made = make_product(name, stock=20)
    return made


@pytest.fixture(scope="module")
def scene_of_all(keyspace: str) -> Scene:
    ann = make_user("Ann")
    cart_id = operations.create_cart(ann.user_id, "Gifts for Mom", uuid4(), now())
    products = (in_stock("Mug"), in_stock("Bowl"))
    for each in products:
        operations.add_line(ann.user_id, each, each.variants[0], 2, uuid4(), now())
    users = {
        role: make_person(ann, cart_id, role, name=role.title())
        for role in ("viewer", "editor", "buyer")
    }
    users |= {"owner": ann, "stranger": make_user("Eve")}
    sessions = {
        role: signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value
        for role, user in users.items()
    }
    return Scene(ann, cart_id, products, in_stock("Vase"), users, sessions)


@pytest.fixture
def scene(scene_of_all: Scene) -> Scene:
    return restored(scene_of_all)


def restored(scene: Scene) -> Scene:
    """Return the scene as it was at first, whatever a test has done to it."""
    for each in scene.products:
        line = scene.cart.get_line(str(each.variants[0].variant_id))
        if line is None:
            operations.switch_cart(scene.ann.user_id, scene.cart_id, now())
            operations.add_line(scene.ann.user_id, each, each.variants[0], 2, uuid4(), now())
        elif line.quantity != 2:
            operations.change_line_quantity(
                scene.ann.user_id, scene.cart_id, each.variants[0], 2, now()
            )
    return scene


Act = Callable[[Client, Scene], Any]


def add(client: Client, scene: Scene) -> Any:
    sent = {
        "variant": scene.products[0].variants[0].sku,
        "quantity": "1",
        "operation": str(uuid4()),
    }
    return client.post(reverse("cart:add"), sent)


def change(client: Client, scene: Scene) -> Any:
    return client.post(
        reverse("cart:change"), {"cart": scene.cart_id, "line": scene.key(), "quantity": "5"}
    )


def remove(client: Client, scene: Scene) -> Any:
    return client.post(reverse("cart:remove"), {"cart": scene.cart_id, "line": scene.key()})


def empty(client: Client, scene: Scene) -> Any:
    return client.post(reverse("cart:empty", args=[scene.cart_id]), {"operation": str(uuid4())})


def later(client: Client, scene: Scene) -> Any:
    return client.post(
        reverse("cart:later", args=[scene.cart_id, scene.key()]), {"operation": str(uuid4())}
    )


def move_out(client: Client, scene: Scene) -> Any:
    own = own_cart(client)
    sent = {"into": own, "operation": str(uuid4())}
    return client.post(reverse("cart:move", args=[scene.cart_id, scene.key()]), sent)


def move_in(client: Client, scene: Scene) -> Any:
    own = own_cart(client)
    variant = scene.products[0].variants[0]
    user_id = UUID(client.session["_auth_user_id"])
    operations.switch_cart(user_id, own, now())
    operations.add_line(user_id, scene.products[0], variant, 1, uuid4(), now())
    sent = {"into": scene.cart_id, "operation": str(uuid4())}
    return client.post(reverse("cart:move", args=[own, variant.variant_id]), sent)


def own_cart(client: Client) -> UUID:
    user_id = UUID(client.session["_auth_user_id"])
    return operations.create_cart(user_id, f"Own {uuid4().hex[:8]}", uuid4(), now())


CHANGES: list[Act] = [add, change, remove, empty, later, move_out, move_in]


def test_who_may_change_the_lines(scene: Scene, subtests: pytest.Subtests) -> None:
    for role, act in product((*ROLES, "stranger"), CHANGES):
        with subtests.test(role, act=act.__name__):
            restored(scene)
            client, before = scene.as_(role), scene.cart
            response = act(client, scene)
            if EDIT in ROLES.get(role, ()):
                assert response.status_code == 303
                assert scene.cart.item_count != before.item_count
                continue
            assert scene.cart == before
            if role == "stranger":
                # an add goes into their own cart
                assert act is add or response.status_code in (404, 422)
                continue
            assert response.status_code in (303, 403, 409, 422)
            message = text_of(
                client.get(response["Location"]) if response.status_code == 303 else response
            )
            assert NOT_ALLOWED.search(message)


def post(url_name: str, scene: Scene, **fields: Any) -> Act:
    return lambda client, _: client.post(reverse(f"cart:{url_name}", args=[scene.cart_id]), fields)


def state(scene: Scene) -> Any:
    listed = queries.get_listed_cart_row(scene.ann.user_id, scene.cart_id)
    return (people.get_people(scene.cart_id), listed and listed.cart_name, scene.cart)


def test_only_its_owner_manages_a_cart(scene: Scene, subtests: pytest.Subtests) -> None:
    link = sharing.create_link(scene.ann.user_id, scene.cart_id, "Ann", now())
    made = sharing.invite_person(
        as_cart_user(scene.ann), scene.cart_id, "open@example.com", "viewer", now()
    )
    viewer = scene.users["viewer"].user_id
    acts = {
        "invite": post("invite", scene, email=f"{uuid4().hex}@example.com", role="viewer"),
        "withdraw": post("withdraw", scene, key=made.key),
        "role": post("role", scene, person=viewer, role="buyer"),
        "exclude": post("exclude", scene, person=viewer),
        "link": post("link", scene),
        "unlink": post("unlink", scene, key=link.link_id),
        "delete": post("delete", scene),
        "rename": post("rename", scene, name="Mine now", operation=str(uuid4())),
    }
    clients = {role: scene.as_(role) for role in ("viewer", "editor", "buyer", "stranger")}
    for role, name in product(clients, acts):
        with subtests.test(role, action=name):
            before = state(scene)
            response = acts[name](clients[role], scene)
            assert state(scene) == before
            if role == "stranger":
                assert response.status_code == 404
            elif name in ("delete", "rename"):  # pages of their own
                assert response.status_code in (303, 403, 404)
            else:
                assert response.status_code == 403
                assert NOT_ALLOWED.search(text_of(response))


def test_the_owner_manages_the_cart_by_its_page(scene: Scene) -> None:
    client = scene.as_("owner")
    page = reverse("cart:people", args=[scene.cart_id])
    email = f"{uuid4().hex}@example.com"

    def submitted_page(name: str, **fields: Any) -> str:
        response = client.post(reverse(f"cart:{name}", args=[scene.cart_id]), fields)
        assert (response.status_code, response.headers.get("Location")) == (303, page)
        return text_of(client.get(page))

    text = submitted_page("invite", email=email, role="editor")
    assert "Invitation sent" in text
    made = people.get_invitation(scene.cart_id, people.invitation_key(scene.cart_id, email))
    assert made is not None
    assert email not in submitted_page("withdraw", key=made.key)
    cem = make_person(scene.ann, scene.cart_id, "viewer", name="Cem")
    assert "This person can view and edit it now." in submitted_page(
        "role", person=cem.user_id, role="editor"
    )
    assert 'Remove<span class="vh"> Cem' not in submitted_page("exclude", person=cem.user_id)
    assert "/carts/shared/" in submitted_page("link")
    link = people.get_people(scene.cart_id).links[0]
    assert "/carts/shared/" not in submitted_page("unlink", key=link.link_id)


def test_what_is_no_invitation_is_explained_beside_its_field(
    scene: Scene, subtests: pytest.Subtests
) -> None:
    client = scene.as_("owner")
    for fields, words in (
        ({"email": "", "role": "viewer"}, "Enter an email address"),
        ({"email": "nobody", "role": "viewer"}, "Enter an email address"),
        ({"email": "a@example.com", "role": ""}, "Choose what they can do"),
        ({"email": "a@example.com", "role": "owner"}, "Choose what they can do"),
    ):
        with subtests.test(**fields):
            response = client.post(reverse("cart:invite", args=[scene.cart_id]), fields)
            assert response.status_code == 422
            text = text_of(response)
            assert "<title>Error: " in text
            assert words in text


def test_s14_invitations_are_limited_and_what_was_typed_stays(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"invitation": (1, 0, 0, 3600)}
    # An owner of her own: the one who invites in other tests has used up some tries.
    owner = make_user("Ann")
    client, cart_id = (
        signed_in(owner),
        operations.create_cart(owner.user_id, "Gifts for Mom", uuid4(), now()),
    )
    email = f"{uuid4().hex}@example.com"
    for each in (f"{uuid4().hex}@example.com", email):
        response = client.post(
            reverse("cart:invite", args=[cart_id]), {"email": each, "role": "viewer"}
        )
    assert response.status_code == 429
    assert int(response["Retry-After"]) > 0
    text = text_of(response)
    assert "Too many attempts" in text
    assert email in text
    assert len(people.get_people(cart_id).invitations) == 1


def test_a_page_offers_what_the_role_may_do(scene: Scene, subtests: pytest.Subtests) -> None:
    for role, may in ROLES.items():
        with subtests.test(role):
            client = scene.as_(role)
            text = text_of(client.get(reverse("cart:one", args=[scene.cart_id])))
            assert ('name="quantity"' in text) == (EDIT in may)
            assert (f'action="{reverse("cart:remove")}"' in text) == (EDIT in may)
            assert (f'href="{reverse("checkout:review")}"' in text) == (BUY in may)
            around = text_of(client.get(reverse("cart:people", args=[scene.cart_id])))
            assert ("Send invitation" in around) == (OWN in may)
            assert ("Create link" in around or "Turn off link" in around) == (OWN in may)
            assert ("Leave Gifts for Mom" in around) == (OWN not in may)
            assert (scene.users["editor"].email in around) == (OWN in may)


def test_checkout_demands_the_right_to_buy(scene: Scene, subtests: pytest.Subtests) -> None:
    for role, may in ROLES.items():
        with subtests.test(role):
            response = scene.as_(role).get(reverse("checkout:details"))
            if BUY in may:
                assert response.status_code == 200
                assert "Mug" in text_of(response)
            else:
                assert response.status_code in (302, 403)
                page = (
                    scene.as_(role).get(response["Location"])
                    if response.status_code == 302
                    else response
                )
                assert "can view" in text_of(page)


def test_a_withdrawn_person_sees_what_a_stranger_sees(
    scene: Scene, subtests: pytest.Subtests
) -> None:
    cem, names = (
        make_person(scene.ann, scene.cart_id, "editor", name="Cem"),
        ("one", "people", "changes"),
    )
    client = signed_in(cem)
    pages = {name: reverse(f"cart:{name}", args=[scene.cart_id]) for name in names}
    assert {name: client.get(page).status_code for name, page in pages.items()} == dict.fromkeys(
        names, 200
    )
    sharing.remove_person(scene.ann.user_id, scene.cart_id, cem.user_id)
    for name, page in pages.items():
        with subtests.test(name):
            gone, never = client.get(page), client.get(reverse(f"cart:{name}", args=[uuid4()]))
            assert gone.status_code == never.status_code == 404
            assert text_of(gone) == text_of(never)


def test_one_can_leave_and_the_owner_cannot(scene: Scene) -> None:
    cem = make_person(scene.ann, scene.cart_id, "editor", name="Cem")
    client, address = signed_in(cem), reverse("cart:leave", args=[scene.cart_id])
    response = client.post(address)
    assert (response.status_code, response["Location"]) == (303, reverse("cart:carts"))
    assert "You’ve left Gifts for Mom" in text_of(client.get(response["Location"]))
    assert client.post(address).status_code == 404
    refused = scene.as_("owner").post(address)
    assert refused.status_code == 403
    assert "This is your own cart" in text_of(refused)


def test_an_invitation_survives_the_login(scene: Scene) -> None:
    cem = make_user("Cem")
    made = sharing.invite_person(
        as_cart_user(scene.ann), scene.cart_id, cem.email.upper(), "editor", now()
    )
    client, address = Client(), reverse("cart:invitation", args=[made.token])
    first = client.get(address)
    text = text_of(first)
    assert "Ann invited you to share Gifts for Mom" in text
    assert "Join cart" not in text
    assert cem.email not in text
    assert first["Cache-Control"].count("no-store") == 1
    assert first["X-Robots-Tag"] == "noindex, nofollow"
    to_login = re.search(rf'href="({re.escape(reverse("accounts:login"))}\?next=[^"]+)"', text)
    assert to_login
    client.get(to_login[1])
    came = client.post(
        reverse("accounts:login"), {"email": cem.email, "password": PASSWORD, "next": address}
    )
    assert came["Location"] == address
    assert "Join cart" in text_of(client.get(address))
    assert not people.has_joined(scene.cart_id, cem.user_id)  # a look changes nothing
    for _ in range(2):
        done = client.post(address)
        assert (done.status_code, done["Location"]) == (
            303,
            reverse("cart:one", args=[scene.cart_id]),
        )
    assert people.has_joined(scene.cart_id, cem.user_id)
    assert client.get(done["Location"]).status_code == 200
    sharing.remove_person(scene.ann.user_id, scene.cart_id, cem.user_id)
    assert client.post(address).status_code == 404


def test_an_invitation_for_another_address_says_so_and_lets_nobody_in(scene: Scene) -> None:
    made = sharing.invite_person(
        as_cart_user(scene.ann), scene.cart_id, f"zoe-{uuid4().hex}@example.com", "viewer", now()
    )
    client, address = scene.as_("stranger"), reverse("cart:invitation", args=[made.token])
    for response in (client.get(address), client.post(address)):
        text = text_of(response)
        assert "z…@example.com" in text
        assert scene.users["stranger"].email in text
        assert made.email not in text
    assert not people.has_joined(scene.cart_id, scene.users["stranger"].user_id)
    sharing.withdraw_invitation(scene.ann.user_id, scene.cart_id, made.key)
    over, spoilt = client.get(address), client.get(address[:-3] + "xx/")
    assert over.status_code == spoilt.status_code == 404
    assert "This invitation has expired" in text_of(over)
    assert text_of(over) == text_of(spoilt)


def test_a_guest_shares_by_link_and_reads_that_invitations_need_an_account(scene: Scene) -> None:
    client = Client()
    add(client, scene)
    cart_id = client.get(reverse("cart:show")).context["cart"].cart_id
    page = reverse("cart:people", args=[cart_id])
    assert "Sign in to invite people" in text_of(client.get(page))
    refused = client.post(
        reverse("cart:invite", args=[cart_id]), {"email": "a@example.com", "role": "viewer"}
    )
    assert refused.status_code == 403
    assert client.post(reverse("cart:link", args=[cart_id])).status_code == 303
    link = people.get_people(cart_id).links[0]
    assert "Shared cart" in text_of(Client().get(link.url))


def test_a_link_shows_lines_prices_and_stock_to_anybody_and_nothing_to_change(scene: Scene) -> None:
    link = sharing.create_link(scene.ann.user_id, scene.cart_id, "Ann", now())
    visitor = Client()
    response = visitor.get(link.url)
    text = text_of(response)
    assert response.status_code == 200
    assert "Shared by Ann" in text
    for words in ("Mug", "Bowl", "€12.00", "€48.00", "In stock"):
        assert words in text
    assert scene.ann.email not in text
    assert 'name="quantity"' not in text
    assert "no-store" in response["Cache-Control"]
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert 'name="robots" content="noindex' in text
    assert response["Referrer-Policy"] == "same-origin"
    operation = existing(re.search(r'name="operation" value="([^"]+)"', text))
    token = link.url.rstrip("/").rpartition("/")[2]
    copy = reverse("cart:shared_copy", args=[token])
    assert visitor.get(copy).status_code == 302
    places = {visitor.post(copy, {"operation": operation[1]})["Location"] for _ in range(2)}
    assert len(places) == 1
    mine = text_of(visitor.get(places.pop()))
    assert "Gifts for Mom" in mine
    assert 'name="quantity"' in mine
    assert scene.cart.item_count == 4
    sharing.withdraw_link(scene.ann.user_id, scene.cart_id, link.link_id)
    gone, spoilt = visitor.get(link.url), visitor.get(link.url[:-4] + "abc/")
    assert gone.status_code == spoilt.status_code == 404
    assert "This link doesn’t work" in text_of(gone)
    assert text_of(gone) == text_of(spoilt)
    assert visitor.post(copy, {"operation": str(uuid4())}).status_code == 404


def test_a_shared_page_asks_for_changes_and_one_of_ones_own_does_not(scene: Scene) -> None:
    text = text_of(scene.as_("viewer").get(reverse("cart:show")))
    assert re.search(r'hx-get="([^"]+/changes/[^"]+)"', text)
    assert 'hx-trigger="every 3s"' in text
    assert 'data-pause="cart"' in text
    alone = Client()
    add(alone, scene)
    assert "/changes/" not in text_of(alone.get(reverse("cart:show")))


def test_nothing_new_costs_a_static_row_and_a_change_brings_the_cart(scene: Scene) -> None:
    client = scene.as_("viewer")
    asked = re.search(r'hx-get="([^"]+/changes/[^"]+)"', text_of(client.get(reverse("cart:show"))))
    assert asked
    address = asked[1].replace("&amp;", "&")
    same = client.get(address, headers=HTMX)
    assert same.status_code == 204
    # The session's row, the person's row and the cart's static row.
    assert same["X-Cassandra"].startswith("statements=3, rounds=2,")
    add(scene.as_("editor"), scene)
    news = client.get(address, headers=HTMX)
    assert news.status_code == 200
    text = text_of(news)
    assert 'id="cart"' in text
    assert "<html" not in text
    assert 'id="cart-badge"' in text
    assert "5 items" in text
    assert address not in text
    sharing.change_role(scene.ann.user_id, scene.cart_id, scene.users["viewer"].user_id, "editor")
    later_address = existing(re.search(r'hx-get="([^"]+/changes/[^"]+)"', text))
    given = client.get(later_address[1].replace("&amp;", "&"), headers=HTMX)
    assert given.status_code == 200
    assert 'name="quantity"' in text_of(given)
    sharing.change_role(scene.ann.user_id, scene.cart_id, scene.users["viewer"].user_id, "viewer")


def test_nothing_new_in_an_empty_cart_is_nothing_new(scene: Scene) -> None:
    cart_id = operations.create_cart(scene.ann.user_id, f"Empty {uuid4().hex[:6]}", uuid4(), now())
    make_person(scene.ann, cart_id, "viewer")
    client = scene.as_("owner")
    for _ in range(2):
        text = text_of(client.get(reverse("cart:one", args=[cart_id])))
        asked = existing(re.search(r'hx-get="([^"]+/changes/[^"]+)"', text))
        assert client.get(asked[1].replace("&amp;", "&"), headers=HTMX).status_code == 204
        operations.switch_cart(scene.ann.user_id, cart_id, now())
        operations.add_line(
            scene.ann.user_id, scene.spare, scene.spare.variants[0], 1, uuid4(), now()
        )
        operations.empty_cart(scene.ann.user_id, cart_id, uuid4(), now())


def test_a_viewer_reads_at_an_add_whose_cart_it_is(scene: Scene) -> None:
    response = add(scene.as_("viewer"), scene)
    assert response.status_code == 422
    assert "“Gifts for Mom” is shared by Ann. You can view it, but you can’t edit it." in text_of(
        response
    )


def test_x131_a_shared_cart_is_named_on_a_products_page_until_its_owner_deletes_it() -> None:
    ann, mug = make_user("Ann"), in_stock("Mug")
    cart_id = operations.create_cart(ann.user_id, "Gifts for Dad", uuid4(), now())
    operations.add_line(ann.user_id, mug, mug.variants[0], 2, uuid4(), now())
    client = signed_in(make_person(ann, cart_id, "viewer"))
    address = reverse("product", args=[mug.slug])
    assert "2 of this are in" in text_of(client.get(address))
    operations.delete_cart(ann.user_id, cart_id, now())
    assert "of this" not in text_of(client.get(address))


def test_x131_a_shared_cart_is_not_named_to_whoever_was_taken_out_of_it() -> None:
    ann, mug = make_user("Ann"), in_stock("Mug")
    cart_id = operations.create_cart(ann.user_id, "Gifts for Dad", uuid4(), now())
    operations.add_line(ann.user_id, mug, mug.variants[0], 2, uuid4(), now())
    ben = make_person(ann, cart_id, "viewer")
    client, address = signed_in(ben), reverse("product", args=[mug.slug])
    assert "2 of this are in" in text_of(client.get(address))
    kill_in(
        sharing,
        "remove_shared_cart_from_list",
        lambda: sharing.remove_person(ann.user_id, cart_id, ben.user_id),
    )
    assert "of this" not in text_of(client.get(address))
