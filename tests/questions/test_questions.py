"""Questions and answers: once each, the staff's queue, mails, and what a crash, a crowd and an erasure leave."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4, uuid5

import pytest

from cassandra_db import CassandraUnavailable, current_microseconds, current_time, statements
from cassandra_db.configuration import WRITE
from consistency.findings import Scope
from consistency.runner import check_consistency
from jobs.due_rows import Sweep
from jobs.leases import hold_lease, save_position
from mail.queries import derive_mail_id, get_mail
from moderation.errors import NoSuchText, TextChanged
from moderation.operations import leave_queue
from moderation.queries import list_waiting
from moderation.rules import ReviewRules
from moderation.states import HELD, PUBLISHED, REFUSED, UNANSWERED, WITHDRAWN
from questions import jobs, operations, queries
from questions.entities import QUESTION, Question, Text
from questions.errors import QuestionFull
from questions.privacy import erase_personal_data, export_personal_data
from tests.factories import make_product, make_user
from tests.reads import existing
from tests.threads import map_at_once
from web.personal_data import DataSubject

RULES = ("I40",)
NAUGHTY = "\u202eRobert'); DROP TABLE questions;-- <script>alert(1)</script> 👩🏽‍🚒 ﷺ Ω≈ç"


def ask(
    product_id: UUID,
    user_id: UUID | None = None,
    body: str = "Is it heavy?",
    *,
    held_for: str = "",
    change_id: UUID | None = None,
) -> Text:
    return operations.ask_question(
        product_id,
        user_id or uuid4(),
        body,
        name="Ada L.",
        held_for=held_for,
        change_id=change_id or uuid4(),
        now=current_time(),
    )


def answer(
    question: Text,
    user_id: UUID | None = None,
    *,
    held_for: str = "",
    is_shops: bool = False,
    change_id: UUID | None = None,
) -> Text:
    return operations.answer_question(
        question,
        user_id or uuid4(),
        "Not at all.",
        name="" if is_shops else "Ben T.",
        held_for=held_for,
        change_id=change_id or uuid4(),
        now=current_time(),
        is_shops=is_shops,
    )


def act(function: Callable[..., Text], text: Text, *args: Any) -> Text:
    return function(text, *args, change_id=uuid4(), now=current_time())


def now_of(text: Text) -> Text:
    return existing(queries.get_text(text.product_id, text.question_id, text.answer_id))


def waits(text: Text) -> str | None:
    """Why a text waits for the staff, None if it does not."""
    return next(
        (row.held_for for row in list_waiting(10_000) if row.review_id == text.text_id), None
    )


def page(product_id: UUID, after: str = "") -> queries.QuestionPage:
    rows = queries.prefetch_question_page(product_id, after).rows()
    return queries.question_page_from_rows(product_id, rows)


def listed(product_id: UUID) -> list[Question]:
    part = page(product_id)
    found = list(part.questions)
    while part.next_token:
        part = page(product_id, part.next_token)
        found += part.questions
    return found


def finish() -> None:
    now = datetime.now(UTC)
    table = operations.PENDING_TEXTS
    partitions = table.list_partitions(now - timedelta(minutes=2), now)
    jobs.finish_questions(Sweep(table, partitions, now), now)


def find_violations(*product_ids: UUID) -> list[str]:
    scope = Scope(products=frozenset(product_ids))
    return [str(each) for each in check_consistency(scope, RULES, recheck_after=()).violations]


@contextmanager
def cut_off_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> Iterator[None]:
    send, left = statements.Statement.start, writes

    def start(self: Any, **params: Any) -> Any:
        nonlocal left
        if self.profile == WRITE:
            if left <= 0:
                raise CassandraUnavailable("cut off")
            left -= 1
        return send(self, **params)

    with monkeypatch.context() as patch, suppress(CassandraUnavailable):
        patch.setattr(statements.Statement, "start", start)
        yield


def test_x238_a_crowds_questions_are_listed_newest_first_in_parts() -> None:
    product_id = uuid4()
    asked = map_at_once(lambda _: ask(product_id), range(30), 15)
    map_at_once(answer, asked[:25] + asked[:5], 15)
    hidden = [act(operations.withdraw_text, now_of(asked[0])), ask(product_id, held_for="links")]
    found = listed(product_id)
    ids = [each.question.question_id for each in found]
    assert set(ids) == {each.question_id for each in asked[1:]}
    assert not set(ids) & {each.question_id for each in hidden}
    times = [each.time for each in ids]
    assert times == sorted(times, reverse=True)
    counts = {each.question.question_id: len(each.answers) for each in found}
    wanted = [2] * 4 + [1] * 20 + [0] * 5
    assert [counts[each.question_id] for each in asked[1:]] == wanted
    rows = queries.prefetch_newest_questions(product_id).rows()
    newest = queries.newest_from_rows(rows)
    assert len(newest) == queries.NEWEST_SHOWN
    assert all(each.answers for each in newest)


def test_x238_more_answers_than_a_part_has_rows_leave_no_question_out() -> None:
    product_id = uuid4()
    asked = [ask(product_id, held_for="") for _each in range(queries.PAGE_LENGTH + 2)]
    now = current_time()
    answers = [
        Text(
            **{
                **{name: getattr(question, name) for name in Text.__dataclass_fields__},
                "answer_id": operations.uuid_from_time(now + timedelta(seconds=number)),
                "held_for": "",
                "queued_at": None,
            }
        )
        for question in asked
        for number in range(queries.MAX_ANSWERS)
    ]
    map_at_once(
        lambda each: operations.INSERT_TEXT.apply(
            if_lost=operations.REFUSED_MEANS_DONE, **each.columns()
        ),
        answers,
        15,
    )
    found = listed(product_id)
    assert [len(each.answers) for each in found] == [queries.MAX_ANSWERS] * len(asked)


def test_x239_a_form_that_is_sent_twice_asks_and_answers_once() -> None:
    product_id, asker, writer = uuid4(), uuid4(), uuid4()
    form, other = uuid4(), uuid4()
    asked = map_at_once(lambda _: ask(product_id, asker, NAUGHTY, change_id=form), range(6))
    map_at_once(lambda _: answer(asked[0], writer, change_id=other), range(6))
    (found,) = listed(product_id)
    assert (found.question.body, len(found.answers)) == (NAUGHTY, 1)
    assert {each.question_id for each in asked} == {found.question.question_id}
    # Another question of the same person is another one.
    ask(product_id, asker)
    assert len(queries.list_texts_of(asker)) == 2


def test_x240_what_is_held_is_read_by_nobody_and_what_is_reported_by_all() -> None:
    held = ask(uuid4(), held_for="links")
    assert (held.state, waits(held), listed(held.product_id)) == (HELD, "links", [])
    question = ask(uuid4())
    assert (question.state, waits(question)) == (PUBLISHED, UNANSWERED)
    shady = answer(question, held_for="words")
    assert (waits(shady), waits(question)) == ("words", UNANSWERED)
    assert listed(question.product_id)[0].answers == ()
    told = operations.report_text(now_of(question), uuid4(), now=current_time())
    assert (told.state, waits(told), len(listed(question.product_id))) == (PUBLISHED, "reported", 1)
    # Reported again, it is as it was; kept, it waits for its answer again.
    assert operations.report_text(told, uuid4(), now=current_time()) == told
    kept = act(operations.publish_text, told)
    assert waits(kept) == UNANSWERED
    assert waits(act(operations.publish_text, kept)) is None


def test_x260_a_question_that_was_decided_waits_again_once_three_people_report_it() -> None:
    question, readers, now = ask(uuid4()), [uuid4() for _ in range(3)], current_time()
    told = operations.report_text(question, readers[0], now=now)
    kept = act(operations.publish_text, told)
    for reader, reason in ((0, UNANSWERED), (0, UNANSWERED), (1, UNANSWERED), (2, "reported")):
        operations.report_text(kept, readers[reader], now=now)
        assert waits(question) == reason
    assert len(now_of(question).reporters) == 3
    assert act(operations.publish_text, now_of(question)).reporters == ()
    gone = act(operations.withdraw_text, now_of(question))
    with pytest.raises(NoSuchText):
        operations.report_text(question, readers[0], now=now)
    assert now_of(question) == gone


def test_x241_a_question_waits_for_its_answer_and_a_stale_decision_changes_nothing() -> None:
    question = ask(uuid4(), held_for="links")
    published = act(operations.publish_text, question)
    assert waits(published) == UNANSWERED
    with pytest.raises(TextChanged):
        act(operations.refuse_text, question, "No links, please.")
    given = answer(published, is_shops=True)
    assert (waits(published), now_of(published).held_for) == (None, "")
    refused = act(operations.refuse_text, now_of(published), "No links, please.")
    assert (refused.state, listed(question.product_id)) == (REFUSED, [])
    undone = act(operations.hold_text, refused)
    assert waits(undone) == "undone"
    # It has an answer: it need not wait for one.
    assert waits(act(operations.publish_text, undone)) is None
    gone = act(operations.withdraw_text, now_of(given))
    assert (gone.state, gone.body) == (WITHDRAWN, "")
    with pytest.raises(NoSuchText):
        act(operations.publish_text, gone)
    form = uuid4()
    tabs = [
        operations.hold_text(now_of(question), change_id=form, now=current_time()).version
        for _twice in range(2)
    ]
    assert tabs[0] == tabs[1]


def test_x241_two_answers_at_once_take_the_question_out_of_the_queue() -> None:
    question = ask(uuid4())
    map_at_once(lambda _: answer(question), range(6))
    finish()
    assert (waits(question), now_of(question).held_for) == (None, "")
    assert find_violations(question.product_id) == []


def test_x241_the_asker_is_mailed_each_answer_once_and_the_reason_of_a_refusal() -> None:
    product, asker, buyer = make_product("Jug"), make_user("Ada"), make_user("Ben")
    question = ask(product.product_id, asker.user_id)
    given = answer(question, buyer.user_id, held_for="links")

    def mail_about(text: Text, template: str, event: str) -> Any:
        return get_mail(derive_mail_id(uuid5(text.text_id, template), event))

    assert mail_about(given, "question_answered", "answered") is None
    shown = act(operations.publish_text, given)
    first = mail_about(given, "question_answered", "answered")
    assert first.recipient == asker.email
    assert f"/account/questions/{product.slug}/{question.question_id}/" in first.text
    operations.follow_text(given.product_id, given.question_id, given.answer_id)
    assert mail_about(given, "question_answered", "answered").queued_at == first.queued_at
    refused = act(operations.refuse_text, shown, "Not about the jug.")
    told = mail_about(given, "question_refused", f"refused:{refused.version}")
    assert (told.recipient, "Not about the jug." in told.text) == (buyer.email, True)
    # Nobody is told of an answer to themselves.
    own = answer(now_of(question), asker.user_id)
    assert mail_about(own, "question_answered", "answered") is None


@pytest.mark.parametrize("what", ["ask", "answer", "publish"])
def test_x242_what_a_crash_cuts_off_anywhere_is_finished(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    product = make_product("Jug")
    asker = make_user("Ada")
    for writes in range(1 if what == "publish" else 0, 9):
        question = ask(product.product_id, asker.user_id)
        held = answer(question, held_for="links") if what == "publish" else None
        form, writer = uuid4(), uuid4()

        def once(
            question: Text = question,
            held: Text | None = held,
            form: UUID = form,
            writer: UUID = writer,
        ) -> Text:
            if what == "ask":
                return ask(product.product_id, writer, change_id=form)
            if held:
                return operations.publish_text(held, change_id=form, now=current_time())
            return answer(question, writer, change_id=form)

        with cut_off_after(monkeypatch, writes):
            once()
        before = len(queries.list_texts_of_product(product.product_id))
        finish()
        found = [
            each
            for each in queries.list_texts_of_product(product.product_id)
            if each.user_id == writer or (held and each.answer_id == held.answer_id)
        ]
        if what != "ask" and any(each.state == PUBLISHED for each in found):
            assert waits(question) is None
            (written,) = found
            assert get_mail(derive_mail_id(uuid5(written.text_id, "question_answered"), "answered"))
        assert [waits(each) for each in found if each.is_question] == (
            [UNANSWERED] if what == "ask" and found else []
        )
        # Sent again, it is there, and once.
        after = once()
        assert len(queries.list_texts_of_product(product.product_id)) == before + (not found)
        assert now_of(after).state == PUBLISHED
    table = operations.PENDING_TEXTS
    with hold_lease(table.job):
        save_position(table.job, table.find_partition(current_time()).isoformat())
        ask(product.product_id)
        assert "finished" in jobs.sweep_questions(current_time() + timedelta(minutes=3))
        assert jobs.sweep_questions(current_time() + timedelta(minutes=3)) == ""
    assert find_violations(product.product_id) == []


def test_i40_the_check_finds_and_mends_the_queue_and_the_lists_of_persons() -> None:
    product_id = uuid4()
    question, other = ask(product_id), ask(product_id)
    given = answer(other)
    finish()
    assert find_violations(product_id) == []
    assert question.queued_at
    leave_queue(question.text_id, question.queued_at, current_microseconds())
    assert queries.list_claims(given.user_id)
    operations.FORGET_CLAIM.apply(
        if_lost=operations.REFUSED_MEANS_DONE, user_id=given.user_id, change_id=given.change_id
    )
    stale = now_of(other)
    operations.UPDATE_TEXT.apply(
        if_lost=operations.SEND_AGAIN,
        **stale.columns() | {"held_for": UNANSWERED, "version": stale.version + 1},
        seen=stale.version,
    )
    scope = Scope(products=frozenset({product_id}))
    report = check_consistency(scope, RULES, repair=True, recheck_after=())
    assert len(report.fixed_violations) >= 3
    assert report.is_clean
    assert find_violations(product_id) == []
    assert (waits(question), waits(other)) == (UNANSWERED, None)
    assert [each.text_id for each in queries.list_texts_of(given.user_id)] == [given.text_id]


@pytest.mark.parametrize("keeps_texts", [True, False])
def test_x243_erasing_a_person_takes_the_name_and_by_the_shops_setting_the_text(
    monkeypatch: pytest.MonkeyPatch, keeps_texts: bool
) -> None:
    member, product = make_user(), make_product("Jug")
    question = ask(product.product_id, member.user_id)
    given = answer(ask(product.product_id), member.user_id)
    answer(question)
    person = DataSubject(member.user_id, member.email, member.name)
    told = export_personal_data(person)["questions_and_answers"]
    assert {(each["kind"], each["text"]) for each in told} == {
        ("question", "Is it heavy?"),
        ("answer", "Not at all."),
    }
    monkeypatch.setattr(
        "questions.privacy.get_review_rules", lambda: ReviewRules(keeps_erased_texts=keeps_texts)
    )
    for _twice in range(2):
        erase_personal_data(person, current_time())
    finish()
    assert export_personal_data(person)["questions_and_answers"] == []
    assert queries.list_claims(member.user_id) == []
    for text in (question, given):
        left = now_of(text)
        assert (left.name, left.user_id == member.user_id) == ("", False)
        assert (left.state, bool(left.body)) == (
            (PUBLISHED, True) if keeps_texts else (WITHDRAWN, False)
        )
    assert find_violations(product.product_id) == []


def test_x243_what_an_erasure_and_a_change_do_at_once_leaves_no_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A decision that comes between the erasure's look and its write: the erasure looks again."""
    member, product = make_user(), make_product("Jug")
    question = ask(product.product_id, member.user_id, held_for="links")
    mark, done = operations.mark_pending, False

    def decide_first(text: Text) -> None:
        nonlocal done
        if not done:
            done = True
            act(operations.publish_text, text)
        mark(text)

    monkeypatch.setattr(operations, "mark_pending", decide_first)
    operations.erase_texts(member.user_id, keeps_texts=True)
    left = now_of(question)
    assert (left.state, left.name) == (PUBLISHED, "")
    assert left.user_id == operations.erased_id(question.text_id)
    assert left.answer_id == QUESTION


def test_x265_only_a_text_that_everybody_read_outlives_its_person() -> None:
    """Every state that a text can be in when its person is erased, with the shop's setting and without it."""
    product = make_product("Jug")
    for keeps_texts in (True, False):
        member = make_user()
        asked = [ask(product.product_id, member.user_id) for _each in range(2)]
        asked += [
            ask(product.product_id, member.user_id, held_for="links"),
            act(operations.refuse_text, ask(product.product_id, member.user_id), "No."),
            act(operations.withdraw_text, ask(product.product_id, member.user_id)),
        ]
        seen = act(operations.publish_text, asked[1])
        asked[1] = operations.report_text(seen, uuid4(), now=current_time())
        given = answer(ask(product.product_id), member.user_id, held_for="words")
        operations.erase_texts(member.user_id, keeps_texts=keeps_texts)
        finish()
        stays = (PUBLISHED, "Is it heavy?") if keeps_texts else (WITHDRAWN, "")
        left = [now_of(each) for each in (*asked, given)]
        assert [(each.state, each.body) for each in left] == [stays] * 2 + [(WITHDRAWN, "")] * 4
        assert {each.refusal for each in left} == {""}
        assert [waits(each) for each in left[2:]] == [None] * 4
        for each in left[2:]:
            with pytest.raises(NoSuchText):
                act(operations.publish_text, each)
    assert find_violations(product.product_id) == []


def test_x268_a_crowd_gives_a_question_no_more_answers_than_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queries, "MAX_ANSWERS", 4)
    question, form, writer = ask(uuid4()), uuid4(), uuid4()
    gone = [answer(question) for _each in range(2)]
    gone = [act(operations.refuse_text, gone[0], "No."), act(operations.withdraw_text, gone[1])]

    def try_answer(number: int) -> bool:
        with suppress(QuestionFull):
            return bool(answer(question, held_for="words" if number % 2 else ""))
        return False

    assert sum(map_at_once(try_answer, range(8))) == 4
    with pytest.raises(QuestionFull):
        act(operations.publish_text, gone[0])
    found = existing(queries.get_question(question.product_id, question.question_id))
    assert len([each for each in found.answers if each.takes_place]) == 4
    # What is withdrawn makes room; a form that is sent again has its answer, also when all places are taken.
    act(operations.withdraw_text, next(each for each in found.answers if each.takes_place))
    first = answer(question, writer, change_id=form)
    assert answer(question, writer, change_id=form).answer_id == first.answer_id
    # Of two answers that are refused and published again at once, one finds room.
    act(operations.refuse_text, first, "No.")
    others = (gone[0], now_of(first))
    published = map_at_once(lambda each: _publishes(each), others, 2)
    assert sorted(published) == [False, True]


def test_x265_i40_the_check_takes_what_an_earlier_version_has_left_of_an_erased_person() -> None:
    question = ask(uuid4(), held_for="links")
    former = operations.replace(question, user_id=operations.erased_id(question.text_id), version=2)
    operations.UPDATE_TEXT.apply(
        if_lost=operations.SEND_AGAIN, **former.columns(), seen=question.version
    )
    # One that everybody read is refused after its person was erased.
    published = ask(question.product_id)
    operations.erase_texts(published.user_id, keeps_texts=True)
    assert act(operations.refuse_text, now_of(published), "No.").body
    finish()
    scope = Scope(products=frozenset({question.product_id}))
    report = check_consistency(scope, RULES, repair=True, recheck_after=())
    assert len(report.fixed_violations) == 2
    assert report.is_clean
    for left in (now_of(question), now_of(published)):
        assert (left.state, left.body, waits(left)) == (WITHDRAWN, "", None)


def _publishes(text: Text) -> bool:
    try:
        return act(operations.publish_text, text).state == PUBLISHED
    except QuestionFull:
        return False
