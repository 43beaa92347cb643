"""docs/importing.md, followed step by step on the staff's pages. Each word in bold in its steps is on one of these pages."""

import csv
import html
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from catalogue.entities import Product
from catalogue.queries import find_product_id_by_slug, get_product_at_quorum
from inventory.queries import get_stock_numbers
from inventory.warehouses import list_open_warehouses
from spreadsheets.entities import SpreadsheetTask
from tests.adminpanel.files.test_spreadsheets import send, task_of
from tests.environment import ROOT
from tests.factories import make_category
from tests.reads import existing
from tests.spreadsheets.files import csv_of, go_on
from tests.spreadsheets.foreign.reading import FOLDER

# What is the whole shop's gets a name of its own. Pictures have tests of their own.
NAMED = ("URL handle", "SKU", "Name", "Parent")
PICTURES = ("Product image URL", "Variant image URL", "Images")


def fresh(name: str, token: str) -> bytes:
    records = csv.DictReader(io.StringIO((FOLDER / name).read_text("utf-8-sig")))
    head = list(records.fieldnames or ())
    # What staff answer is remembered for files with the same columns.
    lines = [[*head, f"Note {token}"]]
    for record in records:
        for column in NAMED:
            if record.get(column) and not record[column].startswith("id:"):
                record[column] += f"-{token}"
        lines.append(["" if column in PICTURES else record[column] for column in head])
    return csv_of(lines)


def list_bold(title: str) -> set[str]:
    text = (ROOT / "docs/importing.md").read_text()
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"\*\*(.+?)\*\*", section))


@dataclass
class Mover:
    """Somebody of the staff who follows the steps, and the pages that they have seen."""

    client: Client
    category: str
    pages: list[str] = field(default_factory=list)

    def look(self, address: str) -> None:
        self.pages.append(html.unescape(self.client.get(address).content.decode()))

    def move(self, content: bytes, layout: str) -> SpreadsheetTask:
        """Send a file, match its columns, and apply it. Return the import."""
        self.look(reverse("adminpanel:spreadsheets"))
        self.look(reverse("adminpanel:import_new"))
        answer = send(self.client, content, layout)
        task = go_on(task_of(answer))
        while task.state == "asking":
            self.look(answer["Location"])
            page = self.client.get(f"{answer['Location']}columns/")
            self.pages.append(html.unescape(page.content.decode()))
            form = page.context["form"]
            sent = {each.name: each.value() or "" for each in form}
            sent |= {each.name: self.category for each in form.categories()}
            assert self.client.post(page.context["action"], sent).status_code == 303
            task = go_on(task)
        self.look(answer["Location"])
        self.client.post(reverse("adminpanel:import_apply", args=[task.task_id]))
        return go_on(task)


def moved(slug: str) -> Product:
    return existing(get_product_at_quorum(existing(find_product_id_by_slug(slug))))


def words_of(product: Product) -> Iterator[tuple[str, str, Decimal]]:
    for each in product.variants:
        assert each.compare_at is None
        yield each.sku, each.label, each.price.amount


def test_x533_a_shop_moves_in_from_shopify(admin_client: Client) -> None:
    token = uuid4().hex[:8]
    mover = Mover(admin_client, f"Shelves {token} > Mugs")
    make_category(f"Shelves {token}")
    content = fresh("shopify.csv", token)
    task = mover.move(content, "products")
    assert task.counts == {"new": 3, "faulty": 2}
    assert task.results == {"done": 3}
    mug, coffee = moved(f"breakfast-mug-{token}"), moved(f"cafe-noir-{token}")
    skus = [f"{each}-{token}".upper() for each in ("MUG-OLIVE-S", "MUG-OAT-L")]
    made = f"breakfast-mug-{token}-2".upper()
    assert list(words_of(mug)) == [
        (skus[0], "Olive, Small", Decimal("24.00")),
        (made, "Oat, Small", Decimal("24.00")),
        (skus[1], "Oat, Large", Decimal("28.00")),
    ]
    assert mug.description == "For **slow** mornings.\n\n- 350 ml\n- Dishwasher safe"
    assert mug.option_names == ("Colour", "Size")
    assert (mug.status, coffee.status, coffee.option_names) == ("active", "draft", ())
    assert mug.category_id == coffee.category_id
    assert "1 former price was left out" in mover.pages[-1]
    # The same file changes nothing.
    assert mover.move(content, "products").counts == {"unchanged": 3, "faulty": 2}
    stock = mover.move(content, "stock")
    assert stock.state == "finished"
    warehouse = list_open_warehouses()[0].key
    numbers = get_stock_numbers(mug.variants[0].variant_id, warehouse)
    assert numbers.on_hand == 12
    assert not {each for each in list_bold("From Shopify") if each not in "".join(mover.pages)}


def test_x535_a_shop_moves_in_from_woocommerce(admin_client: Client) -> None:
    token = uuid4().hex[:8]
    mover = Mover(admin_client, f"Shelves {token}")
    shelf = make_category(f"Shelves {token}")
    content = fresh("woocommerce.csv", token)
    task = mover.move(content, "products")
    assert task.counts == {"new": 4, "faulty": 3}
    assert task.results == {"done": 4}
    tee = moved(f"linen-tee-{token}")
    assert [(label, price) for _sku, label, price in words_of(tee)] == [
        ("Red, Large", Decimal(20)),
        ("Red, Small", Decimal(20)),
        ("Blue, Large", Decimal(15)),
        ("Blue, Small", Decimal(20)),
    ]
    assert (tee.category_id, tee.featured, tee.length_mm) == (shelf.category_id, True, 254)
    assert "2 former prices were left out" in mover.pages[-1]
    assert mover.move(content, "products").counts == {"unchanged": 4, "faulty": 3}
    assert mover.move(content, "stock").state == "finished"
    numbers = get_stock_numbers(tee.variants[2].variant_id, list_open_warehouses()[0].key)
    assert numbers.on_hand == 3
    assert not {each for each in list_bold("From WooCommerce") if each not in "".join(mover.pages)}
