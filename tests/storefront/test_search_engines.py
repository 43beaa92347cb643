"""What search engines and other sites read: structured data, sitemap, robots.txt, and pictures for sharing."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse
from PIL import Image

from catalogue import queries, share_images
from catalogue.entities import CategoryNode, Product
from catalogue.share_images import find_share_image
from pricing.delivery import list_delivery_methods
from reviews.entities import Rating
from storefront import sitemap
from storefront.delivery_tables import usual_delivery_methods
from storefront.structured_data import postal_address, product_data
from tests.factories import make_product
from tests.storefront.page_parts import page_of, tree


def test_x137_what_search_engines_read(client: Client, jug: Product) -> None:
    (data,) = tree(client.get(page_of(jug))).cssselect("script[type='application/ld+json']")
    product, way = json.loads(data.text)
    assert (product["@type"], way["@type"]) == ("ProductGroup", "BreadcrumbList")
    offers = [variant["offers"] for variant in product["hasVariant"]]
    offer = offers[2]
    assert (offer["price"], offer["priceCurrency"]) == ("40.00", "EUR")
    assert offer["availability"].endswith("OutOfStock")
    assert product["image"][0].startswith(f"{settings.PUBLIC_URL}/pictures/mug/")
    assert way["itemListElement"][-1]["item"] == f"{settings.PUBLIC_URL}{page_of(jug)}"
    # An offer says what it costs to send and how it goes back, as the shop's own pages do. What was said once has an id.
    said = {
        each["@id"]: each
        for offer in offers
        for each in (*offer["shippingDetails"], offer["hasMerchantReturnPolicy"])
        if len(each) > 1
    }
    for offer in offers:
        costs = {
            region["addressCountry"]: (
                detail["shippingRate"]["value"],
                detail["deliveryTime"]["transitTime"]["maxValue"],
            )
            for detail in (said[each["@id"]] for each in offer["shippingDetails"])
            for region in detail["shippingDestination"]
        }
        assert costs == {
            code: (f"{usual.price.amount:.2f}", usual.days[1])
            for code, usual in usual_delivery_methods(0)
        }
        returns = said[offer["hasMerchantReturnPolicy"]["@id"]]
        assert returns["merchantReturnDays"] == settings.RETURN_DAYS
    free_from = list_delivery_methods("DE")[0].free_from
    assert free_from
    dear = replace(jug.variants[0], price=free_from, weight_grams=6000)
    with override_settings(RETURN_DAYS=0):
        (offer,) = product_data(replace(jug, variants=(dear,)), {}, Rating())["offers"]
    first = offer["shippingDetails"][0]
    assert first["shippingDestination"] == [{"@type": "DefinedRegion", "addressCountry": "DE"}]
    assert first["shippingRate"]["value"] == "0.00"
    returns = offer["hasMerchantReturnPolicy"]
    assert returns["merchantReturnDays"] == settings.WITHDRAWAL_DAYS
    # The front page says whose shop it is, and how it is searched.
    (data,) = tree(client.get("/")).cssselect("script[type='application/ld+json']")
    seller, site = json.loads(data.text)
    assert (seller["@type"], seller["email"]) == ("Organization", settings.SELLER["email"])
    assert site["publisher"]["@id"] == seller["@id"]
    search = site["potentialAction"]["target"]["urlTemplate"].removeprefix(settings.PUBLIC_URL)
    found = client.get(search.format(search_term_string=jug.variants[1].sku))
    assert (found.status_code, found["Location"]) == (302, page_of(jug, 1))


def test_x283_a_product_of_several_variants_is_a_group_of_what_differs(
    client: Client, jug: Product
) -> None:
    options = {"Colour": ["Teal", "Oat"], "Glaze": ["Matt"]}
    mug = make_product("Mug", options=options, brand="", description="")
    (data,) = tree(client.get(page_of(mug))).cssselect("script[type='application/ld+json']")
    group, _ = json.loads(data.text)
    assert (group["@type"], group["productGroupID"]) == ("ProductGroup", str(mug.product_id))
    assert group["variesBy"] == ["https://schema.org/color", "Glaze"]
    assert not {"offers", "sku"} & group.keys()
    assert [
        (each["@type"], each["name"], each["sku"], each["color"]) for each in group["hasVariant"]
    ] == [
        ("Product", f"Mug, {variant.label}", variant.sku, variant.options["Colour"])
        for variant in mug.variants
    ]
    for variant, each in zip(mug.variants, group["hasVariant"], strict=True):
        assert each["additionalProperty"] == [
            {"@type": "PropertyValue", "name": "Glaze", "value": "Matt"}
        ]
        assert each["offers"]["url"] == each["url"]
        assert each["url"].endswith(page_of(mug, mug.variants.index(variant)).partition("?")[2])
        assert each["offers"]["@type"] == "Offer"
    # What is sold in one way alone is a product by itself.
    cup = make_product("Cup")
    (data,) = tree(client.get(page_of(cup))).cssselect("script[type='application/ld+json']")
    alone, _ = json.loads(data.text)
    assert (alone["@type"], alone["sku"]) == ("Product", cup.variants[0].sku)
    assert len(alone["offers"]) == 1


def test_x283_no_property_is_empty(client: Client) -> None:
    bare = make_product("Bare", brand="", description="")
    with override_settings(SELLER=settings.SELLER | {"vat_id": "", "address": [""]}):
        texts = [
            tree(client.get(address)).cssselect("script[type='application/ld+json']")[0].text
            for address in ("/", page_of(bare))
        ]
    things = [thing for text in texts for thing in json.loads(text)]

    def empty(thing: Any, place: str) -> list[str]:
        if isinstance(thing, dict):
            found = [each for name in thing for each in empty(thing[name], f"{place}.{name}")]
            return found + ([place] if thing.keys() == {"@type"} else [])
        if isinstance(thing, list):
            found = [each for part in thing for each in empty(part, place)]
            return found + ([] if thing else [place])
        return [] if thing not in ("", None) else [place]

    assert [each for thing in things for each in empty(thing, thing["@type"])] == []


def test_x283_an_address_is_in_parts_only_where_nothing_of_it_is_guessed(client: Client) -> None:
    (data,) = tree(client.get("/")).cssselect("script[type='application/ld+json']")
    said = json.loads(data.text)[0]["address"]
    assert said == postal_address(settings.SELLER["address"])
    names = ("streetAddress", "postalCode", "addressLocality", "addressCountry")
    for written, *parts in (
        ("Weg 1|10115 Berlin|Germany", "Weg 1", "10115", "Berlin", "DE"),
        ("Weg 1|D-10115 Berlin|Germany", "Weg 1", "10115", "Berlin", "DE"),
        ("Stiege 2|Ring 1|A 1010 Wien|AT", "Stiege 2, Ring 1", "1010", "Wien", "AT"),
        ("Gasse 1|CH-8001 Zürich|Switzerland", "Gasse 1", "8001", "Zürich", "CH"),
        ("Gatan 1|SE-111 29 Stockholm|Sweden", "Gatan 1", "111 29", "Stockholm", "SE"),
        ("Iela 1|LV-1010 Rīga|Latvia", "Iela 1", "LV-1010", "Rīga", "LV"),
        ("Unit 4|2 Quay|Cork T12 X70A|IE", "Unit 4, 2 Quay", "T12 X70A", "Cork", "IE"),
        ("Quay 1|Dublin|D02 X285|Ireland", "Quay 1", "D02 X285", "Dublin", "IE"),
        ("Gracht 1|1012 AB Amsterdam|The Netherlands", "Gracht 1", "1012 AB", "Amsterdam", "NL"),
        ("1 Mall|London, SW1A 2AA|United Kingdom", "1 Mall", "SW1A 2AA", "London", "GB"),
        ("Ulice 1|110 00 Praha 1|Czechia", "Ulice 1", "110 00", "Praha 1", "CZ"),
        # Which of these lines is the town?
        ("Main Street|Naas|Co. Kildare|W91 X2Y3|IE", "Main Street, Naas, Co. Kildare", "W91 X2Y3"),
        # No postcode, no country, or a name that is no country's.
        ("1 Example Street|Dublin|Ireland", "1 Example Street, Dublin, Ireland"),
        ("Weg 1|10115 Berlin|Deutschland", "Weg 1, 10115 Berlin, Deutschland"),
        ("Calle 1|38001 Santa Cruz|Canary Islands", "Calle 1, 38001 Santa Cruz, Canary Islands"),
        ("Weg 1|Berlin", "Weg 1, Berlin"),
        ("Germany", "Germany"),
    ):
        address = postal_address(written.split("|"))
        found = [address.get(name, "") for name in names]
        wanted = [*parts, *[""] * (4 - len(parts))]
        if written.startswith("Main"):
            wanted[3] = "IE"
        assert found == wanted


def test_x282_who_has_the_sitemap_or_robots_already_is_answered_304(client: Client) -> None:
    for address in ("/robots.txt", "/sitemap.xml"):
        first = client.get(address)
        again = client.get(address, headers={"If-None-Match": first["ETag"]})
        assert (first.status_code, again.status_code, again.content) == (200, 304, b""), address
        packed = client.get(address, headers={"Accept-Encoding": "gzip"})
        assert client.get(address, headers={"If-None-Match": packed["ETag"]}).status_code == 304
        changed = client.get(address, headers={"If-None-Match": '"another"'})
        assert changed.content == first.content


def test_x136_s87_other_sites_show_a_jpeg_that_only_the_shop_can_have_made(
    client: Client, jug: Product, leaf_category: CategoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ("/", reverse("category", args=(leaf_category.slug,)), page_of(jug, 1))
    for address in addresses:
        page = tree(client.get(address))
        said = {
            each.get("property") or each.get("name"): each.get("content")
            for each in page.cssselect("meta")
        }
        assert said["og:url"] == page.xpath("string(//link[@rel='canonical']/@href)")
        assert said["og:url"] == f"{settings.PUBLIC_URL}{address.partition('?')[0]}"
        assert page.findtext(".//title") == f"{said['og:title']} · {said['og:site_name']}"
        assert said["og:description"] == said["description"]
        assert said["twitter:card"] == "summary_large_image"
        image = said["og:image"].removeprefix(settings.PUBLIC_URL)
        found = client.get(image)
        assert found["Content-Type"] == "image/jpeg"
        assert found["Cache-Control"] == "public, max-age=31536000, immutable"
        assert len(found.content) < 200_000
        with Image.open(BytesIO(found.content)) as drawn:
            assert drawn.format == "JPEG"
            assert drawn.size == (int(said["og:image:width"]), int(said["og:image:height"]))
    # A process makes one at a time: who waits too long asks again.
    monkeypatch.setattr(share_images, "SECONDS_EACH", 0.01)
    other = find_share_image("mug/123456").url.removeprefix(settings.PUBLIC_URL)
    with share_images._ONE_AT_A_TIME:
        assert (client.get(other).status_code, client.get(image).status_code) == (503, 200)
    # It is made once, and an earlier key of the shop's still counts.
    monkeypatch.setattr(share_images, "_render", None)
    with override_settings(SECRET_KEY="k" * 60, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert client.get(image).content == found.content
    shape, colours, key = image.removeprefix("/pictures/").removesuffix(".jpg").split("/")
    for other in (
        f"{shape}/ffffff/{key}",
        f"{shape}/{colours}/{key[:-1]}é",
        f"{shape}/zzzzzz/{key}",
        f"shop/{key}",
    ):
        assert client.get(f"/pictures/{other}.jpg").status_code == 404


def test_robots_txt_says_where_there_is_nothing_for_them(client: Client) -> None:
    text = client.get("/robots.txt").content.decode()
    for place in ("/cart/", "/checkout/", "/account/", "/staff/", "/search"):
        assert f"Disallow: {place}\n" in text
    assert f"Sitemap: {settings.PUBLIC_URL}/sitemap.xml" in text


def test_x139_the_sitemap_names_what_is_sold_and_when_it_changed(
    client: Client, jug: Product, tmp_path: Path
) -> None:
    gone = replace(jug, slug="gone", status="archived")
    assert jug.updated_at
    node = queries.get_category_tree().by_id[jug.category_id]
    now = datetime.now(UTC) + timedelta(minutes=3)
    left = replace(gone, updated_at=jug.updated_at + timedelta(minutes=2))
    to_come = replace(jug, slug="to-come", active_from=now + timedelta(days=1))
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        assert b"<loc>" in client.get("/sitemap.xml").content
        sitemap.write_sitemap([left, to_come, jug], now)
        text = client.get("/sitemap.xml").content.decode()
    changed_at = dict(re.findall(r"<loc>([^<]+)</loc><lastmod>([^<]+)<", text))
    assert changed_at[f"{settings.PUBLIC_URL}{page_of(jug)}"] == f"{jug.updated_at:%FT%TZ}"
    # What has gone has changed its category, and all above it; what is to come has not yet.
    for each in node.path:
        category = f"{settings.PUBLIC_URL}{reverse('category', args=(each.slug,))}"
        assert changed_at[category] == f"{left.updated_at:%FT%TZ}"
    assert "/p/gone/" not in text
    assert "/p/to-come/" not in text


def test_a_large_sitemap_has_an_index(
    client: Client, jug: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "MAX_SITEMAP_URLS", 100)
    many = [replace(jug, slug=f"jug-{place}") for place in range(250)]
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        count = sitemap.write_sitemap(many, datetime.now(UTC))
        parts = re.findall(
            r"/sitemap-(\d+)\.xml</loc>", client.get("/sitemap.xml").content.decode()
        )
        found = sum(client.get(f"/sitemap-{part}.xml").content.count(b"<url>") for part in parts)
        assert client.get("/sitemap-999.xml").status_code == 404
        assert client.get(f"/sitemap-{'9' * 400}.xml").status_code == 404
    assert found == count
    assert len(parts) == -(-count // 100)
