"""Both ends of a move: the demo shop, which writes its files, and an empty shop, which reads them. Each runs in a keyspace of its own."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.test import Client

from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import Product
from catalogue.operations import change_product
from demo import loader
from tests.spreadsheets.files import apply, csv_of, export, faults_of, follow, read, rows_of

# What differs between two shops with the same products: ids, tokens, and the names of photos that were written anew.
_OWN = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}|https?(?:://|%3A%2F%2F|%3A//)127\.0\.0\.1(?::|%3A)[0-9]+"
    r"|(?<=csrfmiddlewaretoken\" value=\")[^\"]+|(?<=form_key\" value=\")[^\"]+"
)
# It follows from the products' ids and orders what else is recommended.
_RECOMMENDED = re.compile(r'<section aria-labelledby="related">.*?</section>', re.DOTALL)
LAYOUTS = ("categories", "products", "stock")


def fill(folder: str) -> None:
    """Load the demo shop's products and stock, write its files into a folder, and print its pages."""
    call_command("sync_cassandra", stdout=io.StringIO())
    now = current_time()
    loader.load_settings(now, _step)
    loader.load_categories(_step)
    loader.load_products(now, _step, renew=False)
    loader.load_stock(now, _step)
    first, second, *_others = sorted(queries.iterate_products(), key=lambda each: each.slug)
    change_product(first.product_id, lambda it: _related_to(it, second), now)
    for layout in LAYOUTS:
        Path(folder, f"{layout}.csv").write_bytes(export(layout))
    print(json.dumps(_see()))


def move(folder: str) -> None:
    """Read the files of the other shop into an empty one."""
    call_command("sync_cassandra", stdout=io.StringIO())
    loader.load_settings(current_time(), _step)
    said: dict[str, Any] = {"faults": []}
    for layout in LAYOUTS:
        task = read(Path(folder, f"{layout}.csv").read_bytes(), layout)
        said["faults"] += faults_of(task)
        said[layout] = dict(apply(task).results)
        follow(task)
        said["faults"] += [
            (each.line, each.column, each.text) for row in rows_of(task) for each in row.link_faults
        ]
    print(json.dumps(said | _see()))


def drop_former_prices(folder: Path) -> set[str]:
    """Empty the column of crossed-out prices, which a new shop has never asked. Return the products that have some."""
    file = folder / "products.csv"
    head, *lines = csv_lines(file.read_bytes())
    place, product = head.index("compare_at"), head.index("product")
    reduced = {line[product] for line in lines if line[place]}
    for line in lines:
        line[place] = ""
    file.write_bytes(csv_of([head, *lines]))
    return reduced


def csv_lines(content: bytes) -> list[list[str]]:
    """Return the lines of a file."""
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def _step() -> None:
    pass


def _related_to(product: Product, other: Product) -> Product:
    return replace(product, related_ids=(other.product_id,), successor_id=other.product_id)


def _see() -> dict[str, Any]:
    """Return the shop's product pages, the products of its category pages, and its file of products, without what is only its own."""
    pages = {}
    for product in queries.iterate_products():
        # A new visitor has viewed nothing before.
        answer = Client().get(f"/p/{product.slug}/")
        assert answer.status_code == 200, (product.slug, answer.status_code)
        (main,) = re.findall(r"<main.*?</main>", answer.content.decode(), re.DOTALL)
        pages[product.slug] = _OWN.sub("…", _RECOMMENDED.sub("", main))
    lists = {}
    for each in queries.get_category_tree_at_quorum().nodes:
        # The usual order is that in which the products were made.
        page = Client().get(f"/c/{each.slug}/?sort=name").content.decode()
        lists[each.slug] = list(dict.fromkeys(re.findall(r'href="/p/([^/"]+)/', page)))
    lines = sorted(_OWN.sub("…", "\t".join(line)) for line in csv_lines(export("products")))
    return {"pages": pages, "lists": lists, "lines": lines}
