"""Visitors whom a sketch tells apart for certain."""

import pytest

from analytics import event_writer
from analytics.event_writer import WaitingEvent, make_pseudonym


@pytest.fixture
def told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few visitors are counted exactly: with a day's own key two of them may, once in some hundred times, look like one."""

    def known_pseudonym(salt: bytes, event: WaitingEvent) -> bytes:
        return make_pseudonym(b"known", event)

    monkeypatch.setattr(event_writer, "make_pseudonym", known_pseudonym)
