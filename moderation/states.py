"""The states of a text by people."""

PUBLISHED, HELD, REFUSED, WITHDRAWN = "published", "held", "refused", "withdrawn"
