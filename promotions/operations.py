"""Create, change and end promotions, use codes, and give uses back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID, uuid4

from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from cassandra_db import (
    RAISE_UNKNOWN,
    REFUSED_MEANS_DONE,
    Outcome,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    read,
    write,
)
from mail.addresses import email_keys
from promotions import queries, rules
from promotions.errors import AlreadyCreated, CodeTaken, PromotionRefused, VoucherRefused
from promotions.queries import AUTOMATIC, CODE, UNLIMITED
from promotions.rules import Promotion, code_key

# The largest number of promotions of a trigger, including ended ones.
MAX_PROMOTIONS = 1000
# How often a claim of a use is tried while other customers use the same code.
MAX_ATTEMPTS = 50


@dataclass(frozen=True)
class PromotionTerms:
    """The terms of a new promotion. Sums are in minor units of the shop's currency, times in UTC. 0 and None mean no limit."""

    title: str
    kind: str
    code: str = ""
    percent: Decimal = Decimal(0)
    amount: int = 0
    buy: int = 0
    free: int = 0
    category_id: UUID | None = None
    minimum: int = 0
    limit_per_customer: int = 0
    uses: int = 0
    starts_at: datetime | None = None
    ends_at: datetime | None = None


INSERT_PROMOTION = conditional_write(
    "promotions",
    """INSERT INTO promotions (trigger, key, code, title, kind, percent, amount, buy, free, category_id, minimum, per_person,
                               uses, starts_at, ends_at, made_at)
       VALUES (:trigger, :key, :code, :title, :kind, :percent, :amount, :buy, :free, :category_id, :minimum, :per_person,
               :uses, :starts_at, :ends_at, :made_at) IF NOT EXISTS""",
)
END_PROMOTION = conditional_write(
    "promotions",
    "UPDATE promotions SET ended_at = :now WHERE trigger = :trigger AND key = :key IF ended_at = null AND kind IN :kinds",
)


def create_promotion(
    terms: PromotionTerms, now: datetime, key: str = "", *, replaces: Promotion | None = None
) -> str:
    """Create a promotion with or without a code; return its key. A repeated call with the same `key` and terms creates no other.

    The same batch ends the promotion that the new one `replaces`; both have a code, or neither.
    Raises PromotionRefused, CodeTaken, AlreadyCreated and CassandraUnavailable.
    """
    check_terms(terms)
    if replaces and bool(replaces.code) != bool(terms.code):
        raise PromotionRefused(_("Keep the code, or create a promotion of its own."))
    trigger = CODE if terms.code else AUTOMATIC
    key = code_key(terms.code) or key or uuid4().hex
    if replaces and replaces.key == key:
        raise CodeTaken(terms.code)
    if len(queries.list_promotions(trigger)) >= MAX_PROMOTIONS:
        raise PromotionRefused(
            _("You’ve reached the limit of %(most)s promotions of this kind.")
            % {"most": MAX_PROMOTIONS}
        )
    columns = {
        "trigger": trigger,
        "key": key,
        "code": terms.code,
        "title": terms.title,
        "kind": terms.kind,
        "percent": terms.percent,
        "amount": terms.amount,
        "buy": terms.buy,
        "free": terms.free,
        "category_id": terms.category_id,
        "minimum": terms.minimum,
        "per_person": terms.limit_per_customer,
        "uses": terms.uses,
        "starts_at": terms.starts_at,
        "ends_at": terms.ends_at,
    }
    insert = INSERT_PROMOTION.bind(**columns, made_at=now)

    def has_these_terms(row: Row) -> bool:
        same = all(getattr(row, name) == value for name, value in columns.items())
        return same and row.ended_at is None

    is_ours = applied_if(has_these_terms)
    outcome = None
    if replaces and not replaces.ended_at:
        end = END_PROMOTION.bind(
            trigger=trigger, key=replaces.key, now=now, kinds=list(rules.KINDS)
        )
        outcome = apply_batch(end, insert, if_lost=is_ours)
    if not outcome:
        # Somebody else may have ended the replaced promotion meanwhile.
        outcome = apply_batch(insert, if_lost=is_ours)
    # The same form may have been sent before, and its answer lost.
    if not outcome and not (outcome.current and has_these_terms(outcome.current)):
        raise CodeTaken(terms.code) if terms.code else AlreadyCreated()
    queries.clear_promotion_cache()
    return key


def check_terms(terms: PromotionTerms) -> None:
    if terms.code and not code_key(terms.code):
        raise PromotionRefused(_("Enter a code with letters or digits."))
    is_complete = {
        rules.PERCENTAGE: 0 < terms.percent <= 100,
        rules.AMOUNT: terms.amount > 0,
        rules.BUY_GET: terms.buy > 0 and terms.free > 0,
        rules.FREE_DELIVERY: True,
    }
    if not is_complete.get(terms.kind, False):
        raise PromotionRefused(_("Enter how much the promotion takes off."))
    if not terms.code and (terms.uses or terms.limit_per_customer):
        raise PromotionRefused(_("Only promotions with a code can have a limit on uses."))
    if terms.starts_at and terms.ends_at and terms.starts_at >= terms.ends_at:
        raise PromotionRefused(_("The end must be after the start."))


RESUME_PROMOTION = conditional_write(
    "promotions",
    "UPDATE promotions SET ended_at = null WHERE trigger = :trigger AND key = :key IF ended_at = :ended_at AND kind IN :kinds",
)


def resume_promotion(trigger: str, key: str, ended_at: datetime) -> bool:
    """Resume a promotion that the staff ended at `ended_at`; return whether it was resumed. Raises CassandraUnavailable."""
    outcome = RESUME_PROMOTION.apply(
        if_lost=applied_if(lambda row: row.ended_at is None),
        trigger=trigger,
        key=key,
        ended_at=ended_at,
        kinds=list(rules.KINDS),
    )
    queries.clear_promotion_cache()
    return outcome.applied


CHANGE_PROMOTION = conditional_write(
    "promotions",
    """UPDATE promotions SET title = :title, ends_at = :ends_at, uses = :uses, per_person = :per_person
       WHERE trigger = :trigger AND key = :key
       IF title = :old_title AND ends_at = :old_ends_at AND uses = :old_uses AND per_person = :old_per_person
       AND ended_at = null""",
)


def change_promotion(trigger: str, old: Promotion, new: Promotion) -> bool:
    """Change a promotion's name and end, and raise its limits; return False if it has changed since `old` was read.

    Raises PromotionRefused and CassandraUnavailable.
    """
    limits = ((old.uses, new.uses), (old.limit_per_customer, new.limit_per_customer))
    if any(after != before and (not before or 0 < after < before) for before, after in limits):
        raise PromotionRefused(_("Limits can only be raised."))
    if new.starts_at and new.ends_at and new.starts_at >= new.ends_at:
        raise PromotionRefused(_("The end must be after the start."))
    changed = (new.title, new.ends_at, new.uses, new.limit_per_customer)
    outcome = CHANGE_PROMOTION.apply(
        if_lost=applied_if(
            lambda row: (row.title, row.ends_at, row.uses, row.per_person) == changed
        ),
        trigger=trigger,
        key=old.key,
        title=new.title,
        ends_at=new.ends_at,
        uses=new.uses,
        per_person=new.limit_per_customer,
        old_title=old.title,
        old_ends_at=old.ends_at,
        old_uses=old.uses,
        old_per_person=old.limit_per_customer,
    )
    queries.clear_promotion_cache()
    return outcome.applied


def end_promotion(trigger: str, key: str, now: datetime) -> bool:
    """End a promotion; return whether this call ended it. Raises CassandraUnavailable."""
    outcome = END_PROMOTION.apply(
        if_lost=applied_if(lambda row: row.ended_at == now),
        trigger=trigger,
        key=key,
        now=now,
        kinds=list(rules.KINDS),
    )
    queries.clear_promotion_cache()
    return outcome.applied


def voucher_customer_keys(user_id: UUID | None, email: str = "") -> tuple[str, ...]:
    """Return the pseudonyms under which a customer's uses of a code count: one for the account, one for the e-mail address.

    `email` is a guest's address, or a member's confirmed address. An address of an international domain has two pseudonyms,
    because an earlier version stored uses under either spelling. A guest with an unknown address has no pseudonyms.
    """
    identities = [f"member {user_id}"] if user_id else []
    identities += [f"mail {key}" for key in email_keys(email) if key]
    return tuple(
        salted_hmac("promotions.person", identity, algorithm="sha256").hexdigest()[:32]
        for identity in identities
    )


SEED = conditional_write(
    "I6", "UPDATE voucher_uses SET used = 0, remaining = :uses WHERE key = :key IF used = null"
)
TAKE = conditional_write(
    "I6",
    "UPDATE voucher_uses SET used = used + 1, remaining = remaining + -1 WHERE key = :key IF used < :uses",
)
INSERT_ORDER_CLAIM = conditional_write(
    "I6",
    """INSERT INTO voucher_uses (key, claim, order_id, person_claim, person, claimed_at)
       VALUES (:key, :claim, :order_id, :person_claim, :person, :now) IF NOT EXISTS""",
)
INSERT_CUSTOMER_CLAIM = conditional_write(
    "I6",
    "INSERT INTO voucher_uses (key, claim, order_id) VALUES (:key, :claim, :order_id) IF NOT EXISTS",
)
GIVE = conditional_write(
    "I6",
    "UPDATE voucher_uses SET used = used + -1, remaining = remaining + 1 WHERE key = :key IF used >= 1",
)
DELETE_ORDER_CLAIM = conditional_write(
    "I6",
    "DELETE FROM voucher_uses WHERE key = :key AND claim = :claim IF person_claim = :person_claim",
)
DELETE_CUSTOMER_CLAIM = conditional_write(
    "I6", "DELETE FROM voucher_uses WHERE key = :key AND claim = :claim IF order_id = :order_id"
)
CLAIM = read(
    "I6",
    "SELECT claim, order_id, person, person_claim FROM voucher_uses WHERE key = :key AND claim = :claim",
)
INSERT_VOUCHER_BY_ORDER = write(
    "I6", "INSERT INTO vouchers_by_order (order_id, key) VALUES (:order_id, :key)"
)
VOUCHERS_BY_ORDER = read("I6", "SELECT key FROM vouchers_by_order WHERE order_id = :order_id")
DELETE_VOUCHER_BY_ORDER = write(
    "I6", "DELETE FROM vouchers_by_order WHERE order_id = :order_id AND key = :key"
)


def redeem_voucher(
    typed: str, customer_keys: Sequence[str], order_id: UUID, now: datetime, *, late: bool = False
) -> Promotion:
    """Claim a use of a code for an order; a repeated call for the same order and customer claims no other.

    `customer_keys` are `voucher_customer_keys`: a limit per customer holds for each key, so a use makes a claim for every key.
    With `late`, an ended promotion still counts: the order was placed in time, and is revived now.
    Raises VoucherRefused, with the reason in words. Also raises CassandraUnavailable.
    """
    key = code_key(typed)
    found = queries.get_promotion(CODE, key)
    if found is None:
        raise VoucherRefused(queries.unknown_code_message(typed))
    if (reason := found.unavailable_reason(now)) and not late:
        raise VoucherRefused(reason)
    INSERT_VOUCHER_BY_ORDER.run(order_id=order_id, key=key)
    keys = customer_keys if found.limit_per_customer else ()
    free_claims = [
        [f"user:{each}:{number}" for number in range(found.limit_per_customer)] for each in keys
    ]
    for _attempt in range(MAX_ATTEMPTS):
        if not all(free_claims):
            raise VoucherRefused(queries.already_used_message(found))
        claims = [free[0] for free in free_claims]
        outcome = _claim(found, claims, customer_keys, order_id, now)
        if outcome:
            return found
        conflicts = {row.claim: row for row in outcome.rows if len(row) > 1 and row.claim}
        if mine := conflicts.get(_order_claim(order_id)):
            if mine.person == " ".join(customer_keys):
                return found
            # another customer made an earlier attempt to place this order
            release_voucher(typed, order_id)
        elif conflicts.keys() & set(claims):
            free_claims = [[each for each in free if each not in conflicts] for free in free_claims]
        elif outcome.current is None or outcome.current.used is None:
            SEED.apply(if_lost=REFUSED_MEANS_DONE, key=key, uses=found.uses or UNLIMITED)
        else:
            raise VoucherRefused(queries.used_up_message(found))
    raise VoucherRefused(
        _("%(name)s is being used by many people right now. Try again.")
        % {"name": found.capitalized_name}
    )


def _claim(
    found: Promotion,
    person_claims: Sequence[str],
    customer_keys: Sequence[str],
    order_id: UUID,
    now: datetime,
) -> Outcome:
    """Claim a use, or return the rows of the claims that conflict."""
    claim, person = _order_claim(order_id), " ".join(customer_keys)
    batch = [
        TAKE.bind(key=found.key, uses=found.uses or UNLIMITED),
        INSERT_ORDER_CLAIM.bind(
            key=found.key,
            claim=claim,
            order_id=order_id,
            person_claim=" ".join(person_claims),
            person=person,
            now=now,
        ),
        *(
            INSERT_CUSTOMER_CLAIM.bind(key=found.key, claim=each, order_id=order_id)
            for each in person_claims
        ),
    ]
    return apply_batch(
        *batch, if_lost=applied_if(lambda row: row.claim == claim and row.person == person)
    )


def _order_claim(order_id: UUID) -> str:
    return f"order:{order_id}"


def has_voucher_use(typed: str, order_id: UUID) -> bool:
    """Return whether an order has a use of a code, for any customer. Raises CassandraUnavailable."""
    row = CLAIM.one(key=code_key(typed), claim=_order_claim(order_id))
    return row is not None and row.person_claim is not None


def release_voucher(typed: str, order_id: UUID) -> bool:
    """Give back an order's use of a code; return whether this call gave one back. Raises CassandraUnavailable."""
    key, claim = code_key(typed), _order_claim(order_id)
    row = CLAIM.one(key=key, claim=claim) if key else None
    if row is None or row.person_claim is None:
        return False
    batch = [
        GIVE.bind(key=key),
        DELETE_ORDER_CLAIM.bind(key=key, claim=claim, person_claim=row.person_claim),
        *(
            DELETE_CUSTOMER_CLAIM.bind(key=key, claim=each, order_id=order_id)
            for each in row.person_claim.split()
        ),
    ]
    return apply_batch(*batch, if_lost=RAISE_UNKNOWN).applied


def release_vouchers(order_id: UUID, except_code: str = "") -> None:
    """Give back all uses of codes by an order, or by attempts to place it, except `except_code`. Raises CassandraUnavailable."""
    except_key = code_key(except_code)
    for row in VOUCHERS_BY_ORDER.all(order_id=order_id):
        if row.key != except_key:
            release_voucher(row.key, order_id)
            DELETE_VOUCHER_BY_ORDER.run(order_id=order_id, key=row.key)
