"""One mailbox is one account, also where its international domain is typed in letters or as "xn--…" (S109)."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from accounts import queries
from accounts.errors import EmailTaken
from accounts.operations import register_user
from cart.operations import create_cart
from cart.operations.sharing import invite_person
from cart.people import CartUser, list_invitations
from cassandra_db import current_time
from consistency.findings import Scope
from consistency.mailboxes import TABLES
from mail.addresses import address_bucket, email_key
from mail.operations import GETS_NO_MAIL, queue_mail
from mail.queries import get_undeliverable_address, list_recipient_mails
from orders.queries import list_order_ids_by_email
from promotions.errors import VoucherRefused
from promotions.operations import (
    PromotionTerms,
    create_promotion,
    redeem_voucher,
    release_voucher,
    voucher_customer_keys,
)
from promotions.queries import get_applied_promotions
from promotions.rules import PERCENTAGE
from reviews.operations import stop_requests
from reviews.queries import get_stop_time, guest_ids
from stock_alerts.operations import Subscription, subscribe
from stock_alerts.queries import list_subscriptions
from tests.consistency.test_check_consistency import repair
from tests.factories import PASSWORD, make_order, make_product, make_user


def test_s109_a_mailbox_has_one_key_however_its_domain_is_typed() -> None:
    for typed in (
        "Ada@bücher.example",
        "ada@BÜCHER.example",
        "ada@bu\u0308cher.example",
        "ada@xn--bcher-kva.example",
        "ada@XN--BCHER-KVA.Example ",
        "ada@bücher。example",
    ):
        assert email_key(typed) == "ada@bücher.example"
    assert email_key("ada@straße.example") == email_key("ada@strasse.example")
    # What is no domain, or another one, stays as it is typed.
    for typed in ("ada@xn--a.example", "ada", "", "ada@xn--strae-oqa.example"):
        assert email_key(typed) == typed


def test_s109_an_account_is_found_by_either_spelling_and_there_is_no_second() -> None:
    name = uuid4().hex
    ada = register_user(f"{name}@bücher.example", "Ada", PASSWORD, current_time())
    assert queries.find_user_by_email(f"{name}@xn--bcher-kva.example") == ada
    with pytest.raises(EmailTaken):
        register_user(f"{name}@xn--bcher-kva.example", "Eve", PASSWORD, current_time())


def test_s109_what_was_noted_under_a_hash_of_either_spelling_counts_for_the_mailbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, name, code = current_time(), uuid4().hex, f"ONCE-{uuid4().hex[:12]}"
    spellings = [f"{name}@{domain}" for domain in ("xn--bcher-kva.example", "bücher.example")]
    terms = PromotionTerms("Once", PERCENTAGE, code, percent=Decimal(10), limit_per_customer=1)
    create_promotion(terms, now)
    for used in spellings:
        order_id = uuid4()
        with monkeypatch.context() as earlier:
            for module in ("promotions.operations", "reviews.queries"):
                earlier.setattr(f"{module}.email_keys", lambda email: (email,))
            redeem_voucher(code, voucher_customer_keys(None, used), order_id, now)
            (reviewer_id,) = guest_ids(used)
        for asked in spellings:
            customer = voucher_customer_keys(None, asked)
            assert "already used" in get_applied_promotions(code, (), now, customer).refusal_reason
            with pytest.raises(VoucherRefused, match="already used"):
                redeem_voucher(code, customer, uuid4(), now)
            # The order that has the use keeps it when it is tried again.
            redeem_voucher(code, customer, order_id, now)
            assert reviewer_id in guest_ids(asked)
        assert release_voucher(code, order_id)


def test_s109_the_repair_moves_what_an_earlier_version_kept_as_it_was_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, name = current_time(), uuid4().hex
    typed, other = f"{name}@xn--bcher-kva.example", f"{name}@bücher.example"
    owner, product = make_user(), make_product()
    cart_id = create_cart(owner.pk, "Shared", uuid4(), now)
    with monkeypatch.context() as earlier:
        earlier.setattr("mail.addresses._domain_in_letters", lambda domain: domain)
        ada = register_user(typed, "Ada", PASSWORD, now)
        mails = [
            queue_mail(uuid4(), "asked", typed, "registration", {"url": "https://x.example/"}, now)
            for _ in range(2)
        ]
        invite_person(CartUser(owner.pk, owner.name, owner.email), cart_id, typed, "viewer", now)
        GETS_NO_MAIL.run(
            bucket=address_bucket(typed), email=typed, bounced_at=now, failure="x", mail_id=mails[0]
        )
        stop_requests(typed, now)
        variant = product.variants[0]
        subscribe(Subscription(product.product_id, variant.variant_id, typed), now)
        order = make_order(email=typed)
    assert queries.find_user_by_email(other) is None
    only = Scope(
        orders=frozenset({order.order_id}),
        users=frozenset({ada.pk}),
        tables=frozenset(TABLES) | {"mails_by_recipient", "invitations_by_email"},
    )
    report = repair(only, "I3", "I8", "I14")
    assert not [each for each in report.violations if name in str(each)]
    for address in (typed, other):
        assert queries.find_user_by_email(address) == ada
        assert {row.mail_id for row in list_recipient_mails(address)} >= set(mails)
        assert [each.cart_id for each in list_invitations(address)] == [cart_id]
        assert [row.product_id for row in list_subscriptions(address)] == [product.product_id]
        assert list_order_ids_by_email(address) == [order.order_id]
        assert get_stop_time(address)
        assert get_undeliverable_address(address)
    assert queries.USER_ID_BY_EMAIL.one(email=typed) is None


def test_s109_of_two_accounts_of_one_mailbox_one_is_found_and_the_other_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, name = current_time(), uuid4().hex
    first = register_user(f"{name}@bücher.example", "Ada", PASSWORD, now - timedelta(days=1))
    with monkeypatch.context() as earlier:
        earlier.setattr("mail.addresses._domain_in_letters", lambda domain: domain)
        second = register_user(f"{name}@xn--bcher-kva.example", "Ada", PASSWORD, now)
    only = Scope(users=frozenset({first.pk, second.pk}), tables=frozenset({"users_by_email"}))
    left = [str(each) for each in repair(only, "I8").violations]
    assert left == [f"I8 user {second.pk}: the address is that of user {first.pk}"]
    assert queries.find_user_by_email(second.email) == first
