"""The staff's page of offers and codes: made, listed with their uses, ended."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from promotions import queries
from promotions.operations import end_promotion, redeem_voucher, resume_promotion
from promotions.queries import AUTOMATIC, CODE
from promotions.rules import PERCENTAGE, Promotion, code_key
from tests.factories import make_product, make_user, sign_in_staff
from tests.promotions.test_vouchers import somebody
from tests.rules import assert_explained
from web.days import end_of_day

LIST, MAKE = reverse("adminpanel:promotions"), reverse("adminpanel:promotion_make")


def typed(**fields: Any) -> dict[str, Any]:
    return {
        "title": "Ten off",
        "voucher": f"TEN-{uuid4().hex[:8]}",
        "kind": PERCENTAGE,
        "percent": "10",
    } | fields


def made(code: str) -> Promotion:
    found = queries.get_promotion(CODE, code_key(code))
    assert found
    return found


def test_a_code_is_made_with_its_terms(cleo: Client) -> None:
    sent = typed(minimum="20", uses="5", per_person="1", starts="2026-05-01", ends="2026-05-31")
    answer = cleo.post(MAKE, sent)
    assert (answer.status_code, answer["Location"]) == (303, LIST)
    found = made(sent["voucher"])
    assert (found.percent, found.minimum, found.uses, found.limit_per_customer) == (
        Decimal(10),
        2000,
        5,
        1,
    )
    zone = timezone.get_default_timezone()
    assert found.starts_at
    assert found.ends_at
    # The last day counts until midnight, where the shop is.
    assert (found.starts_at.astimezone(zone).date(), found.ends_at.astimezone(zone).date()) == (
        date(2026, 5, 1),
        date(2026, 6, 1),
    )
    assert found.ends_at - found.starts_at == timedelta(days=31)


def test_x256_a_promotions_last_day_is_the_one_that_was_entered_wherever_it_is_shown(
    cleo: Client,
) -> None:
    today = timezone.localdate()
    mug, title = make_product(), f"Mugs {uuid4().hex[:8]}"
    sent = typed(voucher="", title=title, category=str(mug.category_id), ends=today.isoformat())
    assert cleo.post(MAKE, sent).status_code == 303
    day = date_format(today, "j F")
    pages = {
        "product": Client().get(reverse("product", args=[mug.slug])),
        "front page": Client().get("/"),
    }
    wrong = {
        name: answer.status_code
        for name, answer in pages.items()
        if f"{title}, until {day}." not in answer.content.decode()
    }
    assert not wrong
    (line,) = [
        each for each in cleo.get(LIST).context["promotions"] if each.promotion.title == title
    ]
    end_promotion(AUTOMATIC, line.promotion.key, datetime.now(UTC))
    assert f'">{date_format(today, "j M Y")}</time></span>' in cleo.get(LIST).content.decode()
    tomorrow = end_of_day(today) + timedelta(hours=1)
    assert f"expired on {day}" in line.promotion.unavailable_reason(tomorrow)
    assert not line.promotion.unavailable_reason(end_of_day(today) - timedelta(seconds=1))


def test_what_makes_no_sense_is_said_beside_its_field(cleo: Client) -> None:
    assert_explained(
        lambda fields: cleo.post(MAKE, typed(**fields)),
        (
            ({"percent": ""}, "Enter a percentage"),
            ({"percent": "101"}, "100"),
            ({"kind": "amount", "amount": "1.234"}, "2 decimal places"),
            ({"kind": "buy_get"}, "Enter how many items to buy"),
            ({"kind": "everything for nothing"}, "Choose a type"),
            ({"voucher": "", "uses": "3"}, "Enter a code above"),
            ({"voucher": "--"}, "letters or digits"),
            (
                {"starts": "2026-05-02", "ends": "2026-05-01"},
                "Enter a last day that isn’t before the first day",
            ),
            ({"category": str(uuid4())}, "Choose one of the options"),
        ),
    )


def test_a_code_is_taken_once(cleo: Client) -> None:
    sent = typed()
    assert cleo.post(MAKE, sent).status_code == 303
    same = sent["voucher"].lower().replace("-", " ")
    again = cleo.post(MAKE, sent | {"voucher": same})
    assert again.status_code == 422
    assert f"code {same} " in again.content.decode()


def test_the_list_shows_the_uses_and_a_submit_ends_it(cleo: Client) -> None:
    sent = typed(title=f"Offer {uuid4().hex[:6]}", uses="7")
    cleo.post(MAKE, sent)
    redeem_voucher(sent["voucher"], somebody(), uuid4(), datetime.now(UTC))
    page = cleo.get(LIST).content.decode()
    assert sent["title"] in page
    assert "1 of 7" in page
    assert "10% off" in page
    cleo.post(reverse("adminpanel:promotion_end", args=[CODE, code_key(sent["voucher"])]))
    key = code_key(sent["voucher"])
    again = cleo.post(reverse("adminpanel:promotion_end", args=[CODE, key]), follow=True)
    assert "had already been ended" in again.content.decode()
    resume = reverse("adminpanel:promotion_resume", args=[CODE, key])
    assert resume in again.content.decode()
    ended_at = made(sent["voucher"]).ended_at
    assert ended_at
    assert not resume_promotion(CODE, key, ended_at - timedelta(seconds=1))
    shown = timezone.localtime(ended_at).isoformat()
    assert f'name="ended_at" value="{shown}"' in again.content.decode()
    for moment, said in (
        ((ended_at - timedelta(seconds=1)).isoformat(), "was changed meanwhile"),
        ("no moment", "was changed meanwhile"),
        ("2026-05-01T00:00", "was changed meanwhile"),
        (shown, "goes on"),
        (shown, "was changed meanwhile"),
    ):
        answer = cleo.post(resume, {"ended_at": moment}, follow=True)
        assert said in answer.content.decode(), moment
        assert answer.status_code == (200 if said == "goes on" else 409)
    assert cleo.post(reverse("adminpanel:promotion_resume", args=[CODE, "no"])).status_code == 404
    assert not made(sent["voucher"]).ended_at
    cleo.post(reverse("adminpanel:promotion_end", args=[CODE, key]))
    assert made(sent["voucher"]).ended_at
    assert cleo.post(reverse("adminpanel:promotion_end", args=[CODE, "nothing"])).status_code == 404
    ended = made(sent["voucher"])
    past = replace(ended, ends_at=ended.ended_at)
    assert [each.can_resume(datetime.now(UTC)) for each in (ended, past)] == [True, False]


def test_what_was_done_stands_in_the_log_in_words(cleo: Client, client: Client) -> None:
    sent = typed()
    cleo.post(MAKE, sent)
    admin = sign_in_staff(Client(), make_user("Ada", role="admin"))
    page = admin.get(reverse("adminpanel:log")).content.decode()
    assert "Created a promotion" in page
    assert sent["voucher"] in page
