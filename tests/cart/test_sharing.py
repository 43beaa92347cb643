"""Sharing a cart: invitations, roles, links; what ends, ends at once."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.signing import BadSignature
from django.utils.timezone import localdate

from accounts.models import User
from cart import operations, people, queries
from cart.access import BUY, EDIT, OWN, VIEW, require_access
from cart.cards import list_cart_cards
from cart.errors import (
    AlreadyInvited,
    CartError,
    InvitationOver,
    NoSuchCart,
    NoSuchPerson,
    NotAllowed,
    TooManyCarts,
    TooManyPeople,
    WrongInvitee,
)
from cart.operations import carts, sharing
from cassandra_db import RAISE_UNKNOWN, apply_batch, read
from mail.queries import list_recipient_mails
from tests.cart.guests import get_active_cart
from tests.cart.products import make_mug
from tests.cart.shared_carts import (
    NOW,
    as_cart_user,
    find_invitation_token,
    get_row_count,
    list_cart_names,
    make_person,
    make_shared_cart,
)
from tests.cart.test_operations import full
from tests.clock import now
from tests.factories import make_user
from tests.notifications.telling import tell_about
from tests.orders.crashes import kill_in
from tests.reads import existing
from tests.threads import call_at_once
from web.days import end_of_day

TTL = read(
    "test",
    "SELECT TTL(email) AS seconds FROM people_by_cart WHERE cart_id = :cart_id AND kind = 'invitation' AND key = :key",
)


@pytest.fixture
def ann() -> User:
    return make_user("Ann")


@pytest.fixture
def gifts(ann: User) -> UUID:
    return make_shared_cart(ann)


def invite(owner: User, cart_id: UUID, email: str, role: str = "editor") -> people.Invitation:
    return sharing.invite_person(as_cart_user(owner), cart_id, email, role, now())


def accept(made: people.Invitation, user: User) -> UUID:
    return sharing.accept_invitation(made.token, as_cart_user(user), now())


def test_an_invitation_leads_into_the_cart_once_and_stands_in_the_persons_list(
    ann: User, gifts: UUID
) -> None:
    ben = make_user("Ben")
    made = invite(ann, gifts, ben.email.upper())
    with pytest.raises(NoSuchCart):
        require_access(ben.user_id, gifts, VIEW)
    assert accept(made, ben) == gifts
    found = require_access(ben.user_id, gifts, EDIT)
    assert (found.name, found.role, found.shared_by) == ("Gifts for Mom", "editor", "Ann")
    shared_with = people.get_people(gifts)
    assert [(person.name, person.role) for person in shared_with.people] == [("Ben", "editor")]
    assert shared_with.invitations == ()
    assert get_row_count(gifts) == 1
    # Again by the same person nothing happens; by another it is over.
    assert accept(made, ben) == gifts
    assert list_cart_names(ben.user_id) == ["Gifts for Mom"]
    with pytest.raises(InvitationOver):
        accept(made, make_user("Cem"))


def test_an_accepted_cart_does_not_become_the_active_one(ann: User, gifts: UUID) -> None:
    ben = make_person(ann, gifts, "viewer")
    assert get_active_cart(ben.user_id) is None
    mug = make_mug()
    added = operations.add_line(ben.user_id, mug, mug.variants[0], 1, uuid4(), NOW)
    assert added.cart_id != gifts


def test_an_invitation_is_for_its_address_alone_and_says_so(ann: User, gifts: UUID) -> None:
    made = invite(ann, gifts, f"zoe-{uuid4().hex}@example.com")
    eve = make_user("Eve")
    with pytest.raises(WrongInvitee) as refused:
        accept(made, eve)
    assert "z…@example.com" in str(refused.value)
    assert eve.email in str(refused.value)
    assert people.get_invitation(gifts, made.key)


def test_a_withdrawn_invitation_is_over_and_a_new_one_has_another_token(
    ann: User, gifts: UUID
) -> None:
    ben = make_user("Ben")
    first = invite(ann, gifts, ben.email)
    sharing.withdraw_invitation(ann.user_id, gifts, first.key)
    sharing.withdraw_invitation(ann.user_id, gifts, first.key)
    assert get_row_count(gifts) == 0
    with pytest.raises(InvitationOver):
        accept(first, ben)
    second = invite(ann, gifts, ben.email)
    assert second.token != first.token
    with pytest.raises(InvitationOver):
        accept(first, ben)
    assert accept(second, ben) == gifts


def test_x256_an_invitation_goes_by_itself_at_the_end_of_its_last_day(
    ann: User, gifts: UUID
) -> None:
    made = invite(ann, gifts, f"{uuid4().hex}@example.com")
    assert made.last_day == localdate(made.invited_at) + timedelta(days=14)
    assert made.expires_at == end_of_day(made.last_day)
    row = existing(TTL.one(cart_id=gifts, key=made.key))
    span = (made.expires_at - made.invited_at).total_seconds()
    assert span - 60 < row.seconds <= span + 1


def test_rows_that_went_by_themselves_make_space(ann: User, gifts: UUID) -> None:
    made = invite(ann, gifts, f"{uuid4().hex}@example.com")
    for _ in range(sharing.MAX_PEOPLE - 1):
        invite(ann, gifts, f"{uuid4().hex}@example.com")
    with pytest.raises(TooManyPeople):
        invite(ann, gifts, f"{uuid4().hex}@example.com")
    # As the TTL does it: the row is gone, and the count is not updated.
    apply_batch(
        sharing.DELETE_PERSON_ROW.bind(
            cart_id=gifts, kind="invitation", key=made.key, added_at=made.invited_at
        ),
        if_lost=RAISE_UNKNOWN,
    )
    invite(ann, gifts, f"{uuid4().hex}@example.com")
    assert get_row_count(gifts) == sharing.MAX_PEOPLE


def test_the_mail_carries_the_token_and_is_the_same_for_known_and_unknown_addresses(
    ann: User, gifts: UUID
) -> None:
    ben = make_user("Ben")
    texts = []
    for email in (ben.email, f"ben-{uuid4().hex}@example.com"):
        made = invite(ann, gifts, email, "buyer")
        invite(ann, gifts, email, "buyer")  # submitted twice: one invitation, one mail
        tell_about(gifts)
        (mail,) = list_recipient_mails(email)
        assert mail.subject == "Someone shared a cart with you at Stoa"
        assert find_invitation_token(mail.text) == made.token == find_invitation_token(mail.html)
        assert "Someone who goes by the name “Ann” shared a cart with you" in mail.text
        assert "They call it “Gifts for Mom”. You" in " ".join(mail.text.split())
        # A member can end these mails.
        text, end, _link = mail.text.partition("\nTo stop these emails")
        assert bool(end) == (email == ben.email)
        texts.append(text.replace(made.token, "…").replace(email, "…").partition("\nStoa\n")[0])
    assert texts[0] == texts[1]
    assert get_row_count(gifts) == 2


def test_s58_an_invitation_tells_nothing_in_the_shops_name_that_a_stranger_has_typed(
    ann: User, gifts: UUID
) -> None:
    lure, email = "Stoa Security: verify at http://evil.example/x", f"{uuid4().hex}@example.com"
    operations.rename_cart(ann.pk, gifts, "Your parcel: www.evil.example", now())
    sharing.invite_person(replace(as_cart_user(ann), name=lure), gifts, email, "viewer", now())
    tell_about(gifts)
    (mail,) = list_recipient_mails(email)
    for text in (mail.subject, mail.text, mail.html):
        assert "evil" not in text
        assert "http://e" not in text
    assert "Security" not in mail.subject
    assert "“Stoa Security: verify at …”" in mail.text
    assert "“Your parcel: …”" in mail.html


def test_one_address_is_invited_once_and_in_one_role(ann: User, gifts: UUID) -> None:
    email = f"{uuid4().hex}@example.com"
    made = invite(ann, gifts, email, "viewer")
    assert invite(ann, gifts, f" {email.upper()}", "viewer").token == made.token
    with pytest.raises(AlreadyInvited, match="with the role viewer"):
        invite(ann, gifts, email, "buyer")
    ben = make_person(ann, gifts, "viewer")
    with pytest.raises(AlreadyInvited, match="already has access to this cart"):
        invite(ann, gifts, ben.email)


def test_one_who_is_in_already_gets_the_role_of_another_invitation(ann: User, gifts: UUID) -> None:
    ben = make_user("Ben")
    made = invite(ann, gifts, ben.email, "buyer")
    other = people.CartUser(ben.user_id, "Ben", ben.email)
    again = invite(ann, gifts, f"second-{ben.email}", "viewer")
    sharing.accept_invitation(again.token, people.CartUser(ben.user_id, "Ben", again.email), now())
    sharing.accept_invitation(made.token, other, now())
    assert require_access(ben.user_id, gifts, BUY).role == "buyer"
    assert get_row_count(gifts) == 1


def test_a_changed_role_counts_at_once_and_a_removed_person_has_no_such_cart(
    ann: User, gifts: UUID
) -> None:
    ben = make_person(ann, gifts, "viewer")
    with pytest.raises(NotAllowed):
        require_access(ben.user_id, gifts, EDIT)
    sharing.change_role(ann.user_id, gifts, ben.user_id, "editor")
    assert require_access(ben.user_id, gifts, EDIT).role == "editor"
    listed = existing(queries.get_listed_cart_row(ben.user_id, gifts))
    assert listed.role == "editor"
    sharing.remove_person(ann.user_id, gifts, ben.user_id)
    sharing.remove_person(ann.user_id, gifts, ben.user_id)
    with pytest.raises(NoSuchCart):
        require_access(ben.user_id, gifts, VIEW)
    assert list_cart_names(ben.user_id) == []
    assert get_row_count(gifts) == 0
    with pytest.raises(NoSuchPerson):
        sharing.change_role(ann.user_id, gifts, ben.user_id, "viewer")


def test_a_role_ends_where_the_owner_ends_it_even_if_the_persons_list_is_behind(
    ann: User, gifts: UUID
) -> None:
    ben = make_person(ann, gifts, "buyer")
    kill_in(
        sharing,
        "remove_shared_cart_from_list",
        lambda: sharing.remove_person(ann.user_id, gifts, ben.user_id),
    )
    with pytest.raises(NoSuchCart):
        require_access(ben.user_id, gifts, VIEW)
    assert list_cart_names(ben.user_id) == ["Gifts for Mom"]
    assert list_cart_cards(ben.user_id, queries.CARTS.all(owner_id=ben.user_id)) == []
    assert sharing.leave_cart(ben.user_id, gifts)
    assert list_cart_names(ben.user_id) == []


def test_an_acceptance_that_was_killed_is_finished_by_a_second_submit(
    ann: User, gifts: UUID
) -> None:
    ben = make_user("Ben")
    made = invite(ann, gifts, ben.email)
    kill_in(sharing, "_add_to_list", lambda: accept(made, ben))
    with pytest.raises(NoSuchCart):
        require_access(ben.user_id, gifts, VIEW)
    assert accept(made, ben) == gifts
    assert require_access(ben.user_id, gifts, EDIT)


def test_leaving_is_for_people_and_not_for_the_owner(ann: User, gifts: UUID) -> None:
    ben = make_person(ann, gifts, "editor")
    assert not sharing.leave_cart(ann.user_id, gifts)
    assert require_access(ann.user_id, gifts, OWN)
    assert sharing.leave_cart(ben.user_id, gifts)
    assert not sharing.leave_cart(ben.user_id, gifts)
    with pytest.raises(NoSuchCart):
        require_access(ben.user_id, gifts, VIEW)
    assert people.get_people(gifts).people == ()


def test_only_the_owner_shares(ann: User, gifts: UUID) -> None:
    ben, eve = make_person(ann, gifts, "buyer"), make_user("Eve")
    link = sharing.create_link(ann.user_id, gifts, "Ann", NOW)
    for user, error in ((ben, NotAllowed), (eve, NoSuchCart)):
        with pytest.raises(error):
            invite(user, gifts, "x@example.com")
        with pytest.raises(error):
            sharing.create_link(user.user_id, gifts, "", NOW)
        with pytest.raises(error):
            sharing.withdraw_link(user.user_id, gifts, link.link_id)
        with pytest.raises(error):
            sharing.withdraw_invitation(user.user_id, gifts, str(uuid4()))
        with pytest.raises(error):
            sharing.change_role(user.user_id, gifts, ben.user_id, "buyer")
        with pytest.raises(error):
            sharing.remove_person(user.user_id, gifts, ben.user_id)
    assert get_row_count(gifts) == 2


def test_a_link_shows_the_cart_as_it_is_until_it_is_withdrawn(ann: User, gifts: UUID) -> None:
    link = sharing.create_link(ann.user_id, gifts, "Ann", NOW)
    assert sharing.create_link(ann.user_id, gifts, "Ann", NOW).link_id == link.link_id
    token = link.url.rstrip("/").rpartition("/")[2]
    seen = existing(people.find_shared_cart(token))
    assert (seen.cart.name, seen.cart.item_count, seen.owner_name) == ("Gifts for Mom", 1, "Ann")
    mug = make_mug()
    operations.add_line(ann.user_id, mug, mug.variants[0], 4, uuid4(), NOW)
    seen = existing(people.find_shared_cart(token))
    assert seen.cart.item_count == 5
    sharing.withdraw_link(ann.user_id, gifts, link.link_id)
    assert people.find_shared_cart(token) is None
    assert sharing.create_link(ann.user_id, gifts, "Ann", NOW).url != link.url
    assert people.find_shared_cart(token) is None


def test_tokens_that_are_not_ours_open_nothing(ann: User, gifts: UUID) -> None:
    made = invite(ann, gifts, "x@example.com")
    link = sharing.create_link(ann.user_id, gifts, "Ann", NOW).url.rstrip("/").rpartition("/")[2]
    spoilt = {
        "",
        ".",
        "x",
        "x.y",
        "é.ü",
        link[:-1],
        link[1:],
        link + "A",
        made.token,
        link.partition(".")[0],
    }
    spoilt |= {
        link[:place] + ("A" if link[place] != "A" else "B") + link[place + 1 :]
        for place in range(len(link))
    }
    assert [token for token in spoilt if people.find_shared_cart(token)] == []
    for token in {*spoilt - {made.token}, link}:
        with pytest.raises(BadSignature):
            people.find_invitation(token)
        with pytest.raises(InvitationOver):
            sharing.accept_invitation(token, as_cart_user(ann), now())


def test_a_deleted_cart_is_gone_for_everybody_and_comes_back_for_everybody(
    ann: User, gifts: UUID
) -> None:
    ben = make_person(ann, gifts, "editor")
    token = sharing.create_link(ann.user_id, gifts, "Ann", NOW).url.rstrip("/").rpartition("/")[2]
    cem = make_user("Cem")
    made = invite(ann, gifts, cem.email)
    undo = operations.delete_cart(ann.user_id, gifts, now())
    with pytest.raises(NoSuchCart):
        require_access(ben.user_id, gifts, VIEW)
    assert people.find_shared_cart(token) is None
    with pytest.raises(InvitationOver):
        accept(made, cem)
    operations.undelete_cart(ann.user_id, undo, now())
    assert require_access(ben.user_id, gifts, EDIT)
    assert people.find_shared_cart(token)
    assert accept(made, cem) == gifts


def test_an_erased_cart_leaves_nobody_and_nothing_behind(ann: User, gifts: UUID) -> None:
    ben = make_person(ann, gifts, "editor")
    invite(ann, gifts, "x@example.com")
    token = sharing.create_link(ann.user_id, gifts, "Ann", NOW).url.rstrip("/").rpartition("/")[2]
    sharing.end_sharing(gifts)
    sharing.end_sharing(gifts)
    assert people.PEOPLE.all(cart_id=gifts) == []
    assert list_cart_names(ben.user_id) == []
    assert people.find_shared_cart(token) is None
    with pytest.raises(NoSuchCart):
        require_access(ben.user_id, gifts, VIEW)
    assert require_access(ann.user_id, gifts, OWN)


def test_a_new_name_is_shown_to_all(ann: User, gifts: UUID) -> None:
    ben = make_person(ann, gifts, "editor")
    operations.create_cart(ben.user_id, "Birthday", uuid4(), NOW)
    cem = make_person(ann, gifts, "viewer", name="Cem")
    token = sharing.create_link(ann.user_id, gifts, "Ann", NOW).url.rstrip("/").rpartition("/")[2]
    before = people.get_page_version(cem.user_id, gifts)
    operations.rename_cart(ann.user_id, gifts, "Birthday", NOW)
    assert require_access(cem.user_id, gifts, VIEW).name == "Birthday"
    assert (
        require_access(ben.user_id, gifts, VIEW).name == "Birthday (2)"
    )  # the name is taken there
    seen = existing(people.find_shared_cart(token))
    assert seen.cart.name == "Birthday"
    assert people.get_page_version(cem.user_id, gifts) != before
    with pytest.raises(NotAllowed):
        operations.rename_cart(ben.user_id, gifts, "Mine", NOW)


def test_a_shared_name_that_is_taken_gets_a_number(ann: User, gifts: UUID) -> None:
    ben = make_user("Ben")
    operations.create_cart(ben.user_id, "gifts FOR mom", uuid4(), NOW)
    accept(invite(ann, gifts, ben.email), ben)
    assert list_cart_names(ben.user_id) == ["Gifts for Mom (2)", "gifts FOR mom"]


def test_a_full_list_refuses_an_invitation_before_anything_changes(ann: User, gifts: UUID) -> None:
    ben = make_user("Ben")
    full(ben.user_id)
    made = invite(ann, gifts, ben.email)
    with pytest.raises(TooManyCarts):
        accept(made, ben)
    assert people.get_invitation(gifts, made.key)
    assert people.get_people(gifts).people == ()


def test_the_version_is_seen_by_those_in_the_cart_and_counts_every_change(
    ann: User, gifts: UUID
) -> None:
    ben = make_person(ann, gifts, "viewer")
    seen = [people.get_page_version(ben.user_id, gifts)]
    sharing.change_role(ann.user_id, gifts, ben.user_id, "editor")
    seen.append(people.get_page_version(ben.user_id, gifts))
    mug = make_mug()
    operations.add_line(ann.user_id, mug, mug.variants[0], 1, uuid4(), NOW)
    seen.append(people.get_page_version(ben.user_id, gifts))
    assert len({*seen}) == 3
    assert people.get_page_version(ann.user_id, gifts)
    assert people.get_page_version(make_user("Eve").user_id, gifts) is None
    sharing.remove_person(ann.user_id, gifts, ben.user_id)
    assert people.get_page_version(ben.user_id, gifts) is None


def test_a_copy_of_what_a_link_shows_is_a_cart_of_its_own(ann: User, gifts: UUID) -> None:
    token = sharing.create_link(ann.user_id, gifts, "Ann", NOW).url.rstrip("/").rpartition("/")[2]
    seen, guest, idempotency_key = people.find_shared_cart(token), uuid4(), uuid4()
    assert seen is not None
    source = seen.cart.cart_id, seen.cart.name
    made, name = operations.copy_cart(guest, *source, idempotency_key, NOW, guest=True)
    assert (made, name) == operations.copy_cart(guest, *source, idempotency_key, NOW, guest=True)
    assert made != gifts
    assert [line.key for line in queries.get_cart(made).lines] == [
        line.key for line in seen.cart.lines
    ]
    assert require_access(guest, made, OWN).name == "Gifts for Mom"


at_once = partial(call_at_once, refused=CartError)


def test_two_who_accept_one_invitation_at_once_make_one_person(ann: User, gifts: UUID) -> None:
    ben = make_user("Ben")
    made = invite(ann, gifts, ben.email)
    assert at_once(*[lambda: accept(made, ben)] * 6) == [gifts] * 6
    assert get_row_count(gifts) == 1
    assert list_cart_names(ben.user_id) == ["Gifts for Mom"]
    assert queries.CARTS.all(owner_id=ben.user_id)[0].cart_count == 1


def test_the_twenty_first_stays_outside_however_many_submit_at_once(ann: User, gifts: UUID) -> None:
    for _ in range(sharing.MAX_PEOPLE - 3):
        invite(ann, gifts, f"{uuid4().hex}@example.com")
    emails = [f"{uuid4().hex}@example.com" for _ in range(8)]
    came = at_once(*(partial(invite, ann, gifts, email) for email in emails))
    assert sum(isinstance(each, people.Invitation) for each in came) == 3
    assert sum(isinstance(each, TooManyPeople) for each in came) == 5
    assert get_row_count(gifts) == sharing.MAX_PEOPLE


def test_one_address_invited_many_times_at_once_gets_one_invitation(ann: User, gifts: UUID) -> None:
    email = f"{uuid4().hex}@example.com"
    came = at_once(*[lambda: invite(ann, gifts, email)] * 6)
    assert len({each.token for each in came if isinstance(each, people.Invitation)}) == 1
    assert get_row_count(gifts) == 1


def test_withdrawn_while_it_is_accepted_ends_one_way_or_the_other(ann: User, gifts: UUID) -> None:
    for _ in range(4):
        ben = make_user("Ben")
        made = invite(ann, gifts, ben.email)
        accepted, _ = at_once(
            partial(accept, made, ben),
            partial(sharing.withdraw_invitation, ann.user_id, gifts, made.key),
        )
        inside = accepted == gifts
        assert inside or isinstance(accepted, InvitationOver)
        assert (
            ben.user_id in {person.user_id for person in people.get_people(gifts).people}
        ) == inside
        assert not people.get_people(gifts).invitations
        get_row_count(gifts)


def test_an_edit_that_comes_after_a_role_has_ended_changes_nothing(ann: User, gifts: UUID) -> None:
    ben = make_person(ann, gifts, "editor")
    carts.switch_cart(ben.user_id, gifts, NOW)
    mug = make_mug()

    def edits() -> int:
        added = 0
        for _ in range(12):
            try:
                done = operations.add_line(ben.user_id, mug, mug.variants[0], 1, uuid4(), now())
            except NoSuchCart:
                break
            added += done.cart_id == gifts
        return added

    added, _ = at_once(edits, lambda: sharing.remove_person(ann.user_id, gifts, ben.user_id))
    cart = queries.get_cart(gifts)
    line = cart.get_line(str(mug.variants[0].variant_id))
    assert (line.quantity if line else 0) == added
    assert cart.item_count == 1 + (added if isinstance(added, int) else 0)
    done = operations.add_line(ben.user_id, mug, mug.variants[0], 1, uuid4(), now())
    assert done.cart_id != gifts
    assert queries.get_cart(gifts).version == cart.version


def test_whoever_is_taken_out_while_accepting_has_nothing_left_of_it(
    ann: User, gifts: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = make_user("Ben")
    made = invite(ann, gifts, ben.email)

    def late(*args: Any, **kwargs: Any) -> str:
        sharing.remove_person(ann.user_id, gifts, ben.user_id)
        return carts.add_cart_to_list(*args, **kwargs)

    monkeypatch.setattr("cart.operations.sharing.add_cart_to_list", late)
    with pytest.raises(InvitationOver):
        sharing.accept_invitation(made.token, as_cart_user(ben), now())
    assert list_cart_names(ben.user_id) == []


def test_a_shared_cart_that_was_deleted_stands_on_nobodys_list_of_carts(
    ann: User, gifts: UUID
) -> None:
    ben = make_person(ann, gifts, "viewer")
    undo = operations.delete_cart(ann.user_id, gifts, now())
    assert list_cart_cards(ben.user_id, queries.CARTS.all(owner_id=ben.user_id)) == []
    operations.undelete_cart(ann.user_id, undo, now())
    (card,) = list_cart_cards(ben.user_id, queries.CARTS.all(owner_id=ben.user_id))
    assert card.item_count == 1
