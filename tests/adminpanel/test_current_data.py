"""What staff write is decided by what is stored at that moment, not by what a process remembers of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from adminpanel.catalogue.bulk_change_forms import CategoryActForm
from adminpanel.catalogue.product_filter import ProductFilterForm
from adminpanel.catalogue.product_forms import ProductForm
from adminpanel.promotions.forms import PromotionForm
from cassandra_db import current_time
from cassandra_db.process_copies import Dated, ProcessCopy
from catalogue import operations, queries
from catalogue.errors import ProductRefused
from catalogue.operations.categories import fingerprint_category
from catalogue.queries import CURRENT_TREE
from inventory.queries import get_stock_numbers
from inventory.warehouses import WAREHOUSE, Warehouse
from promotions.operations import PromotionTerms, create_promotion
from promotions.queries import AUTOMATIC, get_promotion
from promotions.rules import FREE_DELIVERY
from shop_settings.operations import save_setting
from shop_settings.queries import CURRENT_SETTINGS, get_settings_at_quorum
from tests.factories import make_category, make_product, make_user, sign_in_staff
from tests.reads import existing
from tests.shop_settings.saved import own_settings
from tests.spreadsheets.files import apply, csv_of, faults_of, read

__all__ = ["own_settings"]


@contextmanager
def unnoticed(*copies: ProcessCopy[Any]) -> Iterator[None]:
    """What happens in here another process does: this one goes on with its copies, which it has just read."""
    known = [(copy, copy.get()) for copy in copies]
    yield
    for copy, found in known:
        copy.cached = Dated(found)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    queries.clear_category_cache()


def choices_of(form: Any, field: str) -> set[str]:
    return {value for value, _label in form.fields[field].choices}


def test_x271_forms_know_a_category_that_another_process_has_just_made() -> None:
    with unnoticed(CURRENT_TREE):
        made = str(make_category("New here").category_id)
    assert made not in map(str, queries.get_category_tree().by_id), "as the test wants it"
    forms: dict[Callable[[], Any], str] = {
        ProductForm: "category_ids",
        partial(ProductForm, is_new=True): "category_id",
        CategoryActForm: "category_id",
        partial(PromotionForm, FREE_DELIVERY): "category",
        # By it products are selected to be changed: one that it does not know selects them all.
        ProductFilterForm: "category",
    }
    assert [each for each, field in forms.items() if made not in choices_of(each(), field)] == []


def test_x271_a_file_and_a_save_know_the_categories_of_that_moment() -> None:
    mug = make_product("Mug", listed=True)
    gone = make_category("Gone")
    with unnoticed(CURRENT_TREE):
        made = make_category("New here")
        operations.remove_category(gone.category_id, fingerprint_category(gone))
    head = ["product", "name", "sku", "price", "category"]
    lines = [
        [f"new-{uuid4().hex[:8]}", "Mug", uuid4().hex, "1.00", each.slug] for each in (made, gone)
    ]
    task = read(csv_of([head, *lines]), "products")
    assert [(line, column) for line, column, _text in faults_of(task)] == [(3, "category")]
    with unnoticed(CURRENT_TREE):
        renamed = make_category("Named anew")
    assert apply(task).results == {"done": 1}
    stored = existing(queries.get_product_at_quorum(mug.product_id))
    operations.save_product(replace(stored, category_id=renamed.category_id), datetime.now(UTC))
    stored = existing(queries.get_product_at_quorum(mug.product_id))
    with pytest.raises(ProductRefused, match="no longer exists"):
        operations.save_product(replace(stored, category_id=gone.category_id), datetime.now(UTC))


def test_x271_a_promotion_covers_a_category_that_was_just_made() -> None:
    with unnoticed(CURRENT_TREE):
        shelf = make_category("Shelf")
        below = make_category("Below", parent=shelf)
    key = create_promotion(
        PromotionTerms("Free", FREE_DELIVERY, category_id=shelf.category_id), current_time()
    )
    made = existing(get_promotion(AUTOMATIC, key))
    assert made.categories == {shelf.category_id, below.category_id}


@pytest.mark.usefixtures("own_settings")
def test_x271_a_file_of_stock_and_a_form_know_the_warehouses_of_that_moment(client: Client) -> None:
    mug = make_product("Mug", listed=True)
    variant = mug.variants[0]
    content = csv_of([["sku", "warehouse", "units"], [variant.sku, "Lyon", "3"]])
    with unnoticed(CURRENT_SETTINGS):
        save_setting(WAREHOUSE, "lyon", Warehouse("lyon", "Lyon", "FR", 7), "", current_time())
    assert apply(read(content, "stock")).results == {"done": 1}
    assert get_stock_numbers(variant.variant_id, "lyon").available == 3
    staff = sign_in_staff(client, make_user("Will", role="warehouse"))
    with unnoticed(CURRENT_SETTINGS):
        lyon = get_settings_at_quorum().get_values(WAREHOUSE)["lyon"]
        closed = replace(lyon, is_open=False)
        save_setting(WAREHOUSE, "lyon", closed, WAREHOUSE.fingerprint(lyon), current_time())
    sent = {"warehouse": "lyon", "key": str(uuid4()), "seen": "3", "units": "2", "receive": "1"}
    address = reverse("adminpanel:product_stock", args=(mug.product_id,))
    answer = staff.post(address, sent | {"variant": str(variant.variant_id)})
    assert (answer.status_code, "This warehouse is closed" in answer.content.decode()) == (
        422,
        True,
    )
