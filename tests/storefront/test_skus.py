"""A SKU may have what suppliers put into theirs: spaces, slashes, plus and number signs. It is found and linked all the same."""

from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse

from adminpanel.catalogue.product_pages import find_related_ids
from adminpanel.customers.draft_pages import find_by_sku
from catalogue import operations
from catalogue.entities import Product
from catalogue.errors import ProductRefused
from catalogue.rules import is_sku, normalize_sku
from catalogue.search_index import READER, build_index
from catalogue.staff_search import find_products_for_staff
from storefront.choices import variant_url
from tests.factories import make_product, make_stock
from tests.spreadsheets.files import apply, csv_of, export, read


@pytest.fixture
def nut() -> Product:
    """A product with two variants, the second of which has an odd SKU."""
    product = make_product("Nut", options={"Size": ["M6", "M8"]}, listed=True)
    odd = replace(product.variants[1], sku=f"M8/{uuid4().hex[:8].upper()} +#2_A.B-C")
    return operations.save_product(
        replace(product, variants=(product.variants[0], odd)), datetime.now(UTC)
    )


def test_x274_which_texts_are_skus() -> None:
    good = ("A", "7", "A-1", "A 1", "A/1", "A+1", "A#1", "C++", "C#", "A--1", "M8 / 20", "X" * 64)
    bad = (
        "",
        " A",
        "A ",
        "A  1",
        "#1",
        "-1",
        "+1",
        "=1",
        "a",
        "Ä",
        "A;1",
        "A,1",
        "A:1",
        "A\n1",
        "X" * 65,
    )
    assert [each for each in good if not is_sku(each)] == []
    assert [each for each in bad if is_sku(each)] == []
    assert normalize_sku(" a\u00a0 1\u202e ") == "A 1"
    product = make_product()
    with pytest.raises(ProductRefused, match=r"single spaces and \. - _ / \+ #"):
        operations.save_product(
            replace(product, variants=(replace(product.variants[0], sku="A;1"),)), datetime.now(UTC)
        )


def test_x274_an_odd_sku_is_found_linked_and_imported(
    client: Client, nut: Product, tmp_path: Path
) -> None:
    variant = nut.variants[1]
    typed = f"  {variant.sku.lower().replace(' ', '  ')} "
    shown = client.get(variant_url(nut, variant))
    assert shown.context["product_body"].chosen.sku == variant.sku
    found = client.get(reverse("search"), {"q": typed})
    assert (found.status_code, found["Location"]) == (302, variant_url(nut, variant))
    assert find_by_sku(typed) == (nut.product_id, variant.variant_id)
    assert find_related_ids([normalize_sku(typed)]) == ((nut.product_id,), [])
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([nut, make_product("Another nut")])
        READER.looked_at = -inf
        listed = find_products_for_staff(typed)
    assert (listed.matched, [each.product_id for each in listed.products]) == (
        "sku",
        [nut.product_id],
    )
    make_stock(3, product_id=nut.product_id, variant_id=variant.variant_id)
    for layout in ("products", "prices", "stock"):
        written = export(layout, products=[nut])
        assert read(written, layout).counts.keys() == {"unchanged"}
    lines = [["sku", "warehouse", "units"], [typed, "berlin", "4"]]
    assert apply(read(csv_of(lines), "stock")).results == {"done": 1}


def test_x274_a_sku_in_an_address_is_encoded() -> None:
    templates = [*Path(settings.BASE_DIR, "templates").rglob("*.html")]
    bare = [
        f"{file.name}: {line.strip()[:80]}"
        for file in templates
        for line in file.read_text().splitlines()
        if "?variant={{" in line and 'sku|urlencode }}"' not in line
    ]
    assert bare == []
    assert len(templates) > 50
