"""The shop window: what its pages show, how few reads they take, and what they answer to nonsense."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.contrib.staticfiles.finders import get_finders
from django.test import Client, override_settings
from django.urls import reverse
from pytest_django import Settings

from catalogue import operations, queries
from catalogue.entities import CategoryNode, Product
from catalogue.errors import ProductRefused
from pricing.delivery import list_delivery_countries, list_delivery_methods
from shop_settings.queries import get_settings
from tests.architecture.routes import ROUTES, Route
from tests.factories import make_category, make_product, make_stock, make_user
from tests.rules import for_each
from tests.storefront.page_parts import NONSENSE, names, page_of, rounds, texts, tree
from web.decorators import list_methods
from web.text_cache import FRAGMENTS

# ---- Reads


@pytest.mark.usefixtures("index")
def test_a_page_takes_two_rounds_of_a_guest_and_three_of_a_member(
    client: Client, member: Client, leaf_category: CategoryNode, jug: Product
) -> None:
    addresses = [
        "/",
        reverse("category", args=(leaf_category.slug,)),
        page_of(jug),
        "/search?q=quaich",
        "/search?q=stone+jug",
        "/deals/",
        "/new/",
    ]
    sku = jug.variants[0].sku
    for who, most in ((client, 2), (member, 3)):
        who.post(reverse("cart:add"), {"variant": sku, "quantity": "1", "operation": str(uuid4())})
        for address in addresses:
            for forget in (queries.clear_category_cache, lambda: None):
                forget()
                response = who.get(address)
                assert response.status_code == 200
                assert rounds(response) <= most, address


def test_pages_that_need_no_header_read_nothing(client: Client) -> None:
    for address in ("/healthz", "/robots.txt", "/pictures/mug/c8724c-efeae0.svg"):
        assert client.get(address)["X-Cassandra"].startswith("statements=0")
    assert client.get("/readyz").content == b"ready\n"


# ---- Front page


def test_the_front_page_shows_its_rows(client: Client) -> None:
    made = make_product("Front Row Lamp", price="10.00", compare_at="20.00", featured=True)
    operations.rebuild_featured(queries.get_products([made.product_id]).values())
    page = tree(client.get("/"))
    assert len(page.cssselect("h1")) == 1
    assert names(page) == ["Front Row Lamp"] * 3
    operations.rebuild_featured(queries.iterate_products())


# ---- Products


def test_x38_variants_are_radios_and_the_choice_is_in_the_address(
    client: Client, jug: Product
) -> None:
    page = tree(client.get(page_of(jug, 1)))
    checked = [radio.get("value") for radio in page.cssselect("input[type=radio][checked]")]
    assert checked == [jug.variants[1].sku] * 2
    forms = [form for form in page.cssselect("main form") if form.cssselect("input[type=radio]")]
    assert {form.get("method") for form in forms} == {"get"}
    assert texts(page, "main legend") == ["Colour", "Size"]
    # Another colour keeps the size.
    other = forms[0].cssselect("input[type=radio]:not([checked])")[0].get("value")
    assert other == jug.variants[3].sku
    assert page.cssselect("#add input[name=variant]")[0].get("value") == jug.variants[1].sku


def test_x38_a_sold_out_variant_is_shown_and_explained(client: Client, jug: Product) -> None:
    page = tree(client.get(page_of(jug, 2)))
    assert "sold out" in page.cssselect("main")[0].text_content()
    assert page.cssselect("#sold-out")
    assert not page.cssselect("#add")
    assert texts(page, ".stock")[0] == "Sold out"


def test_x38_without_a_choice_one_that_is_in_stock_is_shown(client: Client) -> None:
    product = make_product("Late Lamp", options={"Size": ["S", "L"]})
    make_stock(5, product_id=product.product_id, variant_id=product.variants[1].variant_id)
    page = tree(client.get(page_of(product)))
    assert page.cssselect("#add input[name=variant]")[0].get("value") == product.variants[1].sku


def test_an_unknown_choice_is_explained_and_another_shown(client: Client, jug: Product) -> None:
    wrong = []
    for nonsense in ("NO-SUCH-SKU", *NONSENSE):
        response = client.get(f"{page_of(jug)}?variant={quote(nonsense)}")
        notices = texts(tree(response), ".notice")
        if response.status_code != 200 or not notices or "no longer available" not in notices[0]:
            wrong.append(f"{nonsense}: {response.status_code}, {notices}")
    assert wrong == []


def test_x131_a_products_page_says_in_which_of_the_visitors_carts_it_is(
    client: Client, jug: Product
) -> None:
    lamp = make_product("Lamp of another cart", stock=9)

    def add(variant: str, quantity: int) -> None:
        fields = {"variant": variant, "quantity": quantity, "operation": uuid4()}
        assert client.post(reverse("cart:add"), fields).status_code == 303

    def said(product: Product) -> tuple[list[str], list[str]]:
        added = tree(client.get(page_of(product))).cssselect("#added")[0]
        return texts(added, "p"), [each.get("href") for each in added.cssselect("a")]

    add(lamp.variants[0].sku, 1)
    assert said(jug) == ([], [])
    add(jug.variants[0].sku, 1)
    add(jug.variants[1].sku, 2)
    client.post(reverse("cart:make"), {"name": "<i>Mine</i>", "operation": uuid4()})
    add(jug.variants[0].sku, 1)
    sentences, links = said(jug)
    assert sentences == ["1 of this is in <i>Mine</i>. 3 of this are in My cart."]
    assert links[0] == "/cart/"
    assert re.fullmatch(r"/carts/[0-9a-f-]{36}/", links[1])
    assert said(lamp)[0] == ["1 of this is in My cart."]
    assert said(jug)[0] == sentences  # now below it, too, is all that is drawn of the lamp
    # What is drawn around the line is drawn once (X114). The line and the cart in the header are parts of their own.
    misses, other = FRAGMENTS.misses, Client()
    fields = {"variant": jug.variants[0].sku, "quantity": 5, "operation": uuid4()}
    other.post(reverse("cart:add"), fields)
    page = tree(other.get(page_of(jug)))
    assert texts(page.cssselect("#added")[0], "p") == ["5 of this are in My cart."]
    assert said(jug)[0] == sentences
    assert FRAGMENTS.misses == misses + 2
    assert tree(Client().get(page_of(jug))).cssselect("#added")[0].text_content() == ""


def test_x42_scarcity_is_said_only_when_it_is_so(client: Client, jug: Product) -> None:
    words = [
        texts(tree(client.get(page_of(jug, place))), "#product .stock")[0] for place in range(4)
    ]
    assert words == ["In stock", "Only a few left", "Sold out", "In stock"]


def test_x36_delivery_and_returns_stand_beside_the_button(client: Client, jug: Product) -> None:
    text = tree(client.get(page_of(jug))).cssselect("#product")[0].text_content()
    for expected in (
        "Germany",
        "France",
        "Ireland",
        "€4.90",
        "free from €60.00",
        "30 days",
        "350 g",
    ):
        assert expected in text


def test_x127_the_day_of_arrival_is_that_of_the_shops_clock(
    client: Client, jug: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 23:30 on Thursday in the shop, and half past midnight: the day is another, and so is the text that was kept.
    shown = []
    for moment in (
        datetime(2026, 11, 26, 23, 30, tzinfo=UTC),
        datetime(2026, 11, 27, 0, 30, tzinfo=UTC),
    ):
        monkeypatch.setattr("storefront.views.product.current_time", lambda moment=moment: moment)
        page = tree(client.get(page_of(jug)))
        shown.append(" ".join(page.cssselect("#delivery + p")[0].text_content().split()))
        others = page.cssselect("#product table td")[0].text_content()
        assert others.startswith("by ")
    assert shown[0].startswith("Arrives in Germany by Tue 1 December if you order today.")
    assert shown[1].startswith("Arrives in Germany by Wed 2 December if you order today.")
    # What is not there arrives on no day.
    sold_out = make_product("Nobody's Jug")
    text = tree(client.get(page_of(sold_out))).cssselect("#delivery + p")[0].text_content()
    assert "To Germany in 2 to 3 working days" in text


def test_the_add_form_has_a_fresh_id_each_time(client: Client, jug: Product) -> None:
    ids = {
        tree(client.get(page_of(jug))).cssselect("#add input[name=operation]")[0].get("value")
        for _ in range(3)
    }
    assert len(ids) == 3


def test_x22_every_picture_keeps_its_space(
    client: Client, jug: Product, leaf_category: CategoryNode
) -> None:
    for address in (page_of(jug), reverse("category", args=(leaf_category.slug,)), "/"):
        for image in tree(client.get(address)).cssselect("img"):
            assert image.get("width")
            assert image.get("height")
            assert image.get("alt") is not None


def test_x134_x135_the_gallery_links_each_look_the_chosen_ones_views_and_the_full_picture(
    client: Client, jug: Product
) -> None:
    own, colours = page_of(jug, 1), jug.variants[1].picture.partition("/")[2]
    others = [page_of(jug, place) for place in (0, 2, 3)]
    links = [others[0], own, f"{own}&picture=3", f"{own}&picture=4", *others[1:]]
    views = [("mug", "Large"), ("mug-2", "Large, close up"), ("mug-3", "Large, with other things")]
    for link, (shape, words) in zip(links[1:4], views, strict=True):
        page = tree(client.get(link))
        assert [each.get("href") for each in page.cssselect(".thumbs a")] == links
        (checked,) = page.cssselect(".thumbs [aria-current]")
        assert checked.get("href") == link
        # A link without scripts, and a dialog that needs none either.
        (full,) = page.cssselect("a.product__full")
        (image,) = full.cssselect("img")
        assert image.get("src") == full.get("href") == f"/pictures/{shape}/{colours}.svg"
        assert image.get("alt") == f"Stone Jug, Teal, {words}"
        (dialog,) = page.cssselect("dialog")
        (button,) = page.cssselect("button[command='show-modal']")
        opens = {button.get("commandfor"), button.get("popovertarget")}
        assert opens == {dialog.get("id")}
        assert dialog.get("popover") is not None
        # What is not looked at yet is not fetched.
        soon = [each.get("loading") for each in page.cssselect(".product__gallery img")]
        assert soon == ["eager", *["lazy"] * 12]
        # From the one that is shown on and around, each leads to the next one and the one before.
        slides = [each.get("id") for each in page.cssselect(".zoom__slide")]
        place = links.index(link) + 1
        assert slides == [f"slide-{(place + step - 1) % 6 + 1}" for step in range(6)]
        steps = [each.get("href") for each in page.cssselect("a[data-slide]")]
        assert steps[1::2] == [f"#{each}" for each in (*slides[1:], slides[0])]
        assert steps[::2] == [f"#{each}" for each in (slides[-1], *slides[:-1])]
        assert page.cssselect(".zoom__slide img")[0].get("src") == image.get("src")
    # Another variant is shown by its own picture, whatever was looked at before.
    page = tree(client.get(others[2]))
    assert jug.variants[3].picture in page.cssselect(".product__full")[0].get("href")


def test_a_part_of_the_product_is_what_a_choice_changes(client: Client, jug: Product) -> None:
    part = client.get(page_of(jug, 1), headers={"HX-Request": "true"})
    assert b"<html" not in part.content
    assert tree(part).cssselect("#product, article") or tree(part).get("id") == "product"


def test_a_renamed_product_leads_on_for_good(client: Client) -> None:
    product = make_product("Old Name", options={"Size": ["S", "L"]})
    operations.save_product(replace(product, slug=f"{product.slug}-new"), datetime.now(UTC))
    sku = product.variants[1].sku
    response = client.get(f"{page_of(product)}?variant={sku}")
    assert (response.status_code, response["Location"]) == (
        301,
        f"/p/{product.slug}-new/?variant={sku}",
    )


def test_an_archived_product_is_gone_in_words(client: Client) -> None:
    product = make_product("Once Sold")
    operations.save_product(replace(product, status="archived"), datetime.now(UTC))
    response = client.get(page_of(product))
    assert response.status_code == 410
    assert "no longer sold" in response.content.decode()


def test_x112_what_has_gone_offers_what_follows_it_its_category_and_a_search(
    client: Client,
) -> None:
    now, category = datetime.now(UTC), make_category("Jugs")
    first, second, third = (
        make_product(name, category=category) for name in ("A", "B jug", "C jug")
    )
    gone = operations.save_product(
        replace(first, status="archived", successor_id=second.product_id), now
    )
    page = client.get(page_of(gone))
    text = page.content.decode()
    assert page.status_code == 410
    assert f'href="{page_of(second)}"' in text
    assert f'href="{reverse("category", args=(category.slug,))}"' in text
    assert f'{reverse("search")}?q=A"' in text
    # What follows has gone, too.
    operations.save_product(replace(second, status="archived", successor_id=third.product_id), now)
    assert f'href="{page_of(third)}"' in client.get(page_of(gone)).content.decode()
    operations.save_product(replace(third, status="archived", successor_id=second.product_id), now)
    page = client.get(page_of(gone))
    assert (page.status_code, "taken its place" in page.content.decode()) == (410, False)
    with pytest.raises(ProductRefused):
        operations.save_product(replace(gone, successor_id=gone.product_id), now)


def test_x91_a_draft_and_what_is_to_come_have_no_page_yet(client: Client) -> None:
    now = datetime.now(UTC)
    draft, coming, gone = make_product("Draft"), make_product("Coming"), make_product("Over")
    operations.save_product(replace(draft, status="draft"), now)
    operations.save_product(replace(coming, active_from=now + timedelta(days=1)), now)
    operations.save_product(replace(gone, active_until=now), now)
    statuses = [client.get(page_of(each)).status_code for each in (draft, coming, gone)]
    assert statuses == [404, 404, 410]


def test_x17_an_unknown_product_is_a_styled_404(client: Client) -> None:
    shown = {}
    for slug in ("nope", "a" * 2000, "%00", "..", "<b>"):
        response = client.get(f"/p/{quote(slug, safe='%')}/")
        page = tree(response)
        shown[slug] = (
            response.status_code,
            len(page.cssselect("h1")),
            len(page.cssselect("main form[role=search]")),
            bool(page.cssselect("main a[href^='/c/']")),
        )
    assert shown == dict.fromkeys(shown, (404, 1, 1, True))
    guessed = {
        address: tree(client.get(address)).cssselect("#search-here")[0].get("value")
        for address in ("/p/blue-stone-mug/", "/c/tea-pots/", "/o/secret-token/", "/p/%3Cb%3E/")
    }
    assert list(guessed.values()) == ["blue stone mug", "tea pots", "", ""]


def test_s27_what_is_written_into_a_product_stays_text(client: Client) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&\u2028"
    product = make_product(f"Mug {evil}", brand=evil, description=evil)
    response = client.get(page_of(product))
    page = tree(response)
    assert not page.cssselect("[onerror]")
    assert all(
        script.get("src") or script.get("type") == "application/ld+json"
        for script in page.cssselect("script")
    )
    (data,) = page.cssselect("script[type='application/ld+json']")
    things = json.loads(data.text)
    assert things[0]["name"] == product.name


def test_x282_what_no_page_takes_is_405_with_or_without_a_token() -> None:
    client = Client(enforce_csrf_checks=True)
    for address, allowed in (
        ("/", "GET, HEAD"),
        (reverse("accounts:login"), "GET, HEAD, POST"),
        ("/healthz", "GET, HEAD"),
    ):
        for method in ("put", "patch", "delete"):
            answer = getattr(client, method)(address)
            assert (answer.status_code, answer["Allow"]) == (405, allowed), (method, address)
    # A form without its token is refused as ever.
    assert client.post(reverse("accounts:login"), {"email": "a@example.com"}).status_code == 403


@for_each(ROUTES, lambda route: route.name, at_least=200)
def test_x282_each_view_says_which_methods_it_answers(route: Route) -> None:
    assert tuple(list_methods(route.view)) in (("GET", "HEAD"), ("GET", "HEAD", "POST"), ("POST",))


def test_x282_each_static_file_has_a_type() -> None:
    names = [name for finder in get_finders() for name, _ in finder.list(None) if Path(name).suffix]
    assert len(names) > 30
    with override_settings(WHITENOISE_USE_FINDERS=True, WHITENOISE_AUTOREFRESH=True):
        client = Client()
        types = {name: client.get(f"/static/{name}")["Content-Type"] for name in names}
    assert [name for name, found in types.items() if found == "application/octet-stream"] == []


# ---- Search


@pytest.mark.usefixtures("index")
def test_x31_the_words_stay_in_the_box(client: Client) -> None:
    page = tree(client.get("/search", {"q": "stone jug"}))
    (box,) = page.cssselect("[role=search] input[name=q]")
    assert box.get("value") == "stone jug"
    assert names(page) == ["Stone Jug"]
    assert page.cssselect("meta[name=robots][content=noindex]")


@pytest.mark.usefixtures("index")
def test_x34_an_exact_sku_leads_to_the_variant(client: Client, jug: Product) -> None:
    for typed in (jug.variants[1].sku, jug.variants[1].sku.lower(), f" {jug.variants[1].sku} "):
        response = client.get("/search", {"q": typed})
        assert (response.status_code, response["Location"]) == (302, page_of(jug, 1))


@pytest.mark.usefixtures("index")
def test_x24_a_search_is_sorted_and_paged_by_its_address(client: Client) -> None:
    page = tree(client.get("/search", {"q": "quaich", "sort": "price"}))
    (more,) = page.cssselect("a[rel=next]")
    assert "sort=price" in more.get("href")
    rest = tree(client.get(more.get("href")))
    assert [int(name.split()[1]) for name in names(page) + names(rest)] == list(range(30))
    # The order that other lists have by themselves is one to choose here.
    newest = tree(client.get("/search", {"q": "quaich", "sort": "newest"}))
    older = tree(client.get(newest.cssselect("a[rel=next]")[0].get("href")))
    assert [int(name.split()[1]) for name in names(newest) + names(older)] == list(range(30))[::-1]
    assert client.get(more.get("href").replace("q=quaich", "q=jug")).status_code == 404


@pytest.mark.usefixtures("index")
def test_x35_nothing_found_repeats_the_words_and_offers_others(client: Client) -> None:
    page = tree(client.get("/search", {"q": "stone jugg xylophone"}))
    assert "stone jugg xylophone" in page.cssselect("h1")[0].text_content()
    assert any("q=stone" in link.get("href") for link in page.cssselect("main a"))
    assert page.cssselect("main a[href^='/c/']")


@pytest.mark.usefixtures("index")
def test_nonsense_in_a_search_is_a_page(client: Client) -> None:
    def answered(address: str, **asked: str) -> int:
        return client.get(address, asked).status_code

    statuses = {
        nonsense: (
            answered("/search", q=nonsense),
            answered("/search/suggest", q=nonsense),
            answered("/search", q="quaich", after=nonsense),
            answered("/search", q="quaich", sort=nonsense),
        )
        for nonsense in NONSENSE
    }
    assert statuses == dict.fromkeys(NONSENSE, (200, 200, 404, 302))


def test_without_an_index_the_beginnings_of_words_are_found(client: Client, tmp_path: Path) -> None:
    product = make_product("Zwzw Lamp")
    operations.refresh_prefixes(product)
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        page = tree(client.get("/search", {"q": "zwzw"}))
    assert names(page) == ["Zwzw Lamp"]


def test_x32_x336_without_an_index_products_are_suggested_by_their_names(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.SEARCH_INDEX_DIR = tmp_path
    made = [make_product(f"Vbvb {place}") for place in range(12)]
    for product in made:
        operations.refresh_prefixes(product)
    get_settings()  # the brand, which each process keeps
    part = client.get("/search/suggest", {"q": "vbv"}, headers={"HX-Request": "true"})
    assert part.content.count(b'role="option"') == 10
    assert b"<html" not in part.content
    page = tree(client.get("/search/suggest", {"q": "vbv"}))
    assert len(page.cssselect("main a[href^='/p/']")) == 10
    assert part["X-Cassandra"].startswith("statements=1, rounds=1,")


# ---- What stands beside


@pytest.mark.parametrize("name", ["mug/c8724c-efeae0", "mug.c8724c-efeae0,towel.c8724c"])
def test_s74_a_picture_is_kept_for_a_year(client: Client, name: str) -> None:
    response = client.get(f"/pictures/{name}.svg")
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    again = client.get(f"/pictures/{name}.svg", headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["Vary"] == response["Vary"] == "Accept-Encoding"


def test_a_picture_that_cannot_be_drawn_is_a_404(client: Client) -> None:
    paths = ["mug/zzzzzz", "nothing/c8724c", "mug/c8724c-c8724c-c8724c-c8724c", "mug/" + "a" * 2000]
    paths += ["mug", "mug.zzzzzz", ",", ".", "mug.c8724c,", ",".join(["mug.c8724c"] * 25)]
    statuses = {path: client.get(f"/pictures/{path}.svg").status_code for path in paths}
    assert statuses == dict.fromkeys(paths, 404)


def test_x20_help_stands_in_the_same_place_on_every_page(client: Client) -> None:
    front = texts(tree(client.get("/")), "footer a")[:2]
    pages = {
        name: tree(client.get(reverse(name))) for name in ("help", "delivery", "privacy", "imprint")
    }
    shown = {
        name: (len(page.cssselect("h1")), texts(page, "footer a")[:2])
        for name, page in pages.items()
    }
    assert len(front) == 2
    assert shown == dict.fromkeys(pages, (1, front))


def test_the_imprint_names_who_sells(client: Client) -> None:
    seller = {
        "name": "Ada & Co",
        "address": ["2 Quay", "Cork"],
        "vat_id": "IE1",
        "email": "ada@example.com",
    }
    with override_settings(SELLER=seller):
        expected = " ".join(
            tree(client.get(reverse("imprint"))).cssselect("main")[0].text_content().split()
        )
    for words in ("Ada & Co", "2 Quay, Cork", "IE1", "ada@example.com"):
        assert words in expected


def test_the_delivery_page_lists_every_way_and_what_makes_it_free(client: Client) -> None:
    rows = [
        " ".join(row.text_content().split())
        for row in tree(client.get("/help/delivery/")).cssselect("tbody tr")
    ]
    assert len(rows) == len(list_delivery_countries())
    assert all(
        any(str(way.price.amount) in row for row in rows)
        for country in list_delivery_countries()
        for way in list_delivery_methods(country)
    )
    assert any("Ireland" in row and "€12.90" in row for row in rows)
    assert any("France" in row and "free from €80.00" in row for row in rows)


def test_a_browser_that_asks_for_an_icon_by_habit_gets_the_shops(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"].endswith("icons/favicon.svg")


def test_s30_the_policy_stands_also_on_the_redirect_to_https() -> None:
    with override_settings(SECURE_SSL_REDIRECT=True):
        redirected = Client().get("/")
    assert redirected["Location"].startswith("https://")
    assert "default-src 'none'" in redirected["Content-Security-Policy"]


def test_the_staff_are_offered_the_way_to_where_their_work_begins() -> None:
    expected = {"warehouse": "/staff/", "analyst": "/staff/", "": None}
    offered = {}
    for role in expected:
        client = Client()
        client.force_login(make_user(role=role))
        links = tree(client.get("/help/")).cssselect(".header__link")
        offered[role] = next(
            (link.get("href") for link in links if link.text_content() == "Staff"), None
        )
    assert offered == expected


def test_a_form_from_elsewhere_is_refused_in_words(jug: Product) -> None:
    strict = Client(enforce_csrf_checks=True)
    response = strict.post(reverse("cart:add"), {"variant": jug.variants[0].sku})
    assert response.status_code == 403
    assert "Nothing was changed" in response.content.decode()


def test_a_post_to_a_page_is_not_allowed(client: Client, jug: Product) -> None:
    assert client.post(page_of(jug)).status_code == 405
