"""The states of a moderated text."""

PUBLISHED, HELD, REFUSED, WITHDRAWN = "published", "held", "refused", "withdrawn"
