"""A shop with another name: nothing that it sends says "Stoa", and the name is escaped wherever it stands."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from html import escape
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from zipfile import ZipFile, is_zipfile

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory
from django.test.utils import override_settings
from django.urls import reverse
from pypdf import PdfReader

from accounts.second_factor import provisioning_uri
from accounts.validators import EmailOrShopNameValidator
from cassandra_db import CassandraUnavailable, current_time
from mail.kinds import SAMPLE, get_mail_kinds
from mail.rendering import render_mail
from orders.papers.order_files import ORDER_FILES
from orders.queries import get_order
from shop_settings.brand import BRAND, KEY, get_brand
from shop_settings.operations import save_setting
from storefront.feeds import write_feeds
from tests.architecture.apps import FILES, ROOT, relative_path
from tests.architecture.routes import ROUTES
from tests.environment import KEYSPACE
from tests.factories import PASSWORD, make_user, sign_in_staff
from tests.journeys.test_sweep import World, browser, make_world, opened, readers_of
from tests.outbox import deliver_mail
from tests.reads import existing
from tests.shop_settings.saved import own_settings as own_settings
from web.middleware import server_error

NAME = 'Ærø & Søn "Kram"'
# What keeps the word, and why.
LISTED = {
    r"/static/(css|js)/stoa\.(css|js)": "addresses of files, which caches keep",
    r"\bstoa_(session|csrf|cart|device|orders|checkout|country|turn|viewed|messages)\b": "cookies: another name would sign everybody out",
    rf"\b{KEYSPACE}\b": "the keyspace, on the staff's page of the system",
    r"\bstoa_(statement|request|cassandra|job|events)\w*": "metrics, which monitoring knows by these names",
}
_LISTED = re.compile("|".join(LISTED))
_JSON_LD = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
# How the name begins where something is not escaped.
_UNESCAPED = re.compile(r'Ærø & |Søn "')


@pytest.fixture
def world(own_settings: None) -> Iterator[World]:
    """Alice's things in a shop that is called NAME, by its brand and its terms."""
    seen, limits = get_brand(), dict.fromkeys(settings.RATE_LIMITS, (0, 0, 0, 900))
    with override_settings(SELLER=settings.SELLER | {"name": NAME}, RATE_LIMITS=limits):
        save_setting(BRAND, KEY, replace(seen, name=NAME), BRAND.fingerprint(seen), current_time())
        yield make_world()


_TOKEN = re.compile(r"\b[\w-]{43,}")


def find_word(text: str) -> Iterator[str]:
    """Yield what stands around each "Stoa" that is not listed."""
    # A random token says any word now and then.
    rest = _TOKEN.sub("", _LISTED.sub("", text))
    for found in re.finditer("stoa", rest, re.IGNORECASE):
        yield f"says {rest[max(0, found.start() - 40) : found.end() + 40]!r}"


def find_faults(html: str, *, is_page: bool = True) -> Iterator[str]:
    """Yield what is wrong with HTML: the word, the shop's name unescaped, and a page whose title lacks it."""
    yield from find_word(html)
    if _UNESCAPED.search(_JSON_LD.sub("", html)):
        yield "has the name unescaped"
    for data in _JSON_LD.findall(html):
        json.loads(data)
    if is_page and "<html" in html and escape(NAME) not in "".join(_TITLE.findall(html)):
        yield f"has the titles {_TITLE.findall(html)}"


def read_texts(answer: Any) -> Iterator[str]:
    """Yield the texts of an answer: its headers, and what people read in its content."""
    yield from (f"{name}: {value}" for name, value in answer.items())
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if content.startswith(b"%PDF-"):
        yield from read_pdf(content)
    elif is_zipfile(BytesIO(content)):
        with ZipFile(BytesIO(content)) as file:
            yield from (file.read(name).decode(errors="ignore") for name in file.namelist())
    else:
        yield content.decode(errors="ignore")


def read_pdf(content: bytes) -> Iterator[str]:
    """Yield the texts of a PDF: what it says about itself, and its pages."""
    file = PdfReader(BytesIO(content))
    yield str(dict(file.metadata or {}))
    yield from (page.extract_text() for page in file.pages)


def test_x465_no_source_but_the_setting_has_the_name() -> None:
    templates = [each for each in (ROOT / "templates").rglob("*") if each.is_file()]
    named = {relative_path(each) for each in (*FILES, *templates) if "Stoa" in each.read_text()}
    assert named == {"storefront/settings.py"}
    assert len(templates) >= 300


def test_x465_x466_no_address_says_stoa_to_a_guest_a_member_or_staff(world: World) -> None:
    readers = {"a guest": browser(), **readers_of(world)}
    write_feeds((), current_time())
    faults, pages = [], 0
    for route in ROUTES:
        path = opened(route, world)
        for who, reader in readers.items():
            answer = reader.get(path)
            is_page = answer.get("Content-Type", "").startswith("text/html")
            pages += is_page
            judge = find_faults if is_page else find_word
            faults += [
                f"{route.name} as {who} {fault}"
                for text in read_texts(answer)
                for fault in judge(text)
            ]
    assert not faults, "\n".join(faults)
    assert pages >= 400


def test_x465_no_error_page_says_stoa(world: World) -> None:
    admin, lookup = readers_of(world)["an admin"], reverse("orders:lookup")
    support = sign_in_staff(browser(), make_user("Sue", role="support"))
    limits = settings.RATE_LIMITS | {"lookup": (1, 1, 1, 900)}
    order = {"number": "7KQF-3M9X", "email": "eve@example.com"}
    with override_settings(RATE_LIMITS=limits):
        answers: list[Any] = [browser().post(lookup, order) for _ in range(2)][1:]
    forged = reverse("conversations:confirm", args=[world.theirs["forged"]])
    answers += [
        browser().post(lookup, {f"field{number}": "" for number in range(201)}),
        support.get(reverse("adminpanel:people")),
        admin.get("/staff/no-such-page/"),
        browser().get("/no-such-page/"),
        browser().get(forged),
        Client(enforce_csrf_checks=True).post(lookup, order),
        server_error(RequestFactory().get("/")),
    ]
    try:
        raise CassandraUnavailable
    except CassandraUnavailable:
        answers.append(server_error(RequestFactory().get("/")))
    statuses = [each.status_code for each in answers]
    assert statuses == [429, 400, 403, 404, 404, 410, 403, 500, 503]
    for answer in answers:
        assert not list(find_faults(answer.content.decode())), answer.status_code


def test_x465_x466_each_mail_has_the_name_and_no_other(world: World) -> None:
    order, faults = existing(get_order(world.orders[0])), []
    for kind in get_mail_kinds().values():
        context = kind.preview(order) if kind.preview else {**SAMPLE, **kind.sample}
        mail = render_mail(kind.name, context)
        html = mail.html or ""
        found = [*find_word(mail.subject), *find_word(mail.text), *find_faults(html, is_page=False)]
        faults += [f"{kind.name} {each}" for each in found]
        if NAME not in mail.text or escape(NAME) not in html:
            faults.append(f"{kind.name} lacks the name")
    assert not faults, "\n".join(faults)
    sent = deliver_mail(world.alice.email)
    assert sent
    for each in sent:
        message = message_from_bytes(each.message().as_bytes(), policy=policy.default)
        (sender,) = message["From"].addresses
        assert sender.display_name == NAME
        assert not list(find_word(str(message.items())))


def test_x465_x466_papers_have_the_sellers_name_and_no_other(world: World) -> None:
    reader, number = readers_of(world)["Alice"], world.theirs["number"]
    invoice = reader.get(reverse("orders:invoice", args=[number])).content
    assert NAME in " ".join(read_pdf(invoice))
    papers = {name: each for name, each in ORDER_FILES.items() if each.draw}
    for name, file in papers.items():
        assert file.draw
        drawn = file.draw(file.iterate_lines(world.orders), current_time())
        assert not [each for text in read_pdf(drawn) for each in find_word(text)], name
    assert len(papers) >= 3


def test_x466_data_labels_and_names_of_files_carry_the_name_escaped(world: World) -> None:
    reader = readers_of(world)["Alice"]
    ((shop, site),) = map(json.loads, _JSON_LD.findall(reader.get("/").content.decode()))
    assert (shop["name"], site["name"]) == (NAME, NAME)
    assert reader.get(reverse("manifest")).json()["name"] == NAME
    label = urlsplit(provisioning_uri("A" * 32, world.alice))
    assert parse_qs(label.query)["issuer"] == [NAME]
    assert label.path.startswith(f"/{quote(NAME)}:")
    file: Any = reader.post(reverse("accounts:export"), {"password": PASSWORD})
    assert f"filename*=utf-8''{quote('ærø-søn-kram-data-20')}" in file["Content-Disposition"]
    assert json.loads(b"".join(file.streaming_content))["shop"] == NAME


def test_s11_the_shops_name_and_its_words_are_no_passwords(world: World) -> None:
    for password in (NAME, "kramkram", "Kram2026!"):
        with pytest.raises(ValidationError):
            EmailOrShopNameValidator().validate(password)
    EmailOrShopNameValidator().validate("Stoa2026!")
