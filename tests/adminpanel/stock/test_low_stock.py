"""What runs low: where the staff's work begins, and in a mail a day for who has asked for it."""

from datetime import datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts import queries as accounts
from accounts.models import User
from adminpanel import jobs
from adminpanel.stock import low_stock
from cassandra_db import current_microseconds
from catalogue.entities import Product
from inventory import operations
from inventory.entities import LOW
from inventory.operations import stock_lists
from jobs.leases import get_position, hold_lease, save_position
from mail.queries import list_recipient_mails
from tests.factories import make_product, make_user, sign_in_staff

STOCK = reverse("adminpanel:stock")


def make_low(units: int = 2) -> Product:
    product = make_product(listed=True)
    variant_id = product.variants[0].variant_id
    receipt = (product.product_id, variant_id, "berlin", units, 3, uuid4())
    operations.receive_stock(*receipt, datetime.now(ZoneInfo("UTC")))
    operations.copy_stock(product.product_id)
    return product


def ask_for_mail(user: User, wanted: str = "1") -> None:
    client = sign_in_staff(Client(), user)
    answer = client.post(reverse("adminpanel:stock_mail"), {"wanted": wanted})
    assert (answer.status_code, answer["Location"]) == (303, STOCK)
    words = "Stop the email" if wanted == "1" else "Email me every day"
    assert words in client.get(STOCK).content.decode()


def subjects(user: User) -> list[str]:
    return [mail.subject for mail in list_recipient_mails(user.email)]


def test_x154_what_is_low_stands_where_work_begins_for_those_who_may_open_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Other tests leave more than a line has room for.
    monkeypatch.setattr(low_stock, "_NAMED", 10_000)
    monkeypatch.setattr(low_stock, "_COUNTED", 10_000)
    monkeypatch.setattr(low_stock.low_stock, "seconds", 0)
    sku = make_low().variants[0].sku
    # A crash has left a row too many.
    plenty = make_low(4)
    stray = plenty.variants[0]
    stock_lists.INSERT_LISTED.run(
        product_id=plenty.product_id,
        warehouse_id="berlin",
        list_name=LOW,
        sku=stray.sku,
        variant_id=stray.variant_id,
        at=current_microseconds(),
    )
    found = {line.variant.sku for each in low_stock.low_stock.get() for line in each.lines}
    assert sku in found
    assert stray.sku not in found
    shown = {}
    for role in ("warehouse", "support", "catalogue"):
        client = sign_in_staff(Client(), make_user(password=None, role=role))
        home = client.get(reverse("adminpanel:home")).content.decode()
        products = client.get(reverse("adminpanel:products")).content.decode()
        shown[role] = ("Low stock in Berlin" in home, sku in products)
    assert shown == {
        "warehouse": (True, False),
        "support": (False, False),
        "catalogue": (True, True),
    }


def test_x155_who_asked_gets_one_mail_a_day_however_often_the_job_dies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_low()
    wim, cem = (make_user(name, role="warehouse") for name in ("Wim", "Cem"))
    ann, eve = make_user("Ann", role="analyst"), make_user("Eve", role="warehouse")
    ask_for_mail(wim)
    ask_for_mail(cem)
    ask_for_mail(cem, "0")
    ask_for_mail(eve)
    assert accounts.get_user(cem.pk).low_stock_mail is False  # type: ignore[union-attr]
    people = accounts.get_users([wim.pk, cem.pk, ann.pk, eve.pk])
    # She has another role since, and he had none of it: neither is told.
    people[eve.pk].role = "analyst"
    monkeypatch.setattr(low_stock, "list_staff", lambda: list(people.values()))
    monkeypatch.setattr(low_stock, "MAX_LOW", 100_000)
    zone = ZoneInfo(settings.TIME_ZONE)
    early = datetime.now(zone).replace(hour=6, minute=59)
    morning = early + timedelta(minutes=2)
    with hold_lease(jobs.NAME):
        save_position(jobs.NAME, (morning - timedelta(days=1)).isoformat())
        assert jobs.send_low_stock_mails(early) == ""
        # It dies after the mail: the next run finds it queued.
        monkeypatch.setattr(jobs, "save_position", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            jobs.send_low_stock_mails(morning)
        monkeypatch.undo()
        monkeypatch.setattr(low_stock, "list_staff", lambda: list(people.values()))
        assert jobs.send_low_stock_mails(morning) == "1 low-stock email"
        assert get_position(jobs.NAME)
    assert [len(subjects(each)) for each in (wim, cem, ann, eve)] == [1, 0, 0, 0]
    (mail,) = list_recipient_mails(wim.email)
    assert "low in stock" in mail.subject
    assert product.variants[0].sku in (mail.text or "") or "and more" in (mail.text or "")
    for text in (mail.text, mail.html):
        assert "warehouse=berlin" in (text or ""), "a list of a warehouse"


def test_x155_once_sent_a_day_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[datetime] = []

    def queue(now: datetime) -> int:
        sent.append(now)
        return 1

    monkeypatch.setattr(jobs, "queue_low_stock_mails", queue)
    position = [""]
    monkeypatch.setattr(jobs, "get_position", lambda _: position[0])
    monkeypatch.setattr(jobs, "save_position", lambda _, at: position.__setitem__(0, at))
    zone = ZoneInfo(settings.TIME_ZONE)
    start = datetime(2026, 11, 23, 0, 0, tzinfo=zone)
    for quarter in range(4 * 48):
        jobs.send_low_stock_mails(start + timedelta(minutes=15 * quarter))
    assert [(each.day, each.hour, each.minute) for each in sent] == [(23, 7, 0), (24, 7, 0)]
