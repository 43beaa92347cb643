"""Which texts the staff read first for where they come from: many from one network, and one that was sent before."""

from hashlib import blake2b
from uuid import UUID

from django.http import HttpRequest

from catalogue.words import fold_text
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit

# What is shorter is said by many in the same words.
_OWN_WORDS_FROM = 60


def find_crowd_or_copy(request: HttpRequest, body: str, writer_id: UUID, change_id: UUID) -> str:
    """Return why the staff shall read a text first: "crowd", "repeated", or ""; nobody is refused. Raises CassandraUnavailable.

    What one person sends too much of counts for the network no more: the others there are no crowd. A form that comes again counts once.
    """
    folded = " ".join(fold_text(body).split())
    try:
        hit_rate_limit(request, "review", str(writer_id), hit_id=change_id)
    except TooManyAttempts:
        return "crowd"
    if len(folded) >= _OWN_WORDS_FROM:
        try:
            hit_rate_limit(
                request,
                "review_text",
                blake2b(folded.encode(), digest_size=16).hexdigest(),
                hit_id=change_id,
            )
        except TooManyAttempts:
            return "repeated"
    return ""
