"""The pages of text as shoppers read them: versions, addresses, placeholders."""

import hashlib
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import resolve, reverse
from django.utils.timezone import localdate
from lxml import html

from cassandra_db import CassandraUnavailable, current_time
from consistency.findings import Report, Scope
from consistency.runner import check_consistency
from shop_settings.errors import SettingChanged, SettingRefused
from shop_settings.operations import save_setting
from shop_settings.terms import TERMS, get_terms
from storefront.sitemap import render_small_sitemap
from tests.orders.crashes import kill_in
from tests.rules import for_each
from tests.text_pages.saved_pages import get_page, make_version, own_pages, own_settings, save
from tests.threads import call_at_once
from text_pages import operations, queries
from text_pages.drawing import draw_text, get_placeholders, list_unknown_placeholders
from text_pages.pages import FIRST_PAGES, MAX_PLANNED, read_first_version
from text_pages.queries import get_page_version, list_live_pages, list_page_versions
from web.text_cache import FRAGMENTS

__all__ = ["own_pages", "own_settings"]

pytestmark = pytest.mark.usefixtures("own_pages")
TODAY = date(2026, 11, 27)


def check(*, repair: bool = False) -> Report:
    only = Scope(tables=frozenset({"text_page_versions"}))
    return check_consistency(only, ("I51",), repair=repair, recheck_after=())


def words(client: Client, address: str) -> str:
    main = html.fromstring(client.get(address).content).cssselect("main")[0]
    return " ".join(main.text_content().split())


@for_each(FIRST_PAGES, at_least=6)
def test_x475_a_new_shop_has_its_pages_and_their_links_lead_somewhere(key: str) -> None:
    version = read_first_version(key)
    assert list_unknown_placeholders(version.text, get_placeholders()) == []
    assert len(version.head.description) <= 160
    client, address = Client(), version.head.get_absolute_url()
    page = html.fromstring(client.get(address).content)
    assert page.cssselect("h1")[0].text_content() == version.head.title
    assert page.cssselect("meta[name=description]")[0].get("content") == version.head.description
    assert "{" not in page.cssselect("main")[0].text_content()
    for link in page.cssselect("main a"):
        if (to := link.get("href")).startswith("/"):
            path, _, anchor = to.partition("#")
            resolve(path)
            if anchor:
                assert f'id="{anchor}"' in client.get(path).content.decode(), to


def test_x475_a_text_that_came_with_the_shop_never_changes() -> None:
    """Orders name version 0 of the terms. Another text for new shops is a further file, with a number below 0."""
    text = Path("text_pages/texts/terms.md").read_bytes()
    assert hashlib.sha256(text).hexdigest().startswith("eeab3a6326e373aa")


def test_x476_a_version_is_live_from_its_moment_on_and_a_former_one_stays(client: Client) -> None:
    address, now = reverse("terms"), current_time()
    save("terms", 1, text="The first *change*")
    assert "The first change" in words(client, address)
    planned = now + timedelta(days=3)
    page = save("terms", 2, text="The second one", live_from=planned, slug="conditions")
    assert "The first change" in words(client, address)
    assert page.find_live(now) != page.find_live(planned)
    assert page.find_live(planned) == make_version(2, "conditions", live_from=planned).head
    # A typo is corrected meanwhile, and what is planned stays planned.
    page = save("terms", 3, text="The third one")
    assert [each.number for each in page.heads] == [3, 2]
    assert "The third one" in words(client, address)
    assert "The first change" in words(client, reverse("terms_version", args=[1]))
    assert "Prices are in euro" in words(client, reverse("terms_version", args=[0]))
    assert "noindex" in client.get(reverse("terms_version", args=[1])).content.decode()
    for number in (2, 4, 2**31, 10**40):  # planned, unknown, and larger than Cassandra's integers
        assert client.get(reverse("terms_version", args=[number])).status_code == 404
    operations.take_back_version("terms", 2, now)
    assert get_page("terms").find_live(planned) == get_page("terms").heads[0]
    assert [each.head.number for each in list_page_versions("terms", 9)] == [3, 2, 1]


def test_x477_a_former_address_is_redirected_and_belongs_to_its_page(client: Client) -> None:
    save("delivery", 1, "shipping")
    assert client.get("/help/shipping/").status_code == 200
    moved = client.get(reverse("delivery"))
    assert (moved.status_code, moved["Location"]) == (301, "/help/shipping/")
    with pytest.raises(SettingRefused) as refused:
        save("faq", 1, "delivery")
    assert refused.value.field == "slug"
    assert list_page_versions("faq", 9) == []
    save("delivery", 2, "delivery")  # back again
    assert client.get("/help/delivery/").status_code == 200
    assert client.get("/help/shipping/")["Location"] == "/help/delivery/"
    assert client.get("/help/nothing/").status_code == 404


def test_x477_a_page_of_ones_own_goes_offline_and_the_first_ones_stay(client: Client) -> None:
    save("faq", 1, "questions", text="Why?\n\n{questions}\n## How? {#how}\nSo.\n{end_questions}")
    assert client.get("/help/questions/").status_code == 200
    assert "/help/questions/" in render_small_sitemap()
    assert list_live_pages()[-1].get_absolute_url() == "/help/questions/"
    operations.set_offline("faq", current_time(), is_offline=True)
    assert client.get("/help/questions/").status_code == 404
    assert "/help/questions/" not in render_small_sitemap()
    operations.set_offline("faq", current_time(), is_offline=False)
    assert client.get("/help/questions/").status_code == 200
    for key in FIRST_PAGES:
        with pytest.raises(SettingRefused):
            operations.set_offline(key, current_time(), is_offline=True)


def test_x476_sent_twice_it_is_one_version_and_of_two_editors_one_wins() -> None:
    typed, now = make_version(1, text="Twice"), current_time()
    outcomes = call_at_once(*[lambda: operations.save_page("terms", typed, now)] * 4)
    assert {each.saved for each in outcomes} == {1}
    assert len(list_page_versions("terms", 9)) == 1
    with pytest.raises(SettingChanged):
        save("terms", 1, text="Another text")
    assert get_page_version("terms", 1).text == "Twice"


def test_x476_planned_versions_are_few() -> None:
    later = current_time() + timedelta(days=1)
    for number in range(1, MAX_PLANNED + 1):
        save("privacy", number, "privacy", live_from=later)
    with pytest.raises(SettingRefused) as refused:
        save("privacy", MAX_PLANNED + 1, "privacy", live_from=later)
    assert refused.value.field == "live_from"


def test_x475_a_text_is_cleaned_and_placeholders_are_filled_in_words_only() -> None:
    drawn = draw_text(
        "Back within {return_days}.\n\n## Why? {#why}\n<script>x</script> {nothing}\n"
        '[mail](mailto:{seller_email} "{seller_email}")\n\n{seller}\n\n{delivery_methods}\n\nEnd',
        TODAY,
    )
    assert str(drawn.lead).strip() == '<p class="lead">Back within 30 days.</p>'
    assert [each.is_wide for each in drawn.sections] == [False, True, False]
    found = str(drawn.sections[0].html)
    assert '<h2 id="why">Why?</h2>' in found
    assert "&lt;script&gt;x&lt;/script&gt; {nothing}" in found
    assert 'title="{seller_email}"' in found
    assert get_terms().seller_name in found
    assert list_unknown_placeholders(
        "{nothing} {seller} {return_days} {} {#a}\n{seller}\nx {questions}\n[a](/b/) {shop}\n{return_days",
        get_placeholders(),
    ) == [*("{nothing}", "{seller}", "{}", "{questions}", "{return_days")]
    assert list_unknown_placeholders("[{shop}](/{return_days}/)", get_placeholders()) == [
        "{return_days}"
    ]


def test_x475_the_headings_of_questions_are_filled_and_escaped() -> None:
    text = "Why?\n\n{questions}\n## Within {return_days}? <b> {#back}\nYes.\n{end_questions}"
    (question,) = draw_text(text, TODAY).sections[0].questions
    assert (question.title, question.anchor) == ("Within 30 days? &lt;b&gt;", "back")


def test_x478_a_version_is_shown_with_the_periods_of_the_orders_day(client: Client) -> None:
    now = current_time()
    first = get_terms()
    save_setting(
        TERMS,
        "later",
        first.__class__(
            **{**vars(first), "key": "later", "valid_from": now.date(), "return_days": 77}
        ),
        "",
        now,
    )
    address = reverse("terms_version", args=[0])
    assert "within 77 days" in words(client, address)
    before = localdate(now) - timedelta(days=1)
    assert f"within {first.return_days} days" in words(client, f"{address}?on={before}")
    for odd in ("nothing", "2999-01-01", ""):
        assert "within 77 days" in words(client, f"{address}?on={odd}")


def test_x478_a_former_version_says_no_day_on_which_it_was_not_there(client: Client) -> None:
    save("terms", 1)
    save("terms", 2)
    address = reverse("terms_version", args=[1])
    assert "This is a former version of our terms." in words(client, address)
    today = localdate(current_time())
    shown = f"as they read on {today.day} {today:%B %Y}"
    assert shown in words(client, f"{address}?on=1999-01-01")
    assert "Read the present terms" not in words(client, reverse("terms_version", args=[2]))


def test_x478_days_that_a_visitor_asks_for_fill_no_cache(client: Client) -> None:
    address = reverse("terms_version", args=[0])
    client.get(address)
    kept = len(FRAGMENTS)
    for day in range(1, 6):
        assert f"{day} May 2020" in words(client, f"{address}?on=2020-05-0{day}")
    assert len(FRAGMENTS) == kept > 0


def test_x477_without_cassandra_no_page_is_said_to_be_missing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Mock(side_effect=CassandraUnavailable("away"))
    monkeypatch.setattr(queries, "get_settings", away)
    assert client.get("/help/a-page-of-the-owner/").status_code == 503
    assert [each.slug for each in list_live_pages()][1:] == list(FIRST_PAGES[1:])


def test_x475_a_page_costs_a_read_only_when_a_version_is_new(client: Client) -> None:
    save("terms", 1)
    client.get("/help/")
    costs = [client.get(reverse("terms"))["X-Cassandra"].split(",")[0] for _ in range(2)]
    assert costs == ["statements=1", "statements=0"]


def test_x479_i51_the_check_publishes_what_a_crash_left_and_names_versions_as_they_are() -> None:
    save("terms", 1)
    left = make_version(2, "conditions", text="Nothing is lost")
    kill_in(
        operations,
        "change_settings",
        lambda: operations.save_page("terms", left, left.head.live_from),
    )
    # The same form, sent again, goes on where it ended.
    assert get_page("terms").saved == 1
    assert operations.save_page("terms", left, current_time()).saved == 2
    kill_in(
        operations, "change_settings", lambda: save("imprint", 1, "imprint", title="Who we are")
    )
    operations.change_page(
        "terms",
        lambda page: replace(page, heads=(replace(page.heads[0], title="Other"),)),
        current_time(),
    )
    found = sorted(check().violations, key=str)
    assert [(each.subject, each.fault) for each in found] == [
        ("page imprint", "version 1 was saved and not published"),
        ("page terms", "names a version otherwise than it was saved"),
    ]
    check(repair=True)
    assert check().is_clean
    assert get_page("imprint").heads[0].title == "Who we are"
    assert get_page("terms").heads[0] == left.head
