"""The forms that start an import or an export."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import choice_errors
from spreadsheets.files import FORMATS, MAX_FILE_BYTES
from spreadsheets.layouts import Layout
from web.forms import Form

FORMAT_LABELS = {
    "csv": gettext_lazy("CSV, for any program"),
    "xlsx": gettext_lazy("XLSX, for Excel and others"),
}
assert FORMAT_LABELS.keys() == set(FORMATS)


class _LayoutForm(Form):
    task_id = forms.UUIDField(widget=forms.HiddenInput)
    layout = forms.ChoiceField(
        label=gettext_lazy("Type"), error_messages=choice_errors(gettext_lazy("Choose one"))
    )

    def __init__(self, layouts: Iterable[Layout], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast(forms.ChoiceField, self.fields["layout"])
        field.choices = [(each.name, each.label) for each in layouts]


class ImportForm(_LayoutForm):
    """The form of an import: the kind of table (layout), and the file."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "CSV or XLSX, with column names in the first line. Files of other shops are converted."
        ),
        widget=forms.FileInput({"accept": ".csv,.tsv,.txt,.xlsx"}),
        error_messages={
            "required": gettext_lazy("Choose a file"),
            "empty": gettext_lazy("The file is empty"),
        },
    )

    def clean_file(self) -> UploadedFile[Any]:
        """Return the uploaded file. Raises ValidationError if it is too large."""
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            megabytes = MAX_FILE_BYTES // (1024 * 1024)
            raise forms.ValidationError(
                _("The file is larger than %(most)d MB. Split it.") % {"most": megabytes}
            )
        return file


class ExportForm(_LayoutForm):
    """The form of an export: the kind of table (layout), and the file format."""

    format = forms.ChoiceField(
        label=gettext_lazy("Format"), choices=list(FORMAT_LABELS.items()), initial="csv"
    )
