"""The staff's pages of products: found, made, changed, also by two at once."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from math import inf
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone
from moneyed import EUR, Money

from accounts import audit_log
from accounts.models import User
from adminpanel.catalogue.product_forms import fingerprint_product, fingerprint_status
from cassandra_db import current_time
from catalogue import operations, queries
from catalogue.entities import Product
from catalogue.previews import make_preview_token
from catalogue.search_index import READER, build_index
from catalogue.variants import fingerprint_variant
from tests.adminpanel.catalogue.product_page import NEW, address, stored, typed, typed_new
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_category, make_product, make_user, sign_in_staff
from tests.rules import assert_explained

LIST = reverse("adminpanel:products")


# ---- Made


def test_a_product_is_made_as_a_draft_and_opened_for_the_rest(cleo: Client) -> None:
    sent = typed_new()
    answer = cleo.post(NEW, sent)
    made = stored(UUID(sent["product_id"]))
    assert (answer.status_code, answer["Location"]) == (303, address(made))
    variant = made.variants[0]
    assert (made.status, made.name) == ("draft", "Oak stool")
    assert variant.sku == sent["variant-0-sku"].upper()
    assert (variant.price, variant.weight_grams) == (Money("89.50", EUR), 4200)
    page = cleo.get(address(made)).content.decode()
    assert "Draft. Shoppers don’t see it." in page
    assert Client().get(reverse("product", args=(made.slug,))).status_code == 404


def test_x95_sent_twice_it_is_one_product(cleo: Client) -> None:
    sent = typed_new()
    answers = [cleo.post(NEW, sent) for _ in range(2)]
    assert [each.status_code for each in answers] == [303, 303]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert stored(UUID(sent["product_id"])).version == 1


def test_a_name_of_any_letters_has_an_address(cleo: Client) -> None:
    slugs = {}
    for name in ("USB_C cable", "Größe & Co. – neu", "茶碗", "x" * 200):
        sent = typed_new(name=name)
        assert cleo.post(NEW, sent).status_code == 303, name
        slugs[name] = stored(UUID(sent["product_id"])).slug
    assert slugs["USB_C cable"].startswith("usb-c-cable")
    assert slugs["茶碗"].startswith("st-")


def test_two_products_of_one_name_have_two_addresses(cleo: Client) -> None:
    name = f"Twin {uuid4().hex[:8]}"
    twins = [typed_new(name=name) for _ in range(2)]
    for each in twins:
        assert cleo.post(NEW, each).status_code == 303
    slugs = [stored(UUID(each["product_id"])).slug for each in twins]
    assert slugs[0] != slugs[1]
    assert slugs[1].startswith(slugs[0])


def test_x95_what_makes_no_product_is_said_beside_its_field_and_stays_typed(cleo: Client) -> None:
    taken = make_product(listed=True).variants[0].sku
    violations: list[Any] = []
    for fields, sentence in (
        ({"name": ""}, "Enter a name"),
        ({"variant-0-price": ""}, "Enter a price"),
        ({"variant-0-price": "-1"}, "Enter a price above 0"),
        ({"variant-0-price": "1000000000"}, "Enter a price of 1000000 at most"),
        ({"variant-0-price": "1.005"}, "Enter a price with"),
        ({"variant-0-price": "cheap"}, "Enter a price, such as"),
        ({"variant-0-sku": "bad sku!"}, "Enter a SKU of at most"),
        ({"variant-0-sku": taken}, "Another variant has the SKU"),
        ({"category_id": str(uuid4())}, "Choose a category"),
        ({"variant-0-weight_grams": "-5"}, "Enter a number from 0"),
    ):
        sent = typed_new(brand="Stays as typed") | fields
        answer = cleo.post(NEW, sent)
        text = answer.content.decode()
        if answer.status_code != 422 or sentence not in text or "Stays as typed" not in text:
            violations.append((fields, answer.status_code))
        if queries.get_product_at_quorum(UUID(sent["product_id"])):
            violations.append((fields, "was saved"))
    assert not violations


# ---- Changed


def test_all_of_a_product_is_changed(cleo: Client) -> None:
    product, other = make_product("Bowl", listed=True), make_product("Plate", listed=True)
    shelf, table = make_category("Breakfast"), make_category("Table")
    variants = stored(product.product_id).variants
    slug = f"bowl-{uuid4().hex[:10]}"
    answer = cleo.post(
        address(product),
        typed(
            stored(product.product_id),
            name="Deep bowl",
            description="For *soup*.",
            details="Material: stoneware\nCare: dishwasher",
            category_ids=[str(shelf.category_id), str(table.category_id)],
            tags="soup, winter",
            featured="on",
            related=other.variants[0].sku.lower(),
            successor=other.variants[0].sku.lower(),
            length_mm="150",
            maker="Kilnbrook, Cork",
            maker_contact="hello@kilnbrook.example",
            responsible_person="Hald GmbH, Berlin",
            safety="Hot things stay hot.",
            slug=slug,
            search_title="Deep bowl for soup",
        ),
    )
    assert (answer.status_code, answer["Location"]) == (303, address(product))
    found = stored(product.product_id)
    assert (found.name, found.slug, found.featured, found.length_mm) == (
        "Deep bowl",
        slug,
        True,
        150,
    )
    assert found.details == {"Material": "stoneware", "Care": "dishwasher"}
    assert found.category_ids == {shelf.category_id, table.category_id}
    assert found.tags == {"soup", "winter"}
    assert (found.related_ids, found.successor_id) == ((other.product_id,), other.product_id)
    assert found.variants == variants
    page = cleo.get(address(product)).content.decode()
    assert "Saved: Name, Description" in page
    shop = Client().get(reverse("product", args=(slug,))).content.decode()
    assert "<em>soup</em>" in shop
    for text in ("Hot things", "Kilnbrook, Cork", "hello@kilnbrook.example", "Hald GmbH, Berlin"):
        assert text in shop, text
    moved = Client().get(reverse("product", args=(product.slug,)))
    assert (moved.status_code, moved["Location"]) == (301, reverse("product", args=(slug,)))


def test_the_form_of_an_untouched_product_changes_nothing(cleo: Client) -> None:
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True)
    before = stored(product.product_id)
    assert cleo.post(address(product), typed(before)).status_code == 303
    after = stored(product.product_id)
    assert replace(after, version=before.version, updated_at=before.updated_at) == before
    assert "Nothing has changed" in cleo.get(address(product)).content.decode()


def test_x89_x95_two_people_on_one_product_see_both_states_and_lose_nothing(cleo: Client) -> None:
    product = make_product("Bowl", listed=True)
    shown = typed(stored(product.product_id))
    ann = sign_in_staff(Client(), make_user("Ann", role="catalogue"))
    assert ann.post(address(product), shown | {"brand": "Ann’s brand"}).status_code == 303
    answer = cleo.post(address(product), shown | {"name": "Cleo’s bowl"})
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Ann’s brand" in text
    assert text.count("Cleo’s bowl") >= 2  # beside what is saved, and in the form
    found = stored(product.product_id)
    assert (found.name, found.brand) == ("Bowl", "Ann’s brand")
    newer = {"overwrite": fingerprint_product(found), "version": shown["version"]}
    assert cleo.post(address(product), shown | newer | {"name": "Cleo’s bowl"}).status_code == 303
    assert stored(product.product_id).name == "Cleo’s bowl"


def test_what_cannot_be_saved_of_a_product_is_said_beside_its_field(cleo: Client) -> None:
    product, other = make_product("Bowl", listed=True), make_product("Plate", listed=True)
    assert_explained(
        lambda fields: cleo.post(
            address(product), typed(stored(product.product_id), maker="Stays as typed") | fields
        ),
        (
            ({"name": " "}, "Enter a name"),
            ({"slug": "Not an address"}, "Enter lower-case letters"),
            ({"slug": other.slug}, "Another product has this address"),
            ({"details": "no colon"}, "with a colon"),
            ({"details": "A: 1\nA: 2"}, "is there twice"),
            ({"related": "NO-SUCH-SKU"}, "No product has the SKU NO-SUCH-SKU"),
            ({"related": product.variants[0].sku}, "Choose other products, each one once"),
            ({"length_mm": "-1"}, "Enter a number from 0"),
            ({"tags": ",".join(f"tag{n}" for n in range(101))}, "Enter at most 100"),
            ({"active_from": "soon"}, "Enter a day and a time"),
            ({"active_from": "0001-01-01T00:00+05:00"}, "Enter a year from 2000"),
            ({"active_until": "9999-12-31T23:59"}, "Enter a year from 2000"),
            ({"related": "A-1\n" * 13}, "Enter 12 SKUs at most"),
            (
                {"active_from": "2027-01-02T10:00", "active_until": "2027-01-01T10:00"},
                "Enter an end of sale after its start",
            ),
            ({"category_id": "nothing"}, "Choose a category"),
            ({"description": "x" * 20_001}, "at most 20000"),
            # All that is wrong is said at once.
            ({"slug": "Not an address", "tags": "y" * 101}, "there are 101"),
            ({"slug": "Not an address", "tags": "y" * 101}, "Enter lower-case letters"),
        ),
        "Stays as typed",
    )
    assert stored(product.product_id).version == 1


def test_a_product_comes_and_goes_by_its_status(cleo: Client) -> None:
    product = make_product("Bowl", listed=True)
    page = reverse("product", args=(product.slug,))
    seen = []
    for status in ("draft", "active", "archived", "active"):
        sent = {"status": status, "version": fingerprint_status(stored(product.product_id))}
        answer = cleo.post(address(product, "product_status"), sent)
        assert (answer.status_code, answer["Location"]) == (303, address(product))
        seen.append(Client().get(page).status_code)
    assert seen == [404, 200, 410, 200]
    assert cleo.post(address(product, "product_status"), {"status": "lost"}).status_code == 404


def test_a_draft_is_shown_by_its_signed_link_alone(cleo: Client) -> None:
    product, other = make_product("Bowl", listed=True), make_product("Plate", listed=True)
    operations.change_product_status(stored(product.product_id), "draft", current_time())
    page = reverse("product", args=(product.slug,))
    shown = re.search(
        r'href="([^"]*[?]preview=[^"]+)"', cleo.get(address(product)).content.decode()
    )
    assert shown
    link = shown[1]
    assert link.startswith(page)
    answer = Client().get(link)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "This is a preview" in text
    assert 'content="noindex"' in text
    assert 'id="add-button"' not in text
    foreign = f"{page}?preview={make_preview_token(other.product_id)}"
    assert [Client().get(each).status_code for each in (foreign, f"{page}?preview=x")] == [404, 404]


def test_a_preview_keeps_its_link_through_a_choice_and_another_address(cleo: Client) -> None:
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True)
    draft = operations.change_product_status(stored(product.product_id), "draft", current_time())
    token = make_preview_token(product.product_id)
    page = reverse("product", args=(product.slug,))
    text = Client().get(f"{page}?preview={token}").content.decode()
    assert f'name="preview" value="{token}"' in text
    chosen = Client().get(page, {"variant": product.variants[1].sku, "preview": token})
    assert (chosen.status_code, "This is a preview" in chosen.content.decode()) == (200, True)
    operations.save_product(replace(draft, slug=f"new-{product.slug}"), current_time())
    moved = Client().get(f"{page}?preview={token}")
    assert moved.status_code == 302
    assert Client().get(moved["Location"]).status_code == 200


def test_the_audit_log_says_what_of_a_product_was_changed(cleo: Client) -> None:
    sent = typed_new(name="Oak stool")
    assert cleo.post(NEW, sent).status_code == 303
    made = stored(UUID(sent["product_id"]))
    changed = typed(made, {"variant-0-barcode": "4006381333931"})
    assert cleo.post(address(made), changed).status_code == 303
    copied = cleo.post(address(made, "product_copy"))["Location"].rstrip("/").rpartition("/")[2]
    user = User.objects.get(pk=cleo.session["_auth_user_id"])
    entries = {each.act: each for each in list_entries_this_month(user, audit_log.STAFF)}
    assert entries["adminpanel:product_new"].fields["name"] == "Oak stool"
    assert "Oak stool" in entries["adminpanel:product_new"].changes["Name"]
    assert "4006381333931" in entries["adminpanel:product"].changes["Barcode"]
    assert copied in entries["adminpanel:product_copy"].changes["copy"]


def test_a_copy_is_a_draft_of_its_own(cleo: Client) -> None:
    product = make_product("Bowl", options={"Colour": ["Oat", "Slate"]}, listed=True)
    answer = cleo.post(address(product, "product_copy"))
    made = stored(UUID(answer["Location"].rstrip("/").rpartition("/")[2]))
    assert made.product_id != product.product_id
    assert (made.status, made.name, len(made.variants)) == ("draft", "Bowl (copy)", 2)


# ---- Its prices


def local(moment: datetime) -> str:
    return timezone.localtime(moment).strftime("%Y-%m-%dT%H:%M")


def test_x93_a_sale_is_planned_shown_and_taken_back(cleo: Client) -> None:
    product = make_product("Bowl", price="20.00", listed=True)
    variant = product.variants[0]
    page = address(product, "product_prices", variant.variant_id)
    soon = current_time() + timedelta(days=1)
    sent = {
        "seen": fingerprint_variant(variant),
        "price": "15.00",
        "compare_at": "20.00",
        "starts": local(soon),
        "ends": local(soon + timedelta(days=7)),
    }
    answer = cleo.post(page, sent)
    assert (answer.status_code, answer["Location"]) == (303, page)
    found = stored(product.product_id).variants[0]
    assert [(each.price.amount, each.compare_at) for each in found.planned] == [
        (Decimal(15), Money(20, EUR)),
        (Decimal(20), None),
    ]
    assert found.price.amount == Decimal(20)
    assert "€15.00" in cleo.get(page).content.decode()
    # The page was shown before the sale was planned.
    late = typed(product, {"variant-0-price": "19.00"})
    assert cleo.post(address(product), late).status_code == 409
    # What is asked before the sale comes back after it, also if it changes until then.
    in_time = typed(stored(product.product_id), {"variant-0-price": "22.00"})
    assert cleo.post(address(product), in_time).status_code == 303
    found = stored(product.product_id).variants[0]
    assert [each.price.amount for each in found.planned] == [Decimal(15), Decimal(22)]
    begins = found.planned[0].starts_at.isoformat()
    removed = cleo.post(page, {"seen": fingerprint_variant(found), "remove": begins})
    assert removed.status_code == 303
    assert stored(product.product_id).variants[0].planned == (), "a sale goes with its end"


def test_x94_what_cannot_be_planned_is_said_beside_its_field(cleo: Client) -> None:
    product = make_product("Bowl", price="20.00", listed=True)
    variant = product.variants[0]
    page = address(product, "product_prices", variant.variant_id)
    soon = current_time() + timedelta(days=1)
    sent = {"seen": fingerprint_variant(variant), "price": "15.00", "starts": local(soon)}
    assert_explained(
        lambda fields: cleo.post(page, sent | fields),
        (
            ({"price": "-1"}, "Enter a price above 0"),
            ({"starts": ""}, "Enter a day and a time"),
            ({"starts": "2001-01-01T10:00"}, "Enter a start in the future"),
            ({"ends": local(soon)}, "Enter a time after the first one"),
            ({"compare_at": "25.00"}, "at most €20.00, the lowest price"),
            ({"compare_at": "10.00"}, "above the price"),
        ),
    )
    assert cleo.post(page, sent | {"seen": "older"}).status_code == 409
    assert stored(product.product_id).variants[0].planned == ()


# ---- Found


@pytest.fixture
def listed(keyspace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Product]]:
    """An index of these products alone, one of each status."""
    products = [
        make_product(name, brand="Nordlicht") for name in ("Alpha tray", "Beta tray", "Gamma")
    ]
    products[1] = replace(products[1], status="draft")
    with override_settings(SEARCH_INDEX_DIR=tmp_path_factory.mktemp("index")):
        build_index(products)
        READER.looked_at = -inf
        yield products


def test_products_are_found_by_word_sku_and_filter(cleo: Client, listed: list[Product]) -> None:
    alpha, _, gamma = listed

    def found(**parameters: str) -> list[bool]:
        text = cleo.get(LIST, parameters).content.decode()
        return [address(each) in text for each in listed]

    assert found() == [True, True, True]
    assert found(q="tra") == [True, True, False]
    assert found(q=gamma.variants[0].sku.lower()) == [False, False, True]
    assert found(q="nordlicht", status="draft") == [False, True, False]
    assert found(category=str(alpha.category_id)) == [True, True, True]
    assert found(bare="on") == [False, False, False]
    assert found(brand="Nordlicht", stock="in") == [True, True, True]
    assert found(stock="out") == found(reduced="on") == [False, False, False]
    assert found(page="-3", sort="x") == [True, True, True]
    empty = cleo.get(LIST, {"q": "zzzz"}).content.decode()
    assert "No product matches" in empty


def test_without_an_index_the_list_says_so(cleo: Client, tmp_path: Any) -> None:
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        READER.looked_at = -inf
        answer = cleo.get(LIST)
    assert answer.status_code == 200
    assert "The search index isn’t ready yet" in answer.content.decode()
