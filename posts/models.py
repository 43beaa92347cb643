"""The tables of posts: the photo network of the slides. Pictures are files in the storage; all lists hold only ids: the posts' and their authors'."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB

_DAY = 24 * 3600


class Post(Model):
    """L1: a post with its pictures, tags and products, and the sums of its likes and comments.

    Bound: one row a partition; 5,000 characters, eight pictures, ten products.
    Writer: posts.operations.posts, by conditional writes; the sums: posts.operations.sums, by plain writes of other columns.
    """

    __table_name__ = "posts"
    __partition_bytes__ = 50 * KB
    __personal_data__ = {
        "columns": ("user_id", "body"),
        "on_erase": "deleted",
        "why": "the row stays without words and pictures, so that late copies find that it is gone",
    }
    post_id = columns.TimeUUID(partition_key=True)
    user_id = columns.UUID()
    name = columns.Text()  # as the public sees it, such as "Ada L."
    body = columns.Text()
    tags = columns.Text()  # casefolded, with spaces between
    products = columns.Text()  # JSON: a list of [product id, variant id], at most ten
    pictures = columns.Text()  # the published pictures (names of catalogue.photos), with spaces
    new_pictures = columns.Text()  # pictures that the staff have not seen yet
    former_pictures = columns.Text()  # removed pictures, until the worker has deleted their files
    alts = columns.Text()  # JSON: the pictures' descriptions, by name
    picture_count = columns.Integer()  # that the form sent: the post waits until all are decoded
    state = columns.Text()  # moderation.states
    version = columns.Integer()
    change_id = columns.UUID()  # the id of the form that made the version
    written_at = columns.DateTime()
    edited_at = columns.DateTime()
    published_at = columns.DateTime()  # when the staff first published it
    queued_at = columns.DateTime()
    held_for = columns.Text()
    refusal = columns.Text()
    decided_at = columns.DateTime()
    reporters = columns.Text()
    comment_partition = columns.Integer()  # where new threads go; goes up when it is full
    # Sums, at most 5 seconds old. `counted` is when they were counted, in microseconds since 1970.
    like_count = columns.Integer()
    like_counts = columns.Text()  # JSON: by like_type
    comment_count = columns.Integer()
    counted = columns.BigInt()


class PostByUser(Model):
    """L2: a person's posts in any state, newest first, in a partition for each year.

    Bound: the posts of one person in a year, 60 bytes each.
    Writer: posts.operations.copies.refresh_post.
    """

    __table_name__ = "posts_by_user"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    year = columns.Integer(partition_key=True)
    post_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    state = columns.Text()


class PostByProduct(Model):
    """L2: the published posts that show a product, newest first, in a partition for each year.

    Bound: the posts with one product in a year, 80 bytes each.
    Writer: posts.operations.copies.refresh_post.
    """

    __table_name__ = "posts_by_product"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    product_id = columns.UUID(partition_key=True)
    year = columns.Integer(partition_key=True)
    post_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    user_id = columns.UUID()  # its author


class PostByTag(Model):
    """L2: the published posts with a tag, newest first, in a partition for each year.

    Bound: the posts with one tag in a year, 80 bytes each.
    Writer: posts.operations.copies.refresh_post.
    """

    __table_name__ = "posts_by_tag"
    __partition_bytes__ = 50 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    tag = columns.Text(partition_key=True)
    year = columns.Integer(partition_key=True)
    post_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    user_id = columns.UUID()  # its author


class PostByMonth(Model):
    """L2: all published posts, newest first, by the month in which they were written.

    Bound: the posts of one month, 80 bytes each.
    Writer: posts.operations.copies.refresh_post.
    """

    __table_name__ = "posts_by_month"
    __partition_bytes__ = 50 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    month = columns.Date(partition_key=True)  # its first day, in UTC
    post_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    user_id = columns.UUID()  # its author


class PopularPost(Model):
    """L2: the posts with the most likes of the last seven days, the first 100.

    Bound: 100 rows.
    Writer: posts.operations.popular, by the worker.
    """

    __table_name__ = "popular_posts"
    __partition_bytes__ = 20 * KB
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "the worker makes the list anew each hour",
    }
    period = columns.Text(partition_key=True)  # week
    rank = columns.Integer(primary_key=True)
    post_id = columns.TimeUUID()
    user_id = columns.UUID()  # its author
    likes = columns.Integer()


class CommentByPost(Model):
    """L3: the comments on a post in threads: the newest thread first, and in it a comment before its replies.

    Bound: 1,000 threads (rules.MAX_THREADS) of at most 50 replies, 2 KB a comment at most; then `posts.comment_partition` goes up.
    Writer: posts.operations.comments. One conditional batch writes a comment and the numbers.
    """

    __table_name__ = "post_comments"
    __partition_bytes__ = 100 * MB
    __personal_data__ = {
        "columns": ("user_id", "body"),
        "on_erase": "pseudonymised",
        "why": "under posts of others the text stays without the name; under the person's own posts all goes",
    }
    post_id = columns.TimeUUID(partition_key=True)
    partition = columns.Integer(partition_key=True)  # 0, 1, 2 …
    thread_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    comment_id = columns.TimeUUID(primary_key=True)  # of the thread's first comment: thread_id
    comment_count = columns.Integer(static=True)  # of the published comments
    thread_count = columns.Integer(static=True)  # of all threads
    user_id = columns.UUID()
    name = columns.Text()
    body = columns.Text()
    state = columns.Text()  # moderation.states, or hidden (by the post's author)
    version = columns.Integer()
    change_id = columns.UUID()
    written_at = columns.DateTime()
    edited_at = columns.DateTime()
    queued_at = columns.DateTime()
    held_for = columns.Text()
    refusal = columns.Text()
    decided_at = columns.DateTime()
    reporters = columns.Text()


class CommentByUser(Model):
    """L3: where a person's comments stand.

    Bound: the comments of one person, 80 bytes each.
    Writer: posts.operations.comments, before the comment.
    """

    __table_name__ = "comments_by_user"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    comment_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    post_id = columns.TimeUUID()
    partition = columns.Integer()
    thread_id = columns.TimeUUID()


class LikeByUser(Model):
    """L5: what a person likes. This is the truth of a like; its row in `likes_by_post` follows it.

    A like that was taken back stays for 32 days (TTL), longer than a pending row, so that a replay of an older like is refused.
    Bound: the likes of one person, 300 bytes each.
    Writer: posts.operations.likes, by conditional writes.
    """

    __table_name__ = "likes_by_user"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    post_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    like_type = columns.Text()  # like, love, want, have
    liked = columns.Boolean()
    partition = columns.Integer()  # its partition in `likes_by_post`, chosen once
    version = columns.BigInt()  # in microseconds since 1970, larger than the one before
    change_ids = columns.Text()  # of the last five forms, with spaces between, the newest first
    liked_at = columns.DateTime()


class LikeByPost(Model):
    """L4: who likes a post, with exact numbers in each partition.

    The partition -1 is the first one; a popular post has more, 0 to `partition_total` - 1 (by a hash of the user id). Old likes never move.
    Bound: rules.POPULAR_FROM likes in the partition -1, and as many in each other one for a million likes.
    Writer: posts.operations.likes. One conditional batch writes a like and the numbers, if the like's version is newer.
    """

    __table_name__ = "likes_by_post"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    post_id = columns.TimeUUID(partition_key=True)
    partition = columns.Integer(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    like_count = columns.Integer(static=True)
    likes = columns.Integer(static=True)
    loves = columns.Integer(static=True)
    wants = columns.Integer(static=True)
    haves = columns.Integer(static=True)
    like_type = (
        columns.Text()
    )  # "" for a like that was taken back; the row expires with the one in `likes_by_user`
    version = columns.BigInt()
    liked_at = columns.DateTime()


class LikePartition(Model):
    """L4: how many partitions a popular post's likes have besides -1.

    Bound: one row a partition.
    Writer: posts.operations.likes, by a conditional write; it only grows.
    """

    __table_name__ = "likes_by_post_partitions"
    __partition_bytes__ = 1 * KB
    __personal_data__ = None
    post_id = columns.TimeUUID(partition_key=True)
    partition_total = columns.Integer()


class RecentLike(Model):
    """L6: the likes given in an hour, from which `likes_counter` is counted. A row expires after nine days.

    Bound: a sixteenth of the likes of one hour, 80 bytes each.
    Writer: posts.operations.likes.
    """

    __table_name__ = "likes_by_hour"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 9 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "nine days after the like",
    }
    hour = columns.DateTime(partition_key=True)
    shard = columns.Integer(partition_key=True)  # of the user id, 0 to 15
    post_id = columns.TimeUUID(primary_key=True)
    user_id = columns.UUID(primary_key=True)
    like_type = columns.Text()


class LikeCounter(Model):
    """L6: the likes given by time, rounded to the hour (the slides' `likes_counter`): “popular this week” is made of it.

    Bound: 24 hours of the posts that were liked, 60 bytes each.
    Writer: posts.operations.popular, by the worker. A row is a count of `likes_by_hour`, so it can be written again.
    """

    __table_name__ = "likes_counter"
    __partition_bytes__ = 50 * MB
    __options__ = {"default_time_to_live": 40 * _DAY}
    __personal_data__ = None
    day = columns.Date(partition_key=True)  # of `ts`, in UTC
    ts = columns.DateTime(primary_key=True)
    post_id = columns.TimeUUID(primary_key=True)
    like_type = columns.Text(primary_key=True)
    likes = columns.Integer()


class Profile(Model):
    """L9: a member's public profile. Without a row, or unless it is public, a member is shown by a short name alone.

    Bound: one row a partition.
    Writer: posts.operations.profiles, by conditional writes.
    """

    __table_name__ = "profiles"
    __partition_bytes__ = 10 * KB
    __personal_data__ = {"columns": ("user_id", "handle", "about"), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    handle = columns.Text()  # as typed; its key is folded
    former_handles = columns.Text()  # keys of handles that the member gave up, with spaces between
    about = columns.Text()
    is_public = columns.Boolean()
    name = columns.Text()  # as the public sees it
    version = columns.Integer()
    change_id = columns.UUID()


class PersonByHandle(Model):
    """L9: who has a handle. A handle that was given up stays taken for its former owner alone, so that no stranger takes over its links.

    Bound: one row a partition.
    Writer: posts.operations.profiles, by IF NOT EXISTS.
    """

    __table_name__ = "people_by_handle"
    __partition_bytes__ = 1 * KB
    __personal_data__ = {"columns": ("handle_key", "user_id"), "on_erase": "deleted"}
    handle_key = columns.Text(partition_key=True)  # folded, so that look-alikes are equal
    user_id = columns.UUID()


class PendingPost(Model):
    """L1, L3, L4: posts whose copies, pictures or sums may be behind, by the minute of the change.

    Bound: the changes of one minute, 80 bytes each.
    Writer: posts.operations, before a change; the worker deletes the row.
    """

    __table_name__ = "pending_posts_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    post_id = columns.TimeUUID(primary_key=True)
    # post, pictures, sums; "tag …" or "product …": a list that the post leaves
    what = columns.Text(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970


class PendingLike(Model):
    """L4: likes whose row in `likes_by_post` may be behind, by the minute of the change.

    Bound: the likes of one minute, 80 bytes each.
    Writer: posts.operations.likes, before a like changes; the worker deletes the row.
    """

    __table_name__ = "pending_likes_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "a note for the worker, gone within minutes",
    }
    minute = columns.DateTime(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    post_id = columns.TimeUUID(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970


class FollowByUser(Model):
    """L7: whom a person follows. This is the truth of a follow; its row in `follows_by_followed` follows it, as a like's does.

    Bound: rules.MAX_FOLLOWS people, and those whom the person stopped following in the last 32 days; 150 bytes each.
    Writer: posts.operations.follows, by conditional writes.
    """

    __table_name__ = "follows_by_user"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("user_id", "followed_user_id"), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    followed_user_id = columns.UUID(primary_key=True)
    follow_count = columns.Integer(static=True)
    follows = columns.Boolean()
    partition = columns.Integer()  # its partition in `follows_by_followed`, chosen once
    version = columns.BigInt()  # in microseconds since 1970, larger than the one before
    change_ids = columns.Text()  # of the last forms, with spaces between
    followed_at = columns.DateTime()


class FollowByFollowed(Model):
    """L7: who follows a person, with an exact number in each partition.

    The partition -1 is the first one; a popular person has more, as a popular post's likes have.
    Bound: rules.POPULAR_FROM followers in the partition -1, and as many in each other one for 300,000.
    Writer: posts.operations.follows. One conditional batch writes a follower and the number, if the follow's version is newer.
    """

    __table_name__ = "follows_by_followed"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"columns": ("user_id", "followed_user_id"), "on_erase": "deleted"}
    followed_user_id = columns.UUID(partition_key=True)
    partition = columns.Integer(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    follower_count = columns.Integer(static=True)
    follows = columns.Boolean()
    version = columns.BigInt()


class FollowPartition(Model):
    """L7: how many partitions the followers of a popular person have besides -1. Such a person's posts are merged when feeds are read.

    Bound: one row a partition.
    Writer: posts.operations.follows, by a conditional write; the number only grows.
    """

    __table_name__ = "follows_by_followed_partitions"
    __partition_bytes__ = 1 * KB
    __personal_data__ = {"columns": ("followed_user_id",), "on_erase": "deleted"}
    followed_user_id = columns.UUID(partition_key=True)
    partition_total = columns.Integer()


class CrowdedPerson(Model):
    """L8: the people with too many followers for a copy of each post to each of them (decision 093).

    Bound: rules.MAX_CROWDED people.
    Writer: posts.operations.feeds. Who is once in it stays.
    """

    __table_name__ = "crowded_people"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    shop = columns.Text(partition_key=True)
    user_id = columns.UUID(primary_key=True)


class FeedByUser(Model):
    """L8: the posts of the people whom a member follows, newest first. A row expires 30 days after its post.

    The page filters by follows, blocks and the posts themselves, so nothing has to be deleted here.
    Bound: ten posts a day of each of 1,000 people for 30 days, 60 bytes each; the newest 1,000 are read.
    Writer: posts.operations.feeds.
    """

    __table_name__ = "feed_by_user"
    __partition_bytes__ = 30 * MB
    __options__ = {"default_time_to_live": 30 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    post_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    author_id = columns.UUID()


class PendingFeed(Model):
    """L7, L8, L9: what the worker finishes, by the minute of the event: posts to copy to followers, feeds to fill, follows and blocks.

    Bound: the published posts, logins, follows and blocks of one minute, 100 bytes each.
    Writer: posts.operations.feeds; the worker deletes the row.
    """

    __table_name__ = "pending_feeds_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {
        "columns": ("subject_id",),
        "on_erase": "expires",
        "why": "a note for the worker, gone within minutes",
    }
    minute = columns.DateTime(partition_key=True)
    subject_id = columns.UUID(primary_key=True)  # a post or a member
    what = columns.Text(primary_key=True)  # post, login, or follow or block with the other's id
    written = columns.BigInt()  # in microseconds since 1970


class BlockByUser(Model):
    """L9: whom a person has blocked: these can neither follow, mention nor like them, nor comment on their posts.

    Bound: rules.MAX_BLOCKS people, 50 bytes each.
    Writer: posts.operations.blocks.
    """

    __table_name__ = "blocks_by_user"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("user_id", "blocked_user_id"), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    blocked_user_id = columns.UUID(primary_key=True)
    block_count = columns.Integer(static=True)
    blocked_at = columns.DateTime()
