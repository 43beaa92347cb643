"""Picture files as staff may send them, good and bad, made by Pillow."""

import struct
import zipfile
import zlib
from io import BytesIO
from typing import Any

from PIL import Image

RED, BLUE = (200, 30, 30), (30, 30, 200)
# Types of a camera's notes.
ASCII, SHORT = 2, 3


def make_image(width: int = 400, height: int = 300) -> Image.Image:
    """An image whose left half is red and whose right half is blue."""
    image = Image.new("RGB", (width, height), BLUE)
    image.paste(RED, (0, 0, width // 2, height))
    return image


def make_file(
    kind: str = "JPEG", width: int = 400, height: int = 300, shade: int = 0, **options: Any
) -> bytes:
    """A picture's file; `shade` makes it another picture."""
    image = make_image(width, height)
    image.putpixel((0, 0), (shade % 256, shade // 256 % 256, shade // 65536 % 256))
    image.paste((shade % 256, shade // 256 % 256, shade // 65536 % 256), (0, 0, 40, 40))
    target = BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def make_flat_file(width: int, height: int) -> bytes:
    """A PNG of one colour: some kilobytes, however many pixels it has."""
    target = BytesIO()
    Image.new("1", (width, height)).save(target, "PNG")
    return target.getvalue()


def enlarge_jpeg(raw: bytes, width: int, height: int) -> bytes:
    """Return a JPEG whose head says that it is larger than it is."""
    frame = max(raw.find(b"\xff\xc0"), raw.find(b"\xff\xc2")) + 5
    return raw[:frame] + height.to_bytes(2, "big") + width.to_bytes(2, "big") + raw[frame + 4 :]


def make_telltale_file() -> bytes:
    """A JPEG that stands on its side, says where it was taken, by whom and with what, and has colours of its own."""
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90° to the right
    exif[0x010F] = "Telltale camera"
    exif.get_ifd(0x8825)[2] = (48.0, 51.0, 30.0)
    return make_file(exif=exif, comment=b"Telltale comment", xmp=b"<x:xmpmeta>Telltale</x:xmpmeta>")


def make_noted_file(notes: dict[int, tuple[int, int, bytes]]) -> bytes:
    """A JPEG with a camera's notes as they are given: by their number a type, a count, and four bytes."""
    fields = [struct.pack("<HHI4s", number, *note) for number, note in notes.items()]
    parts = [b"Exif\0\0II*\0", struct.pack("<IH", 8, len(fields)), *fields, b"\0\0\0\0"]
    return make_file(exif=b"".join(parts))


def add_png_part(raw: bytes, name: bytes, content: bytes) -> bytes:
    """Return a PNG with a further part behind its pixels."""
    end = raw.index(b"IEND") - 4
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return raw[:end] + struct.pack(">I", len(content)) + name + content + checksum + raw[end:]


def make_zip() -> bytes:
    """A ZIP file with a file in it."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("run.sh", "echo")
    return target.getvalue()


def make_moving_file() -> bytes:
    """A WebP of two frames."""
    target = BytesIO()
    make_image().save(target, "WEBP", save_all=True, append_images=[make_image(400, 300).rotate(9)])
    return target.getvalue()
