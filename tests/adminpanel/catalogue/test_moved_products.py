"""X549: old addresses, Google's category and part numbers on a product's page and in files of products."""

from uuid import uuid4

from django.test import Client

from catalogue.queries import find_product_id_by_slug
from tests.adminpanel.catalogue.product_page import address, stored, typed
from tests.factories import make_product
from tests.spreadsheets.files import apply, csv_of, faults_of, read


def test_x549_they_are_saved_with_the_product_and_refused_beside_their_fields(cleo: Client) -> None:
    product = make_product(options={"Size": ["S", "L"]}, listed=True)
    old = f"/products/{uuid4().hex}"
    fields = {"google_category": "2169", "old_addresses": f"https://a.example{old}\r\n{old}-2"}
    sent = typed(product, {"variant-1-mpn": "K-17"}, **fields)
    assert cleo.post(address(product), sent).status_code == 303
    saved = stored(product.product_id)
    assert saved.google_category == "2169"
    assert saved.old_addresses == f"https://a.example{old}\n{old}-2"
    assert [each.mpn for each in saved.variants] == ["", "K-17"]
    assert find_product_id_by_slug(f"{old}-2") == product.product_id
    page = " ".join(cleo.get(address(product)).content.decode().split())
    assert 'name="variant-1-mpn" value="K-17"' in page
    assert f"{old}-2</textarea>" in page
    other = make_product()
    for typed_in, said in (
        ({"old_addresses": "mug"}, "Enter addresses such as /products/mug"),
        ({"old_addresses": f"{old}/"}, "Another product has the old address"),
        ({"google_category": "x" * 201}, "at most 200 characters"),
        ({"variant-0-mpn": "x" * 71}, "at most 70 characters"),
    ):
        refused = cleo.post(address(other), typed(other, typed_in))
        assert (refused.status_code, said in refused.content.decode()) == (422, True), said


def test_x549_a_file_of_products_has_them() -> None:
    product, taken = make_product(), f"/products/{uuid4().hex}"
    head = ["product", "google_category", "Old addresses", "sku", "mpn"]
    sku = product.variants[0].sku
    task = read(
        csv_of([head, (product.slug, "2169", f"{taken}\n{taken}-2", sku, "K-17")]), "products"
    )
    assert apply(task).results == {"done": 1}
    saved = stored(product.product_id)
    assert (saved.google_category, saved.variants[0].mpn) == ("2169", "K-17")
    assert find_product_id_by_slug(f"{taken}-2") == product.product_id
    other = make_product()
    task = read(
        csv_of([head, (other.slug, "", taken, other.variants[0].sku, "x" * 71)]), "products"
    )
    assert {(line, column) for line, column, _text in faults_of(task)} == {
        (2, "old_addresses"),
        (2, "mpn"),
    }
