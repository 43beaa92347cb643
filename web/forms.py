"""The shop's base form: errors in a summary and beside their field, and what was typed is kept."""

from typing import Any

from django import forms
from django.forms.renderers import TemplatesSetting
from django.utils.translation import gettext as _


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
        for name, field in self.fields.items():
            # Django's own "This field is required." does not say what to do; a form's own words stay.
            if (
                field.error_messages.get("required")
                == forms.Field.default_error_messages["required"]
            ):
                field.error_messages["required"] = _("Enter %(field)s") % {
                    "field": str(field.label or name).lower()
                }
