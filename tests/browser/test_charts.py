"""X516: the values of a chart by mouse and keyboard, without scripts, on a phone and on paper."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage

# How far the chart's drawn parts reach beyond its figure, in pixels.
BEYOND = """(figure) => {
  const around = figure.getBoundingClientRect();
  return Math.max(...[...figure.querySelectorAll('.chart__number, .chart__bar')].map((e) => e.getBoundingClientRect())
    .map((box) => Math.max(around.left - box.left, box.right - around.right)));
}"""
TEXTS = "(texts) => texts.filter((e) => e.checkVisibility({visibilityProperty: true})).map((e) => e.textContent.trim())"


def shown(page: Page) -> list[str]:
    """Return the texts of points that can be seen."""
    return list(page.locator(".chart__text").evaluate_all(TEXTS))


def test_x516_a_points_text_is_seen_on_hover_and_focus(open_page: OpenPage) -> None:
    for page in (open_page(who="admin", scripts=False), open_page("phone", who="admin")):
        page.goto("/staff/")
        points = page.locator(".chart__point")
        expect(points).to_have_count(30)
        assert shown(page) == []
        page.locator(".chart .skip").focus()
        page.keyboard.press("Tab")
        expect(points.nth(0)).to_be_focused()
        (focused,) = shown(page)
        points.nth(20).hover()
        (hovered,) = shown(page)
        for place, text in ((0, focused), (20, hovered)):
            assert str(points.nth(place).get_attribute("aria-label")).split(";")[0] in text
        assert focused != hovered
        # The text has its size at every width, and nothing is cut off.
        size = page.locator(".chart__number").first.evaluate("e => getComputedStyle(e).fontSize")
        assert float(size.removesuffix("px")) >= 12
        assert page.locator(".chart").evaluate(BEYOND) <= 16
        page.emulate_media(media="print")
        expect(page.locator(".chart__plot")).to_be_visible()
        assert shown(page) == []
