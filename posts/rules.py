"""The bounds of posts, and the types of likes."""

from django.utils.translation import gettext_lazy as _

MAX_PICTURES = 8
MAX_PICTURE_BYTES = 10 * 1024 * 1024
MAX_PRODUCTS = 10
MAX_TAGS = 10
MAX_TAG = 30  # characters
MAX_BODY = 5_000  # characters of a post
MAX_COMMENT = 1_000  # characters
MAX_THREADS = 1_000  # of a partition of comments
MAX_REPLIES = 50  # of a comment
MAX_MENTIONS = 5  # people whom one comment notifies
MAX_ALT = 250
MIN_HANDLE, MAX_HANDLE = 3, 30
MAX_FORMER_HANDLES = 5  # so many handles a member can give up
MAX_ABOUT = 300
PAGE_LENGTH = 24  # posts of a list: full rows of two, three and four
COMMENTS_SHOWN = 20  # threads of a page
POPULAR_LENGTH = 100

# The types of likes, in the order of the buttons.
LIKE_TYPES = {"like": _("Like"), "love": _("Love"), "want": _("Want"), "have": _("Have")}
# From so many likes, or followers, in the partition -1 on, a post or a person has POPULAR_PARTITIONS more, and new ones go there.
POPULAR_FROM = 5_000
POPULAR_PARTITIONS = 64
MAX_FOLLOWS = 1_000  # people whom one member follows
MAX_BLOCKS = 1_000
MAX_CROWDED = 200
