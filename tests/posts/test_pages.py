"""The pages of posts: lists, one post, comments, likes, people, and the products that are put into the cart."""

import json
import re
from random import Random
from typing import Any
from uuid import UUID, uuid1, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from cart.queries import get_cart
from cassandra_db import current_microseconds, current_time
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from posts import comment_queries, queries
from posts.comment_queries import iterate_comments
from posts.entities import Comment, Post
from posts.operations.copies import refresh_post, start_listing
from posts.operations.posts import withdraw_post
from posts.time_ids import make_form_id
from tests.factories import make_product, make_user, sign_in_staff
from tests.posts.posting import publish
from tests.posts.showing import change, make_profile
from tests.reads import existing
from tests.storefront.page_parts import rounds

_random = Random()


def visitor() -> Client:
    """A browser from a network of its own: of one network's texts only some appear at once."""
    return Client(REMOTE_ADDR=f"198.51.{_random.randrange(256)}.{_random.randrange(256)}")


@pytest.fixture
def client() -> Client:
    return visitor()


@pytest.fixture
def ann() -> User:
    return make_user("Ann Lee")


@pytest.fixture
def ben(client: Client) -> User:
    user = make_user("Ben Tailor")
    client.force_login(user)
    return user


def address(name: str, post: Post | UUID, *args: Any) -> str:
    post_id = post.post_id if isinstance(post, Post) else post
    return reverse(f"posts:{name}", args=(post_id, *args))


def read(client: Client, url: str, **query: str) -> str:
    answer = client.get(url, query)
    assert answer.status_code == 200, (url, answer.status_code)
    return answer.content.decode()


def send(client: Client, url: str, status: int = 303, htmx: bool = False, **fields: Any) -> str:
    headers = {"HX-Request": "true"} if htmx else {}
    answer = client.post(url, {"operation": str(uuid4())} | fields, headers=headers)
    assert answer.status_code == status, (answer.status_code, answer.content.decode()[:2000])
    return answer.content.decode() if status != 303 else answer["Location"]


def list_comments(post: Post) -> list[Comment]:
    return sorted(
        iterate_comments(existing(queries.get_post(post.post_id))), key=lambda each: each.written_at
    )


def comment_address(name: str, found: Comment) -> str:
    return reverse(
        f"posts:{name}", args=(found.post_id, found.partition, found.thread_id, found.comment_id)
    )


def comment(client: Client, user: User, post: Post, body: str = "", **fields: Any) -> Comment:
    body = body or f"So good {uuid4().hex}"
    fields = {"form_id": str(make_form_id(user.user_id)), "body": body} | fields
    send(client, address("comment", post), **fields)
    return next(each for each in list_comments(post) if each.body == body)


def test_x410_lists_show_published_posts_in_two_rounds(ann: User) -> None:
    tag, product = f"t{uuid4().hex[:12]}", make_product("Jug")
    handle = make_profile(ann)
    post = change(publish(ann.user_id), product, tags=(tag,))
    other = change(publish(), product, tags=(tag,))
    page = f"/posts/{post.post_id}/"
    for url, most in (
        ("/posts/", 4),  # few posts: it looks into earlier months, too
        (f"/posts/tags/{tag}/", 2),
        (f"/p/{product.slug}/posts/", 3),
        (f"/people/{handle}/", 4),
    ):
        answer = visitor().get(url)
        text = answer.content.decode()
        assert page in text, url
        assert rounds(answer) <= most, url
        assert f"/people/{handle}/" in text
        if "people" not in url:
            assert str(other.post_id) in text
    on_product = read(visitor(), reverse("product", args=(product.slug,)))
    assert "Posts with this product" in on_product
    assert page in on_product
    # Whatever has left a list is gone at the next load, whether its row is still there or not.
    withdraw_post(post.post_id, seen=post.version, change_id=uuid4(), now=current_time())
    change(other, tags=("other",))
    for each, name in ((other, f"tag {tag}"), (post, "month")):
        start_listing(each, name, current_microseconds(), is_listed=True).rows()
    assert page not in read(visitor(), "/posts/", fresh=uuid4().hex)
    for url in (f"/posts/tags/{tag}/", f"/people/{handle}/"):
        assert "No posts yet" in read(visitor(), url, fresh=uuid4().hex)


def test_x410_a_post_shows_what_everybody_may_see_in_two_rounds(client: Client, ann: User) -> None:
    product = make_product("Jug", price="24.50", stock=3)
    post = change(publish(ann.user_id), product, body="Look <b>here</b>, @ben_1", tags=("clay",))
    answer = client.get(address("post", post))
    text = answer.content.decode()
    assert rounds(answer) <= 2
    for words in (
        "Look &lt;b&gt;here&lt;/b&gt;",
        '<a href="/people/ben_1/"',
        "#clay",
        "€24.50",
        "Only a few left",
        "Sign in to comment",
        "Nobody has commented yet",
        'property="og:image"',
    ):
        assert words in text, words
    data = re.search(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    assert data
    (found,) = json.loads(data[1])
    assert found["@type"] == "SocialMediaPosting"
    assert found["author"] == {"@type": "Person", "name": "Ada L."}
    assert ann.email not in text
    assert str(ann.user_id) not in text
    for strange in (uuid1(), uuid4()):
        assert client.get(address("post", strange)).status_code == 404
    assert client.get(address("post", post), {"after": "forged"}).status_code == 404
    assert client.get("/posts/", {"after": "forged"}).status_code == 404


def test_x411_a_post_that_waits_or_is_gone_is_nobodys(client: Client, ann: User) -> None:
    states = {}
    for state in (HELD, REFUSED, WITHDRAWN):
        post = publish(ann.user_id)
        states[state] = change(post, state=state)
    client.force_login(ann)
    for state, post in states.items():
        for each in (client, visitor()):
            assert each.get(address("post", post)).status_code == 404
        assert client.get(address("write", post)).status_code == (
            404 if state == WITHDRAWN else 200
        )
        for name in ("like", "comment", "report"):
            assert client.post(address(name, post), {"like_type": "like"}).status_code == 404
    page = read(client, reverse("posts:own"))
    assert ("Waiting" in page, "Refused" in page) == (True, True)
    assert str(states[WITHDRAWN].post_id) not in page


def test_x412_likes_are_set_and_taken_back(client: Client, ben: User, ann: User) -> None:
    post = publish(ann.user_id)
    url, handle = address("like", post), make_profile(ben, is_public=False)
    text = send(client, url, 200, htmx=True, like_type="love")
    assert 'id="likes"' in text
    assert "<h1" not in text
    assert re.search(r'id="like-love"[^>]*value=""\s[^>]*aria-pressed="true"', text, re.DOTALL)
    assert "1 person likes this" in text
    assert send(client, url, like_type="want") == address("post", post)
    assert existing(queries.get_post(post.post_id)).sums.like_counts["want"] == 1
    make_profile(ben, handle, seen=1)
    assert "Ben T. likes this" in read(client, address("post", post))
    send(client, url, like_type="")
    assert existing(queries.get_post(post.post_id)).sums.like_count == 0
    send(client, url, 404, like_type="hate")
    guest = visitor()
    assert "/account/login/" in send(guest, url, like_type="like")


def test_x413_a_comment_is_written_once_edited_and_deleted(client: Client, ben: User) -> None:
    post = publish()
    form: dict[str, Any] = {"form_id": str(make_form_id(ben.user_id)), "body": "What a <i>jug</i>!"}
    for _twice in range(2):
        text = send(client, address("comment", post), 200, htmx=True, **form)
    assert text.count("<p>What a &lt;i&gt;jug&lt;/i&gt;!</p>") == 1
    assert "1 comment" in text
    (found,) = list_comments(post)
    reply = comment(client, ben, post, "A reply", thread=str(found.comment_id), partition="0")
    assert reply.thread_id == found.comment_id
    edit = comment_address("comment_edit", found)
    assert "What a" in read(client, edit)
    send(client, edit, body="What a bowl!", version="1")
    stale = send(client, edit, 409, body="My words", version="1")
    assert "What a bowl!" in stale
    assert "My words" in stale
    page = read(visitor(), address("post", post))
    assert ("What a bowl!" in page, "A reply" in page, "Ben T." in page) == (True, True, True)
    send(client, comment_address("comment_withdraw", found), version="2")
    page = read(visitor(), address("post", post), fresh="1")
    assert "This comment is no longer there" in page
    assert "A reply" in page


def test_x413_bad_comments_stay_in_their_form(client: Client, ben: User) -> None:
    post = publish()
    first = comment(client, ben, post)
    url, form_id = address("comment", post), str(make_form_id(ben.user_id))
    for fields, words in (
        ({"body": ""}, "Enter a comment"),
        ({"body": "x" * 1001}, "Enter a comment of up to 1,000 characters"),
        ({"form_id": str(uuid1())}, "Send your comment once more"),
        ({"form_id": str(make_form_id(uuid4()))}, "Send your comment once more"),
        ({"form_id": "x"}, "Reload the page and try again"),
        ({"thread": str(uuid1()), "partition": "0"}, "no longer there"),
    ):
        sent: dict[str, Any] = {"form_id": form_id, "body": "Typed words"} | fields
        for htmx in (False, True):
            page = send(client, url, 422, htmx=htmx, **sent)
            assert words in page, words
            assert sent["body"] in page
    assert len(list_comments(post)) == 1
    # A reply's error stands beside the reply.
    sent = {"form_id": form_id, "body": "", "thread": str(first.comment_id), "partition": "0"}
    page = send(client, url, 422, **sent)
    assert re.search(
        r"<details open>.*?Enter your reply|<details open>.*?Enter a comment", page, re.DOTALL
    )
    waits = comment(client, ben, post, f"See www.example.com {uuid4().hex}")
    assert waits.state == HELD
    assert waits.body in read(client, address("post", post))
    assert waits.body not in read(visitor(), address("post", post))


def test_x414_a_posts_author_hides_a_comment_and_strangers_change_nothing(
    client: Client, ben: User, ann: User
) -> None:
    post = publish(ann.user_id)
    found = comment(client, ben, post)
    author, stranger = visitor(), visitor()
    author.force_login(ann)
    stranger.force_login(make_user("Eve Doe"))
    for name in ("comment_edit", "comment_withdraw", "comment_hide"):
        send(stranger, comment_address(name, found), 404, version="1", body="Mine")
    send(client, comment_address("comment_hide", found), 404, version="1", hidden="1")
    page = send(
        author, comment_address("comment_hide", found), 200, htmx=True, version="1", hidden="1"
    )
    assert "Show again" in page
    assert found.body not in read(visitor(), address("post", post))
    assert "Hidden by the post" in read(client, address("post", post))
    send(author, comment_address("comment_hide", found), version="2")
    assert found.body in read(visitor(), address("post", post), fresh="1")
    send(stranger, comment_address("comment_report", found))
    assert (
        existing(comment_queries.find_comment_of(ben.user_id, found.comment_id)).held_for
        == "reported"
    )
    send(stranger, address("report", post))
    assert existing(queries.get_post(post.post_id)).held_for == "reported"
    for bad in (uuid1(), uuid4()):
        url = reverse("posts:comment_edit", args=(post.post_id, 0, bad, found.comment_id))
        assert client.get(url).status_code == 404


def test_x415_all_products_are_added_and_what_is_skipped_is_said(client: Client) -> None:
    jug, bowl = make_product("Jug", stock=5), make_product("Bowl", stock=1)
    gone = make_product("Vase", stock=0)
    post = change(publish(), jug, bowl, gone)
    url, operation = address("add_all", post), str(uuid4())
    assert "Add all 2 to cart" in read(client, address("post", post))
    for _twice in range(2):
        assert send(client, url, operation=operation) == reverse("cart:show")
    page = read(client, reverse("cart:show"))
    assert "Vase (sold out)" in page
    assert ("Jug" in page, "Bowl" in page) == (True, True)
    cart_id = re.search(r"/carts/([0-9a-f-]{36})/", page)
    assert cart_id
    lines = get_cart(UUID(cart_id[1])).lines
    assert {line.name: line.quantity for line in lines} == {"Jug": 1, "Bowl": 1}
    send(client, url)
    lines = get_cart(UUID(cart_id[1])).lines
    assert {line.name: line.quantity for line in lines} == {"Jug": 2, "Bowl": 1}
    assert "Bowl (you have all that are left)" in read(client, reverse("cart:show"))
    nothing = change(publish(), gone)
    assert send(visitor(), address("add_all", nothing)) == address("post", nothing)
    assert visitor().get(url)["Location"] == address("post", post)


def test_x416_a_profile_is_public_only_if_its_member_says_so(client: Client, ben: User) -> None:
    url, handle = reverse("posts:profile"), f"Ben_{uuid4().hex[:12]}"
    form: dict[str, Any] = {"version": "0", "handle": handle, "about": "I like bowls."}
    send(client, url, **form)
    assert visitor().get(f"/people/{handle}/").status_code == 404
    send(client, url, **form | {"version": "1", "is_public": "on"})
    page = read(visitor(), f"/people/{handle}/")
    for words in ("Ben T.", f"@{handle}", "I like bowls."):
        assert words in page
    assert ben.email not in page
    assert visitor().get(f"/people/{handle.upper()}/")["Location"] == f"/people/{handle}/"
    other = visitor()
    other.force_login(make_user("Eve Doe"))
    for typed, words in (
        (handle.replace("_", ""), "Somebody has this handle, or one that looks like it"),
        ("admin", "The shop keeps this handle"),
        ("a b", "Use the letters"),
        ("ab", "Enter at least 3 characters"),
        ("", "Choose a handle"),
    ):
        page = send(other, url, 422, version="0", handle=typed, is_public="on", about="Typed")
        assert words in page, words
        assert "Typed" in page
    assert "has changed since you opened" in send(client, url, 409, **form)
    assert "/account/login/" in visitor().get(url)["Location"]


def test_x417_the_staff_decide_about_posts_and_comments(client: Client, ben: User) -> None:
    staff = sign_in_staff(visitor(), make_user("Ada", role="admin"))
    post = change(publish(), state=HELD, held_for="pictures")
    found = comment(client, ben, publish(), f"See www.example.com {uuid4().hex}")
    queue = read(staff, reverse("adminpanel:reviews"))
    own = reverse("posts:staff_post", args=(post.post_id,))
    his = reverse("posts:staff_comment", args=(ben.user_id, found.comment_id))
    for url, decide, state in (
        (own, address("staff_post_decide", post), lambda: queries.get_post(post.post_id)),
        (
            his,
            reverse("posts:staff_comment_decide", args=(ben.user_id, found.comment_id)),
            lambda: comment_queries.find_comment_of(ben.user_id, found.comment_id),
        ),
    ):
        assert url in queue
        version = str(existing(state()).version)
        assert "Publish" in (shown := read(staff, url))
        assert "Reason for review" in shown
        assert "Enter a reason for refusing it" in send(
            staff, decide, 422, act="refuse", version=version
        )
        send(staff, decide, act="refuse", reason="It shows a person", version=version)
        assert "It shows a person" in read(staff, url)
        assert existing(state()).state == REFUSED
        stale = send(staff, decide, 409, act="publish", version=version)
        assert "The current version is below." in stale
        send(staff, decide, act="hold", version=str(int(version) + 1))
        send(staff, decide, act="publish", version=str(int(version) + 2))
        assert existing(state()).state == PUBLISHED
    assert client.get(own).status_code == 404
    picture = existing(queries.get_post(post.post_id)).pictures[0]
    remove, shown_version = (
        address("staff_picture_remove", post),
        existing(queries.get_post(post.post_id)).version,
    )
    send(staff, remove, 409, picture=picture, version="1")
    send(staff, remove, picture=picture, version=str(shown_version))
    assert not existing(queries.get_post(post.post_id)).is_public
    refresh_post(post.post_id)
