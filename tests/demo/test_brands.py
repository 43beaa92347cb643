"""The demo shop's other brands: each is one that staff could save, is seen on pages and in mails, and is taken back."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from catalogue.front_page import get_block_kinds
from catalogue.menu_links import find_target
from catalogue.palette import find_weak_pairs
from catalogue.rules import is_picture
from demo.brands import FIRST, list_brand_names
from demo.catalogue_data import CATEGORIES, PRODUCTS, read_data_file
from mail.kinds import TEXTS, get_mail_kinds
from mail.rendering import render_mail
from mail.texts import find_broken_brace, list_missing
from shop_settings.brand import get_brand
from shop_settings.brand_history import list_saved_brands
from shop_settings.queries import get_settings_at_quorum
from tests.factories import make_order
from tests.rules import for_each
from tests.text_pages.saved_pages import get_page, own_pages, own_settings
from text_pages.drawing import get_placeholders, list_unknown_placeholders

__all__ = ["own_pages", "own_settings"]

NAME = "quire-and-nib"


@for_each(list_brand_names(), at_least=1)
def test_a_brand_is_one_that_staff_could_save(name: str) -> None:
    said = read_data_file(f"brands/{name}")
    brand = said["brand"]
    assert find_weak_pairs(brand["accent"], brand["ground"]) == []
    known = {each.key for each in PRODUCTS}
    assert said["category"].keys() <= {each.slug for each in CATEGORIES}
    for tables in (said["category"], said["block"]):
        assert known.issuperset(key for each in tables.values() for key in each.get("products", ()))
    assert all(is_picture(each["picture"]) for each in said["category"].values())
    for block in said["block"].values():
        allowed = {"kind", "products", *get_block_kinds()[block["kind"]].fields}
        assert block.keys() <= allowed
    for page in said["page"].values():
        assert list(page) == ["slug", "title", "description", "text"]
        assert list_unknown_placeholders(page["text"], get_placeholders()) == []
        assert len(page["description"]) <= 160
    own = {f"/help/{each['slug']}/" for each in said["page"].values()}
    own |= {f"/c/{each['slug']}/" for each in said["category"].values()}
    for menu in said["menu"].values():
        for target in (link["target"] for group in menu["groups"] for link in group["links"]):
            assert target in own or find_target(target) == target
    for key, mail in said["mail"].items():
        kind = get_mail_kinds()[key]
        texts = {each: mail.get(each, "") for each in TEXTS}
        assert [find_broken_brace(kind, each, texts[each]) for each in TEXTS] == ["", "", ""]
        assert list_missing(kind, texts) == []


@pytest.mark.usefixtures("own_pages")
def test_a_brand_is_loaded_by_a_command_seen_everywhere_and_taken_back(settings: Settings) -> None:
    kind, order = get_mail_kinds()["order_confirmed"], make_order(paid=True)
    assert kind.preview
    context = kind.preview(order)

    def load(name: str) -> None:
        call_command("load_brand", name, stdout=StringIO())

    def ask(address: str) -> str:
        return Client().get(address).content.decode()

    settings.DEMO = False
    with pytest.raises(CommandError, match="no demo shop"):
        load(NAME)
    settings.DEMO = True
    first = get_brand()
    for _twice in range(2):
        load(NAME)
    front = ask("/")
    assert "light for people who write by hand · Quire &amp; Nib</title>" in front
    assert "Write it down</h1>" in front
    assert "A letter takes one evening" in front
    assert 'alt="Quire &amp; Nib"' in front
    assert "Small print" in front
    assert "a left-handed colleague" in ask("/help/our-paper/")
    assert "Post and returns</h1>" in ask("/help/delivery/")
    mail = render_mail(kind.name, context)
    assert mail.subject == f"{order.number}: we are wrapping it in paper"
    assert "Yours in ink,\nQuire & Nib" in mail.text
    assert mail.html
    assert 'alt="Quire &amp; Nib"' in mail.html
    # The second load has changed nothing.
    assert len(list_saved_brands(get_settings_at_quorum())) == 2
    assert get_page("our-paper").saved == get_page("delivery").saved == 1
    load(FIRST)
    assert get_brand() == first
    assert "Quire" not in ask("/")
    assert Client().get("/help/our-paper/").status_code == 404
    assert "Delivery and returns</h1>" in ask("/help/delivery/")
    assert render_mail(kind.name, context).subject == f"Your order {order.number} at {first.name}"
