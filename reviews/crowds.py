"""Which texts the staff read first for where they come from: many from one network, and one that was sent before."""

from hashlib import blake2b

from django.http import HttpRequest

from catalogue.words import fold_text
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit

# What is shorter is said by many in the same words.
_OWN_WORDS_FROM = 60


def find_crowd_or_copy(request: HttpRequest, body: str) -> str:
    """Return why the staff shall read a text first: "crowd", "repeated", or ""; nobody is refused. Raises CassandraUnavailable."""
    folded = " ".join(fold_text(body).split())
    try:
        hit_rate_limit(request, "review")
    except TooManyAttempts:
        return "crowd"
    if len(folded) >= _OWN_WORDS_FROM:
        try:
            hit_rate_limit(
                request, "review_text", blake2b(folded.encode(), digest_size=16).hexdigest()
            )
        except TooManyAttempts:
            return "repeated"
    return ""
