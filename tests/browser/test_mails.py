"""How each mail looks: at the width of a phone and of a desk, in light and dark windows, with pictures and without."""

import re
from pathlib import Path

from django.test import Client
from playwright.sync_api import Browser, Route

from mail.kinds import SAMPLE, get_mail_kinds
from mail.rendering import render_mail
from tests.browser.page_watch import list_accessibility_violations
from tests.browser.test_look import SIDEWAYS, TOO_WIDE
from tests.factories import make_order

# The widest element of a mail, and what a finger has to hit.
MEASURES = """() => ({
  card: document.querySelector('.m-card').getBoundingClientRect().width,
  buttons: [...document.querySelectorAll('.m-button')].map((e) => e.getBoundingClientRect().height),
})"""
WIDTHS = (390, 1280)


def test_x474_each_mail_is_600_pixels_wide_and_readable_in_both_schemes(
    browser: Browser, tmp_path: Path
) -> None:
    """Its pictures are in the test's folder: one of each mail, width and scheme. axe looks at one mail of each template."""
    order, faults, seen = make_order(paid=True), [], set()
    page = browser.new_page()
    page.route(re.compile("^https?://"), _answer)
    for kind in get_mail_kinds().values():
        context = kind.preview(order) if kind.preview else {**SAMPLE, **kind.sample}
        page.set_content(render_mail(kind.name, context).html or "")
        is_first = kind.template not in seen
        seen.add(kind.template)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found = page.evaluate(MEASURES)
            if (over := page.evaluate(SIDEWAYS)) > 0:
                faults.append(f"{kind.name} at {width}: {over} too wide: {page.evaluate(TOO_WIDE)}")
            if found["card"] > 600 or (width > 600 and found["card"] != 600):
                faults.append(f"{kind.name} at {width}: {found['card']} wide")
            if any(height < 43.5 for height in found["buttons"]):
                faults.append(f"{kind.name}: a button of {found['buttons']} pixels")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=tmp_path / f"{kind.name}-{width}-{scheme}.png")
                if is_first:
                    faults += [
                        f"{kind.name} at {width}, {scheme}: {each}"
                        for each in list_accessibility_violations(page)
                    ]
    page.close()
    assert len(list(tmp_path.glob("*.png"))) == 4 * len(get_mail_kinds()) >= 160
    assert not faults, "\n".join(faults)


def _answer(route: Route) -> None:
    """Give a mail's picture as the shop would, whatever its public address is."""
    answer = Client().get(re.sub(r"^https?://[^/]+", "", route.request.url))
    route.fulfill(
        status=answer.status_code,
        body=b"".join(answer) if answer.streaming else answer.content,
        headers={"Content-Type": answer.headers.get("Content-Type", "image/svg+xml")},
    )
