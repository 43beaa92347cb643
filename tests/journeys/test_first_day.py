"""The way from no category to the first sold product, by the forms that stand in the pages (docs/first-day.md)."""

import re
from uuid import uuid4

from catalogue import queries
from consistency.findings import Scope
from tests.consistency.test_check_consistency import found
from tests.factories import make_user, sign_in_staff
from tests.journeys.test_visits import TO
from tests.journeys.visitor import Visitor
from tests.reads import existing


def test_x113_from_a_first_category_to_the_first_paid_order_by_pages_alone() -> None:
    ada, ben, word = Visitor(), Visitor(), uuid4().hex[:10]
    sign_in_staff(ada.client, make_user("Ada", role="admin"))
    ada.open("/staff/categories/new/")
    ada.submit("Add category", name=f"Vases {word}")
    assert f"Vases {word} is added." in ada.text
    node = queries.get_category_tree_at_quorum().by_slug[f"vases-{word}"]
    ada.open("/staff/products/new/")
    sku = f"VASE-{word.upper()}"
    ada.submit(
        "Save draft",
        name=f"Round vase {word}",
        category_id=str(node.category_id),
        **{
            "variant-0-sku": sku,
            "variant-0-price": "24",
            "variant-0-weight_grams": "900",
            "variant-0-stock-berlin": "12",
        },
    )
    assert f"Round vase {word} is saved as a draft." in ada.text
    ada.submit("Put on sale")
    ben.client.force_login(make_user("Ben"))
    ben.open(f"/c/vases-{word}/")
    assert f"Round vase {word}" in ben.text
    ben.open(f"/p/round-vase-{word}/")
    ben.submit("Add to cart", quantity="1")
    ben.open("/checkout/")
    ben.submit("Continue to delivery and payment", **TO)
    ben.submit("Review order", delivery="standard", payment="transfer")
    ben.submit("Order and pay")
    order = existing(re.search(r"/orders/([^/]+)/", ben.address))
    ada.open(f"/staff/orders/{order[1]}/")
    ada.submit("Record payment")
    assert "Pack parcel" in ada.text
    product_id = existing(queries.find_product_id_by_slug(f"round-vase-{word}"))
    product = existing(queries.get_product(product_id))
    only = Scope(
        products=frozenset((product_id,)),
        variants=frozenset(each.variant_id for each in product.variants),
    )
    assert found(only, "I1", "I13", "I14", "I18") == []
