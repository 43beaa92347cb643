"""Finds our categories for those of a foreign file: by address, by path, or by a name that only one has."""

from collections import Counter
from collections.abc import Iterable, Mapping
from uuid import UUID, uuid5

from catalogue.entities import CategoryNode
from catalogue.errors import CategoryChanged, CategoryRefused
from catalogue.operations import save_category
from catalogue.queries import get_category_tree_at_quorum
from spreadsheets.cells import join_list, split_list
from spreadsheets.errors import FileRefused
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.values import MAX_CATEGORIES, join_path, make_slug, split_path

# How many categories of a file are asked for, and how many answers are remembered. Products of further categories have none.
MAX_ANSWERS = 300
MAX_TEXT = 190  # an entry of the audit log can hold it


def _fold(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in names)


class CategoryFinder:
    """The categories of a file. `answers` have a path of ours for each text that staff were asked for, or "" to leave it out.

    Of answers that `are_remembered` from other files, those are dropped whose category is gone.
    """

    def __init__(self, answers: Mapping[str, str], *, are_remembered: bool = False) -> None:
        self._read_tree()
        self._answers = {
            text: path
            for text, path in answers.items()
            if not (are_remembered and path) or self.find(path)
        }
        self.used: dict[str, str] = {}  # the answers for texts of this file
        self.unknown: dict[str, None] = {}  # the texts to ask for

    def _read_tree(self) -> None:
        self._tree = get_category_tree_at_quorum()
        paths = {_fold(each.name for each in node.path): node for node in self._tree.nodes}
        counts = Counter(path[-1] for path in paths)
        names = {path[-1:]: node for path, node in paths.items() if counts[path[-1]] == 1}
        self._by_path = {**names, **paths}

    def find(self, text: str) -> CategoryNode | None:
        """Return the category with this address, path or name; None if there is none, or several have the name."""
        found = self._tree.by_slug.get(text) or self._tree.by_former_slug.get(text)
        return found or self._by_path.get(_fold(split_path(text)))

    def create(self, task_id: UUID) -> None:
        """Create the categories that do not exist, of the answers for texts that were resolved. A repeated call creates none twice.

        Raises FileRefused for one that cannot be, and CassandraUnavailable.
        """
        for path in filter(None, self.used.values()):
            names, parent = split_path(path), None
            for depth, name in enumerate([] if self.find(path) else names, start=1):
                key = _fold(names[:depth])
                if found := self._by_path.get(key):
                    parent = found
                    continue
                category_id = uuid5(task_id, join_path(key))
                slug = make_slug(name)
                if not slug or slug in self._tree.by_slug or slug in self._tree.by_former_slug:
                    slug = make_slug(f"{name[:80]} {category_id.hex[:8]}")
                parent_id = parent.category_id if parent else None
                try:
                    parent = save_category(
                        category_id=category_id, slug=slug, name=name, parent_id=parent_id
                    )
                except (CategoryRefused, CategoryChanged) as refused:
                    raise FileRefused(f"{path}: {refused}") from refused
                self._read_tree()

    def resolve(self, line: ConvertedLine) -> ConvertedLine:
        """Return the line with the addresses of our categories. Unknown ones are left out, and noted to be asked for."""
        cells = dict(line.cells)
        for slug in self._list_slugs([cells.pop("category", "")]):
            cells["category"] = slug
        if "other_categories" in cells:
            texts = split_list(cells["other_categories"], most=MAX_CATEGORIES)
            cells["other_categories"] = join_list(self._list_slugs(texts))
        return ConvertedLine(line.line, cells, line.faults)

    def _list_slugs(self, texts: Iterable[str]) -> Iterable[str]:
        slugs = dict[str, None]()
        for text in filter(None, texts):
            if not (found := self.find(text)):
                if (answer := self._answers.get(text)) is not None:
                    self.used[text] = answer
                    found = self.find(answer)
                elif len(text) <= MAX_TEXT and len(self.used) + len(self.unknown) < MAX_ANSWERS:
                    self.unknown[text] = None
            if found:
                slugs[found.slug] = None
        return slugs
