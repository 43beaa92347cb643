"""Template tags for pictures of products."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from catalogue.entities import Product, Variant
from catalogue.photos import CONTENT_TYPES, Photo, parse_photo, photo_url
from catalogue.pictures import MAX_SHEET, is_drawing, join_sheet

register = template.Library()
# A list draws the same few hundred pictures over and over, which would be a third of its cost. So the HTML is cached.
_CACHE_SIZE = 4096
# The displayed width of a photo, by its `size`. By this the browser chooses a file before it knows the layout.
_SIZES = {
    "tiny": "3.25rem",
    "chip": "2.5rem",
    "thumb": "6.5rem",
    "": "(min-width: 80rem) 17rem, (min-width: 40rem) 21vw, 45vw",
    "main": "(min-width: 52rem) 50vw, 100vw",
    # An enlarged photo is wider than the window.
    "full": "200vw",
    "logo": "12rem",
    "hero": "(min-width: 44rem) 58vw, 100vw",
}
# The classes of pictures that are no product's, by their `size`.
_CLASSES = {"logo": "logo__picture", "hero": "hero__art"}
# A main photo whose sides differ by more than this ratio is shown whole, because cutting it to a square would hide too much.
_MOST_CUT = 1.34
# The width of the JPEG for mails, search engines, other sites, and browsers without the newer formats.
_PLAIN_WIDTH = 1280


@register.simple_tag
@lru_cache(maxsize=_CACHE_SIZE)
def picture(
    picture: str, alt: str = "", size: str = "", *, eager: bool = False, first: bool = False
) -> SafeString:
    """Return the HTML of a picture, for which the page reserves space. Without a picture, return the HTML of a placeholder.

    `picture` is a photo, a drawing's "shape/hex-hex", or "". `size` is a modifier of the CSS class: "", "thumb", "tiny", "chip",
    "main" or "full", or "logo" or "hero" for the brand's. `alt` is empty if the name is beside the picture. `eager` is for the first row of a list, `first` for a
    page's main picture. Raises NoReverseMatch for a text that is no picture.
    """
    photo = parse_photo(picture)
    image = _image(
        picture_url(picture) or static("icons/no-picture.svg"),
        alt,
        size,
        eager=eager,
        first=first,
        photo=photo,
    )
    if not photo:
        return image
    sources = format_html_join(
        "",
        '<source type="{}"{}>',
        ((CONTENT_TYPES[ending], _files(photo, ending, size)) for ending in ("avif", "webp")),
    )
    return format_html("<picture>{}{}</picture>", sources, image)


def _image(
    source: str,
    alt: str = "",
    size: str = "",
    *,
    eager: bool = False,
    first: bool = False,
    photo: Photo | None = None,
) -> SafeString:
    is_whole = (
        photo
        and size == "main"
        and max(photo.width, photo.height) > _MOST_CUT * min(photo.width, photo.height)
    )
    return format_html(
        '<img class="{}{}" src="{}"{} alt="{}" width="{}" height="{}" loading="{}" fetchpriority="{}" decoding="async">',
        _CLASSES.get(size) or ("picture" + (f" picture--{size}" if size else "")),
        " picture--whole" if is_whole else "",
        source,
        _files(photo, "jpg", size) if photo else "",
        alt,
        photo.width if photo else 600,
        photo.height if photo else 600,
        "eager" if eager or first else "lazy",
        "high" if first else "auto",
    )


@register.filter
def with_images(things: Sequence[Any]) -> list[tuple[Any, SafeString]]:
    """Pair each of these objects with the image of its `picture`. All drawings are in one file, so a row needs one request.

    The image has the object's `picture_alt`, which may be empty, because the name is beside the image. Raises NoReverseMatch for
    a text that is no picture.
    """
    drawn = list(dict.fromkeys(each.picture for each in things if is_drawing(each.picture)))
    if not 1 < len(drawn) <= MAX_SHEET:
        return [(each, picture(each.picture, each.picture_alt)) for each in things]
    sheet = reverse("picture_sheet", args=(join_sheet(drawn),))
    addresses = {each: f"{sheet}#p{number}" for number, each in enumerate(drawn)}
    return [
        (
            each,
            _image(addresses[each.picture], each.picture_alt)
            if each.picture in addresses
            else picture(each.picture, each.picture_alt),
        )
        for each in things
    ]


def _files(photo: Photo, ending: str, size: str) -> SafeString:
    files = ", ".join(f"{photo_url(photo, width, ending)} {width}w" for width in photo.widths)
    return format_html(' srcset="{}" sizes="{}"', files, _SIZES[size])


def picture_url(picture: str) -> str:
    """Return the address of a picture as one file (for a photo, its JPEG); "" without a picture. Raises NoReverseMatch."""
    if not picture:
        return ""
    if photo := parse_photo(picture):
        return photo_url(photo, plain_width(photo), "jpg")
    shape, _, colours = picture.partition("/")
    return reverse("picture", args=(shape, colours))


@register.filter
def full_picture_url(picture: str) -> str:
    """Return the address of a picture as one file (for a photo, its largest JPEG); "" without a picture. Raises NoReverseMatch."""
    photo = parse_photo(picture)
    return photo_url(photo, photo.widths[-1], "jpg") if photo else picture_url(picture)


def plain_width(photo: Photo) -> int:
    """Return the width of the JPEG that is used where a photo can have only one file."""
    return [width for width in photo.widths if width <= _PLAIN_WIDTH][-1]


def public_picture_url(picture: str) -> str:
    """Return the public address of a picture, for mails, search engines and other sites."""
    return public_url(picture_url(picture))


def public_url(address: str) -> str:
    """Return an address with the shop's public host, unless it already has a host."""
    return urljoin(f"{settings.PUBLIC_URL}/", address)


@register.filter
def picture_of(product: Product, variant: Variant) -> str:
    """Return the picture of a product's variant."""
    return product.picture_of(variant)


@register.simple_tag
def swatches(colours: list[str], more: int = 0) -> SafeString:
    """Return the HTML of up to five colours as dots, with the number of further colours.

    `colours` are hexadecimal digits, with or without "#". Raises ValueError for anything else.
    """
    count = len(colours) + more
    label = ngettext("%(count)s colour", "%(count)s colours", count) % {"count": count}
    return _swatches(tuple(colours[:5]), count, label)


@register.simple_tag
def dot(hex6: str) -> SafeString:
    """Return the HTML of a colour as a dot. Words beside it name the colour."""
    return format_html(
        '<svg class="dot" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">'
        '<circle cx="8" cy="8" r="7.5" fill="#{}"/></svg>',
        f"{int(hex6, 16):06x}",
    )


@lru_cache(maxsize=_CACHE_SIZE)
def _swatches(colours: tuple[str, ...], count: int, label: str) -> SafeString:
    dot_colours = [colour.lstrip("#") for colour in colours]
    dots = format_html_join(
        "",
        '<circle cx="{}" cy="8" r="7" fill="#{}"/>',
        ((8 + 20 * index, f"{int(colour, 16):06x}") for index, colour in enumerate(dot_colours)),
    )
    rest = count - len(dot_colours)
    return format_html(
        '<span class="swatches"><svg viewBox="0 0 {} 16" width="{}" height="14" aria-hidden="true" focusable="false">{}</svg>'
        '{}<span class="vh">{}</span></span>',
        20 * len(dot_colours) - 4,
        round((20 * len(dot_colours) - 4) * 0.875),
        dots,
        f"+{rest} " if rest else "",
        label,
    )
