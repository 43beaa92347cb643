"""What a person's page says of followers, read beside the page's other reads."""

from uuid import UUID

from posts import follow_queries
from posts.entities import Profile
from posts.partitions import FIRST_PARTITION


class PendingFollowers:
    """The number of a person's followers, while it is being read."""

    def __init__(self, user_id: UUID) -> None:
        self._user_id = user_id
        followed = {"followed_user_id": user_id}
        self._first = follow_queries.FOLLOWER_COUNT.start(**followed, partition=FIRST_PARTITION)
        self._partitions = follow_queries.FOLLOWER_PARTITIONS.start(**followed)

    def count(self) -> int:
        """Return the number. A popular person's takes another round. Raises CassandraUnavailable."""
        first, total = self._first.one(), self._partitions.one()
        others = range(total.partition_total) if total else ()
        count = (first.follower_count or 0) if first else 0
        return count + follow_queries.count_followers(self._user_id, list(others))


class PendingFollowButton:
    """A person's followers, and whether the visitor is one of them, while both are being read."""

    def __init__(self, user_id: UUID, member_id: UUID | None) -> None:
        self._member_id = member_id
        self._followers = PendingFollowers(user_id)
        self._follow = follow_queries.prefetch_follow(member_id, user_id) if member_id else None

    def context(self, profile: Profile) -> dict[str, object]:
        """Return what the page of this profile says. Raises CassandraUnavailable."""
        follow = self._follow.one() if self._follow else None
        return {
            "profile": profile,
            "follower_count": self._followers.count(),
            "is_following": bool(follow and follow.follows),
            "is_self": self._member_id == profile.user_id,
            "is_member": self._member_id is not None,
        }
