"""The pages of questions: of the product, the asker's, those who answer, and the staff's."""

from typing import Any
from uuid import uuid1, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from catalogue.entities import Product
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from questions import queries
from questions.entities import QUESTION, Text
from tests.factories import make_product, make_user, sign_in_staff
from tests.questions.test_questions import now_of
from tests.reads import existing


@pytest.fixture
def product() -> Product:
    return make_product("Jug")


@pytest.fixture
def alice() -> User:
    return make_user("Alice Liddell")


@pytest.fixture
def ben(monkeypatch: pytest.MonkeyPatch) -> User:
    """Somebody whom the product has reached."""
    user = make_user("Ben Tailor")
    monkeypatch.setattr(
        "questions.views.has_received", lambda user_id, _product_id: user_id == user.user_id
    )
    return user


def address(name: str, product: Product, *args: Any) -> str:
    return reverse(f"questions:{name}", args=(product.slug, *args))


def post(client: Client, url: str, status: int = 302, **fields: Any) -> str:
    got = client.post(url, {"operation": str(uuid4())} | fields)
    assert got.status_code in ((302, 303) if status == 302 else (status,)), got.content.decode()
    return got.content.decode()


def ask(client: Client, product: Product, **fields: Any) -> Text:
    before = {each.text_id for each in queries.list_texts_of_product(product.product_id)}
    post(client, address("ask", product), **{"body": f"Is it heavy? {uuid4().hex}"} | fields)
    (text,) = (
        each
        for each in queries.list_texts_of_product(product.product_id)
        if each.text_id not in before
    )
    return text


def read(client: Client, url: str) -> str:
    return client.get(url).content.decode()


def test_x238_a_member_asks_and_a_buyer_answers(
    client: Client, product: Product, alice: User, ben: User
) -> None:
    assert "No questions yet" in read(client, address("list", product))
    assert "/account/login" in client.get(address("ask", product)).url  # type: ignore[attr-defined]
    client.force_login(alice)
    text = ask(client, product, body="Does it pour without a drop?")
    own = address("answer", product, text.question_id)
    assert "so can people who have received" in read(client, own)
    assert "Only people who have received" in post(client, own, 422, body="It does, I think.")
    buyer = Client(REMOTE_ADDR=client.defaults["REMOTE_ADDR"])
    buyer.force_login(ben)
    form = str(uuid4())
    for _twice in range(2):
        post(buyer, own, body="Not a single one.", operation=form)
    for url in (address("list", product), reverse("product", args=(product.slug,))):
        page = Client().get(url).content.decode()
        assert page.count("<p>Not a single one.</p>") == 1
        for words in ("Does it pour without a drop?", "Alice L.", "Ben T.", "Verified purchase"):
            assert words in page
    assert "Withdraw answer" in read(buyer, own)
    assert "Withdraw answer" not in read(client, own)


def test_x239_bad_input_stays_in_the_form(
    client: Client, product: Product, alice: User, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(alice)
    for body, sentence in (
        ("", "Enter your question"),
        ("short", "Enter a question of 10 characters or more"),
        ("x" * 1001, "Enter a question of up to 1,000 characters"),
    ):
        page = post(client, address("ask", product), 422, body=body)
        assert sentence in page
        assert body in page
    assert queries.list_texts_of_product(product.product_id) == []
    text = ask(client, product)
    client.force_login(ben)
    own = address("answer", product, text.question_id)
    assert "up to 2,000 characters" in post(client, own, 422, body="y" * 2001)
    for bad in (uuid1(), uuid4()):
        assert client.get(address("answer", product, bad)).status_code == 404
        for name in ("withdraw", "report"):
            assert client.post(address(name, product, bad)).status_code == 404
    withdraw = address("withdraw", product, text.question_id)
    for fields in ({}, {"version": "x"}, {"version": "1", "answer": str(uuid4())}):
        post(client, withdraw, 404, **fields)
    post(client, withdraw, 404, version="1")  # another's
    assert client.get(address("list", product), {"after": "forged"}).status_code == 404
    assert client.get(address("ask", product).replace(product.slug, "none")).status_code == 404
    monkeypatch.setitem(queries.__dict__, "MAX_ANSWERS", 0)
    assert "has enough answers" in post(client, own, 422, body="One more.")


def test_x239_too_many_questions_keep_what_was_typed(
    client: Client, product: Product, alice: User, settings: Any
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"question": (1, 0, 0, 3600)}
    client.force_login(alice)
    ask(client, product)
    page = post(client, address("ask", product), 429, body="And is it dishwasher safe?")
    assert "And is it dishwasher safe?" in page


def test_s104_a_question_and_an_answer_that_were_taken_are_answered_as_before(
    client: Client,
    product: Product,
    alice: User,
    ben: User,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {
        **dict.fromkeys(("question", "report"), (1, 0, 0, 3600))
    }
    form = str(uuid4())
    client.force_login(alice)
    for _tab in range(2):
        post(client, address("ask", product), body="Does it pour?", operation=form)
    (text,) = queries.list_texts_of_product(product.product_id)
    client.force_login(ben)
    own = address("answer", product, text.question_id)
    post(client, own, body="It does.", operation=form)
    # Its own answer is the last one that there is room for.
    monkeypatch.setitem(queries.__dict__, "MAX_ANSWERS", 1)
    post(client, own, body="It does.", operation=form)
    assert len(queries.list_texts_of_product(product.product_id)) == 2
    other = make_product("Cup")
    shown = Client(REMOTE_ADDR="203.0.113.9")
    shown.force_login(make_user("Cem"))
    asked = ask(shown, other)
    for sold, found, status in ((product, text, 302), (product, text, 302), (other, asked, 429)):
        post(client, address("report", sold, found.question_id), status)


def test_x240_what_looks_wrong_waits_for_the_staff(
    client: Client, product: Product, alice: User
) -> None:
    client.force_login(alice)
    held = ask(client, product, body="Is www.example.org cheaper?")
    own = address("answer", product, held.question_id)
    assert (held.state, held.held_for) == (HELD, "links")
    assert "reading your question" in read(client, own)
    reader = Client()
    reader.force_login(make_user("Cem"))
    for name in ("answer", "report"):
        assert reader.post(address(name, product, held.question_id)).status_code == 404
    shown = ask(client, product)
    for _twice in range(2):
        post(reader, address("report", product, shown.question_id))
    assert (now_of(shown).held_for, now_of(shown).state) == ("reported", PUBLISHED)


def test_x240_a_question_and_an_answer_are_withdrawn_by_their_writers(
    client: Client, product: Product, alice: User, ben: User
) -> None:
    client.force_login(alice)
    text = ask(client, product)
    withdraw = address("withdraw", product, text.question_id)
    client.force_login(ben)
    post(client, address("answer", product, text.question_id), body="As a feather.")
    found = existing(queries.get_question(product.product_id, text.question_id))
    (given,) = found.answers
    post(client, withdraw, answer=str(given.answer_id), version=str(given.version))
    assert now_of(given).state == WITHDRAWN
    client.force_login(alice)
    # It has an answer since this page was opened.
    answered = client.post(withdraw, {"version": "1", "operation": str(uuid4())}, follow=True)
    assert "This has just changed" in answered.content.decode()
    version, form = str(now_of(text).version), str(uuid4())
    for operation in (form, form, str(uuid4())):  # the last one from another tab
        answer = client.post(withdraw, {"version": version, "operation": operation})
        assert (answer.status_code, answer["Location"]) == (303, address("list", product))
    assert now_of(text).state == WITHDRAWN
    assert "No questions yet" in read(client, address("list", product))
    assert client.get(address("answer", product, text.question_id)).status_code == 404


def test_x241_staff_decide_and_answer(client: Client, product: Product, alice: User) -> None:
    client.force_login(alice)
    text = ask(client, product, body="See example.com, is it the same?")
    sam = sign_in_staff(Client(), make_user("Sam", role="support"))
    ids = (product.product_id, text.question_id, QUESTION)
    detail, decide, answer = (
        reverse(f"adminpanel:{name}", args=ids)
        for name in ("question", "question_decide", "question_answer")
    )
    assert detail in read(sam, reverse("adminpanel:reviews"))
    assert "Contains a link" in read(sam, detail)
    assert "Publish the question first" in post(sam, answer, 422, body="It is not.")

    def act(status: int = 302, at: str = decide, **fields: Any) -> str:
        return post(sam, at, status, **{"version": str(now_of(text).version)} | fields)

    assert "Enter a reason for refusing it" in act(422, act="refuse")
    assert "Choose what to do" in act(422, act="burn")
    act(404, act="withdraw")
    act(act="refuse", reason="Please leave out the link.")
    assert now_of(text).state == REFUSED
    own = address("answer", product, text.question_id)
    assert "Please leave out the link." in read(client, own)
    stale = act(409, act="publish", version="1", reason="Typed meanwhile")
    assert "has changed since you opened the page" in stale
    assert "Change decision" in stale
    act(act="hold")
    act(act="publish")
    assert "Unanswered" in read(sam, detail)
    assert detail in read(sam, reverse("adminpanel:reviews"))
    assert "Enter an answer of 2 characters or more" in post(sam, answer, 422, body="?")
    post(sam, answer, body="It is another one, ours is heavier.")
    assert detail not in read(sam, reverse("adminpanel:reviews"))
    page = read(client, address("list", product))
    assert "ours is heavier" in page
    assert "Our answer" in page
    found = existing(queries.get_question(product.product_id, text.question_id))
    (given,) = found.answers
    of_answer = (product.product_id, text.question_id, given.answer_id)
    page = read(sam, reverse("adminpanel:question", args=of_answer))
    assert "Remove the answer" in page
    remove = reverse("adminpanel:question_decide", args=of_answer)
    post(sam, remove, act="withdraw", version=str(given.version))
    assert "ours is heavier" not in read(client, address("list", product))
    for bad in ((uuid4(), uuid4(), QUESTION), (*ids[:2], uuid4())):
        assert sam.get(reverse("adminpanel:question", args=bad)).status_code == 404
    packer = sign_in_staff(Client(), make_user("Pam", role="warehouse"))
    assert packer.get(detail).status_code == 403
