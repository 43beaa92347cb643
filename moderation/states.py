"""The states of a review, a question or an answer."""

PUBLISHED, HELD, REFUSED, WITHDRAWN = "published", "held", "refused", "withdrawn"
# The reason why a published question without an answer waits for the staff.
UNANSWERED = "unanswered"
