"""Personal data in posts, comments, likes, follows and profiles."""

from datetime import datetime
from typing import Any

from catalogue.templatetags.pictures import full_picture_url, public_url
from moderation.rules import get_review_rules
from posts import comment_queries, follow_queries, like_queries, queries
from posts.operations.blocks import delete_blocks
from posts.operations.comments import erase_comments
from posts.operations.feeds import erase_feed
from posts.operations.follows import end_all_follows
from posts.operations.likes import erase_likes
from posts.operations.posts import erase_post
from posts.operations.profiles import erase_profile
from posts.operations.removal import delete_under
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's profile, posts, comments and likes, with their states, and whom the person follows or has blocked."""
    user_id, profile = person.user_id, queries.get_profile(person.user_id)
    return {
        "profile": profile
        and {
            "handle": profile.handle,
            "former_handles": list(profile.former_handles),
            "about": profile.about,
            "is_public": profile.is_public,
            "name": profile.name,
        },
        "posts": [
            {
                "text": post.body,
                "name": post.name,
                "tags": list(post.tags),
                "products": [each.product_id for each in post.products],
                "pictures": [public_url(full_picture_url(name)) for name in post.own_pictures],
                "descriptions": list(post.alts.values()),
                "state": post.state,
                "written_at": post.written_at,
                "edited_at": post.edited_at,
                "refused_because": post.refusal,
            }
            for post in queries.get_posts(queries.list_post_ids_of(user_id)).values()
        ],
        "comments": [
            {
                "post_id": comment.post_id,
                "text": comment.body,
                "name": comment.name,
                "state": comment.state,
                "written_at": comment.written_at,
                "edited_at": comment.edited_at,
                "refused_because": comment.refusal,
            }
            for comment in comment_queries.list_comments_of(user_id)
        ],
        "likes": [
            {"post_id": like.post_id, "type": like.like_type, "liked_at": like.liked_at}
            for like in like_queries.list_likes_of(user_id)
            if like.like_type
        ],
        "follows": list(follow_queries.list_follows(user_id)),
        "blocked": list(
            follow_queries.blocks_from_rows(follow_queries.prefetch_blocks(user_id).rows())
        ),
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete the person's posts with all that is under them, likes, follows and profile, and the name in comments on others' posts."""
    user_id = person.user_id
    for post_id in queries.list_post_ids_of(user_id):
        erase_post(post_id, user_id)
        delete_under(post_id)
    erase_comments(user_id, keeps_texts=get_review_rules().keeps_erased_texts)
    erase_likes(user_id, now)
    end_all_follows(user_id, now)
    delete_blocks(user_id)
    erase_feed(user_id)
    erase_profile(user_id)
