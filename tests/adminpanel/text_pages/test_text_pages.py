"""The staff's pages of the pages of text."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import localtime
from lxml import html

from accounts.audit_log import STAFF
from cassandra_db import current_time
from shop_settings.errors import SettingsBusy
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_user, sign_in_staff
from tests.orders.crashes import kill_in
from tests.text_pages.saved_pages import get_page, own_pages, own_settings, save
from text_pages import operations
from text_pages.queries import get_page_version, list_page_versions

__all__ = ["own_pages", "own_settings"]

pytestmark = pytest.mark.usefixtures("own_pages")
LIST, NEW = reverse("adminpanel:text_pages"), reverse("adminpanel:text_page_new")
TERMS = reverse("adminpanel:text_page", args=["terms"])
TYPED = {
    "version": "0",
    "title": "Terms of sale",
    "slug": "terms",
    "description": "Ours",
    "text": "# Terms\n\nBack within {return_days}.",
}


@pytest.fixture
def ada(client: Client) -> Client:
    return sign_in_staff(client, make_user("Ada", role="admin"))


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_x475_a_page_is_written_previewed_published_and_in_the_log(client: Client) -> None:
    user = make_user("Ada", role="admin")
    ada = sign_in_staff(client, user)
    assert "Legal notice" in words(ada.get(LIST))
    assert "Prices are in euro" in words(ada.get(TERMS))
    shown = ada.post(TERMS, TYPED | {"preview": "1"})
    assert "Back within 30 days." in words(shown)
    assert get_page("terms").saved == 0, "a preview saves nothing"
    for _ in range(2):  # sent twice it is one
        assert ada.post(TERMS, TYPED)["Location"] == TERMS
    assert get_page("terms").saved == 1
    assert "Back within 30 days." in words(Client().get("/help/terms/"))
    assert get_page_version("terms", 1).author_id == user.user_id
    assert (
        "Ada"
        in html.fromstring(ada.get(TERMS).content).cssselect("#versions + table")[0].text_content()
    )
    acts = [each.act for each in list_entries_this_month(user, STAFF)]
    assert acts.count("adminpanel:text_page") == 3


def test_x475_bad_input_is_said_beside_its_field_and_stays_typed(ada: Client) -> None:
    yesterday = localtime(current_time() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    for changes, sentence in (
        ({"text": "Within {return_dys}"}, "Correct {return_dys}. There are {seller_name}"),
        ({"text": "Within {return_days"}, "Correct {return_days. There are {seller_name}"),
        ({"text": "[Back](/{return_days}/)"}, "Correct {return_days}."),
        # An order keeps its terms: they have nothing that is as it is today.
        ({"text": "{shop}\n\n{delivery_methods}"}, "Correct {shop}, {delivery_methods}."),
        ({"text": "See {seller}"}, "Correct {seller}."),
        ({"text": "x" * 40_001}, "at most 40000 characters"),
        ({"slug": "Über uns"}, "Enter small letters"),
        ({"slug": "delivery"}, "Another page has or had this address"),
        ({"title": ""}, "Enter a title"),
        ({"live_from": yesterday}, "Enter a later time"),
    ):
        answer = ada.post(TERMS, TYPED | changes)
        assert (answer.status_code, sentence in words(answer)) == (422, True), sentence
        assert "Ours" in words(answer)
    assert list_page_versions("terms", 9) == []


def test_x477_a_page_is_added_taken_offline_and_never_over_another(ada: Client) -> None:
    sent = TYPED | {"slug": "size-guide", "title": "Size guide"}
    own = reverse("adminpanel:text_page", args=["size-guide"])
    for _ in range(2):
        assert ada.post(NEW, sent)["Location"] == own
    assert get_page("size-guide").saved == 1
    for taken in ({"title": "Another"}, {"slug": "terms"}, {"slug": "new"}):
        answer = ada.post(NEW, sent | taken)
        assert (answer.status_code, "This address is already used" in words(answer)) == (422, True)
    offline = reverse("adminpanel:text_page_offline", args=["size-guide"])
    assert ada.post(offline, {"offline": "yes"})["Location"] == own
    assert Client().get("/help/size-guide/").status_code == 404
    assert "Offline" in words(ada.get(LIST))
    ada.post(offline)
    assert Client().get("/help/size-guide/").status_code == 200
    ada.post(reverse("adminpanel:text_page_offline", args=["terms"]), {"offline": "yes"})
    assert not get_page("terms").is_offline


def test_x476_of_two_who_write_a_page_the_later_sees_both_texts(ada: Client) -> None:
    save("terms", 1, text="A colleague’s")
    late = ada.post(TERMS, TYPED)
    assert late.status_code == 409
    assert "A colleague’s" in words(late)
    assert "Back within {return_days}." in words(late)
    assert 'name="overwrite" value="1"' in words(late)
    assert get_page("terms").saved == 1
    assert ada.post(TERMS, TYPED | {"overwrite": "1"})["Location"] == TERMS
    assert get_page_version("terms", get_page("terms").saved).text == TYPED["text"]


def test_x476_a_version_is_planned_taken_back_and_used_again(ada: Client) -> None:
    save("terms", 1, text="The first one")
    later = localtime(current_time() + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M")
    ada.post(TERMS, TYPED | {"version": "1", "live_from": later})
    page = words(ada.get(TERMS))
    assert ("Scheduled" in page, "Cancel publication" in page, "Default version" in page) == (
        True,
    ) * 3
    take_back = reverse("adminpanel:text_page_take_back", args=["terms", 2])
    for _ in range(2):
        assert ada.post(take_back)["Location"] == TERMS
    assert "The first one</textarea>" in words(ada.get(TERMS))
    assert "Back within" in words(ada.get(f"{TERMS}?use=2"))
    assert "Prices are in euro" in words(ada.get(f"{TERMS}?use=0"))
    for unknown in (9, -1, 99999999999):
        assert ada.get(f"{TERMS}?use={unknown}").status_code == 404
    assert ada.get(f"{TERMS}?use=x&before=y").status_code == 200


def test_x476_a_version_that_is_live_is_not_said_to_be_taken_back(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("terms", 1, text="It went live while the page was open")
    take_back = reverse("adminpanel:text_page_take_back", args=["terms", 1])
    answer = ada.post(take_back, follow=True)
    assert "This version is already live." in words(answer)
    assert "Publication cancelled." not in words(answer)
    assert "It went live" in words(Client().get("/help/terms/"))
    # Others who save settings at the same time are no error of the shop.
    monkeypatch.setattr(operations, "change_page", Mock(side_effect=SettingsBusy()))
    for address in (take_back, reverse("adminpanel:text_page_offline", args=["terms"])):
        assert "Others are saving settings right now." in words(ada.post(address, follow=True))


def test_x476_a_new_page_whose_only_version_was_taken_back_is_not_planned(ada: Client) -> None:
    save("faq", 1, "faq", live_from=current_time() + timedelta(days=1))
    ada.post(reverse("adminpanel:text_page_take_back", args=["faq", 1]))
    row = html.fromstring(ada.get(LIST).content).cssselect("#row-faq")[0].text_content()
    assert ("Not published" in row, "Scheduled" in row) == (True, False)


def test_x479_what_a_crash_left_is_in_the_list_and_in_the_conflict(ada: Client) -> None:
    kill_in(operations, "change_settings", lambda: save("terms", 1, text="Nothing is lost"))
    assert "Not published" in words(ada.get(TERMS))
    late = ada.post(TERMS, TYPED)
    assert (late.status_code, "Nothing is lost" in words(late)) == (409, True)
    assert ada.post(TERMS, TYPED | {"overwrite": "1"})["Location"] == TERMS
    assert get_page("terms").saved == 2
