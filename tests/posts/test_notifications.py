"""What members are told about posts."""

from uuid import UUID, uuid4

import pytest

from accounts.models import User
from cassandra_db import current_time
from posts import queries
from posts.entities import Comment, CommentInput, Post
from posts.operations import comments, posts
from posts.operations.blocks import block_person
from posts.operations.profiles import save_profile
from tests.factories import make_user
from tests.notifications.telling import list_told, list_words, tell_about
from tests.posts.posting import publish
from tests.posts.test_comments import act, comment_on, make_id
from tests.posts.test_likes import like
from tests.reads import existing

NAMES = ("Ben", "Cem", "Dot", "Eve", "Fay")


@pytest.fixture
def ada() -> User:
    return make_user("Ada Lovelace")


@pytest.fixture
def post(ada: User) -> Post:
    return publish(ada.user_id)


def have_profile(user: User, *, is_public: bool) -> str:
    """Give a member a profile; return its handle."""
    handle = f"z{uuid4().hex[:12]}"
    save_profile(user.user_id, handle, "", is_public=is_public, seen=0, change_id=uuid4())
    return handle


def say(post: Post, user: User, body: str = "Nice", thread: Comment | None = None) -> Comment:
    return comments.write_comment(
        post,
        user.user_id,
        CommentInput(body, name="Ben T.", thread_id=thread.thread_id if thread else None),
        comment_id=make_id(),
        change_id=uuid4(),
        now=current_time(),
    )


def test_x446_new_likes_are_told_in_one_note_a_day(ada: User, post: Post) -> None:
    like(ada.user_id, post)
    assert tell_about(post.post_id) == 0
    ben, crowd = make_user("Ben Tailor"), [make_user() for _ in range(3)]
    like(ben.user_id, post)
    tell_about(post.post_id)
    assert list_words(ada.user_id) == ["Ben T. likes your post"]
    for each in crowd:
        like(each.user_id, post, "love")
    like(ben.user_id, post, "")
    like(ben.user_id, post, "want")
    tell_about(post.post_id)
    assert list_words(ada.user_id) == ["Ben T. and 3 others like your post"]
    like(crowd[0].user_id, post, "")
    like(crowd[1].user_id, post, "")
    assert list_words(ada.user_id) == ["Ben T. and 1 other like your post"]
    for user_id in (ben.user_id, crowd[2].user_id):
        like(user_id, post, "")
    assert list_words(ada.user_id) == ["News about a post that is gone"]


def test_x446_comments_replies_and_mentions_are_told_once(ada: User, post: Post) -> None:
    ben, cem, dot, eve, fay = (make_user(f"{name} Tailor") for name in NAMES)
    seen, unseen = have_profile(dot, is_public=True), have_profile(eve, is_public=False)
    blocking = have_profile(fay, is_public=True)
    block_person(fay.user_id, cem.user_id, current_time())
    first = say(post, ben)
    say(post, ada, "Mine")
    reply = say(post, cem, f"Look, @{seen}, @{seen.upper()}, @{unseen}, @{blocking}", first)
    for _twice in range(2):
        tell_about(post.post_id)
    assert list_words(ada.user_id) == ["Ben T. has commented on your post"] * 2
    assert list_words(ben.user_id) == ["Ben T. has replied to your comment"]
    assert list_words(dot.user_id) == ["Ben T. has mentioned you in a comment"]
    assert not any(list_words(each.user_id) for each in (cem, eve, fay))
    (told,) = list_told(ben.user_id)
    assert told.line.path.endswith(f"/posts/{post.post_id}/#c{reply.comment_id}")
    edited = act(comments.edit_comment, reply, f"Look, @{seen}!", held_for="")
    act(comments.publish_comment, edited)
    tell_about(post.post_id)
    assert len(list_told(dot.user_id)) == len(list_told(ben.user_id)) == 1
    act(comments.hide_comment, act(comments.edit_comment, first, "Nicer", held_for=""))
    gone = "News about a comment that is gone"
    assert list_words(ada.user_id)[0] == gone
    held = comment_on(post, ben.user_id, f"www.example.com @{seen}", held_for="links")
    assert tell_about(post.post_id) == 0
    act(comments.refuse_comment, held, "No links")
    assert tell_about(post.post_id) == 1
    assert list_words(ben.user_id)[-1] == "We haven’t published your comment"


def test_x446_authors_are_told_what_the_staff_decide(ada: User, post: Post) -> None:
    def decide(act: str, *args: str) -> list[str]:
        change = getattr(posts, f"{act}_post")
        seen = existing(queries.get_post(post.post_id)).version
        change(post.post_id, *args, seen=seen, change_id=uuid4(), now=current_time())
        tell_about(post.post_id)
        return list_words(ada.user_id)

    refused, published = "We haven’t published your post", "Your post is published"
    gone = "News about a post that is gone"
    assert decide("refuse", "Not ours") == [refused]
    assert decide("hold") == [gone]
    assert decide("publish") == [gone, published]
    assert decide("withdraw") == [gone, gone]


def test_x446_there_is_no_news_of_a_post_that_is_gone(post: Post) -> None:
    assert tell_about(UUID(int=uuid4().int)) == 0
    like(make_user().user_id, post)
    say(post, make_user())
    posts.withdraw_post(post.post_id, seen=1, change_id=uuid4(), now=current_time())
    assert tell_about(post.post_id) == 0
