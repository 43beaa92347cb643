"""What is exported of a person, and what an erasure leaves of posts, comments, likes and profiles."""

from uuid import UUID, uuid4

from accounts.models import User
from cassandra_db import current_time
from moderation.states import PUBLISHED
from posts import comment_queries, like_queries, queries
from posts.entities import Comment, CommentInput, Post, PostInput
from posts.operations import posts as operations
from posts.operations.comments import write_comment
from posts.operations.likes import set_like
from posts.operations.profiles import save_profile
from posts.privacy import erase_personal_data, export_personal_data
from posts.time_ids import make_form_id
from tests.factories import make_user
from tests.orders.crashes import kill_at_write, kill_in, record_writes
from tests.posts.posting import check_comments, check_likes, publish, run_worker
from tests.reads import existing
from web.personal_data import DataSubject, PersonalDataEncoder


def comment_on(post: Post, user: User) -> Comment:
    return write_comment(
        post,
        user.user_id,
        CommentInput(f"How warm it looks! {user.name}", name="Ann L."),
        comment_id=make_form_id(user.user_id),
        change_id=uuid4(),
        now=current_time(),
    )


def like(post: Post, user: User) -> None:
    set_like(user.user_id, post, "love", change_id=uuid4(), now=current_time())


class Lives:
    """Ann, Bea, a post of each, and what each says of both posts."""

    def __init__(self) -> None:
        self.ann, self.bea = make_user("Ann Lee"), make_user("Bea Poe")
        self.anns, self.beas = publish(self.ann.user_id), publish(self.bea.user_id)
        for user in (self.ann, self.bea):
            for post in (self.anns, self.beas):
                comment_on(post, user)
                like(post, user)
        self.handle = f"ann_{uuid4().hex[:9]}"
        save_profile(
            self.ann.user_id, self.handle, "Mugs", is_public=True, seen=0, change_id=uuid4()
        )

    @property
    def person(self) -> DataSubject:
        return DataSubject(self.ann.user_id, self.ann.email, self.ann.name)

    def erase(self) -> None:
        erase_personal_data(self.person, current_time())

    def describe(self) -> tuple[object, ...]:
        """Everything that is left."""
        ann, bea = self.ann.user_id, self.bea.user_id
        gone = existing(queries.get_post(self.anns.post_id))
        return (
            (gone.is_gone, gone.is_erased, gone.body, gone.name, gone.own_pictures),
            queries.list_post_ids_of(ann),
            list(comment_queries.iterate_comments(gone)),
            [each.body for each in comment_queries.list_comments_of(ann)],
            [(each.name, each.state) for each in _list_comments(self.beas)],
            (like_queries.list_likes_of(ann), self.anns.post_id in _liked(bea)),
            check_likes(self.beas.post_id, bea),
            check_comments(self.beas.post_id),
            (queries.get_profile(ann), queries.find_profile_by_handle(self.handle)),
        )


def _list_comments(post: Post) -> list[Comment]:
    return sorted(comment_queries.iterate_comments(post), key=lambda each: each.comment_id.time)


def _liked(user_id: UUID) -> set[UUID]:
    return {each.post_id for each in like_queries.list_likes_of(user_id) if each.like_type}


ERASED: tuple[object, ...] = (
    (True, True, "", "", ()),
    [],
    [],
    [],
    [("", PUBLISHED), ("Ann L.", PUBLISHED)],
    ([], False),
    {"love": 1},
    2,
    (None, None),
)


def test_x456_a_persons_posts_comments_likes_and_profile_are_exported() -> None:
    lives = Lives()
    export = export_personal_data(lives.person)
    text = PersonalDataEncoder(indent=1).encode(export)
    assert export["profile"]["handle"] == lives.handle
    assert [each["text"] for each in export["posts"]] == [lives.anns.body]
    assert {each["post_id"] for each in export["comments"]} == {
        lives.anns.post_id,
        lives.beas.post_id,
    }
    assert {each["type"] for each in export["likes"]} == {"love"}
    assert "Bea Poe" not in text
    nobody = make_user("Nobody")
    empty = export_personal_data(DataSubject(nobody.user_id, nobody.email, nobody.name))
    assert not any(empty.values())


def test_x456_an_erasure_takes_a_persons_posts_with_all_under_them_and_the_name_elsewhere() -> None:
    lives = Lives()
    lives.erase()
    assert lives.describe() == ERASED
    lives.erase()
    run_worker(lives.anns.post_id, lives.ann.user_id, lives.bea.user_id)
    assert lives.describe() == ERASED


def test_x456_an_erasure_that_is_killed_is_repeated_to_the_same_end() -> None:
    writes = record_writes(Lives().erase)
    assert len(writes) >= 20
    for target in writes[:: len(writes) // 8]:
        lives = Lives()
        kill_at_write(target, lives.erase)
        lives.erase()
        run_worker(lives.anns.post_id, lives.ann.user_id, lives.bea.user_id)
        assert lives.describe() == ERASED, str(target)


def test_x456_a_post_whose_writing_was_cut_off_is_found_by_the_erasure() -> None:
    ann = make_user("Ann Lee")
    post_id = make_form_id(ann.user_id)
    kill_in(
        operations,
        "refresh_post",
        lambda: operations.write_post(
            post_id, ann, PostInput(body="Mine"), seen=0, change_id=uuid4(), now=current_time()
        ),
    )
    erase_personal_data(DataSubject(ann.user_id, ann.email, ann.name), current_time())
    run_worker(post_id)
    post = existing(queries.get_post(post_id))
    assert (post.is_erased, post.body, queries.list_post_ids_of(ann.user_id)) == (True, "", [])
