"""A file of categories: it goes out and creates them in another shop, parents first, each once."""

from uuid import uuid4

from catalogue.queries import get_category_tree_at_quorum
from tests.factories import make_category
from tests.spreadsheets.files import apply, csv_of, export, faults_of, go_on, read, rows_of

HEAD = ["category", "name", "parent", "description"]


def test_x538_categories_are_created_parents_first_and_once() -> None:
    top, kept = f"top-{uuid4().hex[:8]}", make_category("Kept")
    lines = [
        HEAD,
        [top, "Kitchen", "", "For **slow** mornings."],
        [f"{top}-a", "=Mugs", top, ""],
        [f"{top}-b", "Bowls", f"{top}-a", ""],
        [kept.slug, "Another name", "", ""],
        [f"{top}-c", "Lost", f"{top}-gone", ""],
        ["Not an address", "Bad", "", ""],
        [f"{top}-d", "", "", ""],
        [top, "Twice", "", ""],
    ]
    content = csv_of(lines)
    task = read(content, "categories")
    assert task.counts == {"new": 4, "unchanged": 1, "faulty": 3}
    assert [(line, column) for line, column, _text in faults_of(task)] == [
        (7, "category"),
        (8, "name"),
        (9, "category"),
    ]
    assert apply(task).results == {"done": 3, "refused": 1}
    tree = get_category_tree_at_quorum()
    bowls = tree.by_slug[f"{top}-b"]
    assert [each.name for each in bowls.path] == ["Kitchen", "=Mugs", "Bowls"]
    assert tree.by_slug[top].description == "For **slow** mornings."
    assert tree.by_slug[kept.slug].name == "Kept"
    refused = [row.reason for row in rows_of(task) if row.result == "refused"]
    assert refused == [f"There is no category with the address “{top}-gone”."]
    # Read again, it has nothing new but the one whose parent is missing; applied again, nothing changes.
    assert read(content, "categories").counts == {"new": 1, "unchanged": 4, "faulty": 3}
    go_on(task)
    assert get_category_tree_at_quorum().by_slug[top].category_id == tree.by_slug[top].category_id
    written = export("categories")
    assert read(written, "categories").counts == {"unchanged": len(tree.by_id)}
