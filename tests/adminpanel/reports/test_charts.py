"""Charts: round scales, a text for each point, and nothing that the Content-Security-Policy forbids."""

import re

from django.template.loader import render_to_string
from lxml import html

from adminpanel.charts import (
    MAX_LABELS,
    MAX_TICKS,
    PLOT_HEIGHT,
    Point,
    format_tick,
    make_chart,
    round_ticks,
)


def points(*values: float, compared: float | None = None) -> list[Point]:
    return [
        Point(f"{n} Nov", f"{n} November: {value}", value, "Before: 3", compared)
        for n, value in enumerate(values, 1)
    ]


def test_x516_a_scale_has_round_numbers_and_reaches_the_highest_value() -> None:
    assert round_ticks(0) == [0, 1]
    assert round_ticks(1) == [0, 1]
    assert round_ticks(7) == [0, 2, 4, 6, 8]
    assert round_ticks(99.5) == [0, 20, 40, 60, 80, 100]
    assert round_ticks(1234) == [0, 500, 1000, 1500]
    for highest in (0.4, 3, 41, 250, 251, 7_777, 123_456_789):
        ticks = round_ticks(highest)
        assert ticks[-1] >= highest > ticks[-2]
        assert len(ticks) <= MAX_TICKS + 1
        assert re.fullmatch("[125]0*", f"{ticks[1]:.0f}")
    shown = [format_tick(each) for each in (0, 500, 1000, 12_500, 250_000, 3_000_000)]
    assert shown == ["0", "500", "1000", "12.5k", "250k", "3M"]


def test_x516_bars_are_as_high_as_their_values_and_have_a_line_for_what_they_are_compared_with() -> (
    None
):
    chart = make_chart("sold", "Sold", points(10, 5, 0, -3, compared=20))
    heights = [float(bar.height) for bar in chart.bars]
    assert heights == [PLOT_HEIGHT / 2, PLOT_HEIGHT / 4, 0, 0]
    assert {bar.compared_y for bar in chart.bars} == {chart.ticks[-1].y}
    assert make_chart("none", "None", []).bars == ()


def test_x516_each_point_has_a_text_that_the_keyboard_reaches() -> None:
    chart = make_chart("sold", "Sold & paid", points(*range(30), compared=4), "Previous period")
    text = render_to_string("adminpanel/_chart.html", {"chart": chart})
    (figure,) = html.fragments_fromstring(text)
    drawn = figure.cssselect("svg")[0]
    named = {each.get("id"): each.text_content().strip() for each in drawn.cssselect("title, desc")}
    assert drawn.get("aria-labelledby").split() == list(named)
    assert list(named.values()) == ["Sold & paid", "The table below has the numbers"]
    reached = drawn.cssselect("g[tabindex='0'][role=img]")
    assert [each.get("aria-label") for each in reached] == [
        f"{n} November: {n - 1}; Before: 3" for n in range(1, 31)
    ]
    assert all(each.getnext().text_content().split() for each in reached)
    labels = drawn.cssselect("text.chart__number[text-anchor=middle]")
    assert 3 <= len(labels) <= MAX_LABELS
    ids = [each.get("id") for each in figure.cssselect("[id]")]
    assert len(ids) == len(set(ids))
    assert figure.cssselect("a.skip")[0].get("href").removeprefix("#") in ids
    assert not re.search(r"\sstyle=|<script|<style|\son\w+=", text)
