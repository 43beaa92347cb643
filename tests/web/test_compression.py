"""What is sent is compressed, and its size tells nothing that is secret (X140, S88)."""

import gzip
import re
from pathlib import Path
from uuid import uuid4

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client, RequestFactory
from hypothesis import given
from hypothesis import strategies as some
from pytest_django import Settings

from tests.factories import make_product, make_user
from web.compression import CompressionMiddleware, deflate, join_gzip, store
from web.text_cache import WHOLE_PAGES

GZIP = {"Accept-Encoding": "gzip, deflate, br"}


def compress(response: HttpResponseBase, **headers: str) -> HttpResponseBase:
    request = RequestFactory().get("/", headers=headers or GZIP)
    return CompressionMiddleware(lambda _: response)(request)  # type: ignore[return-value]


def test_x140_pages_and_drawings_are_compressed_for_whoever_takes_it() -> None:
    text = b"<p>The same again and again</p>" * 100
    for content_type in ("text/html; charset=utf-8", "image/svg+xml", "application/xml"):
        answer = compress(HttpResponse(text, content_type=content_type, headers={"ETag": '"a"'}))
        assert isinstance(answer, HttpResponse)
        assert gzip.decompress(answer.content) == text
        assert len(answer.content) == int(answer["Content-Length"]) < 400
        assert answer["Content-Encoding"] == "gzip"
        assert (answer["ETag"], answer["Vary"]) == ('W/"a"', "Accept-Encoding")
        plain = compress(HttpResponse(text, content_type=content_type), **{"Accept-Encoding": "br"})
        assert "Content-Encoding" not in plain
        assert plain["Vary"] == "Accept-Encoding"


def test_x140_what_is_compressed_already_or_comes_bit_by_bit_is_sent_as_it_is() -> None:
    for content_type in ("image/jpeg", "application/pdf", "text/csv"):
        assert "Content-Encoding" not in compress(
            HttpResponse(b"x" * 999, content_type=content_type)
        )
    assert "Content-Encoding" not in compress(StreamingHttpResponse([b"x" * 999]))


def test_x282_a_coding_that_is_refused_is_not_sent(settings: Settings, tmp_path: Path) -> None:
    text = b"a { color: red }" * 99
    (tmp_path / "a.css").write_bytes(text)
    (tmp_path / "a.css.gz").write_bytes(gzip.compress(text))
    settings.STATIC_ROOT, settings.WHOLE_PAGE_SECONDS = tmp_path, 5
    client = Client()
    # A page that is one for all, one of its own, and a file that was compressed beforehand.
    for address in ("/help/", "/account/login/", "/static/a.css"):
        sent = {
            header: client.get(address, headers={"Accept-Encoding": header}).get("Content-Encoding")
            for header in (
                "gzip",
                "br;q=1.0, gzip;q=0.5",
                "GZIP; Q=0.001",
                "gzip;q=0",
                "gzip; q=0.000, br;q=0",
                "gzip;q=nonsense",
                "identity, *;q=0",
                "",
            )
        }
        assert list(sent.values()) == ["gzip"] * 3 + [None] * 5, address
    WHOLE_PAGES.clear()


@given(some.lists(some.tuples(some.binary(max_size=300), some.booleans())))
def test_a_gzip_file_of_parts_is_what_they_are_together(parts: list[tuple[bytes, bool]]) -> None:
    packed = [(text, deflate(text) if small else store(text)) for text, small in parts]
    assert gzip.decompress(join_gzip(packed)) == b"".join(text for text, _ in parts)


def test_a_long_text_is_stored_in_blocks() -> None:
    text = uuid4().bytes * 9000
    assert gzip.decompress(join_gzip([(text, store(text))])) == text
    assert len(store(text)) > len(text)


def test_s88_the_size_of_a_page_of_ones_own_is_random() -> None:
    """Django's guard against BREACH: what a guess makes shorter cannot be told from chance."""
    client = Client()
    client.force_login(make_user())
    sizes = {len(client.get("/account/", headers=GZIP).content) for _ in range(12)}
    assert len(sizes) > 4


def test_s88_what_is_put_into_a_page_of_all_is_not_compressed_with_it(settings: Settings) -> None:
    """An address that repeats what the page says, or the visitor's own token, makes it no shorter."""
    settings.WHOLE_PAGE_SECONDS = 5
    WHOLE_PAGES.clear()
    mug = make_product("Zipped mug", stock=5)
    client = Client()

    def sent(query: str) -> bytes:
        answer = client.get(f"/p/{mug.slug}/?{query}", headers=GZIP)
        assert answer["Content-Encoding"] == "gzip"
        assert answer["Vary"].endswith("Accept-Encoding")
        return bytes(answer.content)

    first = sent("guess=")
    text = gzip.decompress(first)
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', text)
    key = re.search(rb'name="operation" value="([\w-]+)"', text)
    assert token
    assert key
    for own in (token[1], key[1], b"?guess="):
        assert text.count(own) == first.count(own) > 0
    repeated = sent("guess=csrfmiddlewaretoken" + token[1].decode())
    invented = sent("guess=" + "".join(f"{number:x}" for number in range(200))[: 19 + 64])
    assert len(repeated) == len(invented)
    assert gzip.decompress(repeated) != gzip.decompress(invented)
    WHOLE_PAGES.clear()
