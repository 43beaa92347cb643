"""The files of the brand in the head of a page."""

from django import template

from catalogue import brand_files
from catalogue.palette import make_palette
from shop_settings.brand import Brand

register = template.Library()
register.filter("icon_url", brand_files.icon_url)
register.filter("icon_type", brand_files.icon_type)


@register.filter
def stylesheet_url(brand: Brand) -> str:
    """Return the address of the stylesheet with the brand's colours; "" for a brand that leaves them to stoa.css."""
    has_colours = brand.accent or brand.ground
    return brand_files.stylesheet_url(brand.accent, brand.ground) if has_colours else ""


@register.filter
def preview_url(brand: Brand) -> str:
    """Return the address of the stylesheet that shows a brand's colours in light and dark windows beside one another."""
    return brand_files.stylesheet_url(brand.accent, brand.ground, is_preview=True)


@register.filter
def page_colour(brand: Brand, scheme: str) -> str:
    """Return the colour of the page in light or dark windows, as CSS writes it."""
    return f"#{make_palette(brand.accent, brand.ground)[scheme]['paper']}"
