"""Texts that are held because many come from one network, or because the same text was sent before."""

from hashlib import blake2b
from uuid import UUID

from django.http import HttpRequest

from catalogue.words import fold_text
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit

# Many people send the same shorter texts.
_OWN_WORDS_FROM = 60


def find_crowd_or_copy(request: HttpRequest, body: str, writer_id: UUID, change_id: UUID) -> str:
    """Return why a text is held: "crowd" (its network sends many), "repeated", or "". Raises CassandraUnavailable.

    Texts of one person above the limit do not count against their network. A repeated submit (`change_id`) counts once.
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
