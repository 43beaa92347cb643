"""Finds things on a page of the shop window."""

import re
from typing import Any

import lxml.html
from django.urls import reverse

from catalogue.entities import Product

# What may stand in an address where a page expects something else.
NONSENSE = [
    "\0",
    "a" * 3000,
    "%00",
    "<script>alert(1)</script>",
    "'; DROP TABLE products; --",
    "٣",
    "\ud7ff",
    "../../etc",
]


def tree(response: Any) -> Any:
    return lxml.html.fromstring(response.content.decode())


def texts(page: Any, selector: str) -> list[str]:
    return [" ".join(each.text_content().split()) for each in page.cssselect(selector)]


def names(page: Any) -> list[str]:
    return texts(page, ".card__name")


def rounds(response: Any) -> int:
    found = re.search(r"rounds=(\d+)", response["X-Cassandra"])
    assert found
    return int(found[1])


def page_of(product: Product, place: int | None = None) -> str:
    url = reverse("product", args=(product.slug,))
    return url if place is None else f"{url}?variant={product.variants[place].sku}"
