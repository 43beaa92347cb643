"""The newest posts with a product, on the product's page (storefront.added_sections)."""

from collections.abc import Callable
from uuid import UUID

from django.template.loader import render_to_string

from posts import queries
from posts.post_lists import PendingCards

# How many posts the page of a product shows: a row of a wide window.
SHOWN = 4


def prefetch_section(product_id: UUID, slug: str) -> Callable[[], str]:
    """Start reading the product's newest posts; return a function that returns the section's HTML, "" without posts."""
    of = queries.posts_with_product(product_id)
    page = queries.prefetch_page(of, most=SHOWN).collect()
    reading = PendingCards(page, of)

    def render() -> str:
        context = {"cards": reading.collect(), "slug": slug, "has_more": bool(page.next_token)}
        return render_to_string("posts/_on_product.html", context) if context["cards"] else ""

    return render
