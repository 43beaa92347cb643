"""How every page looks and reads: sizes, schemes, zoom, text spacing, print, motion, and axe on all of them."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.urls import resolve
from playwright.sync_api import Browser, Page, Route, expect

from cart.entities import CartBadge
from catalogue.entities import MenuEntry
from storefront.list_filters import FILTER_PARAMETERS
from tests.browser.conftest import DEVICES, InspectPages, OpenPage, ServedShop, open_context
from tests.browser.page_watch import list_accessibility_violations
from tests.browser.shop_pages import (
    PAGES,
    PAGES_BY_NAME,
    URL_ARGUMENTS,
    URLS_WITHOUT_PAGE,
    iterate_urls,
)
from tests.browser.steps import TWO_CHOICES, add_to_cart, open_product, skus_in_stock
from tests.web_server import fetch_page

# What a finger has to hit: buttons everywhere, and links that stand alone (a link in a sentence has its line's height).
SMALL_TARGETS = """() => {
  const shown = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && !e.closest('.vh') && !e.matches('.skip');
  const alone = (e) => e.matches('button, summary, .button, .link, .chip, .tile, nav a, header a, footer li a, select')
    || (e.matches('li > a') && e.parentElement.innerText.trim() === e.innerText.trim());
  return [...document.querySelectorAll('a, button, summary, select')].filter((e) => shown(e) && alone(e)).map((e) => {
    const box = e.getBoundingClientRect();
    const least = e.matches('a:not(.button)') ? 24 : 43.5;
    return box.height < 43.5 || box.width < least ? `${e.outerHTML.slice(0, 120)} ${box.width} x ${box.height}` : '';
  }).filter(Boolean);
}"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What makes it so, at most three.
TOO_WIDE = """() => [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.closest('.vh, .skip')
  && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .slice(-3).map((e) => e.outerHTML.slice(0, 100)).join(' | ')"""
# What is clipped as a whole is for screen readers, as the head of a table whose rows are cards: each cell bears its words.
# The beginning of a message in a list may be cut off: the whole of it is what the row opens.
CUT_OFF = """() => [...document.querySelectorAll('body *')].filter((e) => {
  if (e.closest('.vh, .skip, svg, .scroll, .inbox__excerpt, .mail__excerpt, .table--cards thead, [hidden]') || !e.checkVisibility() || !e.innerText?.trim()) return false;
  const style = getComputedStyle(e);
  if (style.clipPath === 'inset(50%)') return false;
  const cuts = (way) => ['hidden', 'clip'].includes(way);
  return (cuts(style.overflowX) && e.scrollWidth > e.clientWidth + 1) || (cuts(style.overflowY) && e.scrollHeight > e.clientHeight + 1);
}).map((e) => e.outerHTML.slice(0, 160))"""
SPACED = """* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }
p { margin-block-end: 2em !important; }"""
# What has moved without anybody's doing is in `shifts()`.
SHIFTS = """const moved = []; const note = (entries) => entries.forEach((e) => {
  if (!e.hadRecentInput) moved.push(`${e.value.toFixed(4)} ${e.sources.map((s) => s.node?.outerHTML?.slice(0, 80)).join(' | ')}`);
});
const looking = new PerformanceObserver((list) => note(list.getEntries()));
looking.observe({type: 'layout-shift', buffered: true});
window.shifts = () => { note(looking.takeRecords()); return moved; };"""
# What a page says to search engines: its status, its one address, and whether it is for them.
ROBOTS = """() => [
  performance.getEntriesByType('navigation')[0].responseStatus,
  [...document.querySelectorAll('link[rel=canonical]')].map((e) => e.getAttribute('href')),
  [...document.querySelectorAll('meta[name=robots]')].map((e) => e.content.split(',')[0]),
]"""
# The pages that are for search engines. All others say that they are not.
INDEXED = {
    *("home", "category", "deals", "new_arrivals", "product", "reviews:list", "questions:list"),
    *("help", "delivery", "privacy", "imprint", "terms", "accessibility"),
    *("posts:newest", "posts:tag", "posts:of_product", "posts:post", "posts:person"),
}
# Waits until what has come into sight is there, and painted; returns what has not come in ten seconds.
LOADED = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const seen = (e) => { const box = e.getBoundingClientRect(); return e.checkVisibility() && box.bottom > 0 && box.top < innerHeight; };
  const missing = () => [...document.querySelectorAll('.htmx-request'), ...[...document.images].filter((e) => !e.complete && seen(e))];
  const until = performance.now() + 10_000;
  do { await frame(); await frame(); } while (missing().length && performance.now() < until);
  return missing().map((e) => e.outerHTML.slice(0, 120));
}"""
# Where things are on the page, whatever it is scrolled to.
WHERE = """(selectors) => Object.fromEntries(selectors.map((s) => {
  const box = document.querySelector(s).getBoundingClientRect();
  return [s, [Math.round(box.left + scrollX), Math.round(box.top + scrollY)]];
}))"""
MOVES = """() => [...document.querySelectorAll('*')].filter((e) => {
  const style = getComputedStyle(e);
  const long = (times) => times.split(',').some((time) => parseFloat(time) > 0.011);
  return (style.animationName !== 'none' && long(style.animationDuration)) || long(style.transitionDuration)
    || style.scrollBehavior === 'smooth';
}).map((e) => e.outerHTML.slice(0, 120))"""

on_every_page = pytest.mark.parametrize("part", PAGES)


def shifted(page: Page) -> list[str]:
    """What moved while the page was loaded, and moves when it is scrolled."""
    page.mouse.wheel(0, 1500)
    late = [f"X22: it does not come: {each}" for each in page.evaluate(LOADED)]
    return late + [f"X22: it shifts: {each}" for each in page.evaluate("shifts()")]


def for_robots(page: Page) -> list[str]:
    """What is wrong with what a page says to search engines."""
    status, canonical, robots = page.evaluate(ROBOTS)
    there = urlsplit(page.url)
    is_indexed = status == 200 and resolve(there.path).view_name in INDEXED
    # A filtered list says which list it is part of (X325).
    is_filtered = any(each in parse_qs(there.query) for each in FILTER_PARAMETERS)
    expected = [
        [f"{there.scheme}://{there.netloc}{there.path}"] if is_indexed else [],
        ["noindex"] if is_filtered or not is_indexed else [],
    ]
    return [] if [canonical, robots] == expected else [f"X138: {status} {canonical} {robots}"]


def on_a_phone(page: Page) -> list[str]:
    faults = [*list_accessibility_violations(page), *shifted(page)]
    faults += [
        f"X10: 44 pixels for what is pressed: {each}" for each in page.evaluate(SMALL_TARGETS)
    ]
    page.set_viewport_size({"width": 320, "height": 640})
    if (over := page.evaluate(SIDEWAYS)) > 0:
        faults.append(f"X11: 320 pixels are enough, and these are {over} more")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    # One is a rounding of borders, and nothing to scroll to.
    if (over := page.evaluate(SIDEWAYS)) > 1:
        wide = page.evaluate(TOO_WIDE)
        faults.append(f"X12: 320 pixels with twice the text, and these are {over} more: {wide}")
    return faults


def at_a_desk(page: Page) -> list[str]:
    faults = [*list_accessibility_violations(page), *shifted(page), *for_robots(page)]
    for what, style in (
        ("WCAG's text spacing", SPACED),
        ("twice the text", "html { font-size: 200% !important; }"),
    ):
        added = page.add_style_tag(content=style)
        faults += [f"X12: {what} cuts off {each}" for each in page.evaluate(CUT_OFF)]
        if (over := page.evaluate(SIDEWAYS)) > 0:
            faults.append(f"X12: {what} makes it {over} pixels too wide")
        added.evaluate("element => element.remove()")
    return faults


@on_every_page
def test_x10_x11_x12_x13_x22_on_a_phone_in_the_dark(inspect_pages: InspectPages, part: str) -> None:
    faults = inspect_pages("phone", part, on_a_phone, SHIFTS, color_scheme="dark")
    assert not faults, "\n".join(faults)


@on_every_page
def test_x12_x13_x22_x138_at_a_desk_in_the_light(inspect_pages: InspectPages, part: str) -> None:
    faults = inspect_pages("desktop", part, at_a_desk, SHIFTS, bypass_csp=True)
    assert not faults, "\n".join(faults)


# The header's search field, the tops of what stands in its line, and which categories can be seen there.
HEADER = """() => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
  return {
    search: Math.min(...shown('.header .search__input').map((e) => e.getBoundingClientRect().width)),
    tops: [...new Set(shown('.nav > li').map((e) => Math.round(e.getBoundingClientRect().top)))],
    names: shown('.menu-nav a[href^="/c/"]').map((e) => e.textContent),
  };
}"""


def test_x279_a_header_holds_any_number_of_long_categories(page: Page) -> None:
    faults, shown = [], {"header": ""}
    page.route("**/help/", lambda route: route.fulfill(body=_with_header(route, shown["header"])))
    for count, word in (
        (10, "Kitchenware"),
        (15, "Handmade furniture & lamps"),
        (15, "木製の家具と照明器具"),
    ):
        names = [f"{word} {number}" for number in range(count)]
        menu = tuple(MenuEntry(each, f"c{each[-2:].strip()}", "", "", ()) for each in names)
        shown["header"] = render_to_string(
            "_header.html",
            {
                "nav_categories": menu,
                "nav_current": "c1",
                "user": AnonymousUser(),
                "cart_badge": CartBadge(),
            },
        )
        page.goto("/help/")
        for width in (320, 390, 976, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            more = page.locator(".menu-nav summary:visible").first
            more.click()
            found = page.evaluate(HEADER)
            what = f"{count} times {word} at {width}"
            if (over := page.evaluate(SIDEWAYS)) > 0:
                faults.append(f"{what}: {over} pixels too wide")
            is_narrow = found["search"] < (300 if width > 900 else 120)
            if is_narrow or len(found["tops"]) > 1 or set(found["names"]) != set(names):
                faults.append(f"{what}: {found}")
            if width in (390, 1280) and word.isascii() and count == 15:
                faults += [f"{what}: {each}" for each in page.evaluate(SMALL_TARGETS)]
                for scheme in ("dark", "light"):
                    page.emulate_media(color_scheme=scheme)
                    faults += [f"{what}: {each}" for each in list_accessibility_violations(page)]
            more.click()
    assert not faults, "\n".join(faults)


def _with_header(route: Route, header: str) -> str:
    text = route.fetch().text()
    start, end = text.index("<header"), text.index("</header>") + len("</header>")
    return text[:start] + header + text[end:]


def test_x13_what_has_passed_once_is_measured_again_before_another_background(page: Page) -> None:
    for around, contrasts in (("#000", True), ("#000", True), ("#fff", False), ("#000", True)):
        page.set_content(
            f'<html lang="en"><title>A</title><main style="background: {around}; color: #eee"><h1>Above</h1><p>Below it</p></main>'
        )
        found = " ".join(list_accessibility_violations(page))
        assert ("color-contrast" not in found) == contrasts, found


def test_each_address_is_looked_at_or_shows_no_page(shop: ServedShop, browser: Browser) -> None:
    """A new address: write into PLACES how it is opened or, if nobody sees a page of ours there, into URLS_WITHOUT_PAGE why."""
    assert len(PAGES_BY_NAME) == sum(map(len, PAGES.values())), "a name stands for two pages"
    assert len(PAGES_BY_NAME) >= 100
    routes = dict(iterate_urls())
    assert len(routes) >= 120
    looked_at = {place.view for place in PAGES_BY_NAME.values()} - {""}
    assert looked_at | URLS_WITHOUT_PAGE.keys() == routes.keys()
    assert not looked_at & URLS_WITHOUT_PAGE.keys()
    contexts = {
        who: open_context(browser, shop, "desktop", who) for who in ("guest", "ann", "admin")
    }
    pages = []
    for name in URLS_WITHOUT_PAGE:
        address = re.sub(
            r"<\w+:\w+>", lambda found: URL_ARGUMENTS[found[0]], routes[name]
        ).format_map(shop.things)
        who = {"accounts": "ann", "adminpanel": "admin"}.get(name.partition(":")[0], "guest")
        answer = contexts[who].request.get(address, max_redirects=0)
        is_frame = URLS_WITHOUT_PAGE[name].startswith("a frame")
        is_page = "text/html" in answer.headers.get("content-type", "") and not is_frame
        if answer.status == 200 and is_page:
            pages.append(f"{name} shows {who} a page: {address}")
        answer.dispose()
    for context in contexts.values():
        context.close()
    assert not pages, "\n".join(pages)


@contextmanager
def served_in_two(shop: ServedShop, middle: bytes) -> Iterator[str]:
    """Serve the shop's pages at another address, whose yield: what follows upon `middle` comes half a second later."""

    class InTwo(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/static/"):
                self.send_response(302)
                self.send_header("Location", shop.url + self.path)
                self.end_headers()
                return
            first, found, rest = fetch_page(shop.url + self.path)[2].encode().partition(middle)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(first + found)
            time.sleep(0.5)
            self.wfile.write(rest)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), InTwo) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_x22_a_page_that_comes_in_two_is_painted_once_it_is_there(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page()
    page.add_init_script(SHIFTS)
    with served_in_two(shop, b'</h2>\n<ul class="plain">') as late:
        page.goto(f"{late}/account/reset/")
        assert shifted(page) == []


@pytest.mark.parametrize("device", DEVICES)
def test_x22_what_a_shopper_looks_at_stays_where_it_is_when_a_swap_arrives(
    open_page: OpenPage, device: str
) -> None:
    page = open_page(device)
    open_product(page)
    button = page.get_by_role("button", name="Add to cart")
    # On a phone it lies at the window's edge, unless its place is in sight.
    page.locator("#add .cart-name").evaluate("each => each.scrollIntoView({block: 'center'})")
    before = page.evaluate(
        WHERE, ["h1", "#quantity", "#add-button", "#q", ".logo", "#cart-link .icon"]
    )
    button.click()
    expect(page.locator("#added")).to_contain_text("1 item")
    page.wait_for_timeout(200)
    assert page.evaluate(WHERE, list(before)) == before
    page.goto("/cart/")
    before = page.evaluate(
        WHERE, ["h1", ".line .picture", ".line__name", ".line input.input", "#q", ".logo"]
    )
    page.get_by_role("button", name="Increase quantity").click()
    expect(page.locator("#cart-badge")).to_contain_text("2 items")
    page.wait_for_timeout(200)
    assert page.evaluate(WHERE, list(before)) == before


def test_x134_x135_the_gallery_by_keyboard_and_by_touch(open_page: OpenPage) -> None:
    page = open_page()
    open_product(page)
    typed, image = page.locator("#quantity"), page.locator(".product__full img")
    typed.fill("3")
    before = page.evaluate(WHERE, ["h1", "#add-button", ".product__full img"])
    # Another view: what was typed stays, and so does the focus.
    close_up = page.locator(".thumbs li:has([aria-current]) + li a")
    name = close_up.get_attribute("id")
    close_up.focus()
    page.keyboard.press("Enter")
    expect(image).to_have_attribute("src", re.compile("/pictures/towel-2/"))
    assert page.evaluate("() => document.activeElement.id") == name
    assert "picture=" in page.url
    expect(typed).to_have_value("3")
    assert page.evaluate(WHERE, list(before)) == before
    # The gallery stays in sight beside what is longer than it.
    page.mouse.wheel(0, 200)
    page.wait_for_function("() => scrollY >= 150")
    assert image.evaluate("e => e.getBoundingClientRect().top >= 0")
    # The full picture, larger, and back.
    dialog = page.locator("#zoom")
    page.locator("#zoom-open").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    assert dialog.evaluate("e => e.matches(':modal')")
    large = dialog.locator("img").first
    width = large.evaluate("e => e.getBoundingClientRect().width")
    page.keyboard.press("Space")
    assert large.evaluate("e => e.getBoundingClientRect().width") > 1.5 * width
    assert list_accessibility_violations(page) == []
    page.keyboard.press("Space")
    # The next ones, around to where it began, and back by one.
    at, count = page.url, page.locator(".thumbs li").count()
    page.locator(".zoom__slide").first.get_by_role("link", name="Next image").focus()
    for _ in range(count):
        shown = _slide_in_sight(page)
        page.keyboard.press("Enter")
        page.wait_for_function(
            "before => { const box = document.getElementById(before).getBoundingClientRect(); return Math.abs(box.left) > 1; }",
            arg=shown,
        )
    assert _slide_in_sight(page) == page.locator(".zoom__slide").first.get_attribute("id")
    page.locator(".zoom__slide").first.get_by_role("link", name="Previous image").click()
    assert _slide_in_sight(page) == page.locator(".zoom__slide").last.get_attribute("id")
    assert page.url == at
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.evaluate("() => document.activeElement.id") == "zoom-open"
    # A look of another variant brings its choice, its price and its code.
    other = page.locator(".thumbs li:last-child a")
    _, _, sku = str(other.get_attribute("href")).partition("?variant=")
    other.click()
    expect(page.locator("#add input[name=variant]")).to_have_value(sku)
    assert page.url.endswith(f"?variant={sku}")
    # The size that was chosen before.
    assert sku.rpartition("-")[2] == skus_in_stock(TWO_CHOICES)[0].rpartition("-")[2]
    # By touch, and without scripts.
    phone = open_page("phone", scripts=False)
    open_product(phone)
    phone.locator("#zoom-open").tap()
    large = phone.locator("#zoom img").first
    expect(large).to_be_visible()
    large.tap()
    expect(phone.locator("#zoom-in")).to_be_checked()
    large.tap()
    phone.locator(".zoom__slide").first.get_by_role("link", name="Next image").tap()
    expect(phone.locator(".zoom__slide").nth(1)).to_be_in_viewport(ratio=0.9)
    phone.get_by_role("button", name="Close").tap()
    expect(phone.locator("#zoom")).to_be_hidden()


def _slide_in_sight(page: Page) -> str:
    return str(
        page.evaluate(
            "() => [...document.querySelectorAll('.zoom__slide')].find((e) => Math.abs(e.getBoundingClientRect().left) < 1)?.id"
        )
    )


def test_x14_who_wants_less_motion_gets_none(open_page: OpenPage) -> None:
    page = open_page(reduced_motion="reduce")
    open_product(page)
    assert page.evaluate(MOVES) == []
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#added")).to_contain_text("1 item")
    assert page.evaluate(MOVES) == []


def test_x13_forced_colours_still_show_what_is_chosen(open_page: OpenPage) -> None:
    page = open_page(forced_colors="active")
    open_product(page)
    chosen, other = (
        page.locator(".chip:has(:checked)").first,
        page.locator(".chip:not(:has(:checked))").first,
    )
    look = "e => { const s = getComputedStyle(e); return [s.borderTopWidth, s.borderTopColor, s.outlineStyle, s.backgroundColor].join() }"
    assert chosen.evaluate(look) != other.evaluate(look)


@pytest.mark.parametrize("address", ["/c/kitchen/", "/search?q=cotton"])
def test_x30_the_first_row_comes_at_once_and_the_rest_when_it_is_near(
    page: Page, address: str
) -> None:
    page.goto(address)
    pictures = page.locator(".cards img").evaluate_all(
        "all => all.map(e => [e.loading, e.fetchPriority, e.getBoundingClientRect().top + scrollY])"
    )
    first_row = pictures[0][2]
    assert [each[1] for each in pictures].count("high") == 1
    assert all(loading == "eager" for loading, _, top in pictures if top == first_row)
    assert all(loading == "lazy" for loading, _, top in pictures if top > first_row + 900)


def test_x21_nothing_is_shown_by_hovering_alone(page: Page) -> None:
    add_to_cart(page)
    for address in ("/", "/c/kitchen/", "/cart/"):
        page.goto(address)
        before = page.locator("body").inner_text()
        for each in page.locator("main a, main button").all()[:12]:
            if each.is_visible():
                each.hover(force=True)
        assert page.locator("body").inner_text() == before
        assert page.locator("[draggable=true]").count() == 0
