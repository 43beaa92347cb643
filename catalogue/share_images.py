"""The picture that other sites show beside a link. Those sites take no SVG, so a drawing is converted to JPEG (decision 020).

The JPEG's address has a key that only the shop can make, so strangers cannot choose what the shop draws and stores. The JPEG is
made on the first request, and stored under the hash of its source.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from threading import Lock

import PIL
import resvg_py
from django.conf import settings
from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from PIL import Image

from catalogue.errors import ShareImageBusy
from catalogue.photos import parse_photo, store_file
from catalogue.pictures import NoSuchPicture, draw_picture, is_drawing
from catalogue.templatetags.pictures import plain_width, public_picture_url, public_url

FOLDER = "shared"
WIDTH = 1200
# Drawings are square; the shop's own picture, which is not, has this size.
_HEIGHTS = {"": 750}
# Another version of a library makes other bytes, so the address changes with the versions.
_RECIPE = f"1 {version('resvg_py')} {PIL.__version__} "
_JPEG = {"quality": 82, "optimize": True, "progressive": True}
_KEY_CHARACTERS = 32
# Making a JPEG takes a third of a second of CPU. A process makes one at a time; a request that waits too long is asked to come
# back.
_ONE_AT_A_TIME = Lock()
SECONDS_EACH = 2


@dataclass(frozen=True, slots=True)
class ShareImage:
    """A JPEG's full address, and its size in pixels."""

    url: str
    width: int
    height: int


def find_share_image(picture: str) -> ShareImage:
    """Return the JPEG that other sites show for a picture. Without a picture that can be drawn, return the shop's own."""
    if photo := parse_photo(picture):
        width = plain_width(photo)
        height = max(1, round(photo.height * width / photo.width))
        return ShareImage(public_picture_url(picture), width, height)
    shape, _, colours = picture.partition("/") if is_drawing(picture) else ("", "", "")
    key = _make_key(shape, colours, settings.SECRET_KEY)
    address = (
        reverse("share_image", args=(shape, colours, key))
        if shape
        else reverse("shop_share_image", args=(key,))
    )
    return ShareImage(public_url(address), WIDTH, _HEIGHTS.get(shape, WIDTH))


def read_share_image(shape: str, colours: str, key: str) -> bytes:
    """Return the JPEG at an address. It is made on the first request.

    Raises NoSuchPicture for an address that the shop has not made. Also raises ShareImageBusy and errors of the storage.
    """
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    if not any(constant_time_compare(key, _make_key(shape, colours, each)) for each in secrets):
        raise NoSuchPicture("the shop has not made this address")
    source = _read_source(shape, colours)
    name = f"{FOLDER}/{sha256((_RECIPE + source).encode()).hexdigest()}.jpg"
    return _read_stored(name) or _make(source, name)


def _read_stored(name: str) -> bytes | None:
    try:
        with default_storage.open(name) as stored:
            content: bytes = stored.read()
    except FileNotFoundError:
        return None
    return content


def _make(source: str, name: str) -> bytes:
    if not _ONE_AT_A_TIME.acquire(timeout=SECONDS_EACH):
        raise ShareImageBusy
    try:
        # The previous holder of the lock may have made the JPEG.
        content = _read_stored(name)
        if content is None:
            content = _render(source)
            store_file(name, content)
    finally:
        _ONE_AT_A_TIME.release()
    return content


@lru_cache(maxsize=4096)
def _make_key(shape: str, colours: str, secret: str) -> str:
    text = f"{_RECIPE}{_read_source(shape, colours)}"
    signed = salted_hmac("catalogue.share_images", text, secret=secret, algorithm="sha256")
    return signed.hexdigest()[:_KEY_CHARACTERS]


def _read_source(shape: str, colours: str) -> str:
    """Return the SVG from which a JPEG is made. Raises NoSuchPicture."""
    return draw_picture(shape, tuple(colours.split("-"))) if shape else _read_shop_drawing()


@lru_cache(maxsize=1)
def _read_shop_drawing() -> str:
    return Path(settings.BASE_DIR, "static", "icons", "hero.svg").read_text(encoding="utf-8")


def _render(source: str) -> bytes:
    drawn = resvg_py.svg_to_bytes(svg_string=source, width=WIDTH, skip_system_fonts=True)
    jpeg = BytesIO()
    with Image.open(BytesIO(bytes(drawn))) as picture:
        picture.convert("RGB").save(jpeg, "JPEG", **_JPEG)
    return jpeg.getvalue()
