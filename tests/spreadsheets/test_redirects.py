"""X545, S122: a file of redirects is looked at, applied once, and changes nothing that was changed since."""

from uuid import uuid4

import pytest

from catalogue.operations.redirects import get_redirect, save_redirect
from spreadsheets.operations import imports
from spreadsheets.queries import ROWS
from tests.catalogue.redirects import allow_in_shard, find_path_beside
from tests.clock import now
from tests.spreadsheets.files import apply, csv_of, faults_of, go_on, read, rows_of, stored

HEAD = ["Old address", "New address"]


def test_x545_a_file_of_redirects_is_applied_once() -> None:
    begin = f"/pages/{uuid4().hex}"
    save_redirect(f"{begin}/same", "deals")
    save_redirect(f"{begin}/other", "deals")
    lines = [
        (f"https://a.example{begin}/New/?x=1", "/new/"),
        (f"{begin}/same", "/deals/"),
        (f"{begin}/other", "/new/"),
        (f"{begin}/late", "/new/"),
    ]
    content = csv_of([HEAD, *lines])
    task = read(content, "redirects")
    assert task.counts == {"new": 2, "unchanged": 1, "changed": 1}
    row = rows_of(task)[2]
    assert (row.label, [each.after for each in row.changes]) == (
        "/deals/",
        [f"{begin}/other", "/new/"],
    )
    # Somebody else has redirected one of them meanwhile.
    save_redirect(f"{begin}/late", "help")
    assert apply(task).results == {"done": 2, "changed": 1}
    targets = [get_redirect(f"{begin}/{name}") for name in ("new", "same", "other", "late")]
    assert targets == ["new_arrivals", "deals", "new_arrivals", "help"]
    assert read(content, "redirects").counts == {"unchanged": 3, "changed": 1}


def test_s122_bad_lines_of_a_file_are_said_and_the_others_read() -> None:
    begin = f"/pages/{uuid4().hex}"
    lines = [
        ("", "/new/"),
        ("/deals", "/new/"),
        (f"{begin}/a", "https://evil.example/"),
        (f"{begin}/a/", "/new/"),
        (f"{begin}/b", "=cmd|' /C calc'!A0"),
        (f"{begin}/\U0001f3fa\0<b>", "/new/"),
        (f"{begin}/{'x' * 500}", "/new/"),
        ("/staff/x", "/new/"),
    ]
    task = read(csv_of([HEAD, *lines]), "redirects")
    assert task.state == "read"
    assert task.counts == {"faulty": 7, "new": 1}
    assert {(line, column) for line, column, _text in faults_of(task)} == {
        *((2, "old_address"), (3, "old_address"), (4, "new_address"), (5, "old_address")),
        *((6, "new_address"), (8, "old_address"), (9, "old_address")),
    }
    assert apply(task).results == {"done": 1}
    assert get_redirect(f"{begin}/\U0001f3fa<b>") == "new_arrivals"


def test_s122_a_file_adds_no_redirects_above_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/pages/{uuid4().hex}"
    save_redirect(path, "deals")
    allow_in_shard(monkeypatch, 1)
    lines = [(find_path_beside(path), "/new/"), (path, "/new/")]
    task = apply(read(csv_of([HEAD, *lines]), "redirects"))
    assert task.results == {"refused": 1, "done": 1}
    assert rows_of(task)[0].reason == "There are too many redirects. Remove some first."


def test_x545_a_run_that_is_cut_off_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [f"/pages/{uuid4().hex}" for _ in range(3)]
    task = read(csv_of([HEAD, *((path, "/new/") for path in paths)]), "redirects")
    assert imports.start_applying(task, now())
    with monkeypatch.context() as patch:
        patch.setattr(ROWS, "note_done", _end_process)
        with pytest.raises(KeyboardInterrupt):
            go_on(task)
    assert get_redirect(paths[0]) == "new_arrivals"
    assert go_on(stored(task)).results == {"done": 3}
    assert [get_redirect(path) for path in paths] == ["new_arrivals"] * 3


def _end_process(*_row: object) -> None:
    raise KeyboardInterrupt
