"""The form that says what becomes of the columns and categories of a file of another shop."""

from __future__ import annotations

import re
from typing import Any, cast

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext as _

from adminpanel.forms import text_input
from catalogue.operations import MAX_DEPTH
from spreadsheets.files import normalize_name
from spreadsheets.foreign.categories import MAX_TEXT
from spreadsheets.foreign.entities import AUTOMATIC, SKIPPED
from spreadsheets.foreign.mapping import EXTRA_TARGETS, MULTIPLE_TARGETS, list_targets
from spreadsheets.foreign.presets import PRESETS, UNKNOWN
from spreadsheets.foreign.questions import Question
from spreadsheets.foreign.values import join_path, split_path
from spreadsheets.layouts import Layout
from web.forms import Form

# There are more of these than an entry of the audit log can hold; the view notes what was chosen.
MAPPING_FIELD = re.compile(r"(?:column|category)-[0-9]{1,4}")


class MappingForm(Form):
    """The form of a question: a target for each column, and a category of ours for each unknown one."""

    version = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, layout: Layout, question: Question, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._layout, self._question = layout, question
        preset = PRESETS.get(question.preset, UNKNOWN)
        automatic = (AUTOMATIC, _("As in %(shop)s") % {"shop": preset.label})
        targets = [(name, EXTRA_TARGETS.get(name, name)) for name in list_targets(layout.name)]
        for at, name in enumerate(question.samples):
            is_automatic = preset.targets.get(normalize_name(name)) == AUTOMATIC
            self.fields[f"column-{at}"] = forms.ChoiceField(
                label=name,
                required=False,
                choices=[(SKIPPED, _("Skip")), *[automatic] * is_automatic, *targets],
                initial=question.targets[name],
            )
        for at, text in enumerate(question.unknown):
            self.fields[f"category-{at}"] = forms.CharField(
                label=text,
                required=False,
                max_length=MAX_TEXT,
                initial=join_path(list(filter(None, split_path(text)))[:MAX_DEPTH]),
                widget=text_input(list="categories"),
            )

    def columns(self) -> list[tuple[BoundField, list[str]]]:
        """Return the fields of the file's columns, each with the column's first values."""
        samples = self._question.samples.values()
        return [(self[f"column-{at}"], list(texts)) for at, texts in enumerate(samples)]

    def categories(self) -> list[BoundField]:
        """Return the fields of the unknown categories."""
        return [self[f"category-{at}"] for at in range(len(self._question.unknown))]

    def clean(self) -> dict[str, Any]:
        """Refuse a target that two columns have, missing ones, and paths of too many categories."""
        clean = cast(dict[str, Any], super().clean())
        chosen: dict[str, str] = {}
        for at, name in enumerate(self._question.samples):
            target = clean.get(f"column-{at}", SKIPPED)
            if target in chosen and target not in MULTIPLE_TARGETS:
                said = _("“%(column)s” already becomes %(target)s")
                self.add_error(f"column-{at}", said % {"column": chosen[target], "target": target})
            chosen.setdefault(target, name)
        required = {"products": ("name",), "stock": ("sku", "units")}
        for name in required.get(self._layout.name, self._layout.required):
            is_given = name in chosen or (name == "name" and "product" in chosen)
            if not (is_given or self._question.preset):
                self.add_error(None, _("Choose a column for %(target)s") % {"target": name})
        for field in self.categories():
            names = split_path(typed) if (typed := clean.get(field.name, "")) else []
            if len(names) > MAX_DEPTH or not all(names):
                said = _("Enter at most %(most)d names, separated by >")
                self.add_error(field.name, said % {"most": MAX_DEPTH})
        return clean

    @property
    def targets(self) -> dict[str, str]:
        """The chosen target of each column."""
        names = self._question.samples
        return {name: self.cleaned_data[f"column-{at}"] for at, name in enumerate(names)}

    @property
    def chosen_categories(self) -> dict[str, str]:
        """The typed path for each unknown category of the file, "" to leave it out."""
        texts = self._question.unknown
        return {text: self.cleaned_data[f"category-{at}"] for at, text in enumerate(texts)}
