"""The form of the staff's search."""

from django import forms
from django.utils.translation import gettext_lazy

from web.forms import Form


class SearchForm(Form):
    """What staff look for, whatever it is."""

    q = forms.CharField(label=gettext_lazy("Search"), required=False, max_length=100)
