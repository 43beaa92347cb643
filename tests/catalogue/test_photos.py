"""Uploaded pictures: decoded and written anew, or refused in a sentence; then stored, and served for a year."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import environ
import PIL
import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.utils.module_loading import import_string
from PIL import Image, ImageCms

from catalogue import decoding, photos
from catalogue.decoding import PictureRefused, decode_picture, list_widths
from catalogue.errors import DecoderFailed, PhotoRefused
from catalogue.photos import Photo, explain_refusal, parse_photo, photo_url, take_in_photo
from catalogue.templatetags.pictures import picture, picture_url
from storefront.media import media_storage
from tests.catalogue.photo_files import (
    ASCII,
    BLUE,
    RED,
    SHORT,
    add_png_part,
    enlarge_jpeg,
    make_file,
    make_flat_file,
    make_moving_file,
    make_noted_file,
    make_telltale_file,
    make_zip,
)
from tests.rules import for_each

JPEG, PNG = make_file(), make_file("PNG")
# What is no picture that the shop takes: its name's ending, the file, and the word for why.
REFUSED = {
    "a JPEG called PNG": (".png", JPEG, "name"),
    "a PNG called JPEG": (".jpg", PNG, "name"),
    "a drawing": (".svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "format"),
    "a page called JPEG": (".jpg", b"<html><script>alert(1)</script>", "format"),
    "a GIF": (".gif", make_file("GIF"), "format"),
    "a picture that is a ZIP, too": (".jpg", JPEG + make_zip(), "more"),
    "a picture that is a page, too": (".jpg", JPEG + b"<HTML><SCRIPT>alert(1)</SCRIPT>", "more"),
    "a picture that is a PDF, too": (
        ".jpg",
        make_file(comment=b"%PDF-1.4\n1 0 obj") + b"xref\nstartxref\n0\n%%EOF",
        "more",
    ),
    "a page in a comment": (".jpg", make_file(comment=b"<script>alert(1)</script>"), "more"),
    "half a picture": (".jpg", JPEG[: len(JPEG) // 2], "broken"),
    "half a PNG": (".png", PNG[: len(PNG) // 2], "broken"),
    "a wrong checksum": (".png", PNG.replace(b"IDAT", b"IDAT\x01", 1), "broken"),
    "moving": (".webp", make_moving_file(), "moving"),
    "one pixel": (".jpg", make_file(width=1, height=1), "sides"),
    "a thread": (".png", make_flat_file(2000, 150), "sides"),
    "a PNG of 20.1 megapixels": (".png", make_flat_file(6700, 3000), "pixels"),
    "a WebP of 12.3 megapixels": (".webp", make_file("WEBP", 4100, 3000, method=0), "pixels"),
    "a JPEG of 50.1 megapixels": (".jpg", enlarge_jpeg(JPEG, 8350, 6000), "pixels"),
    "a progressive JPEG of 40 megapixels in full colour": (
        ".jpg",
        enlarge_jpeg(make_file(progressive=True, subsampling=0), 8000, 5000),
        "progressive",
    ),
    "a bomb": (".png", make_flat_file(14_000, 14_000), "pixels"),
    # The head says 200 megapixels, and a handful of bytes follow.
    "a lie about its size": (
        ".png",
        PNG[:16] + (20_000).to_bytes(4, "big") + (10_000).to_bytes(4, "big") + PNG[24:],
        "format",
    ),
}

# The child's own peak, in KB: what the kernel tells its parent begins with the parent's.
MEASURED = """
import re, runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@for_each(REFUSED, at_least=20)
def test_s83_what_is_no_plain_picture_is_refused_in_a_sentence(name: str) -> None:
    suffix, raw, reason = REFUSED[name]
    with TemporaryDirectory() as folder:
        with pytest.raises(PictureRefused) as refused:
            decode_picture(raw, suffix, Path(folder))
        assert refused.value.reason == reason
        assert list(Path(folder).iterdir()) == []
    said = explain_refusal(reason, refused.value.most)
    assert said.endswith(".")
    if reason == "pixels":
        # Whoever has a larger picture learns how large it may be, and that a JPEG may have more.
        assert ("as a JPEG" in said) == (refused.value.most < 50_000_000)
        assert f"more than {refused.value.most // 10**6} megapixels" in said


def test_s83_a_picture_is_written_anew_upright_and_without_anything_else(tmp_path: Path) -> None:
    assert decode_picture(make_telltale_file(), ".JPG", tmp_path) == (300, 400)
    assert {each.name for each in tmp_path.iterdir()} == {"300.avif", "300.webp", "300.jpg"}
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        assert b"elltale" not in content, path
        assert b"Exif" not in content, path
        with Image.open(path) as made:
            assert not ({"exif", "xmp", "icc_profile", "comment"} & made.info.keys()), path
            assert made.size == (300, 400)
            # The left half is at the top now.
            above, below = (made.convert("RGB").getpixel((150, y)) for y in (60, 340))
        for found, wanted in ((above, RED), (below, BLUE)):
            assert all(abs(a - b) < 40 for a, b in zip(found, wanted, strict=True)), path  # type: ignore[arg-type]


@for_each(("JPEG", "PNG", "WEBP", "AVIF"))
def test_s83_a_picture_without_a_suffix_is_taken_by_its_content(kind: str) -> None:
    with TemporaryDirectory() as folder:
        assert decode_picture(make_file(kind), "", Path(folder))


def test_s83_a_photo_whose_metadata_mention_a_pdf_is_taken_without_them(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "Page 3 of catalogue.pdf (%PDF-1.7)"
    raw = make_file(exif=exif, comment=b"%PDF-1.4")
    assert decode_picture(raw, ".jpg", tmp_path) == (400, 300)
    assert not [path for path in tmp_path.iterdir() if b"%PDF" in path.read_bytes()]


def test_s83_notes_that_make_no_sense_refuse_no_picture(tmp_path: Path) -> None:
    upright, turned = (400, 300), (300, 400)
    for raw, size in (
        (make_noted_file({0x0112: (ASCII, 4, b"abc\0")}), upright),
        (make_noted_file({0x0112: (ASCII, 2, b"6\0\0\0")}), upright),
        (make_noted_file({0x0112: (SHORT, 1, b"\x09\0\0\0")}), upright),
        # How it was held counts, whatever stands beside it that Pillow reads and cannot write.
        (make_noted_file({0x0112: (SHORT, 1, b"\6\0\0\0"), 0x0128: (ASCII, 4, b"abc\0")}), turned),
    ):
        assert decode_picture(raw, ".jpg", tmp_path) == size
    # What Pillow cannot read at all is a damaged file: here a colour profile without content.
    with pytest.raises(PictureRefused) as refused:
        decode_picture(add_png_part(PNG, b"iCCP", b""), ".png", tmp_path)
    assert refused.value.reason == "broken"


def test_s83_colours_are_those_of_srgb_and_nothing_shines_through(tmp_path: Path) -> None:
    target = BytesIO()
    Image.new("RGBA", (200, 200), (0, 0, 0, 0)).save(target, "PNG")
    decode_picture(target.getvalue(), ".png", tmp_path)
    with Image.open(tmp_path / "200.jpg") as made:
        assert made.getpixel((100, 100)) == (255, 255, 255)
    for mode in ("CMYK", "L"):
        target = BytesIO()
        Image.new(mode, (200, 200)).save(target, "JPEG")
        decode_picture(target.getvalue(), ".jpeg", tmp_path)
    # A profile whose red is what others call blue; and a grey of 16 bits.
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    swapped = (
        profile.replace(b"rXYZ", b"....", 1)
        .replace(b"bXYZ", b"rXYZ", 1)
        .replace(b"....", b"bXYZ", 1)
    )
    for image, wanted in (
        (Image.new("RGB", (200, 200), "red"), (0, 0, 255)),
        (Image.new("RGBA", (200, 200), "red"), (0, 0, 255)),
        (Image.new("RGBA", (200, 200), (255, 0, 0, 0)), (255, 255, 255)),
        (Image.new("P", (200, 200)), (0, 0, 0)),
        (Image.new("I;16", (200, 200), 0x8000), (128, 128, 128)),
    ):
        target = BytesIO()
        image.save(target, "PNG", icc_profile=swapped)
        decode_picture(target.getvalue(), ".png", tmp_path)
        with Image.open(tmp_path / "200.jpg") as made:
            found = made.getpixel((100, 100))
        assert all(abs(a - b) < 6 for a, b in zip(found, wanted, strict=True)), (image, found)  # type: ignore[arg-type]


def test_x262_a_photograph_of_50_megapixels_is_decoded_in_300_megabytes(tmp_path: Path) -> None:
    source, made = tmp_path / "source", tmp_path / "made"
    # Twice as much as phones make, on its side; and the highest PNG that there may be.
    exif = Image.Exif()
    exif[0x0112] = 6
    plain = Image.new("RGB", (8660, 5773), RED)
    for name, suffix, options, size in (
        ("JPEG", ".jpg", {"exif": exif}, (2048, 3072)),
        ("PNG", ".png", {"compress_level": 1}, (1131, 5655)),
    ):
        if name == "PNG":
            plain = Image.new("RGBA", (2000, 10_000), (200, 30, 30, 128))
        plain.save(source, name, **options)
        made.mkdir()
        command = [sys.executable, "-I", "-c", MEASURED, decoding.__file__, str(source), suffix]
        command.append(str(made))
        child = subprocess.run(command, env={}, stdout=subprocess.PIPE, check=True)
        answer, _, peak = child.stdout.decode().partition("\n")
        assert json.loads(answer) == {"width": size[0], "height": size[1]}
        assert int(peak) <= 300 * 1024, name
        with Image.open(made / f"{size[0]}.jpg") as largest:
            assert largest.size == size
        shutil.rmtree(made)


def test_s83_a_picture_has_four_widths_and_never_more_than_it_came_with() -> None:
    found = {width: list_widths(width) for width in (200, 320, 500, 1500, 2048, 6000)}
    assert found == {
        200: [200],
        320: [320],
        500: [320, 500],
        1500: [320, 640, 1280, 1500],
        2048: [320, 640, 1280, 2048],
        6000: [320, 640, 1280, 2048],
    }


def test_s83_a_photo_is_stored_once_under_its_hash_and_mended_if_a_crash_cut_it_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = make_file(width=700, height=350, shade=uuid4().int)
    photo = take_in_photo(raw, "../../etc/My picture.jpeg")
    assert (photo.width, photo.height, photo.widths) == (700, 350, [320, 640, 700])
    assert parse_photo(str(photo)) == photo
    names = photo.list_file_names()
    assert len(names) == 9
    assert all(default_storage.size(each) for each in names)
    cut, whole = (Path(default_storage.path(each)) for each in names[:2])
    before, moment = cut.read_bytes(), whole.stat().st_mtime_ns
    cut.write_bytes(before[:10])
    assert take_in_photo(raw, "other.jpg") == photo
    assert cut.read_bytes() == before
    assert whole.stat().st_mtime_ns == moment, "what is whole is not touched: somebody may read it"
    # A write that is cut off leaves nothing under the name.
    with monkeypatch.context() as patch:
        patch.setattr(ContentFile, "chunks", cut_off)
        with pytest.raises(OSError, match="full"):
            default_storage.save(f"pictures/{photo.digest}/new.jpg", ContentFile(raw))
    assert not default_storage.exists(f"pictures/{photo.digest}/new.jpg")
    # Another encoder may make other bytes of it: they are other files.
    assert PIL.__version__ in photos._RECIPE.decode()
    monkeypatch.setattr(photos, "_RECIPE", b"another")
    assert take_in_photo(raw, "other.jpg").digest != photo.digest


def cut_off(_file: Any) -> Iterator[bytes]:
    yield b"half"
    raise OSError("the disk is full")


def test_s83_only_what_the_decoder_says_is_a_refusal_or_that_its_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "decoder.py"
    monkeypatch.setattr(decoding, "__file__", str(program))

    def take_in(code: str) -> None:
        program.write_text(code)
        take_in_photo(JPEG, "a.jpg")

    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    # Ctrl-C reaches all of a session's processes.
    alone = "import os; assert os.getsid(0) != os.getpid(), 'in a session of its own'"
    broken = "raise OSError('the disk is full')"
    for code, told in ((killed, "-9"), (alone, "of its own"), (broken, "the disk is full")):
        with pytest.raises(DecoderFailed, match=told):
            take_in(code)
    endless = f"""
import sys
sys.path.insert(0, {str(settings.BASE_DIR)!r})
from catalogue import decoding, photos
decoding.MAX_CPU_SECONDS = 1
decoding.Path = lambda path: any(iter(int, 1))
decoding.main()
"""
    with pytest.raises(PhotoRefused, match="too long"):
        take_in(endless)


def test_s83_a_file_is_served_for_a_year_as_the_picture_that_it_is(client: Client) -> None:
    photo = take_in_photo(make_file(shade=uuid4().int), "a.jpg")
    kinds = {"avif": "image/avif", "webp": "image/webp", "jpg": "image/jpeg"}
    for ending, content_type in kinds.items():
        answer = client.get(photo_url(photo, 400, ending))
        assert (answer.status_code, answer["Content-Type"]) == (200, content_type)
        assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert answer["Content-Disposition"].startswith("inline; filename=")
        with Image.open(BytesIO(answer.content)) as served:
            assert served.size == (400, 300)


def test_s83_nothing_else_of_the_storage_is_served(client: Client) -> None:
    raw = default_storage.save(f"incoming/{uuid4().hex}", BytesIO(JPEG))
    photo = take_in_photo(make_file(shade=uuid4().int), "a.jpg")
    asked = (
        *(f"/media/{raw}", f"/media/pictures/../{raw}", f"/media/pictures/%2e%2e/{raw}"),
        *(f"/media/pictures/{photo.digest}/", "/media/", "/media/incoming/"),
        *(f"/media/pictures/{photo.digest}/400.svg", f"/media/pictures/{photo.digest}/400.jpg/x"),
        f"/media/pictures/{'0' * 31}G/400.jpg",
    )
    assert {each: client.get(each).status_code for each in asked} == dict.fromkeys(asked, 404)


def test_x104_a_picture_whose_file_is_away_is_a_sign_of_the_same_size(client: Client) -> None:
    gone = Photo(uuid4().hex, 1600, 1200)
    answer = client.get(photo_url(gone, 640, "webp"))
    assert (answer.status_code, answer["Content-Type"]) == (404, "image/svg+xml")
    assert "no-store" in answer["Cache-Control"]
    assert b"<svg" in answer.content
    assert 'width="1600" height="1200"' in picture(str(gone))


def test_x104_browsers_choose_format_and_width_others_get_a_jpeg() -> None:
    text = f"photo/{'ab' * 16}-1600x1200"
    html = picture(text, "Mug <b>", "tiny")
    assert html.index("image/avif") < html.index("image/webp") < html.index("<img")
    assert html.count("srcset=") == html.count('sizes="3.25rem"') == 3
    assert f"/media/pictures/{'ab' * 16}/320.avif 320w, " in html
    assert f"/{'ab' * 16}/1600.jpg 1600w" in html
    assert 'alt="Mug &lt;b&gt;"' in html
    assert 'loading="lazy"' in html
    assert picture_url(text) == f"/media/pictures/{'ab' * 16}/1280.jpg"
    assert picture_url("mug/4f6d7a-e8d9c5").endswith("/mug/4f6d7a-e8d9c5.svg")
    assert picture_url("") == ""
    for wrong in (text + "x", "photo/abc", f"photo/{'ab' * 16}-0x12", f"photo/{'AB' * 16}-16x12"):
        assert parse_photo(wrong) is None


def test_s83_a_bucket_in_the_environment_takes_the_pictures_and_its_host_the_policy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {
        "S3_BUCKET": "stoa",
        "S3_ENDPOINT": "https://s3.example.net",
        "S3_ACCESS_KEY": "key",
        "S3_SECRET_KEY": "secret",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    storage, host = media_storage(environ.Env(), Path("/nowhere"), "/media/")
    assert host == "https://s3.example.net"
    bucket = import_string(storage["BACKEND"])(**storage["OPTIONS"])
    url = "https://s3.example.net/stoa/pictures/abc/320.jpg"
    assert bucket.url("pictures/abc/320.jpg") == url
    assert bucket.object_parameters == {"CacheControl": "public, max-age=31536000, immutable"}
    monkeypatch.setenv("S3_PUBLIC_URL", "https://cdn.example.com/shop/")
    storage, host = media_storage(environ.Env(), Path("/nowhere"), "/media/")
    bucket = import_string(storage["BACKEND"])(**storage["OPTIONS"])
    assert bucket.url("a.jpg") == "https://cdn.example.com/shop/a.jpg"
    assert host == "https://cdn.example.com"
    assert bucket.client_config.read_timeout < 30, "botocore's own are five tries of a minute"
    monkeypatch.setenv("S3_PUBLIC_URL", "cdn.example.com/shop")
    with pytest.raises(ImproperlyConfigured, match="S3_PUBLIC_URL"):
        media_storage(environ.Env(), Path("/nowhere"), "/media/")


def test_s83_without_a_bucket_pictures_are_in_a_folder_of_their_own() -> None:
    assert default_storage.path("a") == str(settings.MEDIA_ROOT / "a")
    assert settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]["img-src"] == ["'self'"]
