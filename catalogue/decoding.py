"""Decode one uploaded picture and write it anew. The process has bounds on its memory and time.

    python -I catalogue/decoding.py <file> <the suffix of its name, or ""> <folder> [copy | clear]

writes the picture into the folder in each width and format; with "clear", keeps its transparency; with "copy", as one file `copy<suffix>` of its own format. It prints
JSON: the picture's width and height, or the word of REASONS that says why it is refused. The output is made only of the decoded pixels, so nothing else from the uploaded file
survives. This module imports nothing of the shop: the process starts at once and has no secrets in its memory or environment.
"""

import json
import math
import resource
import sys
import warnings
import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageCms, UnidentifiedImageError

# The largest pictures, by Pillow's names of formats ("MPO" is the JPEG of a camera that adds a preview). A JPEG is decoded at a
# reduced scale. The other formats need memory for each pixel, WebP and AVIF several times as much.
MAX_PIXELS = {
    "JPEG": 50_000_000,
    "MPO": 50_000_000,
    "PNG": 20_000_000,
    "WEBP": 12_000_000,
    "AVIF": 12_000_000,
}
# Each pass of a progressive JPEG covers the whole picture, so the whole picture stays in memory until the last pass.
MAX_PROGRESSIVE_BYTES = 200 * 1000 * 1000
MIN_SIDE = 100
# The largest allowed ratio of a picture's long side to its short side.
MAX_RATIO = 5
# The memory to which the process may write. With the memory of its libraries, it uses at most 300 MB (decision 040).
MAX_MEMORY_BYTES = 285 * 1024 * 1024
# Decoding a picture of MAX_PIXELS takes two seconds, or five at the steepest ratio.
MAX_CPU_SECONDS = 15
# The pixels of the largest file that is stored. The files of a tall picture are narrower.
MAX_KEPT_PIXELS = 6_400_000
WIDTHS = (320, 640, 1280, 2048)
REASONS = ("broken", "format", "name", "moving", "more", "pixels", "progressive", "sides")
# The suffixes of file names, by format.
SUFFIXES = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "MPO": (".jpg", ".jpeg", ".mpo"),
    "PNG": (".png",),
    "WEBP": (".webp",),
    "AVIF": (".avif",),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "avif": {"quality": 60, "speed": 8, "max_threads": 1},
    "webp": {"quality": 78},
    "jpg": {"quality": 80, "optimize": True, "progressive": True},
}
# The EXIF field for the camera's orientation, and the rotation that makes the picture upright for each value.
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_ON_ITS_SIDE = (5, 6, 7, 8)
_MARKUP = (b"<script", b"<html", b"<!doctype", b"<?php", b"<svg ")
# The beginnings of parts of a PDF. A PDF contains both. Photos may mention one of them in their metadata.
_PDF_HEAD, _PDF_END = b"%pdf-", b"startxref"
# Pillow checks this bound before the format is known.
Image.MAX_IMAGE_PIXELS = max(MAX_PIXELS.values())


class PictureRefused(Exception):
    """The shop refuses the file. `reason` is one of REASONS; `most` is how many pixels a picture of its format may have."""

    def __init__(self, reason: str, most: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.most = reason, most


def list_widths(width: int) -> list[int]:
    """Return the widths in which a picture is stored, smallest first. No width is larger than the picture's own."""
    return [*(each for each in WIDTHS if each < width), min(width, WIDTHS[-1])][: len(WIDTHS)]


def list_sizes(width: int, height: int) -> list[tuple[int, int]]:
    """Return the sizes in which a picture is stored, smallest first. The largest has at most MAX_KEPT_PIXELS."""
    kept = min(width, math.isqrt(MAX_KEPT_PIXELS * width // height))
    return [(each, max(1, round(height * each / width))) for each in list_widths(kept)]


def decode_picture(
    raw: bytes, suffix: str, folder: Path, *, is_clear: bool = False
) -> tuple[int, int]:
    """Write a picture into a folder in each width and format; return the largest width and height. Raises PictureRefused.

    A picture is put on white. `is_clear` keeps its transparency, except in JPEGs, which have none.
    """
    picture = _make_anew(_read_pixels(raw, suffix), is_clear=is_clear)
    sizes = list_sizes(picture.width, picture.height)
    for size in reversed(sizes):
        # Each size is made from the next larger one: this takes a quarter of the work and shows no difference.
        picture = picture.resize(size, Image.Resampling.LANCZOS)
        for ending, options in OPTIONS.items():
            is_plain = picture.mode == "RGB" or ending != "jpg"
            shown = picture if is_plain else _make_anew(picture)
            shown.save(folder / f"{size[0]}.{ending}", **options)
    return sizes[-1]


def copy_picture(raw: bytes, suffix: str, folder: Path) -> tuple[int, int]:
    """Write a picture of any shape into a folder as one file of its own format; return its width and height. Raises PictureRefused."""
    picture = _make_anew(_read_pixels(raw, suffix, any_shape=True))
    picture.save(folder / f"copy{suffix}", quality=85)
    return picture.size


def _read_pixels(raw: bytes, suffix: str, *, any_shape: bool = False) -> Image.Image:
    """Return the picture upright and in sRGB, with its transparency and what Pillow has kept of the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(BytesIO(raw), formats=("JPEG", "PNG", "WEBP", "AVIF")) as picture:
                _check_head(picture, suffix, any_shape=any_shape)
                picture.verify()
            _check_content(raw)
            with Image.open(BytesIO(raw), formats=("JPEG", "PNG", "WEBP", "AVIF")) as picture:
                return _in_srgb(_load_upright(picture))
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise PictureRefused("pixels", Image.MAX_IMAGE_PIXELS or 0) from error
    except UnidentifiedImageError as error:
        raise PictureRefused("format") from error
    except PictureRefused:
        raise
    except Exception as error:
        # Pillow raises any error for a file that is damaged, forged or needs too much memory.
        raise PictureRefused("broken") from error


def _make_anew(picture: Image.Image, *, is_clear: bool = False) -> Image.Image:
    """Return only the pixels of a picture, on white unless `is_clear`. Nothing else from the file is kept."""
    if is_clear and "A" in picture.getbands():
        clear = Image.new("RGBA", picture.size)
        clear.paste(picture)
        return clear
    clean = Image.new("RGB", picture.size, "white")
    clean.paste(picture, mask=picture.getchannel("A") if "A" in picture.getbands() else None)
    return clean


def _check_head(picture: Image.Image, suffix: str, *, any_shape: bool) -> None:
    """Check the file's head before a pixel is decoded. Raises PictureRefused."""
    if suffix and suffix.lower() not in SUFFIXES[picture.format or ""]:
        raise PictureRefused("name")
    most = MAX_PIXELS[picture.format or ""]
    if picture.width * picture.height > most:
        raise PictureRefused("pixels", most)
    if picture.info.get("progressive") and _progressive_bytes(picture) > MAX_PROGRESSIVE_BYTES:
        raise PictureRefused("progressive")
    if picture.format != "MPO" and getattr(picture, "is_animated", False):
        raise PictureRefused("moving")
    short, long = sorted(picture.size)
    if not any_shape and (short < MIN_SIDE or long > MAX_RATIO * short):
        raise PictureRefused("sides")


def _progressive_bytes(picture: Any) -> int:
    """Return how many bytes of a JPEG stay in memory between its passes: two for each pixel's value of each colour."""
    shares = [across * down for _number, across, down, _table in picture.layer]
    return int(2 * picture.width * picture.height * sum(shares) / max(shares))


def _check_content(raw: bytes) -> None:
    """Check that a picture is not also a file of another kind. Raises PictureRefused."""
    text = raw.lower()
    is_pdf = _PDF_HEAD in text and _PDF_END in text
    if is_pdf or zipfile.is_zipfile(BytesIO(raw)) or any(each in text for each in _MARKUP):
        raise PictureRefused("more")


def _load_upright(picture: Image.Image) -> Image.Image:
    """Return a picture's pixels upright, in the largest size that is stored."""
    # ImageOps.exif_transpose would rewrite the EXIF metadata, and fails on metadata that Pillow cannot write.
    orientation: Any = picture.getexif().get(_ORIENTATION)
    turn, is_on_its_side = _TURNS.get(orientation), orientation in _ON_ITS_SIDE
    upright = picture.size[::-1] if is_on_its_side else picture.size
    largest = list_sizes(*upright)[-1]
    wanted = largest[::-1] if is_on_its_side else largest
    # A JPEG is decoded at an eighth, a quarter or half of its scale; the call does nothing for other formats.
    picture.draft(None, wanted)
    picture.load()
    # The picture is reduced first, so that all further work copies fewer pixels.
    reduced = _in_plain_mode(picture).resize(wanted, Image.Resampling.LANCZOS)
    return reduced.transpose(turn) if turn is not None else reduced


def _in_plain_mode(picture: Image.Image) -> Image.Image:
    """Return a picture with eight bits a colour, without a palette, and with its transparency as a separate band."""
    if picture.mode.startswith("I"):
        # 16 bits a channel: Pillow would cut off values above 255.
        picture = picture.convert("I").point(lambda value: value / 257, "L")
    if "transparency" in picture.info:
        return picture.convert("RGBA")
    return picture.convert("RGB") if picture.mode in ("P", "1") else picture


def _in_srgb(picture: Image.Image) -> Image.Image:
    """Return a picture in sRGB, with its transparency if it has any."""
    profile = picture.info.get("icc_profile")
    if "A" not in picture.getbands():
        return _convert(picture, profile)
    shape = picture.convert("RGBA")
    converted = _convert(picture.convert("L" if picture.mode == "LA" else "RGB"), profile)
    converted.putalpha(shape.getchannel("A"))
    return converted


def _convert(picture: Image.Image, profile: bytes | None) -> Image.Image:
    """Return a picture without transparency in sRGB."""
    if profile:
        # A profile that is wrong, or made for other colours, is ignored.
        with suppress(ImageCms.PyCMSError, OSError):
            converted = ImageCms.profileToProfile(
                picture,
                ImageCms.ImageCmsProfile(BytesIO(profile)),
                ImageCms.createProfile("sRGB"),
                outputMode="RGB",
            )
            if converted:
                return converted
    return picture.convert("RGB")


def main() -> None:
    """Decode one file within the bounds, and print the result."""
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    # At the first limit the kernel sends SIGXCPU, which the parent process recognises. At the second limit it kills the process.
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS + 2))
    file, suffix, folder, *mode = sys.argv[1:]
    raw, target = Path(file).read_bytes(), Path(folder)
    try:
        if mode == ["copy"]:
            width, height = copy_picture(raw, suffix, target)
        else:
            width, height = decode_picture(raw, suffix, target, is_clear=mode == ["clear"])
    except PictureRefused as refused:
        print(json.dumps({"refused": refused.reason, "most": refused.most}))
    else:
        print(json.dumps({"width": width, "height": height}))


if __name__ == "__main__":
    main()
