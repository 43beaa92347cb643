"""S37, I6: the uses of a code. Never more than there are, and given back exactly once."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from cassandra_db import current_time, statements
from cassandra_db import session as sessions
from promotions import queries
from promotions.errors import CodeTaken, PromotionRefused, VoucherRefused
from promotions.operations import (
    PromotionTerms,
    create_promotion,
    end_promotion,
    redeem_voucher,
    release_voucher,
    release_vouchers,
    voucher_customer_keys,
)
from promotions.queries import CODE
from promotions.rules import AMOUNT, PERCENTAGE
from tests.lost_answers import AnswerLosingSession
from tests.threads import map_at_once

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)


def make_voucher(**terms: Any) -> str:
    """Make a code of ten per cent off."""
    code = f"TEST-{uuid4().hex[:12].upper()}"
    create_promotion(
        PromotionTerms("Ten per cent off", PERCENTAGE, code, percent=Decimal(10), **terms), NOW
    )
    return code


def somebody() -> tuple[str, ...]:
    return voucher_customer_keys(uuid4())


def claimed(code: str, person: tuple[str, ...], order_id: UUID) -> bool:
    try:
        redeem_voucher(code, person, order_id, NOW)
    except VoucherRefused:
        return False
    return True


def used(code: str) -> int:
    key = code.replace("-", "").lower()
    return queries.count_voucher_uses([key])[key]


def test_s37_of_fifty_at_once_one_gets_the_last_use() -> None:
    code = make_voucher(uses=1)
    won = map_at_once(lambda _: claimed(code, somebody(), uuid4()), range(50))
    assert won.count(True) == 1
    assert used(code) == 1


def test_s37_one_person_uses_it_once_however_many_carts_there_are() -> None:
    code, alice, bob = make_voucher(limit_per_customer=1), somebody(), somebody()
    won = map_at_once(lambda _: claimed(code, alice, uuid4()), range(10))
    assert won.count(True) == 1
    assert claimed(code, bob, uuid4())
    with pytest.raises(VoucherRefused, match="You’ve already used code"):
        redeem_voucher(code, alice, uuid4(), NOW)
    assert used(code) == 2


def test_s37_two_uses_a_person_are_two() -> None:
    code, alice = make_voucher(limit_per_customer=2), somebody()
    assert [claimed(code, alice, uuid4()) for _ in range(3)] == [True, True, False]


def test_s37_taken_twice_for_one_order_is_one_use() -> None:
    code, alice, order_id = make_voucher(uses=5, limit_per_customer=1), somebody(), uuid4()
    assert all(map_at_once(lambda _: claimed(code, alice, order_id), range(8)))
    assert used(code) == 1


def test_s37_given_back_twice_is_one_use_back_and_can_be_taken_again() -> None:
    code, alice, order_id = make_voucher(uses=2, limit_per_customer=1), somebody(), uuid4()
    assert claimed(code, alice, order_id)
    assert claimed(code, somebody(), uuid4())
    assert map_at_once(lambda _: release_voucher(code, order_id), range(8)).count(True) == 1
    assert used(code) == 1
    assert claimed(code, alice, uuid4())
    assert not claimed(code, somebody(), uuid4())
    assert not release_voucher(code, order_id)
    assert used(code) == 2


def test_s37_an_order_that_is_tried_again_as_somebody_else_takes_their_use() -> None:
    code, alice, bob, order_id = (
        make_voucher(uses=1, limit_per_customer=1),
        somebody(),
        somebody(),
        uuid4(),
    )
    assert claimed(code, alice, order_id)
    assert claimed(code, bob, order_id)
    assert used(code) == 1
    assert release_voucher(code, order_id)
    assert claimed(code, alice, uuid4())


def test_all_that_an_order_has_tried_goes_back_but_the_code_that_it_has() -> None:
    first, second, order_id = make_voucher(uses=1), make_voucher(uses=1), uuid4()
    assert claimed(first, somebody(), order_id)
    assert claimed(second, somebody(), order_id)
    release_vouchers(order_id, except_code=second)
    assert (used(first), used(second)) == (0, 1)
    release_vouchers(order_id)
    assert (used(first), used(second)) == (0, 0)


def test_x57_case_spaces_and_dashes_do_not_matter() -> None:
    code = make_voucher()
    typed = f" {code.lower().replace('-', ' – ')} "
    assert redeem_voucher(typed, somebody(), uuid4(), NOW).code == code


def refusal(act: Callable[..., object], *given: object) -> str:
    """Return the message with which something is refused; '' if it is not."""
    try:
        act(*given)
    except (VoucherRefused, PromotionRefused) as refused:
        return str(refused) or "refused"
    return ""


def test_x51_a_code_outside_its_window_is_refused_in_words() -> None:
    expected = {
        make_voucher(ends_at=NOW): "expired on 8 May 2026",
        make_voucher(starts_at=NOW + timedelta(days=2)): "is valid from 10 May 2026",
    }
    refusals = {code: refusal(redeem_voucher, code, somebody(), uuid4(), NOW) for code in expected}
    assert [
        (why, refusals[code]) for code, why in expected.items() if why not in refusals[code]
    ] == []


def test_x51_a_code_that_was_used_up_or_ended_or_never_was_is_refused_in_words() -> None:
    code = make_voucher(uses=1)
    assert claimed(code, somebody(), uuid4())
    with pytest.raises(VoucherRefused, match="has reached its usage limit"):
        redeem_voucher(code, somebody(), uuid4(), NOW)
    ended = make_voucher()
    assert end_promotion(CODE, ended.replace("-", "").lower(), NOW)
    assert not end_promotion(CODE, ended.replace("-", "").lower(), NOW + timedelta(hours=1))
    with pytest.raises(VoucherRefused, match="is no longer valid"):
        redeem_voucher(ended, somebody(), uuid4(), NOW)
    with pytest.raises(VoucherRefused, match="We can’t find the code"):
        redeem_voucher("nothing of ours", somebody(), uuid4(), NOW)
    assert not end_promotion(CODE, "nothing", NOW)


def test_a_code_is_made_once() -> None:
    code = make_voucher()
    with pytest.raises(CodeTaken):
        create_promotion(
            PromotionTerms("Again", AMOUNT, code.lower().replace("-", ""), amount=100), NOW
        )


def test_what_makes_no_sense_is_not_made() -> None:
    nonsense = [
        PromotionTerms("Too much", PERCENTAGE, "A", percent=Decimal(101)),
        PromotionTerms("Nothing", AMOUNT, "A"),
        PromotionTerms("No letters", AMOUNT, "—", amount=100),
        PromotionTerms("Limited, and nobody can count it", AMOUNT, amount=100, uses=1),
        PromotionTerms("Over before it begins", AMOUNT, amount=100, starts_at=NOW, ends_at=NOW),
    ]
    assert [terms.title for terms in nonsense if not refusal(create_promotion, terms, NOW)] == []


def test_a_person_is_nobody_without_the_shops_key() -> None:
    user_id = uuid4()
    assert str(user_id) not in voucher_customer_keys(user_id)
    assert (
        voucher_customer_keys(None, " Ada@Example.com")
        == voucher_customer_keys(None, "ada@example.com")
        != voucher_customer_keys(None, "eve@example.com")
    )
    assert voucher_customer_keys(None, " ") == ()


def test_x255_a_use_counts_for_each_key_of_its_customer_and_is_given_back_for_each() -> None:
    code, account, address = make_voucher(limit_per_customer=2), somebody()[0], somebody()[0]
    guest, member, order_id = (address,), (account, address), uuid4()
    assert claimed(code, guest, uuid4())
    assert claimed(code, member, order_id)
    assert not claimed(code, member, uuid4())
    assert not claimed(code, guest, uuid4())
    assert used(code) == 2
    assert release_voucher(code, order_id)
    assert [claimed(code, (key,), uuid4()) for key in (account, account, address, address)] == [
        True,
        True,
        True,
        False,
    ]


def test_a_code_whose_making_had_no_answer_is_not_said_to_be_somebody_elses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flaky, moment = AnswerLosingSession(sessions.get_session()), current_time()
    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    code = f"LOST{uuid4().hex[:8]}"
    key = create_promotion(PromotionTerms("Lost", AMOUNT, code, amount=100), moment)
    assert end_promotion(CODE, key, moment)
    assert flaky.lost_count == 2
