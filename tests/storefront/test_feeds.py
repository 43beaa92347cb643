"""X547, X548, S123: feeds for Google and for readers, the sitemap's images, and llms.txt."""

import csv
import gc
import io
import os
import re
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client, override_settings
from lxml import etree
from moneyed import EUR, Money

from catalogue.entities import Product, ProductPicture, Variant
from catalogue.queries import product_card
from inventory.entities import BACKORDER, PREORDER, Backorder, Stock
from storefront import feeds, sitemap
from storefront.choices import variant_url
from storefront.feed_files import find_folder
from storefront.google_items import ATTRIBUTES, list_items
from tests.clock import now
from tests.factories import make_category, make_product
from tests.storefront.google_rules import list_faults
from tests.storefront.page_parts import tree

_G = "{http://base.google.com/ns/1.0}"
_ATOM = {"a": "http://www.w3.org/2005/Atom"}
_IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}loc"
IN_STOCK = Stock(3, "in")
SOON = date.today() + timedelta(days=30)  # noqa: DTZ011 -- any day of these weeks
PHOTOS = tuple(f"photo/{number:032x}-900x900" for number in range(12))


@pytest.fixture(autouse=True)
def _folder(keyspace: str, tmp_path: Path) -> Iterator[None]:
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        yield


def first(product: Product, **changes: Any) -> Product:
    return replace(product, variants=(replace(product.variants[0], **changes),))


def xml_items(client: Client) -> list[dict[str, list[str]]]:
    answer = client.get("/feeds/google.xml")
    items = []
    for item in etree.fromstring(b"".join(answer)).iter("item"):
        found: dict[str, list[str]] = {}
        for each in item:
            found.setdefault(each.tag.removeprefix(_G), []).append(each.text)
        items.append(found)
    return items


def table_items(client: Client) -> list[dict[str, str]]:
    text = b"".join(client.get("/feeds/google.tsv")).decode()
    return list(csv.DictReader(io.StringIO(text), dialect="excel-tab"))


def make_kinds() -> list[Product]:
    """Products of all kinds, with all that an item may have, and with texts that are too long or hostile."""
    options = {"Colour": ["Teal", "Oat"], "Glaze": ["Matt"], "Size": ["S"]}
    jug = make_product("Jug", compare_at="60.00", options=options, category=make_category("A > B"))
    mug = first(make_product("Mug"), barcode="4006381333931", mpn="K-17", content=Decimal("0.50"))
    hostile = make_product(
        '=cmd|" <b>\ufffe\t\n&', brand="\U0001f3fa@", description="a <b>b</b> " * 900
    )
    return [
        replace(jug, google_category="2169"),
        replace(mug, unit="l", pictures=tuple(ProductPicture(each, "") for each in PHOTOS)),
        first(replace(hostile, name=hostile.name * 9), sku="L" * 64),
        first(make_product("Bare", brand="", description=""), weight_grams=0),
        replace(first(make_product("No picture"), picture=""), pictures=()),
        replace(make_product("Gone"), status="archived"),
    ]


def test_x547_items_keep_googles_rules_in_both_files(client: Client) -> None:
    products = make_kinds()
    assert feeds.write_feeds(products, now()) == 5
    items = xml_items(client)
    assert [[*list_faults(each)] for each in items] == [[]] * 5
    rows = table_items(client)
    assert tuple(rows[0]) == ATTRIBUTES
    for item, row in zip(items, rows, strict=True):
        filled = {name: cell for name, cell in row.items() if cell}
        assert filled.keys() == item.keys()
        assert [
            *list_faults(
                {
                    name: cell.split(",") if "image" in name else [cell]
                    for name, cell in filled.items()
                }
            )
        ] == []
    teal, oat, mug, hostile, bare = items
    assert teal["item_group_id"] == oat["item_group_id"] == [products[0].product_id.hex]
    assert (teal["color"], teal["size"], teal["title"]) == (["Teal"], ["S"], ["Jug, Teal, Matt, S"])
    assert (teal["price"], teal["sale_price"]) == (["60.00 EUR"], ["12.00 EUR"])
    shown = variant_url(products[0], products[0].variants[0])
    assert teal["link"] == [f"{settings.PUBLIC_URL}{shown}"]
    assert (teal["product_type"], teal["google_product_category"]) == (["A > B"], ["2169"])
    assert (mug["gtin"], mug["mpn"]) == (["4006381333931"], ["K-17"])
    assert (mug["unit_pricing_measure"], mug["unit_pricing_base_measure"]) == (["0.5 l"], ["1 l"])
    assert len(mug["additional_image_link"]) == 10
    assert rows[3]["title"].startswith("=cmd|")  # Google would show an apostrophe before it
    assert hostile["id"] == [products[2].variants[0].variant_id.hex]
    assert "<" not in hostile["description"][0]
    assert (bare["description"], bare["identifier_exists"]) == (["Bare"], ["no"])
    assert "Stoa" not in "".join(
        text for item in items for name, (text, *_) in item.items() if "link" not in name
    )


@pytest.mark.parametrize(
    ("stock", "availability"),
    [
        (IN_STOCK, "in_stock"),
        (Stock(1, "few"), "in_stock"),
        (Stock(), "out_of_stock"),
        (Stock(5, "ahead", {}, Backorder(PREORDER, 5, SOON)), "preorder"),
        (Stock(5, "ahead", {}, Backorder(BACKORDER, 5, SOON)), "backorder"),
        (Stock(5, "ahead", {}, Backorder(BACKORDER, 5, date(2099, 1, 2))), "out_of_stock"),
        (Stock(5, "ahead", {}, Backorder(BACKORDER, 5)), "out_of_stock"),
        (Stock(5, "ahead", {}, Backorder(PREORDER, 5, date(2020, 1, 2))), "out_of_stock"),
    ],
)
def test_x547_an_item_says_when_it_can_be_had(
    stock: Stock, availability: str, jug: Product
) -> None:
    variant: Variant = jug.variants[0]
    item = list_items(first(jug), {variant.variant_id: stock}, now())[0]
    assert item["availability"] == [availability]
    assert [*list_faults({name: each for name, each in item.items() if each})] == []


def test_x547_the_validator_finds_what_google_refuses(jug: Product) -> None:
    good = list_items(first(jug), {}, now())[0]
    for name, value in {
        "title": "x" * 151,
        "price": "12,00 €",
        "image_link": "/pictures/mug.svg",
        "availability": "in stock",
        "gtin": "4006381333932",
        "description": "a <b>b</b>",
        "availability_date": "2027-01-01",
    }.items():
        assert [*list_faults(good | {name: [value]})], name
    assert [*list_faults({name: each for name, each in good.items() if name != "link"})]


def test_x547_prices_and_stock_are_those_of_the_page_and_at_most_an_hour_old(
    client: Client, jug: Product
) -> None:
    feeds.write_feeds([jug], now())
    shown = [each["availability"] for each in xml_items(client)]
    assert shown == [["in_stock"], ["in_stock"], ["out_of_stock"], ["in_stock"]]
    answer = client.get("/feeds/google.tsv")
    assert answer["Cache-Control"] == f"public, max-age={feeds.CACHE_SECONDS}"
    since = {"If-Modified-Since": answer["Last-Modified"]}
    assert client.get("/feeds/google.tsv", headers=since).status_code == 304
    assert feeds.MAX_FEED_AGE_SECONDS + feeds.CACHE_SECONDS <= 3600
    old = now().timestamp() - feeds.MAX_FEED_AGE_SECONDS - 1
    os.utime(find_folder("feeds") / "google.tsv", (old, old))
    for headers in ({}, since):
        answer = client.get("/feeds/google.tsv", headers=headers)
        assert (answer.status_code, answer["Retry-After"]) == (503, "600")
    assert client.get("/feeds/nothing.xml").status_code == 404
    assert client.get("/feeds/..%2f..%2fcurrent-1").status_code == 404


def test_x548_new_products_are_an_atom_feed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    products = [
        make_product("Cup 2", brand=""),
        make_product("Cup <1>\ufffe & more", brand="<b>", now=now() - timedelta(1)),
    ]
    cards = [product_card(each) for each in products]
    monkeypatch.setattr(feeds, "list_featured", {"new_arrivals": cards}.__getitem__)
    answer = client.get("/feeds/new.atom")
    assert answer["Content-Type"] == "application/atom+xml"
    feed = etree.fromstring(answer.content)
    assert feed.tag == f"{{{_ATOM['a']}}}feed"
    titles = feed.xpath("a:entry/a:title/text()", namespaces=_ATOM)
    assert titles == ["Cup 2", "Cup <1> & more"]
    texts = feed.xpath("a:entry/a:summary/text()", namespaces=_ATOM)
    assert texts == ["€12.00", "<b>, €12.00"]
    for part in (feed, *feed.xpath("a:entry", namespaces=_ATOM)):
        for name in ("id", "title", "updated", "link"):
            assert part.xpath(f"a:{name}", namespaces=_ATOM), name
        (updated,) = part.xpath("a:updated/text()", namespaces=_ATOM)
        assert datetime.fromisoformat(updated).tzinfo
    assert feed.xpath("a:author/a:name/text()", namespaces=_ATOM)
    own = feed.xpath("a:link[@rel='self']/@href", namespaces=_ATOM)
    assert own == [f"{settings.PUBLIC_URL}/feeds/new.atom"]
    ids = feed.xpath("a:entry/a:id/text()", namespaces=_ATOM)
    assert ids[0] == f"urn:uuid:{products[0].product_id}"
    assert (
        client.get("/feeds/new.atom", headers={"If-None-Match": answer["ETag"]}).status_code == 304
    )
    (link,) = tree(client.get("/new/")).cssselect("link[type='application/atom+xml']")
    assert link.get("href") == "/feeds/new.atom"


def test_x548_the_sitemap_has_images_in_files_of_bounded_size(
    client: Client, jug: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = tuple(ProductPicture(each, "") for each in PHOTOS)
    many = [replace(jug, slug=f"jug-{place}", pictures=pictures) for place in range(30)]
    sitemap.write_sitemap(many[:1], now())
    images = etree.fromstring(client.get("/sitemap.xml").content).iter(_IMAGE)
    addresses = [each.text for each in images]
    assert len(addresses) == sitemap.MAX_IMAGES
    assert all(re.fullmatch(r"https?://\S+\.jpg", each) for each in addresses)
    monkeypatch.setattr(sitemap, "MAX_SITEMAP_BYTES", 9_000)
    count = sitemap.write_sitemap(many, now())
    parts = client.get("/sitemap.xml").content.count(b"<sitemap>")
    files = [client.get(f"/sitemap-{number}.xml").content for number in range(1, parts + 1)]
    assert sum(each.count(b"<url>") for each in files) == count
    assert max(map(len, files)) < 9_000 + 2_000
    for each in files:
        etree.fromstring(each)


def test_x548_llms_txt_names_the_shops_pages(client: Client) -> None:
    node = make_category("Cups](https://evil.example) [")
    answer = client.get("/llms.txt")
    title, blank, tagline, *rest = answer.content.decode().splitlines()
    assert (title[:2], blank, tagline[:2]) == ("# ", "", "> ")
    links = [each for each in rest if each and not each.startswith("## ")]
    found = [
        re.fullmatch(r"- \[((?:[^\[\]\\]|\\.)+)\]\((https?://[^()\s]+)\)", each) for each in links
    ]
    assert all(found), links
    addresses = [each[2].removeprefix(settings.PUBLIC_URL) for each in found if each]
    assert {f"/c/{node.slug}/", "/new/", "/help/", "/sitemap.xml"} <= {*addresses}
    assert not [each for each in addresses if each.startswith(("/account", "/cart", "/orders"))]
    assert [each for each in addresses if client.get(each).status_code not in (200, 503)] == []
    assert client.get("/llms.txt", headers={"If-None-Match": answer["ETag"]}).status_code == 304


def test_s123_feeds_take_as_much_memory_for_many_products_as_for_few(jug: Product) -> None:
    variant = replace(jug.variants[0], price=Money("3.00", EUR))

    def make(count: int) -> Iterator[Product]:
        for place in range(count):
            if place % 50 == 0:  # the driver's futures are cycles
                gc.collect()
            yield replace(
                jug, product_id=uuid4(), slug=f"jug-{place}", variants=(variant,), created_at=now()
            )

    def peak(count: int) -> int:
        tracemalloc.reset_peak()
        assert feeds.write_feeds(make(count), now()) == count
        return tracemalloc.get_traced_memory()[1]

    gc.freeze()  # collections then look at new objects only
    feeds.write_feeds(make(200), now())
    tracemalloc.start()
    try:
        few, many = peak(200), peak(1200)
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    # The driver keeps a timer of each read for ten seconds.
    assert many - few < 1_000_000


def test_x547_a_run_that_fails_leaves_the_former_files(client: Client, jug: Product) -> None:
    feeds.write_feeds([jug], now())

    def fail() -> Iterator[Product]:
        yield jug
        raise OSError("the disk is full")

    # What a killed worker has left is removed a while later.
    folder = find_folder("feeds")
    for name, age in (("google.xml.0", 4000), ("google.tsv.1", 60)):
        (folder / name).touch()
        at = now().timestamp() - age
        os.utime(folder / name, (at, at))
    with pytest.raises(OSError, match="full"):
        feeds.write_feeds(fail(), now())
    assert len(xml_items(client)) == 4
    found = sorted(each.name for each in folder.iterdir())
    assert found == sorted([*feeds.CONTENT_TYPES, "google.tsv.1"])


@pytest.mark.proof
@pytest.mark.timeout(1200)
def test_s123_a_hundred_thousand_products_take_no_more_memory(jug: Product) -> None:
    count = 100_000
    products = (replace(jug, product_id=uuid4(), variants=jug.variants[:1]) for _ in range(count))
    feeds.write_feeds(islice(products, 500), now())
    before = getrusage(RUSAGE_SELF).ru_maxrss
    assert feeds.write_feeds(products, now()) == count - 500
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 50 * 1024
