"""Profiles and handles: one owner each, look-alikes and reserved words refused, links that stay."""

from uuid import UUID, uuid4

import pytest

from accounts.models import User
from posts import queries
from posts.entities import Profile
from posts.errors import HandleRefused, HandleTaken, ProfileChanged
from posts.handles import RESERVED, check_handle, fold_handle
from posts.operations import profiles
from posts.operations.profiles import save_profile
from posts.rules import MAX_FORMER_HANDLES
from tests.factories import make_user
from tests.orders.crashes import kill_in
from tests.rules import for_each
from tests.threads import call_at_once


@pytest.fixture
def ann() -> User:
    return make_user("Ann Lee")


def save(user: User, handle: str, seen: int = 0, change_id: UUID | None = None) -> Profile:
    return save_profile(
        user.user_id,
        handle,
        "I collect mugs.",
        is_public=True,
        seen=seen,
        change_id=change_id or uuid4(),
    )


def fresh(name: str) -> str:
    return f"{name}_{uuid4().hex[:12]}".replace("5", "e").replace("8", "d")


def test_x455_a_handle_that_looks_like_anothers_is_taken(ann: User) -> None:
    handle = fresh("Warrior_Moon")
    made = save(ann, handle)
    assert (made.name, made.version) == ("Ann L.", 1)
    bea = make_user("Bea")
    alike = {
        handle.upper(),
        handle.replace("_", ""),
        handle.replace("o", "0"),
        handle.replace("M", "rn"),
        handle.replace("i", "1"),
    }

    @for_each(alike, at_least=5)
    def look_alikes_are_taken(other: str) -> None:
        with pytest.raises(HandleTaken):
            save(bea, other)
        found = queries.find_profile_by_handle(other)
        assert found == queries.get_profile(ann.user_id)

    look_alikes_are_taken()
    assert queries.get_profile(bea.user_id) is None


def test_x455_reserved_words_and_strange_letters_are_refused(ann: User) -> None:
    refused = {*RESERVED, "Adm1n", "sh0p", "s_t_o_a", "ab", "a" * 31, "1ann", "_ann", "ann lee"}
    refused |= {"ann-lee", "аnn", "ann.lee", "añna", "ann/../bea", ""}

    @for_each(refused, at_least=50)
    def are_refused(handle: str) -> None:
        with pytest.raises(HandleRefused):
            check_handle(handle)

    are_refused()
    assert [queries.find_profile_by_handle(each) for each in ("_", "é", "x" * 300)] == [None] * 3
    assert check_handle("Ann_Lee") == fold_handle("annIee") == "annlee"
    hidden = save_profile(ann.user_id, "", "", is_public=False, seen=0, change_id=uuid4())
    assert (hidden.handle, hidden.is_public) == ("", False), "who stays hidden needs none"


def test_x455_of_two_who_claim_at_once_one_has_the_handle(ann: User) -> None:
    handle, others = fresh("both"), [make_user(f"Bea {each}") for each in range(4)]
    outcomes = call_at_once(
        *(lambda each=each: save(each, handle) for each in (ann, *others)), refused=HandleTaken
    )
    (owner,) = (each for each in outcomes if isinstance(each, Profile))
    assert queries.find_profile_by_handle(handle) == queries.get_profile(owner.user_id)


def test_x455_a_form_sent_twice_writes_once_and_a_stale_one_gives_its_claim_back(ann: User) -> None:
    handle, form = fresh("first"), uuid4()
    made = call_at_once(*[lambda: save(ann, handle, change_id=form)] * 4)
    assert {each.version for each in made} == {1}
    with pytest.raises(ProfileChanged):
        save(ann, handle)
    two = [fresh("left"), fresh("right")]
    outcomes = call_at_once(
        *(lambda each=each: save(ann, each, seen=1) for each in two), refused=ProfileChanged
    )
    (won,) = (each for each in outcomes if isinstance(each, Profile))
    (lost,) = set(two) - {won.handle}
    assert save(make_user("Bea"), lost).handle == lost
    assert queries.get_profile(ann.user_id) == won


def test_x455_a_former_handle_stays_its_owners_and_leads_to_the_present_one(ann: User) -> None:
    handles = [fresh(f"name{letter}") for letter in "abcdefg"][: MAX_FORMER_HANDLES + 2]
    for seen, handle in enumerate(handles[:-1]):
        profile = save(ann, handle, seen)
    assert len(profile.former_handles) == MAX_FORMER_HANDLES
    with pytest.raises(HandleRefused):
        save(ann, handles[-1], profile.version)
    with pytest.raises(HandleTaken):
        save(make_user("Bea"), handles[0])
    assert queries.find_profile_by_handle(handles[0]) == profile
    back = save(ann, handles[0], profile.version)
    assert fold_handle(handles[0]) not in back.former_handles
    assert len(back.former_handles) == MAX_FORMER_HANDLES


def test_x455_a_claim_that_was_cut_off_from_its_profile_leads_nowhere(ann: User) -> None:
    first, handle = fresh("first"), fresh("cut")
    save(ann, first)
    kill_in(profiles.UPDATE_PROFILE, "apply", lambda: save(ann, handle, seen=1))
    assert queries.find_profile_by_handle(handle) is None
    assert save(ann, handle, seen=1).handle == handle, "the form is sent again"
    profiles.erase_profile(ann.user_id)
    assert queries.get_profile(ann.user_id) is None
    assert [queries.find_profile_by_handle(each) for each in (first, handle)] == [None, None]
    bea = make_user("Bea")
    assert save(bea, handle).version == 1
    assert save(bea, first, seen=1).version == 2
