"""Finds our categories for those of a foreign file: by address, by path, or by a name that only one has."""

from collections.abc import Iterable, Mapping
from uuid import UUID, uuid5

from catalogue.entities import CategoryNode, CategoryTree
from catalogue.errors import CategoryChanged, CategoryRefused
from catalogue.operations import save_category
from catalogue.queries import get_category_tree_at_quorum
from spreadsheets.cells import join_list, split_list
from spreadsheets.entities import Fault
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.values import MAX_CATEGORIES, join_path, make_slug, split_path

# How many categories of a file are asked for at a time, and in all.
MAX_ASKED = 100
MAX_ANSWERS = 500
MAX_TEXT = 200


def _fold(text: str) -> tuple[str, ...]:
    return tuple(part.casefold() for part in split_path(text))


class CategoryFinder:
    """The categories of a file. `answers` have for each text that staff were asked for a path of ours, or "" to leave it out."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = answers
        self._refused: dict[str, str] = {}
        # The texts to ask for.
        self.unknown: dict[str, None] = {}
        self._most = min(MAX_ASKED, MAX_ANSWERS - len(answers))
        self._read(get_category_tree_at_quorum())

    def _read(self, tree: CategoryTree) -> None:
        self._tree = tree
        self._by_path: dict[tuple[str, ...], CategoryNode] = {}
        names: dict[str, list[CategoryNode]] = {}
        for node in tree.nodes:
            self._by_path.setdefault(tuple(each.name.casefold() for each in node.path), node)
            names.setdefault(node.name.casefold(), []).append(node)
        self._by_name = {name: nodes[0] for name, nodes in names.items() if len(nodes) == 1}

    def keep_known(self, answers: Mapping[str, str]) -> dict[str, str]:
        """Return the answers whose category exists, and those that leave one out."""
        return {text: path for text, path in answers.items() if not path or self._find(path)}

    def create(self, task_id: UUID) -> None:
        """Create the categories of the answers that do not exist. A repeated call creates none twice. Raises CassandraUnavailable."""
        for text, path in self._answers.items():
            if not path or self._find(path):
                continue
            try:
                self._create_path(task_id, split_path(path))
            except (CategoryRefused, CategoryChanged) as refused:
                self._refused[text] = str(refused)

    def _create_path(self, task_id: UUID, names: list[str]) -> None:
        parent: CategoryNode | None = None
        for depth in range(1, len(names) + 1):
            path = _fold(join_path(names[:depth]))
            if found := self._by_path.get(path):
                parent = found
                continue
            name, category_id = names[depth - 1], uuid5(task_id, join_path(path))
            slug = make_slug(name) or category_id.hex
            if slug in self._tree.by_slug or slug in self._tree.by_former_slug:
                slug = make_slug(f"{parent.slug if parent else ''} {name} {category_id.hex[:6]}")
            parent = save_category(
                category_id=category_id,
                slug=slug,
                name=name,
                parent_id=parent.category_id if parent else None,
            )
            self._read(get_category_tree_at_quorum())

    def _find(self, text: str) -> CategoryNode | None:
        return (
            self._tree.by_slug.get(text.strip())
            or self._tree.by_former_slug.get(text.strip())
            or self._by_path.get(path := _fold(text))
            or (self._by_name.get(path[0]) if len(path) == 1 else None)
        )

    def resolve(self, line: ConvertedLine) -> ConvertedLine:
        """Return the line with the addresses of our categories. Unknown ones are left out, and noted to be asked for."""
        cells, faults = dict(line.cells), []
        for name in ("category", "other_categories"):
            text = cells.pop(name, "")
            texts = split_list(text, most=MAX_CATEGORIES) if name == "other_categories" else [text]
            slugs = dict.fromkeys(slug for text in texts if text and (slug := self._slug_of(text)))
            faults += [
                Fault(line.line, name, self._refused[text])
                for text in texts
                if text in self._refused
            ]
            if slugs or (name in line.cells and name == "other_categories"):
                cells[name] = join_list(slugs)
        return ConvertedLine(line.line, cells, (*line.faults, *faults))

    def _slug_of(self, text: str) -> str:
        found = self._find(text)
        if found is None and text in self._answers:
            found = self._find(self._answers[text])
        elif found is None and len(text) <= MAX_TEXT and len(self.unknown) < self._most:
            self.unknown[text] = None
        return found.slug if found else ""


def list_paths(tree: CategoryTree) -> Iterable[str]:
    """Return the paths of all categories, as answers name them."""
    return (join_path(each.name for each in node.path) for node in tree.nodes)
