"""A writer who is not first tries again: at once, and then after pauses that grow and are never the same."""

import pytest

from cassandra_db import retry, retry_attempts


def test_there_are_so_many_tries_with_growing_pauses_from_the_third_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen_pauses: list[tuple[str, float]] = []
    monkeypatch.setattr(retry, "sleep", lambda pause: seen_pauses.append(("pause", pause)))
    for number in retry_attempts(12):
        seen_pauses.append(("try", number))  # noqa: PERF401 the pauses come in between
    assert [each for what, each in seen_pauses if what == "try"] == list(range(12))
    assert [what for what, _ in seen_pauses] == ["try", "try", *["pause", "try"] * 10]
    pauses = [each for what, each in seen_pauses if what == "pause"]
    bounds = [0.002, 0.004, 0.008, 0.016, 0.032, *[0.05] * 5]
    assert all(0 <= pause <= most for pause, most in zip(pauses, bounds, strict=True))
    assert len(set(pauses)) > 1
    assert list(retry_attempts(0)) == []
