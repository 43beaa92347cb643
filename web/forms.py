"""The shop's base form: errors in a summary and beside their field, and what was typed is kept, but for what nobody sees."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms.renderers import TemplatesSetting
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from web.text import clean_text


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
        for name, field in self.fields.items():
            # Django's own "This field is required." does not say what to do; a form's own words stay.
            if (
                field.error_messages.get("required")
                == forms.Field.default_error_messages["required"]
            ):
                field.error_messages["required"] = _("Enter %(field)s") % {
                    "field": str(field.label or name).lower()
                }

    def _without_unseen(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what was sent without control and direction characters (S78); passwords are as they were typed."""
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


class FilterForm(Form):
    """A form that narrows a list. What it cannot read is said beside its field, and until then it finds nothing (X277).

    `PLACES` are fields that choose a place in the list or its order, and narrow nothing: what they cannot read is left out.
    """

    PLACES: frozenset[str] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether a filter cannot be read. Never list, count or change anything by such a form."""
        return bool(self.errors.keys() - self.PLACES)
