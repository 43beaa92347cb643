"""What the shop sends to a browser: HTML, and little of it."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Response

from tests.browser.conftest import DEVICES, OpenPage, ServedShop, open_context, read_shop_page
from tests.browser.shop_pages import PAGES_BY_NAME
from tests.html_checker import list_html_errors

MAX_REQUESTS, MAX_HTML_BYTES = 20, 15 * 1024


def test_x141_every_page_is_html(browser: Browser, shop: ServedShop) -> None:
    contexts: dict[str, BrowserContext] = {}
    pages = {}
    for name, place in PAGES_BY_NAME.items():
        if place.who not in contexts:
            contexts[place.who] = open_context(browser, shop, "desktop", place.who)
        pages[name] = read_shop_page(contexts[place.who].request, shop, place)
    for context in contexts.values():
        context.close()
    assert len(pages) >= 100
    # Or a checker that finds nothing would do.
    pages["wrong"] = '<!doctype html><html lang="en"><title>Wrong</title><p><p id="a"><p id="a">'
    found = list_html_errors(pages)
    errors = [each for each in found if not each.startswith("wrong")]
    assert len(found) > len(errors), "the checker finds no fault"
    assert not errors, f"{len(errors)} errors\n" + "\n".join(errors)


@pytest.mark.parametrize("device", DEVICES)
def test_x140_the_front_page_is_small_and_takes_few_requests_at_first_view(
    open_page: OpenPage, device: str
) -> None:
    page, answers = open_page(device), list[Response]()
    page.on("response", lambda answer: answers.append(answer))
    page.goto("/", wait_until="networkidle")
    paths = [urlsplit(each.url).path for each in answers]
    assert paths[0] == "/"
    assert any(each.startswith("/pictures/") for each in paths)
    assert len(answers) <= MAX_REQUESTS, "\n".join(paths)
    assert int(answers[0].headers["content-length"]) <= MAX_HTML_BYTES
    plain = [
        path
        for path, each in zip(paths, answers, strict=True)
        if re.match("text/|image/svg", each.headers["content-type"])
        and each.headers.get("content-encoding") not in ("gzip", "br")
    ]
    assert not plain, f"sent uncompressed: {plain}"
