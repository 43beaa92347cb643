"""The states of a review, a question or an answer."""

PUBLISHED, HELD, REFUSED, WITHDRAWN = "published", "held", "refused", "withdrawn"
# Why a published question waits for the staff.
UNANSWERED = "unanswered"
