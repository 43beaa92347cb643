"""X544, X549: addresses of products in a former shop, Google's category and part numbers."""

from dataclasses import replace
from uuid import uuid4

import pytest

from catalogue import operations, queries
from catalogue.errors import ProductChanged, ProductRefused, SlugTaken
from catalogue.old_addresses import list_old_paths, normalize_path
from catalogue.operations import products as product_saves
from catalogue.operations.claims import Claim
from catalogue.rules import list_refusals
from tests.catalogue.reads import changed, stored
from tests.clock import now
from tests.factories import make_product


def test_x544_an_old_address_is_known_by_its_path() -> None:
    for written, path in {
        "https://Old.example/Products/Mug/?variant=1#top": "/products/mug",
        " /catalog/product/view/id/5/ ": "/catalog/product/view/id/5",
        "/caf%C3%A9.html": "/café.html",
        "/a\0\u202eb": "/ab",
        "/shop/blue%20mug": "/shop/blue%20mug",
        "/shop/blue mug%C2%A0": "/shop/blue%20mug%20",
        **dict.fromkeys(("", "/", "//old.example", "mug", "javascript:alert(1)", "https://["), ""),
        **dict.fromkeys(("/account/orders/", "/staff", "/%ff", f"/{'a' * 300}"), ""),
    }.items():
        assert normalize_path(written) == path, written
    assert list_old_paths("/a/\n/A https://x.example/b\nc") == ["/a", "/b"]
    (spaced,) = list_old_paths("https://x.example/blue%20mug")
    assert list_old_paths(spaced) == [spaced]


def test_x544_an_old_address_belongs_to_one_product_until_it_is_given_up() -> None:
    first, second = make_product(), make_product()
    path = f"/products/{uuid4().hex}"
    saved = operations.save_product(replace(first, old_addresses=f"https://a.example{path}"), now())
    assert stored(first).old_addresses == f"https://a.example{path}"
    assert queries.find_product_id_by_slug(path) == first.product_id
    assert operations.is_claimed(Claim(path, first.product_id))
    with pytest.raises(SlugTaken) as refused:
        operations.save_product(replace(second, old_addresses=f"{path}/"), now())
    assert refused.value.field == "old_addresses"
    operations.save_product(replace(saved, old_addresses=""), now())
    assert queries.find_product_id_by_slug(path) is None
    operations.save_product(replace(second, old_addresses=path), now())
    assert queries.find_product_id_by_slug(path) == second.product_id


def test_x544_a_save_that_lost_leaves_no_old_address(monkeypatch: pytest.MonkeyPatch) -> None:
    product, path = make_product(), f"/product/{uuid4().hex}"
    with monkeypatch.context() as patch:
        patch.setattr(product_saves, "_apply_save", lambda *saved: False)
        with pytest.raises(ProductChanged):
            operations.save_product(replace(product, old_addresses=path), now())
    assert queries.find_product_id_by_slug(path) is None


def test_x544_x549_bad_fields_are_refused_and_a_copy_has_none_of_its_own() -> None:
    product = make_product()
    many = "\n".join(f"/{number}" for number in range(21))
    for field, bad in (
        ("old_addresses", replace(product, old_addresses="mug")),
        ("old_addresses", replace(product, old_addresses=many)),
        ("google_category", replace(product, google_category="x" * 201)),
        ("mpn", changed(product, mpn="x" * 71)),
    ):
        assert [each.field for each in list_refusals(bad, now())] == [field]
    marked = changed(product, mpn="K-17")
    marked = replace(marked, google_category="2169", old_addresses=f"/{uuid4().hex}")
    copy = operations.duplicate_product(operations.save_product(marked, now()), now())
    assert (copy.google_category, copy.old_addresses, copy.variants[0].mpn) == ("2169", "", "")
    kept = stored(product)
    assert (kept.google_category, kept.variants[0].mpn) == ("2169", "K-17")
    with pytest.raises(ProductRefused):
        operations.save_product(replace(kept, old_addresses="//host"), now())
