"""Pages for visitors who have nothing of their own: drawn once for all of them, and each gets a token, a form and a cart of their own."""

import gzip
import re
from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

import pytest
from django.conf import settings
from django.core import signing
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from django.test import Client
from django.urls import resolve, reverse
from django.utils.html import escape
from pytest_django import Settings

from cassandra_db import current_time
from catalogue.entities import Product
from catalogue.operations import change_product_status
from catalogue.previews import make_preview_token
from catalogue.queries import get_category_tree
from storefront import whole_pages
from tests.architecture.routes import ROUTES
from tests.cart.guests import get_active_cart
from tests.factories import make_category, make_product, make_stock, make_user
from tests.posts.posting import publish
from tests.posts.showing import change, make_profile
from tests.threads import map_at_once
from text_pages.pages import FIRST_PAGES
from web.text_cache import FRAGMENTS, WHOLE_PAGES

NEW_VISITORS = 50
HTMX = {"HX-Request": "true"}
GZIP = {"Accept-Encoding": "gzip"}
# What is each visitor's own in a page: the token, in the body's tag and in forms, and the form's key. A page token has its time in it.
OWN = re.compile(
    r'(?<="x-csrftoken": ")\w{64}|(?<=value=")\w{64}|(?<=name="operation" value=")[0-9a-f-]{36}|(?<=after=)[^"]+'
)
# The cookies of who has nothing of their own: after one product page every browser has the first two.
OF_NOBODY = {"CSRF_COOKIE_NAME", "VIEWED_COOKIE_NAME", "COUNTRY_COOKIE_NAME"}
# What differs at each look, or says what the answer has cost.
OF_ONE_ANSWER = {"X-Request-Id", "X-Cassandra"}
# How it is sent, which a browser undoes.
OF_THE_LINE = {"Content-Encoding", "Content-Length"}


@pytest.fixture
def kept(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Pages are kept as where the shop is served, by a clock that stands; the suite's are drawn anew each time."""
    settings.WHOLE_PAGE_SECONDS = 5
    now = [1000.0]
    monkeypatch.setattr(whole_pages, "monotonic", lambda: now[0])
    WHOLE_PAGES.clear()
    yield now
    WHOLE_PAGES.clear()


@pytest.fixture(scope="module")
def mug() -> Product:
    category = make_category("Whole things")
    for number in range(3):
        make_product(f"Whole {number}", category=category, listed=True)
    return make_product(
        "Whole Mug", category=category, options={"Size": ["Small", "Large"]}, stock=500
    )


def page_of(product: Product) -> str:
    return reverse("product", args=[product.slug])


def category_of(product: Product) -> str:
    node = get_category_tree().by_id[product.category_id]
    return reverse("category", args=[node.slug])


def content_of(response: Any) -> bytes:
    is_compressed = response.get("Content-Encoding") == "gzip"
    return gzip.decompress(response.content) if is_compressed else bytes(response.content)


def shared_text(response: Any) -> str:
    return OWN.sub("", content_of(response).decode())


def headers_of(response: Any) -> dict[str, str]:
    left_out = OF_ONE_ANSWER | OF_THE_LINE
    return {name: value for name, value in response.items() if name not in left_out}


def is_from_memory(response: Any) -> bool:
    return "statements=0, rounds=0," in str(response["X-Cassandra"])


@pytest.mark.usefixtures("kept")
def test_x116_s85_fifty_new_visitors_of_one_page_have_fifty_tokens_and_fifty_carts(
    mug: Product,
) -> None:
    Client().get(page_of(mug))

    def look_and_add(_: int) -> tuple[str, str, str, UUID]:
        client = Client(enforce_csrf_checks=True)
        page = client.get(page_of(mug))
        assert is_from_memory(page)
        text = page.content.decode()
        (key,) = re.findall(r'name="operation" value="([^"]+)"', text)
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', text))
        added = client.post(
            reverse("cart:add"),
            {
                "variant": mug.variants[0].sku,
                "product": mug.product_id,
                "quantity": 1,
                "operation": key,
                "csrfmiddlewaretoken": token,
            },
        )
        assert added.status_code == 303
        cookie = client.cookies[settings.CART_COOKIE_NAME].value
        owner_id = UUID(hex=signing.loads(cookie, salt="cart.owner")[0])
        cart = get_active_cart(owner_id)
        assert cart
        assert cart.item_count == 1
        return token, client.cookies[settings.CSRF_COOKIE_NAME].value, key, cart.cart_id

    seen = map_at_once(look_and_add, range(NEW_VISITORS), 16)
    assert [len(set(each)) for each in zip(*seen, strict=True)] == [NEW_VISITORS] * 4


def list_post_pages(mug: Product) -> dict[str, list[str]]:
    """Return the addresses of the pages of posts, with a post that shows the product."""
    user = make_user()
    post = change(publish(user.user_id), mug, tags=("clay",))
    return {
        "posts:newest": ["/posts/", "/posts/?popular="],
        "posts:tag": ["/posts/tags/clay/"],
        "posts:of_product": [f"{page_of(mug)}posts/"],
        "posts:post": [f"/posts/{post.post_id}/"],
        "posts:person": [f"/people/{make_profile(user)}/"],
    }


@pytest.mark.usefixtures("kept")
def test_x114_x116_x140_s85_what_is_kept_is_what_is_drawn(mug: Product, settings: Settings) -> None:
    """The same text and headers (policies, who may keep it) for each way in which an answer comes about."""
    page_views = {each.name for each in ROUTES if hasattr(each.view, "page_parameters")}
    addresses = {
        "home": ["/"],
        "category": [category_of(mug), f"{category_of(mug)}?sort=name"],
        "product": [page_of(mug), f"{page_of(mug)}?variant={mug.variants[1].sku}"],
        "search": ["/search?q=nothing+like+it", "/search"],
        "deals": ["/deals/", "/deals/?sort=price"],
        "new_arrivals": ["/new/"],
        "help": ["/help/"],
        **{name: [f"/help/{name}/"] for name in FIRST_PAGES if name != "help"},
        # Each page of text is drawn by the same view.
        "text_page": ["/help/"],
        **list_post_pages(mug),
    }
    assert page_views == addresses.keys()
    asked: list[tuple[str, dict[str, str]]] = [
        (each, {}) for of_view in addresses.values() for each in of_view
    ]
    asked += [(page_of(mug), HTMX)]
    for address, headers in asked:
        FRAGMENTS.clear()
        WHOLE_PAGES.clear()
        answers = []
        for seconds, fragment_bytes in ((0, 0), (0, 10**6), (0, 10**6), (5, 10**6), (5, 10**6)):
            settings.FRAGMENT_CACHE_BYTES = fragment_bytes
            if seconds != settings.WHOLE_PAGE_SECONDS:
                settings.WHOLE_PAGE_SECONDS = seconds
            answers.append(Client().get(address, headers=headers))
            answers.append(Client().get(address, headers=headers | GZIP))
            assert answers[-1]["Content-Encoding"] == "gzip"
            assert len(answers[-1].content) < len(answers[-2].content) / 2
        assert [each.status_code for each in answers] == [200] * 10, address
        assert is_from_memory(answers[-1]), address
        assert {shared_text(each) for each in answers} == {shared_text(answers[0])}, address
        expected = headers_of(answers[0])
        for each in answers:
            assert headers_of(each) | {"Vary": expected["Vary"]} == expected, address
            assert each["Vary"].startswith(expected["Vary"]), address
            assert each["Cache-Control"] == "private, no-cache"
            assert "default-src 'none'" in each["Content-Security-Policy"]
            assert b"blank-" not in content_of(each)
        assert "Cookie" in answers[-1]["Vary"]
    assert FRAGMENTS.hits > 50


class NotedQuery(QueryDict):
    """A query that notes which of its parameters are looked at; "*" if that is all of them."""

    looked_at: ClassVar[set[str]] = set()

    def __getitem__(self, name: str) -> Any:
        self.looked_at.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.looked_at.add(str(name))
        return super().__contains__(name)

    def getlist(self, key: str, default: Any = None) -> Any:
        self.looked_at.add(key)
        return super().getlist(key, default)

    def __iter__(self) -> Iterator[str]:
        self.looked_at.add("*")
        return super().__iter__()

    def lists(self) -> Any:
        self.looked_at.add("*")
        return super().lists()


@pytest.mark.usefixtures("kept")
def test_s85_a_page_looks_at_no_parameter_that_its_view_does_not_name(
    mug: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(request: WSGIRequest) -> NotedQuery:
        if "noted" not in vars(request):
            vars(request)["noted"] = NotedQuery(request.META["QUERY_STRING"])
            NotedQuery.looked_at.clear()
        return vars(request)["noted"]  # type: ignore[no-any-return]

    monkeypatch.setattr(WSGIRequest, "GET", property(noted))
    list_parameters = {"sort", "after", "show"}
    expected = {
        "/": {"at"},
        category_of(mug): list_parameters,
        page_of(mug): {"variant", "country", "picture"},
        "/search": {"q", *list_parameters},
        "/deals/": list_parameters,
        "/new/": {"after", "show"},
        "/help/": set(),
        "/posts/": {"popular", "after"},
        **{
            addresses[0]: {"after"}
            for name, addresses in list_post_pages(mug).items()
            if name != "posts:newest"
        },
    }
    for address, names in expected.items():
        WHOLE_PAGES.clear()
        NotedQuery.looked_at.clear()
        first = Client().get(f"{address}?letter=for-ann")
        view = resolve(address).func
        declared = {*view.page_parameters, *view.unkept_parameters}  # type: ignore[attr-defined]
        assert names <= NotedQuery.looked_at <= declared, address
        second = Client().get(f"{address}?letter=for-b")
        assert is_from_memory(second)
        assert "for-ann" in first.content.decode()
        assert "for-ann" not in second.content.decode()


@pytest.mark.usefixtures("kept")
def test_x325_a_filtered_list_is_not_kept_as_the_whole_list(mug: Product) -> None:
    assert not is_from_memory(Client().get(category_of(mug)))
    for query in ("filter=stock:yes", "price=1-2", "all=brand"):
        kept = len(WHOLE_PAGES), WHOLE_PAGES.lookup_count
        assert Client().get(f"{category_of(mug)}?{query}").status_code == 200
        assert (len(WHOLE_PAGES), WHOLE_PAGES.lookup_count) == kept, query
    assert is_from_memory(Client().get(category_of(mug)))


@pytest.mark.usefixtures("kept")
def test_s85_nobody_has_a_part_kept_as_the_page(mug: Product) -> None:
    """A header that htmx says to be encoded is read by the view's part, too."""
    for name in ("HX-Request", "HX-History-Restore-Request"):
        WHOLE_PAGES.clear()
        encoded = {name: "%74rue", f"{name}-URI-AutoEncoded": "true"}
        Client().get(page_of(mug), headers={"HX-Request": "true"} | encoded)
        page, part = Client().get(page_of(mug)), Client().get(page_of(mug), headers=HTMX)
        assert b"<html" in page.content
        assert b"<html" not in part.content


@pytest.mark.usefixtures("kept")
def test_s85_who_has_something_of_their_own_gets_and_leaves_nothing(mug: Product) -> None:
    member = Client()
    member.force_login(make_user())
    # Django's cookie for a language, which the shop does not use, is another one.
    names = {name for name in dir(settings) if name.endswith("_COOKIE_NAME")}
    of_their_own = {name: Client() for name in names - OF_NOBODY - {"LANGUAGE_COOKIE_NAME"}}
    assert len(of_their_own) >= 7
    for name, client in of_their_own.items():
        client.cookies[getattr(settings, name)] = "x"
    for who, client in {"member": member, **of_their_own}.items():
        assert client.get(page_of(mug)).status_code == 200
        assert not len(WHOLE_PAGES), who
        assert Client().get(page_of(mug)).status_code == 200
        assert not is_from_memory(client.get(page_of(mug))), who
        WHOLE_PAGES.clear()


@pytest.mark.usefixtures("kept")
def test_s85_what_another_asked_for_is_in_nobodys_page(mug: Product) -> None:
    """A page is kept by the parameters that it knows; its address is each visitor's own. Others say what another page is."""
    Client().get(f"{page_of(mug)}?letter=for-ann")
    page = Client().get(f"{page_of(mug)}?letter=for-b%26b")
    assert is_from_memory(page)
    text = page.content.decode()
    assert "for-ann" not in text
    assert f'name="next" value="{escape(page_of(mug))}?letter=for-b%26b"' in text
    abroad = Client()
    abroad.cookies[settings.COUNTRY_COOKIE_NAME] = "DE"
    others = [
        abroad.get(page_of(mug)),
        Client().get(f"{page_of(mug)}?country=FR"),
        Client().get(f"{page_of(mug)}?variant={mug.variants[1].sku}"),
        Client().get(page_of(mug), headers=HTMX),
        Client().get(page_of(mug), headers={"Host": "localhost"}),
        Client().post(page_of(mug)),
    ]
    assert not any(map(is_from_memory, others[:-1]))
    assert others[-1].status_code == 405
    assert "Delivery to Germany" in others[0].content.decode()
    assert "Delivery to France" in others[1].content.decode()


@pytest.mark.usefixtures("kept")
def test_x116_what_was_viewed_is_put_in_for_each(mug: Product) -> None:
    other = make_product("Viewed before")
    Client().get(page_of(mug))
    client, new = Client(), Client()
    client.get(page_of(other))
    for who, has_viewed in ((client, True), (new, False)):
        page = who.get(page_of(mug))
        assert is_from_memory(page)
        assert ("viewed-strip" in page.content.decode()) == has_viewed
        assert "viewed-strip" in who.get(page_of(other)).content.decode()
    strip = client.get(reverse("viewed"), headers=HTMX).content.decode()
    assert re.findall(r'class="strip__name">([^<]+)<', strip) == ["Viewed before", "Whole Mug"]
    # A preview does not count, and shows no empty strip to who has viewed only this product.
    draft = make_product("Whole draft", listed=True)
    viewer = Client()
    viewer.get(page_of(draft))
    change_product_status(draft, "draft", current_time())
    preview = f"{page_of(draft)}?preview={make_preview_token(draft.product_id)}"
    for _ in range(2):
        shown = viewer.get(preview)
        assert b"This is a preview" in shown.content
        assert b"viewed-strip" not in shown.content
        assert settings.VIEWED_COOKIE_NAME not in Client().get(preview).cookies


def test_x117_a_page_is_five_seconds_old_at_most_and_only_pages_are_kept(kept: list[float]) -> None:
    sold_out = make_product("Whole Jug")
    for address in ("/p/no-such-thing/", "/c/no-such-thing/", "/search?q=a&sort=no"):
        for _ in range(2):
            assert Client().get(address).status_code != 200
    assert not len(WHOLE_PAGES)
    Client().get(page_of(sold_out))
    make_stock(5, product_id=sold_out.product_id, variant_id=sold_out.variants[0].variant_id)
    kept[0] += 4.9
    assert b"Sold out" in Client().get(page_of(sold_out)).content
    kept[0] += 0.2
    assert b"Sold out" not in Client().get(page_of(sold_out)).content
