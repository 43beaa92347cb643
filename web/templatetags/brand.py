"""The shop's brand in templates: its name, which no template writes itself."""

from django import template

from shop_settings.brand import Brand, get_brand

register = template.Library()


@register.simple_tag
def shop_name() -> str:
    """Return the shop's name: `{% shop_name as shop %}` for sentences."""
    return get_brand().name


@register.simple_tag
def brand() -> Brand:
    """Return the brand: `{% brand as brand %}`."""
    return get_brand()
