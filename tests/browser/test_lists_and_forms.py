"""Lists that grow, suggestions, forms that explain themselves, paper, the staff's board."""

import re
from contextlib import suppress
from urllib.parse import quote

from playwright.sync_api import Error, Page, Request, Route, expect

from tests.browser.conftest import OpenPage, ServedShop
from tests.browser.page_watch import assert_accessible
from tests.browser.steps import ONE_CHOICE, add_to_cart, fill_in_details, focused_element


def test_x28_load_more_adds_to_the_list_and_the_footer_stays_in_reach(
    page: Page, long_category: str
) -> None:
    page.goto(long_category)
    cards = page.locator("#cards > li")
    expect(cards).to_have_count(16)
    page.locator("footer").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    expect(cards).to_have_count(16)
    page.get_by_role("link", name="Load more").click()
    expect(cards).to_have_count(32)
    assert not focused_element(page).startswith("body")
    assert_accessible(page)
    page.get_by_role("link", name="Load more").click()
    expect(cards).to_have_count(40)
    expect(page.get_by_role("link", name="Load more")).to_have_count(0)


def test_x28_without_scripts_there_are_plain_pages(
    page_without_scripts: Page, long_category: str
) -> None:
    page_without_scripts.goto(long_category)
    first = page_without_scripts.locator("#cards > li a").first.inner_text()
    page_without_scripts.get_by_role("link", name="Load more").click()
    expect(page_without_scripts.locator("#cards > li")).to_have_count(16)
    assert page_without_scripts.locator("#cards > li a").first.inner_text() != first


def test_x327_a_filter_renews_the_list_and_leaves_the_focus_where_it_is(page: Page) -> None:
    page.goto("/c/kitchen/")
    total = page.locator("#cards > li").count()
    first = page.locator("#filters [name=filter]:enabled").first
    value, left = first.get_attribute("value") or "", first.locator("xpath=../span[last()]")
    expected = int(left.inner_text().split()[0])
    assert 0 < expected < total
    first.focus()
    page.keyboard.press("Space")
    expect(page.locator("#cards > li")).to_have_count(expected)
    expect(page.locator(f"#filters [name=filter][value='{value}']")).to_be_focused()
    expect(page.locator("#list-said")).to_contain_text(str(expected))
    assert f"filter={quote(value, safe=':')}" in page.url
    assert_accessible(page, "filtered")
    page.reload()
    expect(page.locator("#cards > li")).to_have_count(expected)
    page.get_by_role("link", name="Remove").click()
    expect(page.locator("#cards > li")).to_have_count(total)


def test_x327_on_a_phone_filters_are_a_sheet_that_says_what_it_leads_to(phone_page: Page) -> None:
    page = phone_page
    page.goto("/c/kitchen/")
    sheet = page.locator("#filters")
    expect(sheet).to_be_hidden()
    page.get_by_role("button", name="Filter").click()
    expect(sheet).to_be_visible()
    assert_accessible(page, "filters")
    sheet.locator("[name=filter]:enabled").first.check()
    done = sheet.get_by_role("button", name=re.compile("Show .* product"))
    expect(page.locator(".chosen .chip")).to_have_count(1)
    shown = int(re.findall(r"\d+", done.inner_text())[0])
    done.click()
    expect(sheet).to_be_hidden()
    expect(page.locator("#cards > li")).to_have_count(shown)


def test_x327_without_scripts_a_button_filters(page_without_scripts: Page) -> None:
    page = page_without_scripts
    page.goto("/c/kitchen/?sort=price")
    page.locator("#filters [name=filter]:enabled").first.check()
    page.get_by_role("button", name="Show products").click()
    page.wait_for_url(re.compile("filter="))
    assert "sort=price" in page.url
    expect(page.locator(".chosen .chip")).to_have_count(1)


def test_x4_back_brings_the_loaded_list_and_its_place_again(page: Page, long_category: str) -> None:
    page.goto(f"{long_category}?sort=name")
    page.get_by_role("link", name="Load more").click()
    cards = page.locator("#cards > li")
    expect(cards).to_have_count(32)
    cards.nth(30).get_by_role("link").scroll_into_view_if_needed()
    cards.nth(30).get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("Card 30")
    page.go_back()
    expect(cards).to_have_count(32)
    expect(page.locator("#sort")).to_have_value("name")
    expect(cards.nth(30)).to_be_in_viewport()
    page.go_forward()
    expect(page.locator("h1")).to_have_text("Card 30")


def test_x3_x4_a_choice_has_an_address_of_its_own(page: Page) -> None:
    page.goto("/p/heavy-cotton-towel/")
    page.locator(".chip:not(.chip--out) input:not(:checked)").first.dispatch_event("click")
    page.wait_for_url(re.compile(r"variant="))
    assert not focused_element(page).startswith("body")
    assert_accessible(page)
    chosen = page.locator("main .price").first.inner_text()
    page.reload()
    assert page.locator("main .price").first.inner_text() == chosen
    with page.expect_event("load"):  # the page is asked for anew
        page.go_back()
    expect(page.locator("h1")).to_be_visible()


def test_x32_suggestions_follow_the_combobox_pattern(page: Page) -> None:
    page.goto("/")
    box, options = page.locator("#q"), page.locator("#suggestions [role=option]")
    expect(box).to_have_attribute("aria-expanded", "false")
    box.press_sequentially("tow")
    expect(options.first).to_be_visible()
    assert 1 <= options.count() <= 10
    expect(box).to_have_attribute("aria-expanded", "true")
    assert_accessible(page, "with suggestions")
    box.press("ArrowDown")
    first = options.first.get_attribute("id") or ""
    expect(box).to_have_attribute("aria-activedescendant", first)
    expect(options.first).to_have_attribute("aria-selected", "true")
    box.press("ArrowUp")
    assert box.get_attribute("aria-activedescendant") is None
    box.press("Escape")
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(box).to_be_focused()
    expect(box).to_have_value("tow")
    box.press("Enter")
    page.wait_for_url("**/search?q=tow")
    expect(page.locator("#q")).to_have_value("tow")


def test_x32_a_chosen_suggestion_opens_its_product(page: Page) -> None:
    page.goto("/")
    page.locator("#q").press_sequentially("corduroy")
    expect(page.locator("#suggestions [role=option]").first).to_be_visible()
    page.locator("#q").press("ArrowDown")
    page.locator("#q").press("Enter")
    expect(page.locator("h1")).to_have_text(ONE_CHOICE.name)


def test_x32_an_answer_that_comes_too_late_is_dropped(open_page: OpenPage) -> None:
    on_their_way: list[Route] = []
    page = open_page(allow="htmx:")
    page.goto("/")
    page.route(re.compile(r"suggest\?q=to$"), lambda route: on_their_way.append(route))
    with page.expect_request(re.compile(r"suggest\?q=to$")):
        page.locator("#q").press_sequentially("to")
    page.locator("#q").press_sequentially("wel")
    expect(page.locator("#suggestions [role=option]").first).to_be_visible()
    assert on_their_way
    for route in on_their_way:
        with suppress(Error):  # the page has given it up meanwhile
            route.continue_()
    page.wait_for_load_state("networkidle")
    page.unroute_all()
    last = page.evaluate(
        "fetch('/search/suggest?q=towel', {headers: {'HX-Request': 'true'}}).then(it => it.text())"
    )
    shown = page.locator("#suggestions [role=option]")
    addresses = [each.get_attribute("data-href") for each in shown.all()]
    assert addresses == re.findall('data-href="([^"]+)"', last.replace("&amp;", "&"))


def test_x59_x60_x61_the_checkout_explains_what_is_wrong(page: Page) -> None:
    add_to_cart(page)
    page.goto("/checkout/")
    page.locator("#id_email").fill("no address")
    page.locator("#id_name").focus()
    page.locator("#id_name").blur()
    expect(page.locator(".field__error")).to_have_count(0)  # X61: not before it is sent
    page.locator("#id_country").select_option("DE")
    page.get_by_role("button", name="Continue to delivery and payment").click()
    summary = page.locator("[data-error-summary]")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text("There is a problem")
    assert page.title().startswith("Error: ")
    expect(page.locator("#id_email")).to_have_value("no address")
    expect(page.locator("#id_email")).to_have_attribute("aria-invalid", "true")
    described = page.locator("#id_email").get_attribute("aria-describedby") or ""
    assert any(
        "name@example.com" in page.locator(f"[id='{each}']").inner_text()
        for each in described.split()
    )
    assert_accessible(page, "the checkout with errors")
    summary.get_by_role("link").first.click()
    expect(page.locator("#id_email")).to_be_focused()
    before = summary.get_by_role("link").count()
    page.locator("#id_email").fill("ann@example.org")
    expect(summary.get_by_role("link")).to_have_count(before - 1)  # X61: right is right at once
    assert page.locator("#id_email").get_attribute("aria-invalid") is None


def test_x64_the_steps_of_the_checkout_keep_what_was_chosen(page: Page) -> None:
    add_to_cart(page)
    page.goto("/checkout/")
    fill_in_details(page)
    page.locator("#id_city").press("Enter")
    expect(page.locator("#ways")).to_be_visible()
    assert_accessible(page, "the checkout's second step")
    total = page.locator("#summary .sums__total").last
    before = total.inner_text()
    page.locator("#ways input[type=radio]").last.check()
    expect(total).not_to_have_text(before)  # the sum follows the choice of delivery
    assert not focused_element(page).startswith("body")
    assert_accessible(page, "the checkout after a change of delivery")
    page.reload()
    expect(page.locator("#ways input[type=radio]").last).to_be_checked()
    page.go_back()
    expect(page.locator("#id_city")).to_have_value("Berlin")
    page.go_forward()
    page.get_by_role("button", name="Review order").click()
    expect(page.locator("#pay")).to_contain_text(re.compile(r"^Pay €"))
    assert_accessible(page, "the checkout's last step")
    page.get_by_role("button", name="Change your details").click()
    expect(page.locator("#id_email")).to_have_value("ann@example.org")
    page.goto("/checkout/review/")
    expect(page.locator("#pay")).to_be_visible()


def waited(page: Page, held: list[Route]) -> None:
    """Let the browser go on until a request is held back."""
    for _ in range(200):
        if held:
            return
        page.wait_for_timeout(50)
    raise AssertionError("nothing was asked for")


def test_what_is_sent_is_not_overtaken_by_a_sum_that_was_asked_for_before(page: Page) -> None:
    """Its answer would bring the browser what had been typed by then, and the rest would be lost."""
    add_to_cart(page)
    page.goto("/checkout/")
    asked: list[Route] = []
    sent: list[Route] = []
    given_up: list[str] = []
    page.on("requestfailed", lambda request: given_up.append(request.url))
    page.route(
        "**/checkout/",
        lambda route: (asked if "hx-request" in route.request.headers else sent).append(route),
    )
    page.locator("#id_email").fill("ann@example.org")
    page.locator("#id_email").press("Tab")
    waited(page, asked)
    fill_in_details(page)
    page.locator("#id_city").press("Enter", no_wait_after=True)
    waited(page, sent)
    page.wait_for_timeout(200)
    assert (len(asked), len(given_up)) == (1, 1)
    sent[0].continue_()
    expect(page).to_have_url(re.compile("/checkout/delivery/$"))
    page.unroute_all()
    page.get_by_role("button", name="Review order").click()
    expect(page.locator("#pay")).to_be_visible()


def test_x15_an_order_prints_on_paper_without_the_shops_frame(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page(who="guest")
    page.goto(f"/orders/{shop.things['order']}/")
    page.emulate_media(media="print")
    for part in ("nav", ".search", ".header__tools", "footer", "main form", "[data-print]"):
        for each in page.locator(part).all():
            expect(each).to_be_hidden()
    for text in ("Torstraße 1", "Tax in the total", "Total"):
        expect(page.get_by_text(text).first).to_be_visible()
    page.set_viewport_size({"width": 700, "height": 1000})  # A4 without its margins
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 2


def test_x73_the_board_refreshes_itself_and_can_be_paused(open_page: OpenPage) -> None:
    page = open_page(who="staff")
    page.clock.install()
    page.goto("/staff/orders/")
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/staff/orders/" in request.url and request.headers.get("hx-request"):
            asked.append(request.url)

    def later() -> int:
        """Let five seconds go by, and what was asked for meanwhile be answered; return how often the board was asked for."""
        asked.clear()
        page.clock.run_for(5000)
        page.wait_for_load_state("networkidle")
        return len(asked)

    page.on("request", note)
    pause = page.get_by_role("button", name="Pause refreshing")
    assert later(), "it refreshes by itself"
    pause.click()
    expect(page.get_by_role("button", name="Resume refreshing")).to_be_focused()
    assert not later(), "it is paused"
    assert_accessible(page, "the paused board")
    page.get_by_role("button", name="Resume refreshing").click()
    assert later(), "it goes on"


def test_x73_a_stale_order_page_is_refused_and_overwrites_nothing(
    open_page: OpenPage, shop: ServedShop
) -> None:
    ann, bob = open_page(who="staff"), open_page(who="admin")
    for page in (ann, bob):
        page.goto(f"/staff/orders/{shop.things['order']}/")
    ann.locator("button[id^=transition-]").first.click()
    expect(ann.locator("#order .timeline li").first).to_contain_text(
        re.compile("[Pp]acked|[Ss]hipped|[Hh]old")
    )
    bob.locator("button[id^=transition-]").last.click()
    expect(bob.locator("#conflict")).to_contain_text("Nothing was changed")
    expect(bob.locator("#conflict")).to_be_focused()
    assert_accessible(bob, "the conflict")
