"""The shop's base forms: their own error texts, and input without invisible characters."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Generic, TypeVar, cast

from django import forms
from django.core import validators
from django.forms.renderers import TemplatesSetting
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext_lazy, ngettext_lazy

from web.text import clean_text
from web.types import StrOrPromise

Entity = TypeVar("Entity")
_ENTER, _CHOOSE = gettext_lazy("Enter %(field)s"), gettext_lazy("Choose %(field)s")
_RELOAD = gettext_lazy("Reload the page and try again")
_A_FILE = gettext_lazy("Choose a file")
# The shop's error texts in place of Django's, keyed by field and by validator. They do not replace a form's own texts.
FIELD_MESSAGES: Mapping[type[forms.Field], Mapping[str, StrOrPromise]] = {
    forms.Field: {"required": _ENTER},
    forms.ChoiceField: {
        "required": _CHOOSE,
        "invalid_choice": gettext_lazy("Choose one of the options"),
    },
    forms.MultipleChoiceField: {
        "invalid_choice": gettext_lazy("Choose only from the options"),
        "invalid_list": gettext_lazy("Choose only from the options"),
    },
    forms.IntegerField: {"invalid": gettext_lazy("Enter a whole number")},
    forms.DecimalField: {"invalid": gettext_lazy("Enter a number, such as 12.50")},
    forms.DateField: {"invalid": gettext_lazy("Enter a date in the format 2026-11-21")},
    forms.UUIDField: {"required": _RELOAD, "invalid": _RELOAD},
    forms.FileField: {
        "required": _A_FILE,
        "invalid": _A_FILE,
        "missing": _A_FILE,
        "contradiction": gettext_lazy("Choose a file or remove the one that is there, not both"),
        "empty": gettext_lazy("The file is empty. Choose another one"),
        "max_length": gettext_lazy("Give the file a name of at most %(max)d characters"),
    },
    forms.EmailField: {
        "invalid": gettext_lazy("Enter an email address in the format name@example.com")
    },
}
VALIDATOR_MESSAGES: Mapping[type[Any], Mapping[str, StrOrPromise]] = {
    validators.MaxLengthValidator: {
        "max_length": ngettext_lazy(
            "Enter at most %(limit_value)d character",
            "Enter at most %(limit_value)d characters",
            "limit_value",
        )
    },
    validators.MinLengthValidator: {
        "min_length": ngettext_lazy(
            "Enter at least %(limit_value)d character",
            "Enter at least %(limit_value)d characters",
            "limit_value",
        )
    },
    validators.MinValueValidator: {"min_value": gettext_lazy("Enter %(limit_value)s or more")},
    validators.MaxValueValidator: {"max_value": gettext_lazy("Enter %(limit_value)s or less")},
    validators.DecimalValidator: {
        "max_digits": ngettext_lazy(
            "Enter at most %(max)d digit", "Enter at most %(max)d digits", "max"
        ),
        "max_decimal_places": ngettext_lazy(
            "Enter at most %(max)d decimal place", "Enter at most %(max)d decimal places", "max"
        ),
        "max_whole_digits": ngettext_lazy(
            "Enter at most %(max)d digit before the decimal point",
            "Enter at most %(max)d digits before the decimal point",
            "max",
        ),
    },
    validators.ProhibitNullCharactersValidator: {
        "null_characters_not_allowed": gettext_lazy("Enter it without unprintable characters")
    },
}


class Renderer(TemplatesSetting):
    field_template_name = "forms/field.html"


class Form(forms.Form):
    """A form whose fields carry the attributes that assistive technology and browsers need.

    Required fields are marked in words by the template, never by the browser's own validation (X59, X61).
    """

    required_css_class = ""
    use_required_attribute = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self.data = self._without_unseen(self.data)

    def full_clean(self) -> None:
        """Validate the form with the shop's error texts. By now the form has all its fields, even fields that `__init__` adds."""
        for name, field in self.fields.items():
            _use_own_words(field, name)
        super().full_clean()

    def keep_typed(self, **hidden: object) -> None:
        """Keep the typed values and set the hidden fields to new values, so that the form can be sent again."""
        self.data = dict(self.data.items()) | {name: str(value) for name, value in hidden.items()}

    def _without_unseen(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the input without control and direction characters (S78). Passwords are not changed."""
        widgets = {self.add_prefix(name): field.widget for name, field in self.fields.items()}

        def clean(name: str, value: Any) -> Any:
            widget = widgets.get(name)
            if not isinstance(value, str) or isinstance(widget, forms.PasswordInput):
                return value
            return clean_text(value, keep_lines=isinstance(widget, forms.Textarea))

        if isinstance(data, MultiValueDict):
            return MultiValueDict(
                {name: [clean(name, each) for each in values] for name, values in data.lists()}
            )
        return {name: clean(name, value) for name, value in data.items()}


def _add_article(label: str) -> str:
    """Return a label as it stands after "Enter": "a name", "an address", "the name of the shop", but "words", "your name"."""
    first = label.split(" ", 1)[0]
    text = label if first[1:2].isupper() else label[:1].lower() + label[1:]
    if re.match(r"(your|the|an?|one|what|how)\b", text):
        return text
    noun = re.split(r" (?:of|to|per|for|that|from|in|never|filter) |,", text, maxsplit=1)[0]
    if re.search(r"(?<![su])s$", noun):
        return text
    if " of the " in text:
        return f"the {text}"
    return f"{'an' if re.match('[aeio]|u(?!ni|s)', text) else 'a'} {text}"


def _use_own_words(field: forms.Field, name: str) -> None:
    """Replace a field's Django error texts by the shop's, but keep a form's own texts. Hidden fields get "Reload the page"."""
    said, is_hidden = field.error_messages, field.widget.is_hidden
    for of_class in type(field).__mro__:
        defaults = ChainMap(
            *(vars(base).get("default_error_messages", {}) for base in of_class.__mro__)
        )
        for code, words in FIELD_MESSAGES.get(of_class, {}).items():
            if said.get(code) == defaults.get(code):
                label = _add_article(str(field.label or name))
                words = words % {"field": label} if code == "required" else words
                said[code] = _RELOAD if is_hidden else words
    for validator in field.validators:
        for code, words in VALIDATOR_MESSAGES.get(type(validator), {}).items():
            # DecimalValidator has no `message`. A text that the form has given to a validator stays.
            if getattr(validator, "message", "") == getattr(type(validator), "message", ""):
                said.setdefault(code, _RELOAD if is_hidden else words)


class EntityForm(Form, Generic[Entity]):
    """The form that edits an entity, a dataclass. A form field shows and sets the entity's field of the same name.

    `entity` is None for a new entity. A subclass overrides `get_initial_values` and `get_values` for fields whose name or shape
    differs. `OWN_FIELDS` are form fields that mean something else than the entity's fields of the same name.
    """

    OWN_FIELDS: frozenset[str] = frozenset()
    entity_class: type[Entity]

    def __init__(
        self, entity: Entity | None, data: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        self.entity = entity
        initial = {} if entity is None else self.get_initial_values(entity)
        super().__init__(data, initial=initial | options.pop("initial", {}), **options)

    @property
    def shared_names(self) -> list[str]:
        """The names of the fields that the form shares with the entity."""
        names = {field.name for field in fields(cast(Any, self.entity_class))} - self.OWN_FIELDS
        return [name for name in self.base_fields if name in names]

    def get_initial_values(self, entity: Entity) -> dict[str, Any]:
        """Return the initial values, keyed by form field."""
        return {name: getattr(entity, name) for name in self.shared_names}

    def get_values(self) -> dict[str, Any]:
        """Return the values of a valid form, keyed by the entity's field."""
        return {name: self.cleaned_data[name] for name in self.shared_names}

    def build(self, **others: Any) -> Entity:
        """Return the entity with the values of a valid form. `others` are the values of fields that the form lacks."""
        values = self.get_values() | others
        if self.entity is None:
            return self.entity_class(**values)
        return cast(Entity, replace(cast(Any, self.entity), **values))


class FilterForm(Form):
    """The form that filters a list. An invalid value is an error beside its field, and the list is empty (X277).

    `PLACES` are fields that choose a page of the list or its sort order. Their invalid values are ignored.
    """

    PLACES: frozenset[str] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether a filter has an invalid value. A view must not list, count or change any rows by a refused form."""
        return bool(self.errors.keys() - self.PLACES)
