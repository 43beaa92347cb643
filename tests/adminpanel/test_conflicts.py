"""What somebody is shown who saves what another has changed meanwhile; and how far long work has come."""

from datetime import timedelta
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from lxml import html

from adminpanel.conflicts import Conflict, FieldConflict, compare_fields, get_seen_version
from cassandra_db import current_time


def render(template: str, **context: Any) -> html.HtmlElement:
    return html.fromstring(render_to_string(f"adminpanel/{template}", context))


def test_x89_only_fields_that_differ_are_compared_in_the_order_of_the_form() -> None:
    saved = {"Name": "Mug", "Price": "€12.00", "Brand": "", "Details": "one\ntwo", "Tags": "new"}
    typed = {"Name": "Mug", "Brand": "Stoa", "Price": "€11.00", "Details": "one\r\ntwo\r\n"}
    assert compare_fields(saved, typed) == (
        FieldConflict("Brand", "", "Stoa"),
        FieldConflict("Price", "€12.00", "€11.00"),
        FieldConflict("Tags", "new", ""),
    )


def test_x89_both_states_stand_side_by_side_and_only_a_choice_writes_over_the_newer_one() -> None:
    fields = (FieldConflict("Name", "Mug <b>", "Cup\nlarge"), FieldConflict("Brand", "Stoa", ""))
    conflict = Conflict("Ann <i>", current_time() - timedelta(seconds=10), "7", fields)
    page = render("_conflict.html", conflict=conflict, form_id="product", fresh_url="/staff/x/")
    rows = [
        [" ".join(cell.text_content().split()) for cell in row.cssselect("th, td")]
        for row in page.cssselect("tbody tr")
    ]
    assert rows == [["Name", "Mug <b>", "Cuplarge"], ["Brand", "Stoa", "empty"]]
    assert page.cssselect("td [hx-disable] br")
    assert "Ann <i>" in page.text_content()
    assert "10 seconds ago" in page.text_content()
    (button,) = page.cssselect("button")
    assert (button.get("form"), button.get("type")) == ("product", "submit")
    assert page.cssselect("a")[0].get("href") == "/staff/x/"
    # The form keeps the version that it was filled in for, unless this button is used.
    sent = QueryDict("version=5")
    assert get_seen_version(sent) == "5"
    assert (
        get_seen_version(QueryDict(f"version=5&{button.get('name')}={button.get('value')}")) == "7"
    )
    assert get_seen_version(QueryDict("")) == ""


def test_x89_two_who_entered_the_same_are_told_so() -> None:
    page = render("_conflict.html", conflict=Conflict("", None, "7", ()), form_id="product")
    assert "You both entered the same values." in page.text_content()
    assert not page.cssselect("table")


def test_long_work_says_how_far_it_is_until_it_has_ended() -> None:
    context = {"id": "import", "label": "Reading the file", "url": "/staff/x/"}
    page = render("_progress.html", done=1412, total=100000, **context)
    assert page.get("hx-trigger") == "every 2s"
    assert "X-Refreshes-Itself" in page.get("hx-headers")
    (bar,) = page.cssselect("progress")
    assert (bar.get("value"), bar.get("max")) == ("1412", "100000")
    assert "1,412 of 100,000" in page.text_content()
    assert page.cssselect("label")[0].get("for") == bar.get("id")
    assert page.cssselect("a.no-js")[0].get("href") == "/staff/x/"
    begun = render("_progress.html", **context)
    assert begun.cssselect("progress:not([value])")
    ended = render("_progress.html", done=9, total=9, finished=True, **context)
    assert not ended.xpath("//@hx-get")
    assert not ended.cssselect("a")
