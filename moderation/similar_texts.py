"""Finds texts that the staff must read before they are published: many texts from one network, and repeated texts."""

from hashlib import blake2b
from uuid import UUID

from django.http import HttpRequest

from catalogue.words import fold_text
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit

# Texts below this length are not compared: many people write the same short texts.
_OWN_WORDS_FROM = 60


def find_crowd_or_copy(
    request: HttpRequest, body: str, writer_id: UUID, change_id: UUID, kind: str = "review"
) -> str:
    """Return why the staff must read a text before it is published: "crowd", "repeated", or "".

    `kind` is the rate limit above which texts are a crowd. Texts beyond a person's own limit do not count for the network. A form
    that is sent twice counts once. Raises CassandraUnavailable.
    """
    folded = " ".join(fold_text(body).split())
    try:
        hit_rate_limit(request, kind, str(writer_id), hit_id=change_id)
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
