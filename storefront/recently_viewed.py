"""The products that a visitor has viewed. They are stored only in a signed cookie."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from moneyed import Money

from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import Product
from web.cookies import set_cookie

MAX_VIEWED = 12
VIEWED_SECONDS = 30 * 24 * 3600
_SALT = "storefront.viewed"
_VIEWED = "viewed_product_ids"  # the request's attribute


@dataclass(frozen=True)
class ViewedProduct:
    """A recently viewed product; `price` is the lowest of its variants."""

    name: str
    slug: str
    picture: str
    price: Money
    price_varies: bool


def list_viewed_product_ids(request: HttpRequest) -> list[UUID]:
    """Return the ids of the products that this browser has viewed, the last one first; none if the cookie is invalid.

    A request parses its cookie only once.
    """
    known: list[UUID] | None = vars(request).get(_VIEWED)
    if known is None:
        known = vars(request)[_VIEWED] = _parse_cookie(request)
    return known


def _parse_cookie(request: HttpRequest) -> list[UUID]:
    cookie = request.COOKIES.get(settings.VIEWED_COOKIE_NAME)
    if not cookie:
        return []
    try:
        packed_ids = urlsafe_b64decode(signing.loads(cookie, salt=_SALT, max_age=VIEWED_SECONDS))
        starts = range(0, len(packed_ids), 16)
        return [UUID(bytes=packed_ids[start : start + 16]) for start in starts][:MAX_VIEWED]
    except (signing.BadSignature, ValueError, TypeError):
        return []


def remember_viewed(request: HttpRequest, response: HttpResponse, product_id: UUID) -> None:
    """Put a product first in the browser's list of viewed products."""
    before = list_viewed_product_ids(request)
    if request.method != "GET" or before[:1] == [product_id]:
        return
    now = [product_id, *(each for each in before if each != product_id)][:MAX_VIEWED]
    packed_ids = urlsafe_b64encode(b"".join(each.bytes for each in now)).decode()
    value = signing.dumps(packed_ids, salt=_SALT)
    set_cookie(response, settings.VIEWED_COOKIE_NAME, value, VIEWED_SECONDS)


def forget_viewed(response: HttpResponse) -> None:
    """Remove the cookie with the viewed products."""
    response.delete_cookie(settings.VIEWED_COOKIE_NAME, samesite="Lax")


def list_viewed_products(product_ids: list[UUID]) -> list[ViewedProduct]:
    """Return the products with these ids that are still sold. The reads run in parallel. Raises CassandraUnavailable."""
    products, now = queries.get_products(product_ids, queries.leave_out), current_time()
    return [
        _viewed_product(products[each])
        for each in product_ids
        if each in products and products[each].is_on_sale(now)
    ]


def _viewed_product(product: Product) -> ViewedProduct:
    sold = [variant for variant in product.variants if variant.sold]
    prices = {variant.price for variant in sold}
    return ViewedProduct(
        product.name, product.slug, product.picture_of(sold[0]), min(prices), len(prices) > 1
    )
