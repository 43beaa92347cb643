"""The form that says what becomes of the columns and categories of a file of another shop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext as _

from adminpanel.forms import text_input
from catalogue.operations import MAX_DEPTH
from spreadsheets.foreign.categories import MAX_TEXT
from spreadsheets.foreign.entities import AUTOMATIC, SKIPPED
from spreadsheets.foreign.mapping import EXTRA_TARGETS, MULTIPLE_TARGETS, list_targets
from spreadsheets.foreign.presets import PRESETS
from spreadsheets.foreign.questions import Question
from spreadsheets.foreign.values import join_path, split_path
from spreadsheets.layouts import Layout
from web.forms import Form
from web.types import StrOrPromise

# There are more of these than an entry of the audit log can hold; the view notes what was chosen.
MAPPING_FIELD = re.compile(r"(?:column|category)-[0-9]{1,4}")


@dataclass(frozen=True)
class MappedColumn:
    """A column of the file, with values of its first lines, and the field with its target."""

    name: str
    samples: Sequence[str]
    field: BoundField


class MappingForm(Form):
    """The form of a question: a target for each column, and a category of ours for each unknown one."""

    version = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, layout: Layout, question: Question, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._layout, self._question = layout, question
        self._columns = {f"column-{at}": name for at, name in enumerate(question.samples)}
        self._categories = {f"category-{at}": text for at, text in enumerate(question.unknown)}
        for field, name in self._columns.items():
            self.fields[field] = forms.ChoiceField(
                label=name,
                required=False,
                choices=self._list_choices(name),
                initial=question.targets[name],
            )
        for field, text in self._categories.items():
            self.fields[field] = forms.CharField(
                label=text,
                required=False,
                max_length=MAX_TEXT,
                initial=join_path(split_path(text)[:MAX_DEPTH]),
                widget=text_input(list="categories"),
            )

    def _list_choices(self, column: str) -> list[tuple[str, StrOrPromise]]:
        preset = PRESETS.get(self._question.preset)
        choices: list[tuple[str, StrOrPromise]] = [(SKIPPED, _("Skip"))]
        if preset and self._question.targets[column] == AUTOMATIC:
            choices.append((AUTOMATIC, _("As in %(shop)s") % {"shop": preset.label}))
        targets = list_targets(self._layout.name)
        return [*choices, *((name, EXTRA_TARGETS.get(name, name)) for name in targets)]

    def columns(self) -> list[MappedColumn]:
        """Return the columns of the file with their fields."""
        samples = self._question.samples
        return [
            MappedColumn(name, samples[name], self[field]) for field, name in self._columns.items()
        ]

    def categories(self) -> list[BoundField]:
        """Return the fields of the unknown categories."""
        return [self[field] for field in self._categories]

    def clean(self) -> dict[str, Any]:
        """Refuse a target that two columns have, missing ones, and paths of too many categories."""
        clean = cast(dict[str, Any], super().clean())
        chosen: dict[str, str] = {}
        for field, name in self._columns.items():
            target = clean.get(field, SKIPPED)
            if target in chosen and target not in MULTIPLE_TARGETS:
                said = _("“%(column)s” already becomes %(target)s")
                self.add_error(field, said % {"column": chosen[target], "target": target})
            chosen.setdefault(target, name)
        for name in self._list_missing(set(chosen)):
            self.add_error(None, _("Choose a column for %(target)s") % {"target": name})
        for field in self._categories:
            if clean.get(field, "").count(">") >= MAX_DEPTH:
                said = _("Enter at most %(most)d levels")
                self.add_error(field, said % {"most": MAX_DEPTH})
        return clean

    def _list_missing(self, chosen: set[str]) -> list[str]:
        if self._question.preset:
            return []
        if self._layout.name == "products":
            return [] if chosen & {"product", "name"} else ["name"]
        return [name for name in self._layout.required if name not in chosen]

    @property
    def targets(self) -> dict[str, str]:
        """The chosen target of each column."""
        return {name: self.cleaned_data[field] for field, name in self._columns.items()}

    @property
    def chosen_categories(self) -> dict[str, str]:
        """The typed path for each unknown category of the file, "" to leave it out."""
        return {text: self.cleaned_data[field] for field, text in self._categories.items()}
