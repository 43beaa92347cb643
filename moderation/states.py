"""The states of a text by people."""

from __future__ import annotations

PUBLISHED, HELD, REFUSED, WITHDRAWN = "published", "held", "refused", "withdrawn"
