"""Reviews: exact numbers, copies that follow, votes that count once, and what a crash, an edit and an erasure leave."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from cassandra_db import CassandraUnavailable, current_time, statements
from cassandra_db.configuration import WRITE
from catalogue.operations import set_rating
from catalogue.queries import get_category_page, get_product_at_quorum
from consistency.findings import Scope
from consistency.runner import check_consistency
from jobs.due_rows import Sweep
from moderation.errors import NoSuchText, TextChanged
from moderation.queries import list_moderation_days, list_waiting
from moderation.rules import ReviewRules, find_reason_to_hold, shown_name
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from reviews import copies, operations, queries, votes
from reviews.entities import Rating, Review
from reviews.jobs import finish_reviews
from reviews.privacy import erase_personal_data, export_personal_data
from tests.factories import make_category, make_product, make_user
from tests.reads import existing
from tests.reviews.writes import write
from tests.threads import map_at_once
from web.personal_data import DataSubject

RULES = ("I37", "I38", "I39")
NAUGHTY = "‮Robert'); DROP TABLE reviews;-- <script>alert(1)</script> 👩🏽‍🚒 \u0000ﷺ Ω≈ç".replace(
    "\u0000", ""
)


def act(function: Callable[..., Review], review: Review, *args: Any) -> Review:
    return function(
        review.product_id,
        review.user_id,
        *args,
        seen=review.version,
        change_id=uuid4(),
        now=current_time(),
    )


def listed(product_id: UUID, stars: int = queries.ALL) -> list[UUID]:
    rows = queries.prefetch_review_page(product_id, stars, "").rows()
    return [
        each.user_id for each in queries.review_page_from_rows(product_id, stars, "", rows).reviews
    ]


def finish() -> None:
    now = datetime.now(UTC)
    table = operations.PENDING_REVIEWS
    partitions = table.list_partitions(now - timedelta(minutes=2), now)
    finish_reviews(Sweep(table, partitions, now), now)


def find_violations(*product_ids: UUID) -> list[str]:
    scope = Scope(products=frozenset(product_ids))
    return [str(each) for each in check_consistency(scope, RULES, recheck_after=()).violations]


def test_x220_a_crowd_of_reviews_makes_exact_numbers_and_copies() -> None:
    product_id = uuid4()
    stars = [1 + number % 5 for number in range(30)]
    made = map_at_once(lambda each: write(product_id, each), stars, 15)
    rating = queries.get_rating_at_quorum(product_id)
    assert rating == Rating(30, sum(stars), (6, 6, 6, 6, 6))
    assert (rating.average, [each.percent for each in rating.bars]) == (3.0, [20] * 5)
    for each in range(1, 6):
        wanted = {review.user_id for review in made if review.stars == each}
        assert set(listed(product_id, each)) == wanted
    first = queries.review_page_from_rows(
        product_id, 0, "", queries.prefetch_review_page(product_id, 0, "").rows()
    )
    token, seen = first.next_token, [each.review_id for each in first.reviews]
    while token:
        rows = queries.prefetch_review_page(product_id, 0, token).rows()
        part = queries.review_page_from_rows(product_id, 0, token, rows)
        token, seen = part.next_token, seen + [each.review_id for each in part.reviews]
    times = [each.time for each in seen]  # those of one millisecond have no order
    assert times == sorted(times, reverse=True)
    assert set(seen) == {each.review_id for each in made}


def test_x221_one_review_a_person_and_a_form_sent_twice_is_one() -> None:
    product_id, user_id, form = uuid4(), uuid4(), uuid4()
    versions = map_at_once(
        lambda _: write(product_id, 4, user_id, change_id=form, body=NAUGHTY).version, range(6)
    )
    assert versions == [1] * 6
    assert queries.get_rating_at_quorum(product_id).counts == (0, 0, 0, 1, 0)
    with pytest.raises(TextChanged):
        write(product_id, 1, user_id)
    changed = write(product_id, 2, user_id, seen=1)
    assert (changed.version, changed.body) == (2, "It does what it should.")
    assert queries.get_rating_at_quorum(product_id) == Rating(1, 2, (0, 1, 0, 0, 0))
    assert (listed(product_id, 4), listed(product_id, 2)) == ([], [user_id])


def test_x222_what_is_held_counts_when_it_is_approved_and_an_edit_meets_the_approval() -> None:
    product_id = uuid4()
    held = write(product_id, 1, held_for="links")
    assert queries.get_rating_at_quorum(product_id) == Rating()
    assert (listed(product_id), held.state) == ([], HELD)
    assert held.review_id in {each.review_id for each in list_waiting(1000)}
    approved = act(operations.publish_review, held)
    assert approved.state == PUBLISHED
    assert queries.get_rating_at_quorum(product_id) == Rating(1, 1, (1, 0, 0, 0, 0))
    # The writer's page is the one before the approval; so is a colleague's.
    with pytest.raises(TextChanged):
        write(product_id, 5, held.user_id, seen=held.version)
    with pytest.raises(TextChanged):
        act(operations.refuse_review, held, "No links, please.")
    assert held.review_id not in {each.review_id for each in list_waiting(1000)}
    undone = act(operations.hold_review, approved)
    assert queries.get_rating_at_quorum(product_id) == Rating()
    refused = act(operations.refuse_review, undone, "No links, please.")
    assert (refused.state, listed(product_id)) == (REFUSED, [])
    better = write(product_id, 3, held.user_id, seen=refused.version)
    answered = act(operations.answer_review, better, "Thank you.")
    assert (answered.answer, queries.get_rating_at_quorum(product_id).count) == ("Thank you.", 1)
    reported = operations.report_review(answered, uuid4(), now=current_time())
    assert (reported.state, reported.is_waiting, len(listed(product_id))) == (PUBLISHED, True, 1)
    gone = act(operations.withdraw_review, reported)
    assert (gone.state, gone.body, listed(product_id)) == (WITHDRAWN, "", [])
    with pytest.raises(NoSuchText):
        act(operations.publish_review, gone)
    assert queries.get_rating_at_quorum(product_id).count == 0


def test_x260_what_the_staff_have_decided_waits_again_once_three_people_report_it() -> None:
    review, readers, now = write(uuid4()), [uuid4() for _ in range(4)], current_time()
    reported = operations.report_review(review, readers[0], now=now)
    assert reported.held_for == "reported"
    for _decision in range(2):
        review = reported = act(operations.publish_review, reported)
        for _again in range(3):
            reported = operations.report_review(reported, readers[0], now=now)
        assert (reported.held_for, len(reported.reporters)) == ("", 1)
        # Both have the review as it was before the first of them; each counts, and none twice.
        map_at_once(partial(operations.report_review, review, now=now), readers[1:3] * 3, 6)
        found = existing(queries.get_review(review.product_id, review.user_id))
        assert (found.state, found.held_for, len(found.reporters)) == (PUBLISHED, "reported", 3)
        assert found.version == review.version + 3
        reported = found
    # Another text is one that nobody has decided about; who reports what has changed meanwhile reads it first.
    review = act(operations.publish_review, reported)
    edited = write(review.product_id, 1, review.user_id, seen=review.version, body="Another text.")
    with pytest.raises(TextChanged):
        operations.report_review(review, readers[3], now=now)
    assert operations.report_review(edited, readers[3], now=now).held_for == "reported"


def test_x223_a_vote_counts_once_in_two_tabs_and_can_be_taken_back() -> None:
    review, voter = write(uuid4()), uuid4()

    def vote(is_helpful: bool, who: UUID = voter) -> int:
        return votes.set_vote(review, who, is_helpful=is_helpful, now=current_time())

    map_at_once(lambda _: vote(True), range(6))
    assert queries.count_votes(review.review_id) == 1
    assert vote(True, uuid4()) == 2
    assert listed(review.product_id, queries.HELPFUL) == [review.user_id]
    assert [vote(False), vote(False)] == [1, 1]
    assert not queries.has_voted(review.review_id, voter)


def test_x224_cards_say_the_rating_and_are_written_once() -> None:
    category = make_category()
    plain = make_product("Plain", category=category, listed=True)
    rated = make_product("Rated", category=category, listed=True)
    for stars in (5, 4, 4):
        write(rated.product_id, stars)
    page = get_category_page(category.category_id, "rating")
    assert [(card.name, card.rating, card.rating_count) for card in page.cards] == [
        (rated.name, 4.3, 3),
        (plain.name, None, 0),
    ]
    assert not operations.refresh_rating(rated.product_id)
    assert Rating(1234, 1234 * 4, (0, 0, 0, 1234, 0)).shown == (4.0, 1200)


@pytest.mark.parametrize("is_edit", [False, True])
def test_x225_what_a_crash_cuts_off_anywhere_is_finished(
    monkeypatch: pytest.MonkeyPatch, is_edit: bool
) -> None:
    product = make_product(listed=True)
    send, count = statements.Statement.start, 0

    def start(self: Any, **params: Any) -> Any:
        nonlocal count
        if self.profile == WRITE:
            if count <= 0:
                raise CassandraUnavailable("cut off")
            count -= 1
        return send(self, **params)

    written = []
    for cut_after in range(0, 12, 2 if is_edit else 3):
        before = write(product.product_id, 2) if is_edit else None
        user_id = before.user_id if before else uuid4()
        count = cut_after
        with monkeypatch.context() as patch, suppress(CassandraUnavailable):
            patch.setattr(statements.Statement, "start", start)
            write(product.product_id, 4, user_id, seen=int(is_edit))
        if found := queries.get_review(product.product_id, user_id):
            written.append(found)
    finish()
    rating = queries.get_rating_at_quorum(product.product_id)
    assert rating == operations.count_reviews(written)
    for stars in (2, 4):
        wanted = {each.user_id for each in written if each.stars == stars}
        assert set(listed(product.product_id, stars)) == wanted
    found_product = existing(get_product_at_quorum(product.product_id))
    assert (found_product.rating, found_product.rating_count) == rating.shown
    assert find_violations(product.product_id) == []


def test_i37_i38_i39_the_check_finds_and_mends_numbers_copies_and_cards() -> None:
    product = make_product(listed=True)
    review = write(product.product_id, 3)
    finish()
    assert find_violations(product.product_id) == []
    operations.ADD_NUMBERS.apply(
        if_lost=operations.SEND_AGAIN,
        product_id=product.product_id,
        count=1,
        total=5,
        one=0,
        two=0,
        three=0,
        four=0,
        five=1,
    )
    copies.DELETE_COPY.run(
        at=operations.current_microseconds(),
        product_id=product.product_id,
        stars=3,
        review_id=review.review_id,
    )
    set_rating(product.product_id, 1.0, 7, operations.current_microseconds())
    scope = Scope(products=frozenset({product.product_id}))
    report = check_consistency(scope, RULES, repair=True, recheck_after=())
    assert sorted({each.rule for each in report.fixed_violations}) == list(RULES)
    assert report.is_clean
    assert find_violations(product.product_id) == []
    assert queries.get_rating_at_quorum(product.product_id).count == 1


@pytest.mark.parametrize("keeps_texts", [True, False])
def test_x226_erasing_a_reviewer_takes_the_name_and_leaves_the_numbers(
    monkeypatch: pytest.MonkeyPatch, keeps_texts: bool
) -> None:
    member, product = make_user(), make_product(listed=True)
    review = write(product.product_id, 4, member.user_id)
    person = DataSubject(member.user_id, member.email, member.name)
    assert export_personal_data(person)["reviews"][0]["stars"] == 4
    monkeypatch.setattr(
        "reviews.privacy.get_review_rules", lambda: ReviewRules(keeps_erased_texts=keeps_texts)
    )
    for _twice in range(2):
        erase_personal_data(person, current_time())
    finish()
    assert export_personal_data(person)["reviews"] == []
    rows = queries.listed_from_rows(queries.prefetch_listed(product.product_id, 5).rows())
    body = "It does what it should." if keeps_texts else ""
    assert [(each.review_id, each.name, each.body) for each in rows] == [
        (review.review_id, "", body)
    ]
    assert rows[0].user_id != member.user_id
    assert queries.get_rating_at_quorum(product.product_id) == Rating(1, 4, (0, 0, 0, 1, 0))
    assert find_violations(product.product_id) == []


def test_x227_links_and_the_staffs_words_hold_a_review() -> None:
    rules = ReviewRules(("Trottel",))
    assert find_reason_to_hold("Ok", "see www.example.org", rules) == "links"
    assert find_reason_to_hold("Ok", "cheaper at example.com", rules) == "links"
    assert find_reason_to_hold("TROTTEL!", "nice", rules) == "words"
    assert find_reason_to_hold("Nice.", "Works well. Looks good, e.g. on a desk.", rules) == ""
    assert [shown_name(each) for each in ("Ada Lovelace", "Ada", "")] == ["Ada L.", "Ada", ""]


def test_a_day_is_found_while_something_waits_there() -> None:
    first, second = (write(uuid4(), held_for="words") for _ in range(2))
    assert first.queued_at is not None
    day = first.queued_at.date()
    act(operations.publish_review, first)
    assert day in list_moderation_days()
    assert second.queued_at is not None
    assert second.queued_at - first.queued_at < timedelta(minutes=5)


def test_x265_i38_the_check_takes_what_an_earlier_version_has_left_of_an_erased_person() -> None:
    product = make_product(listed=True)
    for state in (HELD, REFUSED):
        review = write(product.product_id, held_for="links")
        former = operations.replace(
            review,
            user_id=operations.erased_id(review.review_id),
            state=state,
            held_for="links" if state == HELD else "",
            version=2,
            change_id=uuid4(),
        )
        operations.erase_reviews(review.user_id, keeps_texts=True)
        now = existing(queries.get_review(product.product_id, former.user_id))
        operations._change(now, operations.replace(former, version=now.version + 1))
    # One that everybody read is refused after its person was erased.
    published = write(product.product_id)
    operations.erase_reviews(published.user_id, keeps_texts=True)
    kept = queries.get_review(product.product_id, operations.erased_id(published.review_id))
    assert kept
    assert act(operations.refuse_review, kept, "No.").body
    finish()
    scope = Scope(products=frozenset([product.product_id]))
    report = check_consistency(scope, RULES, repair=True, recheck_after=())
    assert len(report.fixed_violations) == 3
    assert report.is_clean
    rows = queries.REVIEWS.all(product_id=product.product_id)
    assert {(row.state, row.body, row.title) for row in rows} == {(WITHDRAWN, "", "")}


def test_x265_only_a_review_that_everybody_read_outlives_its_person() -> None:
    """Every state that a review can be in when its person is erased, with the shop's setting and without it."""
    for keeps_texts in (True, False):
        member, products = make_user(), [make_product(listed=True) for _each in range(5)]
        published, reported, held, refused, withdrawn = (
            write(each.product_id, user_id=member.user_id, held_for="links" if place > 1 else "")
            for place, each in enumerate(products)
        )
        reported = operations.report_review(reported, uuid4(), now=current_time())
        act(operations.refuse_review, refused, "No.")
        # As a former version may have left it.
        kept = operations.replace(withdrawn, state=WITHDRAWN, version=2, change_id=uuid4())
        operations._apply(withdrawn, kept)
        operations.erase_reviews(member.user_id, keeps_texts=keeps_texts)
        finish()
        left = {}
        for review in (published, reported, held, refused, withdrawn):
            found = queries.get_review(review.product_id, operations.erased_id(review.review_id))
            assert found
            left[review.review_id] = found
        words = {
            each: (found.state, found.title, found.body, found.refusal)
            for each, found in left.items()
        }
        stays = (PUBLISHED, "Fine", "It does what it should.", "")
        stars_alone, nothing = (PUBLISHED, "", "", ""), (WITHDRAWN, "", "", "")
        assert words == {
            published.review_id: stays if keeps_texts else stars_alone,
            reported.review_id: stays if keeps_texts else stars_alone,
            held.review_id: nothing,
            refused.review_id: nothing,
            withdrawn.review_id: nothing,
        }
        # Of what the staff read, only a report about words that are still there waits.
        waiting = {row.review_id: row for row in list_waiting(10_000)}
        assert {each for each in left if each in waiting} == (
            {reported.review_id} if keeps_texts else set()
        )
        for review in (held, refused, withdrawn):
            with pytest.raises(NoSuchText):
                act(operations.publish_review, left[review.review_id])
        for product in products:
            assert find_violations(product.product_id) == []
