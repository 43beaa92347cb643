"""The form of a menu: its groups, each with a title and the lines of its links."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _

from adminpanel.forms import text_input
from adminpanel.settings.forms import SettingForm
from catalogue.menu_links import (
    InvalidTarget,
    find_target,
    get_own_label,
    get_target_url,
    list_linked_categories,
)
from shop_settings.menus import HEADER, MENUS, Menu, MenuGroup, MenuLink

# How many groups a menu has at most. The first one of the header has no title, so its links stand in the line.
MAX_GROUPS = {HEADER: 3}
MAX_LINKS = 10
_USUAL_GROUPS, _SPARE_LINES = 4, 2
_MOVE = re.compile(r"([0-9])-([0-9])-(-?[0-9])")


@dataclass(frozen=True)
class MenuLine:
    """The fields of a link, and what its grip and its buttons send: `move`, followed by the step."""

    label: BoundField
    address: BoundField
    grips: str
    move: str


class MenuForm(SettingForm[Menu]):
    """The form of a menu. A button or a drop sends `move`: a group, a line of it, and by how many lines it moves.

    The fields are named line_<group><link>0 for labels and …1 for addresses, because the audit log joins fields with such names.
    """

    kind, entity_class, key_field = MENUS, Menu, ""
    template = "adminpanel/settings/menu.html"

    def __init__(self, menu: Menu | None, key: str, data: Mapping[str, Any] | None = None) -> None:
        self.key = key
        self.group_numbers = range(MAX_GROUPS.get(key, _USUAL_GROUPS))
        self.lines_of: dict[int, list[str]] = {}
        super().__init__(menu, data)
        for group in self.group_numbers:
            self._add_fields(group, len(self._saved(group).links))
        self.move = _MOVE.fullmatch(str((data or {}).get("move", "")))

    def renew(self, setting: Menu) -> Self:
        return type(self)(setting, self.key)

    def _saved(self, group: int) -> MenuGroup:
        groups = self.entity.groups if self.entity else ()
        return groups[group] if group < len(groups) else MenuGroup("", ())

    def _add_fields(self, group: int, saved: int) -> None:
        if group or self.key != HEADER:
            self.fields[f"title_{group}"] = forms.CharField(
                label=_("Title"), required=False, max_length=40, widget=text_input()
            )
        sent = [
            line + 1
            for line in range(MAX_LINKS)
            if self.data and f"line_{group}{line:02}0" in self.data
        ]
        count = max(min(saved + _SPARE_LINES, MAX_LINKS), *sent, 0)
        self.lines_of[group] = [f"{group}{line:02}" for line in range(count)]
        for line in self.lines_of[group]:
            self.fields[f"line_{line}0"] = forms.CharField(
                label=_("Label"), required=False, max_length=60, widget=text_input()
            )
            self.fields[f"line_{line}1"] = forms.CharField(
                label=_("Address"),
                required=False,
                max_length=300,
                widget=text_input(list="addresses", inputmode="url", spellcheck="false"),
            )

    def get_initial_values(self, entity: Menu) -> dict[str, Any]:
        categories, values = dict(list_linked_categories(entity.targets)), dict[str, Any]()
        for number, group in enumerate(entity.groups):
            values[f"title_{number}"] = _(group.title) if group.title else ""
            for line, link in enumerate(group.links):
                values[f"line_{number}{line:02}0"] = link.label or get_own_label(
                    link.target, categories
                )
                values[f"line_{number}{line:02}1"] = (
                    get_target_url(link.target, categories) or link.target
                )
        return values

    def groups(self) -> list[tuple[BoundField | None, list[MenuLine]]]:
        """Return for each group its title's field, if it has one, and its lines."""
        return [
            (
                self[f"title_{group}"] if f"title_{group}" in self.fields else None,
                [
                    MenuLine(
                        *(self[f"line_{line}0"], self[f"line_{line}1"], f"links-{group}"),
                        f"{group}-{number}-",
                    )
                    for number, line in enumerate(lines)
                ],
            )
            for group, lines in self.lines_of.items()
        ]

    def clean(self) -> dict[str, Any]:
        """Replace each typed address by its target. Require a label where the target has none, and a title above links."""
        clean = cast(dict[str, Any], super().clean())
        for group, lines in self.lines_of.items():
            for line in lines:
                self._clean_line(clean, line)
            has_links = any(clean.get(f"line_{line}1") for line in lines)
            if has_links and clean.get(f"title_{group}") == "":
                self.add_error(f"title_{group}", _("Enter a title for these links"))
        return clean

    def _clean_line(self, clean: dict[str, Any], line: str) -> None:
        label, address = clean.get(f"line_{line}0", ""), clean.get(f"line_{line}1", "")
        if label and not address:
            self.add_error(f"line_{line}1", _("Enter an address, or empty the label"))
        if not address:
            return
        try:
            target = clean[f"line_{line}1"] = find_target(address)
        except InvalidTarget as invalid:
            self.add_error(f"line_{line}1", str(invalid))
            return
        own = get_own_label(target, dict(list_linked_categories([target])))
        if not (label or own):
            self.add_error(f"line_{line}0", _("Enter a label for this address"))
        # A label that is the target's own follows the target.
        clean[f"line_{line}0"] = "" if label == own else label

    def build_setting(self, key: str) -> Menu:
        """Return the menu that the valid form describes, with its moved line. Empty lines and groups are left out."""
        groups = []
        for group, lines in self.lines_of.items():
            links = tuple(
                MenuLink(self.cleaned_data[f"line_{line}1"], self.cleaned_data[f"line_{line}0"])
                for line in self._moved(group, lines)
                if self.cleaned_data[f"line_{line}1"]
            )
            if links or f"title_{group}" not in self.fields:
                groups.append(MenuGroup(self._title(group), links))
        return Menu(tuple(groups))

    def _title(self, group: int) -> str:
        typed: str = self.cleaned_data.get(f"title_{group}", "")
        saved = self._saved(group).title
        return saved if saved and typed == _(saved) else typed

    def _moved(self, group: int, lines: list[str]) -> list[str]:
        if self.move is None or int(self.move[1]) != group or int(self.move[2]) >= len(lines):
            return lines
        moved = list(lines)
        line = moved.pop(int(self.move[2]))
        moved.insert(max(0, int(self.move[2]) + int(self.move[3])), line)
        return moved

    def describe(self) -> dict[str, str]:
        """Return the links of each group in words, keyed by the group's title, with its number if an earlier group has this title."""
        described = dict[str, str]()
        for number, (field, lines) in enumerate(self.groups(), 1):
            links = [
                f"{line.label.value() or ''}: {line.address.value()}"
                for line in lines
                if line.address.value()
            ]
            title = str(field.value() if field else _("Top level"))
            if links:
                described[f"{title} ({number})" if title in described else title] = "\n".join(links)
        return described
