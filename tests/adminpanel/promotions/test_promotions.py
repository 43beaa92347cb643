"""The staff's page of offers and codes: made, listed with their uses, ended."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from adminpanel.promotions.forms import PromotionForm, get_version
from cassandra_db import current_time
from promotions import queries
from promotions.errors import PromotionRefused, VoucherRefused
from promotions.operations import (
    PromotionTerms,
    change_promotion,
    create_promotion,
    end_promotion,
    redeem_voucher,
    resume_promotion,
)
from promotions.queries import AUTOMATIC, CODE, get_applied_promotions
from promotions.rules import AMOUNT, BUY_GET, FREE_DELIVERY, KINDS, PERCENTAGE, Promotion, code_key
from tests.factories import make_product, make_user, sign_in_staff
from tests.promotions.test_vouchers import somebody
from tests.reads import existing
from tests.rules import assert_explained
from web.days import end_of_day

LIST = reverse("adminpanel:promotions")


def make_url(kind: str) -> str:
    return reverse("adminpanel:promotion_make", args=[kind])


MAKE = make_url(PERCENTAGE)


def typed(**fields: Any) -> dict[str, Any]:
    return {
        "key": str(uuid4()),
        "title": "Ten off",
        "voucher": f"TEN-{uuid4().hex[:8]}",
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
        lambda fields: cleo.post(make_url(fields.pop("kind", PERCENTAGE)), typed(**fields)),
        (
            ({"title": ""}, "Enter a name"),
            ({"percent": ""}, "Enter a percentage"),
            ({"percent": "101"}, "100"),
            ({"kind": "amount", "amount": "1.234"}, "2 decimal places"),
            ({"kind": BUY_GET}, "Enter how many items to buy"),
            ({"voucher": "", "uses": "3"}, "Enter a code above"),
            ({"voucher": "--"}, "letters or digits"),
            (
                {"starts": "2026-05-02", "ends": "2026-05-01"},
                "Enter a last day that isn’t before the first day",
            ),
            ({"category": str(uuid4())}, "Choose one of the options"),
        ),
    )


def test_x506_a_promotions_form_has_the_fields_of_its_kind(cleo: Client) -> None:
    own = {"percent", "amount", "buy", "free"}
    shown = {kind: own & {*PromotionForm(kind).fields} for kind in KINDS}
    assert shown == {
        PERCENTAGE: {"percent"},
        AMOUNT: {"amount"},
        BUY_GET: {"buy", "free"},
        FREE_DELIVERY: set(),
    }
    page = cleo.get(LIST).content.decode()
    assert all(f'href="{make_url(kind)}"' in page for kind in KINDS)
    starts = timezone.localdate() + timedelta(days=9)
    # It is over before the days to which other tests travel.
    sent = typed(voucher="", title=f"Two {uuid4().hex[:8]}", buy="1", free="1")
    sent |= {"starts": f"{starts}", "ends": f"{starts}"}
    assert [cleo.post(make_url(BUY_GET), sent).status_code for _ in range(2)] == [303, 303]
    made = [row for row in queries.list_promotions(AUTOMATIC) if row.title == sent["title"]]
    assert [(row.kind, row.percent, row.buy) for row in made] == [(BUY_GET, 0, 1)]
    other_terms = cleo.post(make_url(BUY_GET), sent | {"buy": "2"})
    assert other_terms.status_code == 422
    assert "already created a promotion" in other_terms.content.decode()
    assert cleo.get(make_url("everything-for-nothing")).status_code == 404


def change(client: Client, code: str, **fields: str) -> tuple[int, str]:
    """Change fields of a promotion's form; return the status and the page of the answer."""
    url = reverse("adminpanel:promotion", args=[CODE, code_key(code)])
    shown = client.get(url).context["form"]
    seen = {each.html_name: "" if each.value() is None else each.value() for each in shown}
    answer = client.post(url, seen | fields, follow=True)
    status = answer.redirect_chain[0][1] if answer.redirect_chain else answer.status_code
    return status, answer.content.decode()


def test_x507_name_and_end_change_and_limits_rise(cleo: Client) -> None:
    sent = typed(uses="1", per_person="1")
    cleo.post(MAKE, sent)
    code, alice, now = sent["voucher"], somebody(), datetime.now(UTC)
    redeem_voucher(code, alice, uuid4(), now)
    assert "reached its usage limit" in get_applied_promotions(code, (), now).refusal_reason
    ends = timezone.localdate() + timedelta(days=3)
    status, page = change(cleo, code, title="Autumn", ends=f"{ends}", uses="2", per_person="2")
    assert (status, "Promotion Autumn saved" in page) == (303, True)
    found = made(code)
    assert (found.title, found.last_day, found.uses, found.percent) == (
        "Autumn",
        ends,
        2,
        Decimal(10),
    )
    assert not get_applied_promotions(code, (), now).refusal_reason
    redeem_voucher(code, alice, uuid4(), now)
    with pytest.raises(VoucherRefused, match="usage limit"):
        redeem_voucher(code, somebody(), uuid4(), now)
    yesterday = timezone.localdate() - timedelta(days=1)
    assert_explained(
        lambda fields: cleo.post(reverse("adminpanel:promotion", args=[CODE, found.key]), fields),
        (
            ({"title": "", "uses": "2"}, "Enter a name"),
            ({"title": "Autumn", "uses": "1"}, "Enter 2 or more, or leave this empty"),
            ({"title": "Autumn", "ends": f"{yesterday}"}, "Enter today or a later day"),
        ),
    )
    lower, limited = replace(found, uses=1), replace(found, uses=9)
    with pytest.raises(PromotionRefused, match="only be raised"):
        change_promotion(CODE, found, lower)
    assert change(cleo, code, uses="", per_person="", ends="")[0] == 303
    assert (made(code).uses, made(code).limit_per_customer, made(code).ends_at) == (0, 0, None)
    assert all(redeem_voucher(code, alice, uuid4(), now) for _ in range(3))
    with pytest.raises(PromotionRefused, match="only be raised"):
        change_promotion(CODE, made(code), limited)


def test_x507_of_two_who_change_a_promotion_the_later_sees_both(cleo: Client) -> None:
    sent = typed(uses="5")
    cleo.post(MAKE, sent)
    old = made(sent["voucher"])
    url = reverse("adminpanel:promotion", args=[CODE, old.key])
    version = get_version(old)
    assert change(cleo, sent["voucher"], title="First", uses="9")[0] == 303
    late = cleo.post(url, {"version": version, "title": "Second", "uses": "7"})
    assert late.status_code == 422, "the limit is nine now"
    late = cleo.post(url, {"version": version, "title": "Second", "uses": "10"})
    assert late.status_code == 409
    assert {"First", "Second"} <= {
        text for each in late.context["conflict"].fields for text in (each.saved, each.typed)
    }
    as_seen = replace(old, uses=9)
    assert not change_promotion(CODE, as_seen, replace(as_seen, title="Third"))
    assert made(sent["voucher"]).title == "First"
    overwrite = {"overwrite": late.context["conflict"].version, "title": "Second", "uses": "10"}
    assert cleo.post(url, overwrite).status_code == 303
    end_promotion(CODE, old.key, datetime.now(UTC))
    ended = cleo.post(url, {"version": get_version(made(sent["voucher"])), "title": "Ended"})
    assert ended.status_code == 409
    assert "has ended meanwhile" in ended.content.decode()
    assert (made(sent["voucher"]).title, made(sent["voucher"]).uses) == ("Second", 10)


def duplicate(client: Client, trigger: str, name: str, **fields: str) -> tuple[int, str]:
    """Send the form that replaces a promotion as it is shown, with other fields; return the status and the page."""
    url = reverse("adminpanel:promotion_duplicate", args=[trigger, name])
    shown = client.get(url).context["form"]
    seen = {each.html_name: "" if each.value() is None else each.value() for each in shown}
    answer = client.post(url, seen | fields)
    return answer.status_code, answer.content.decode()


def test_x508_a_promotion_is_replaced_by_one_with_other_terms(cleo: Client) -> None:
    sent = typed(minimum="20", uses="5", starts="2026-05-01")
    cleo.post(MAKE, sent)
    old = made(sent["voucher"])
    taken = duplicate(cleo, CODE, old.key, voucher=sent["voucher"])
    empty = duplicate(cleo, CODE, old.key, voucher="")
    assert [taken[0], empty[0], made(sent["voucher"]).ended_at] == [422, 422, None]
    assert duplicate(cleo, CODE, old.key, percent="25")[0] == 303
    new, ended = made(f"{sent['voucher']}-2"), made(sent["voucher"])
    assert (new.percent, new.minimum, new.uses, new.starts_at) == (Decimal(25), 2000, 5, None)
    assert (ended.ended_at is not None, ended.percent) == (True, Decimal(10))
    with pytest.raises(PromotionRefused, match="Keep the code"):
        create_promotion(PromotionTerms("Free", FREE_DELIVERY), datetime.now(UTC), replaces=new)
    again = f"{sent['voucher']}-3"
    assert duplicate(cleo, CODE, old.key, voucher=again)[0] == 303
    assert (made(again).percent, made(f"{sent['voucher']}-2").ended_at) == (Decimal(10), None)


def test_x508_a_replacement_that_is_sent_twice_or_after_the_end_is_one(cleo: Client) -> None:
    title, now = f"Free {uuid4().hex[:8]}", current_time()
    # It runs on no day on which another test orders.
    starts, ends = now + timedelta(days=9), now + timedelta(days=10)
    terms = PromotionTerms(title, FREE_DELIVERY, starts_at=starts, ends_at=ends)
    key = create_promotion(terms, now)
    shown = existing(queries.get_promotion(AUTOMATIC, key))
    sent = str(uuid4())
    answers = [duplicate(cleo, AUTOMATIC, key, key=sent, minimum="30") for _ in range(2)]
    assert [status for status, _page in answers] == [303, 303]
    rows = [row for row in queries.list_promotions(AUTOMATIC) if row.title == title]
    assert sorted((row.minimum, row.ended_at is None) for row in rows) == [(0, False), (3000, True)]
    # A repeated form ends nothing, and says nothing else.
    (ended_at,) = (row.ended_at for row in rows if row.key == key)
    assert resume_promotion(AUTOMATIC, key, ended_at)
    assert duplicate(cleo, AUTOMATIC, key, key=sent, minimum="30")[0] == 303
    assert "has ended" not in cleo.get(LIST).content.decode()
    assert existing(queries.get_promotion(AUTOMATIC, key)).ended_at is None
    end_promotion(AUTOMATIC, key, current_time())
    other = create_promotion(terms, current_time(), uuid4().hex, replaces=shown)
    assert existing(queries.get_promotion(AUTOMATIC, other)).ended_at is None


def test_a_code_is_taken_once(cleo: Client) -> None:
    sent = typed()
    # The same form may be sent twice.
    assert [cleo.post(MAKE, sent).status_code for _ in range(2)] == [303, 303]
    same = sent["voucher"].lower().replace("-", " ")
    again = cleo.post(MAKE, sent | {"voucher": same})
    assert again.status_code == 422
    assert f"code {same} " in again.content.decode()
    assert cleo.post(MAKE, sent | {"percent": "20"}).status_code == 422
    end_promotion(CODE, code_key(same), current_time())
    assert cleo.post(MAKE, sent).status_code == 422


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
        ((ended_at - timedelta(seconds=1)).isoformat(), "has changed promotion"),
        ("no moment", "has changed promotion"),
        ("2026-05-01T00:00", "has changed promotion"),
        (shown, "resumed"),
        (shown, "has changed promotion"),
    ):
        answer = cleo.post(resume, {"ended_at": moment}, follow=True)
        assert said in answer.content.decode(), moment
        assert answer.status_code == (200 if said == "resumed" else 409)
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
