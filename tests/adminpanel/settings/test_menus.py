"""The staff's pages of the shop's menus, and the menus that shoppers see."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import User
from adminpanel.settings.menu_forms import MenuForm
from catalogue import operations, queries
from shop_settings.menus import FOOTER, HEADER, MENUS, Menu
from shop_settings.operations import save_setting
from shop_settings.queries import get_settings_at_quorum
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.clock import now
from tests.factories import make_category, make_user, sign_in_staff
from tests.rules import assert_explained
from tests.text_pages.saved_pages import own_pages, own_settings
from tests.text_pages.saved_pages import save as save_version
from text_pages.operations import set_offline

__all__ = ["own_pages", "own_settings"]
pytestmark = pytest.mark.usefixtures("own_settings")


@pytest.fixture
def user() -> User:
    return make_user("Cleo", role="catalogue")


@pytest.fixture
def cleo(client: Client, user: User) -> Client:
    return sign_in_staff(client, user)


def menu(key: str) -> Menu:
    return get_settings_at_quorum().get_values(MENUS)[key]


def typed(key: str, **changes: str) -> dict[str, Any]:
    """Return what the form would send as it is shown, with some fields typed anew."""
    form = MenuForm(menu(key), key)
    return {name: form[name].value() or "" for name in form.fields} | changes


def send(client: Client, key: str, **changes: str) -> Any:
    return client.post(reverse("adminpanel:menu", args=(key,)), typed(key, **changes))


def links(part: str) -> list[tuple[str, str]]:
    """Return the links in a part of the shop's page of deals, as a guest sees it."""
    page = html.fromstring(Client().get("/deals/").content)
    found = page.cssselect(f"{part} a")
    return [(" ".join(each.text_content().split()), each.get("href")) for each in found]


def test_x480_the_footer_shows_its_first_links_until_staff_change_them(
    cleo: Client, user: User
) -> None:
    assert links(".footer li") == [
        ("New arrivals", "/new/"),
        ("Deals", "/deals/"),
        ("Posts", "/posts/"),
        ("Help", "/help/"),
        ("Contact us", "/contact/"),
        ("Delivery and returns", "/help/delivery/"),
        ("Find your order", "/orders/"),
        ("Withdraw from contract here", "/withdraw/"),
        ("Your account", "/account/"),
        ("Your cart", "/cart/"),
        ("Privacy", "/help/privacy/"),
        ("Terms of sale", "/help/terms/"),
        ("Legal notice", "/help/imprint/"),
        ("Accessibility", "/help/accessibility/"),
    ]
    category = make_category("Looms & yarn")
    done = send(
        cleo,
        FOOTER,
        title_0="Wool",
        line_0000="",
        line_0001=f"/c/{category.slug}/",
        line_0010="Sale",
        line_0020="",
        line_0021="",
        line_0030="Sheep",
        line_0031="https://sheep.example/flock?a=1&b=2",
    )
    assert done.status_code == 303
    assert links(".footer li")[:4] == [
        ("Looms & yarn", f"/c/{category.slug}/"),
        ("Sale", "/deals/"),
        ("Sheep", "https://sheep.example/flock?a=1&b=2"),
        ("Help", "/help/"),
    ]
    # Only what staff have typed is stored; the rest follows its page or category.
    stored = menu(FOOTER).groups[0]
    assert [each.label for each in stored.links] == ["", "Sale", "Sheep"]
    assert menu(FOOTER).groups[1] == MENUS.first_values()[FOOTER].groups[1]
    [entry] = list_entries_this_month(user)
    assert entry.changes["Wool"].endswith("Sheep: https://sheep.example/flock?a=1&b=2")
    operations.remove_category(category.category_id, operations.fingerprint_category(category))
    queries.clear_category_cache()
    assert links(".footer li")[0] == ("Sale", "/deals/")


def test_x480_a_header_has_links_and_submenus_in_the_order_of_the_staff(cleo: Client) -> None:
    done = send(
        cleo,
        HEADER,
        title_1="Service",
        line_1000="",
        line_1001="/help/",
        line_1010="Size guide",
        line_1011="/help/#sizes",
        move="0-2--2",
    )
    assert done.status_code == 303
    assert links(".nav > li")[-5:] == [
        ("Posts", "/posts/"),
        ("New arrivals", "/new/"),
        ("Deals", "/deals/"),
        ("Help", "/help/"),
        ("Size guide", "/help/#sizes"),
    ]
    assert [each for each, _ in links(".menu__panel")][-2:] == ["Help", "Size guide"]
    # Moved beyond the ends of its group, a link stays at the end.
    for step in ("-9", "9"):
        send(cleo, HEADER, move=f"0-1-{step}")
    assert [each.target for each in menu(HEADER).groups[0].links] == [
        *("new_arrivals", "deals", "posts:newest")
    ]


def test_x481_a_menu_refuses_what_leads_nowhere(cleo: Client) -> None:
    before = menu(FOOTER)
    wrong = (
        "/staff/menus/",
        "/staff/menus/footer/",
        "/nowhere/",
        "/c/no-such-category/",
        "/c/no-such-category/?sort=new",
        "/p/no-such-product/",
        "/help/no-such-page/",
        "/help/no-such-page/#top",
        "//elsewhere.example/",
        "http://elsewhere.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        "helpers",
    )
    cases = [({"line_0030": "Mine", "line_0031": each}, each) for each in wrong]
    cases += [
        ({"line_0030": "Mine"}, "Enter an address, or empty the label"),
        ({"line_0031": "/help/#sizes"}, "Enter a label for this address"),
        ({"title_0": ""}, "Enter a title for these links"),
    ]
    assert_explained(lambda each: send(cleo, FOOTER, **each), cases, "field__error")
    assert menu(FOOTER) == before


@pytest.mark.usefixtures("own_pages")
def test_x480_a_link_to_a_page_of_text_is_shown_while_the_page_is_live(cleo: Client) -> None:
    later = now() + timedelta(days=1)
    save_version("sizes", 1, "sizes")
    save_version("fair", 1, "fair", live_from=later)
    lines = {"line_0030": "Sizes", "line_0031": "/help/sizes/#shirts", "line_0040": "Fair"}
    assert send(cleo, FOOTER, **lines, line_0041="/help/fair/").status_code == 303
    shown = ("Sizes", "/help/sizes/#shirts")
    assert shown in links(".footer li")
    assert ("Fair", "/help/fair/") not in links(".footer li")
    for is_offline in (True, False):
        set_offline("sizes", now(), is_offline=is_offline)
        assert (shown in links(".footer li")) is not is_offline
        # It keeps nobody from saving the menu.
        assert send(cleo, FOOTER, line_0000=f"New {is_offline}").status_code == 303


def test_x480_the_audit_log_tells_groups_with_one_title_apart(cleo: Client, user: User) -> None:
    assert send(cleo, FOOTER, title_1="Shop", line_0000="Novelties").status_code == 303
    [entry] = list_entries_this_month(user)
    assert "Novelties: /new/" in entry.changes["Shop"]
    assert "/contact/" in entry.changes["Shop (2)"]


def test_x481_what_the_law_wants_is_renamed_and_moved_but_stays(cleo: Client) -> None:
    renamed = send(cleo, FOOTER, line_3020="Impressum")
    assert renamed.status_code == 303
    assert ("Impressum", "/help/imprint/") in links(".footer li")
    for line in ("201", "300", "302"):
        refused = send(cleo, FOOTER, **{f"line_{line}0": "", f"line_{line}1": ""})
        assert refused.status_code == 422
        assert "The law wants links" in refused.content.decode()
    moved = send(
        cleo, FOOTER, line_3000="", line_3001="", line_1030="Data", line_1031="/help/privacy/"
    )
    assert moved.status_code == 303
    assert ("Data", "/help/privacy/") in links(".footer li")


def test_x481_of_two_who_change_a_menu_the_later_sees_both_states(cleo: Client) -> None:
    late = typed(HEADER, line_0010="Bargains")
    first = menu(HEADER)
    changed = Menu((first.groups[0], *first.groups[1:]))
    save_setting(
        MENUS,
        HEADER,
        Menu((type(first.groups[0])("", first.groups[0].links[:2]), *changed.groups[1:])),
        MENUS.fingerprint(first),
        now(),
    )
    conflict = cleo.post(reverse("adminpanel:menu", args=(HEADER,)), late)
    assert conflict.status_code == 409
    page = html.fromstring(conflict.content)
    assert "Bargains: /deals/" in page.get_element_by_id("conflict").text_content()
    version = page.get_element_by_id("overwrite").get("value")
    done = cleo.post(reverse("adminpanel:menu", args=(HEADER,)), late | {"overwrite": version})
    assert done.status_code == 303
    assert [each.label for each in menu(HEADER).groups[0].links] == ["", "Bargains", ""]
