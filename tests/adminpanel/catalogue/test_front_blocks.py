"""The blocks of the front page: what shoppers see of them, and how staff order and edit them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from adminpanel.catalogue.front_block_forms import FrontBlockForm
from catalogue import front_page, operations, queries
from catalogue.front_page import (
    FRONT_BLOCKS,
    MAX_BLOCKS,
    Block,
    BlockKind,
    get_block_kinds,
    sort_blocks,
)
from shop_settings.operations import save_setting
from shop_settings.queries import get_settings_at_quorum
from tests.adminpanel.test_page_costs import read_cost
from tests.clock import now
from tests.factories import make_category, make_product, make_user, sign_in_staff
from tests.rules import assert_explained
from tests.shop_settings.saved import own_settings
from web.app_modules import find_app_modules

__all__ = ["own_settings"]
pytestmark = pytest.mark.usefixtures("own_settings")
LIST, MOVE = reverse("adminpanel:front_page"), reverse("adminpanel:front_block_move")


@pytest.fixture
def cleo(client: Client) -> Client:
    return sign_in_staff(client, make_user("Cleo", role="catalogue"))


def keys() -> list[str]:
    return [each.key for each in sort_blocks(get_settings_at_quorum().get_values(FRONT_BLOCKS))]


def block(key: str) -> Block:
    return get_settings_at_quorum().get_values(FRONT_BLOCKS)[key]


def typed(key: str, **changes: str) -> dict[str, Any]:
    form = FrontBlockForm(block(key), get_block_kinds()[block(key).kind])
    return {name: form[name].value() or "" for name in form.fields} | changes


def new(kind: str, **values: str) -> dict[str, Any]:
    form = FrontBlockForm(None, get_block_kinds()[kind])
    return {name: form[name].value() or "" for name in form.fields} | values


def add(client: Client, kind: str, **values: str) -> Any:
    return client.post(reverse("adminpanel:front_block_new", args=(kind,)), new(kind, **values))


def headings(client: Client | None = None, address: str = "/") -> list[str]:
    page = html.fromstring((client or Client()).get(address).content)
    return [" ".join(each.text_content().split()) for each in page.cssselect("main h2")]


@pytest.fixture
def lamp() -> Iterator[str]:
    made = make_product("Front Row Lamp", price="10.00", compare_at="20.00", featured=True)
    operations.rebuild_featured(queries.get_products([made.product_id]).values())
    yield made.variants[0].sku
    operations.rebuild_featured(queries.iterate_products())


def test_x482_a_new_shops_front_page_has_its_rows_in_one_round_of_reads(lamp: str) -> None:
    make_category("Looms")
    queries.clear_category_cache()
    assert [each for each in headings() if not each.startswith("Front Row")] == [
        *("New arrivals", "Shop by category", "On sale", "Our favourites"),
        *("Sent within two days", "30-day returns", "No account needed"),
    ]
    Client().get("/")
    statements, rounds = read_cost(Client().get("/"))
    assert (statements, rounds) <= (4, 1)


@pytest.mark.usefixtures("lamp")
def test_x482_staff_order_the_blocks_by_buttons_and_drops(cleo: Client) -> None:
    first = keys()
    assert first == ["hero", "new", "tiles", "popular", "deals", "featured", "promises"]
    for by, expected in (
        ("deals -1", ["hero", "new", "tiles", "deals", "popular", "featured", "promises"]),
        ("featured -5", ["featured", "hero", "new", "tiles", "deals", "popular", "promises"]),
        ("featured -1", ["featured", "hero", "new", "tiles", "deals", "popular", "promises"]),
        ("hero 99", ["featured", "new", "tiles", "deals", "popular", "promises", "hero"]),
        ("nowhere 1", ["featured", "new", "tiles", "deals", "popular", "promises", "hero"]),
        ("hero <b>", ["featured", "new", "tiles", "deals", "popular", "promises", "hero"]),
    ):
        assert cleo.post(MOVE, {"by": by}).status_code == 303
        assert keys() == expected, by
    assert headings()[0] == "Our favourites"


def test_x482_staff_add_change_and_remove_blocks(cleo: Client, lamp: str) -> None:
    category = make_category("Looms & yarn")
    woven = make_product("Woven Scarf", category=category, listed=True)
    for values in (
        {"source": "chosen", "product_ids": f"{lamp.lower()}, {woven.variants[0].sku}"},
        {"source": f"category:{category.category_id}"},
    ):
        assert add(cleo, "products", **values).status_code == 303
    text = {
        "title": "Spring <fair>",
        "text": "Come **early**. <script>alert(1)</script>",
        "link": f"/c/{category.slug}/",
        "link_label": "To the fair",
        "picture": "mug/c8724c-efeae0",
        "alt": "A mug",
    }
    assert add(cleo, "text", **text).status_code == 303
    page = html.fromstring(Client().get("/").content)
    *_, chosen, of_category, fair = page.cssselect("main section")
    names = [each.text_content().strip() for each in chosen.cssselect(".card__name")]
    assert names == ["Front Row Lamp", "Woven Scarf"]
    assert "Looms & yarn" in of_category.text_content()
    assert fair.cssselect("h2")[0].text_content().strip() == "Spring <fair>"
    assert fair.cssselect("strong")[0].text_content() == "early"
    assert not page.cssselect("main script")
    assert fair.cssselect(".button")[0].get("href") == f"/c/{category.slug}/"
    assert fair.cssselect("img")[0].get("alt") == "A mug"
    key = keys()[-1]
    address = reverse("adminpanel:front_block", args=(key,))
    assert cleo.post(address, typed(key, title="Autumn fair")).status_code == 303
    assert "Autumn fair" in headings()
    version = FRONT_BLOCKS.fingerprint(block(key))
    for _sent_twice in range(2):
        assert cleo.post(f"{address}remove/", {"version": version}).status_code == 303
    assert "Autumn fair" not in headings()


def test_x482_a_block_says_what_is_wrong_with_it(cleo: Client) -> None:
    before = keys()
    assert_explained(
        lambda values: add(cleo, "text", **values),
        [
            ({"link": "/nowhere/", "link_label": "Go"}, "The shop has no page at this address"),
            ({"link": "javascript:alert(1)", "link_label": "Go"}, "Enter an address of the shop"),
            ({"link": "/new/"}, "Enter the button text"),
            ({"picture": "mug/c8724c-efeae0"}, "Enter the alt text"),
            ({"picture": "https://elsewhere.example/x.png", "alt": "X"}, "field__error"),
            (
                {"starts_at": "2031-01-02T10:00", "ends_at": "2031-01-02T10:00"},
                "Enter a time after the first one",
            ),
        ],
    )
    assert_explained(
        lambda values: add(cleo, "products", **values),
        [
            ({"source": ""}, "Choose the content"),
            ({"source": "chosen"}, "Enter the SKU of a product"),
            ({"source": "chosen", "product_ids": "NO-SUCH"}, "No product has the SKU NO-SUCH."),
        ],
    )
    assert keys() == before
    for _ in range(MAX_BLOCKS - len(before)):
        assert add(cleo, "promotions").status_code == 303
    full = add(cleo, "promotions")
    assert full.status_code == 422
    assert "has 16 blocks already" in full.content.decode()


def test_x482_a_source_that_is_gone_stays_and_shows_nothing(cleo: Client) -> None:
    category = make_category("Looms")
    values = {"title": "Weave", "source": f"category:{category.category_id}"}
    assert add(cleo, "products", **values).status_code == 303
    operations.remove_category(category.category_id, operations.fingerprint_category(category))
    queries.clear_category_cache()
    key = keys()[-1]
    before, address = block(key), reverse("adminpanel:front_block", args=(key,))
    form = html.fromstring(cleo.get(address).content).get_element_by_id("setting")
    assert form.fields["source"] == before.source
    assert cleo.post(address, typed(key, ends_at="2031-01-02T10:00")).status_code == 303
    assert block(key).source == before.source
    for number, source in enumerate(("", "of a later version")):
        save_setting(FRONT_BLOCKS, f"b{number}", Block("", "products", 9, source=source), "", now())
    assert "Weave" not in headings()
    assert "No account needed" in headings()


def test_x481_a_blocks_button_leads_where_its_page_is_or_is_left_out(cleo: Client) -> None:
    category = make_category("Looms")
    words = {"title": "Fair", "link_label": "To the fair"}
    for link, target, shown in (
        ("orders:lookup", "orders:lookup", ["/orders/"]),
        ("/deals/", "deals", ["/deals/"]),
        (f"/c/{category.slug}/", f"category:{category.category_id}", [f"/c/{category.slug}/"]),
    ):
        assert add(cleo, "text", link=link, **words).status_code == 303
        key = keys()[-1]
        assert block(key).link == target
        assert typed(key)["link"] == shown[0]
        assert buttons(key) == shown
    operations.remove_category(category.category_id, operations.fingerprint_category(category))
    queries.clear_category_cache()
    assert buttons(key) == []
    # The head's own button doesn't need the row of new products.
    version = FRONT_BLOCKS.fingerprint(block("new"))
    cleo.post(reverse("adminpanel:front_block_remove", args=("new",)), {"version": version})
    page = html.fromstring(Client().get("/").content)
    assert page.cssselect(".hero .button")[0].get("href") == "/new/"


def buttons(key: str) -> list[str]:
    page = html.fromstring(Client().get("/").content)
    found = page.cssselect(f"section[aria-labelledby='{key}'] .button")
    return [each.get("href", "") for each in found]


def test_x482_staff_word_the_promise_about_delivery(cleo: Client) -> None:
    address = reverse("adminpanel:front_block", args=("promises",))
    words = {"title": "Sent <today>", "text": "To Norway & Iceland."}
    assert cleo.post(address, typed("promises", **words)).status_code == 303
    page = html.fromstring(Client().get("/").content)
    promise = page.cssselect(".promises li")[0].text_content()
    assert "Sent <today>" in promise
    assert "To Norway & Iceland. See delivery prices" in " ".join(promise.split())
    assert "European Union" not in promise


def test_x483_a_block_has_a_start_and_an_end_and_staff_preview_any_time(cleo: Client) -> None:
    at = datetime.now(UTC).replace(microsecond=0)
    for title, start, end in (("Over", -60, -30), ("Now", -30, 30), ("Soon", 30, 60)):
        save_setting(
            FRONT_BLOCKS,
            title.lower(),
            Block(
                *(title.lower(), "text", 9, title, "Words"),
                starts_at=at + timedelta(days=start),
                ends_at=at + timedelta(days=end),
            ),
            "",
            now(),
        )
    known = {"Over", "Now", "Soon"}
    soon = f"/?at={(at + timedelta(days=45)).strftime('%Y-%m-%dT%H:%M')}"
    assert known & set(headings()) == {"Now"}
    assert known & set(headings(cleo, soon)) == {"Soon"}
    assert "Preview: the front page" in cleo.get(soon).content.decode()
    # Nobody else sees it, whatever they ask for.
    assert known & set(headings(Client(), soon)) == {"Now"}
    packer = sign_in_staff(Client(), make_user("Will", role="warehouse"))
    assert known & set(headings(packer, soon)) == {"Now"}
    for nonsense in ("/?at=", "/?at=never", "/?at=2026-02-31T00:00", "/?at=9999-12-31T23:59"):
        assert cleo.get(nonsense).status_code == 200


def test_x483_of_two_who_change_a_block_none_loses_what_was_typed(cleo: Client) -> None:
    late, address = typed("deals", title="Mine"), reverse("adminpanel:front_block", args=("deals",))
    assert cleo.post(address, typed("deals", title="Theirs")).status_code == 303
    conflict = cleo.post(address, late)
    assert conflict.status_code == 409
    cells = html.fromstring(conflict.content).cssselect("#conflict td")
    assert [each.text_content().strip() for each in cells] == ["Theirs", "Mine"]
    # Removed meanwhile, the block is made again by whoever insists.
    fresh = typed("deals", title="Again")
    version = FRONT_BLOCKS.fingerprint(block("deals"))
    assert cleo.post(f"{address}remove/", {"version": version}).status_code == 303
    gone = cleo.post(address, fresh | {"block_kind": "products"})
    assert gone.status_code == 409
    assert (
        cleo.post(address, fresh | {"block_kind": "products", "overwrite": ""}).status_code == 303
    )
    assert block("deals").title == "Again"
    assert keys()[-1] == "deals"


def test_x483_a_block_that_moves_makes_no_form_stale(cleo: Client) -> None:
    open_form, address = (
        typed("tiles", title="By kind"),
        reverse("adminpanel:front_block", args=("tiles",)),
    )
    assert cleo.post(MOVE, {"by": "deals -4"}).status_code == 303
    moved = keys()
    assert moved[0] == "deals"
    assert cleo.post(address, open_form).status_code == 303
    assert (block("tiles").title, keys()) == ("By kind", moved)
    # A move between the read of a form and its save is kept, too.
    seen, stale = FRONT_BLOCKS.fingerprint(block("tiles")), block("tiles")
    assert cleo.post(MOVE, {"by": "tiles 3"}).status_code == 303
    moved = keys()
    save_setting(FRONT_BLOCKS, "tiles", replace(stale, title="Kinds"), seen, now())
    assert (block("tiles").title, keys()) == ("Kinds", moved)


def test_x484_an_app_adds_a_kind_of_block_and_the_page_does_without_it(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(block: Block, _now: datetime) -> Callable[[], str | None]:
        return lambda: None if block.title == "Night" else "sunny"

    kind = BlockKind("weather", "Weather", "storefront/blocks/text.html", start=start)
    found = find_app_modules("front_blocks")
    added = found | {"extension": SimpleNamespace(BLOCKS=(kind,))}
    with monkeypatch.context() as patch:
        patch.setattr(front_page, "find_app_modules", lambda _name: added)
        get_block_kinds.cache_clear()
        for title in ("Day", "Night"):
            assert add(cleo, "weather", title=title, text="Words").status_code == 303
        assert headings()[-1] == "Day"
        assert "Weather" in cleo.get(LIST).content.decode()
    get_block_kinds.cache_clear()
    assert "Day" not in headings()
    assert "weather" in cleo.get(LIST).content.decode()
    key = keys()[-1]
    sent = {"version": FRONT_BLOCKS.fingerprint(block(key))}
    removal = reverse("adminpanel:front_block_remove", args=(key,))
    assert cleo.post(removal, sent).status_code == 303
    assert key not in keys()
