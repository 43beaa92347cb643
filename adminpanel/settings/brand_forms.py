"""The form of the shop's brand: its words, its two colours, its pictures, and its links."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from django import forms
from django.core.validators import URLValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.settings.forms import LinesForm
from catalogue.palette import LIGHT, WeakPair, find_nearest, find_weak_pairs, read_stylesheet
from catalogue.templatetags.pictures import picture
from shop_settings.brand import BRAND, Brand
from web.types import StrOrPromise

MAX_LINKS = 8
PICTURES = ("logo", "favicon", "hero")
_COLOUR = re.compile(r"#?([0-9a-f]{6})")


class ColourInput(forms.TextInput):
    """A field for a colour's digits. With a script, the browser's own choice of colours stands beside it."""

    template_name = "adminpanel/settings/_colour_input.html"


class ColourField(forms.CharField):
    """A field for a colour: six hexadecimal digits, or nothing."""

    def __init__(self, label: StrOrPromise, hint: StrOrPromise) -> None:
        widget = ColourInput(
            {"class": "input--short", "autocomplete": "off", "spellcheck": "false"}
        )
        super().__init__(label=label, help_text=hint, required=False, widget=widget)

    def clean(self, value: Any) -> str:
        """Return the digits without "#"."""
        typed = cast(str, super().clean(value)).lower()
        found = _COLOUR.fullmatch(typed)
        if typed and not found:
            raise forms.ValidationError(_("Enter six hexadecimal digits, such as #1f5c4a"))
        return found[1] if found else ""

    def prepare_value(self, value: Any) -> Any:
        """Write a saved colour as CSS does."""
        return f"#{value}" if _COLOUR.fullmatch(value or "") and value[0] != "#" else value


def _picture_field(label: StrOrPromise, hint: StrOrPromise) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        help_text=hint,
        required=False,
        widget=forms.RadioSelect,
        error_messages={"invalid_choice": gettext_lazy("Choose one of the pictures shown")},
    )


class BrandForm(LinesForm[Brand]):
    """The form of the brand. Its pictures are chosen among the uploaded ones."""

    kind, entity_class, key_field = BRAND, Brand, ""
    columns, max_lines = ("link_name", "link"), MAX_LINKS
    template = "adminpanel/settings/brand.html"
    name = forms.CharField(
        label=gettext_lazy("Name of the shop"),
        max_length=40,
        help_text=gettext_lazy("Shown on each page, in emails and on invoices."),
    )
    tagline = forms.CharField(
        label=gettext_lazy("Tagline"),
        max_length=120,
        help_text=gettext_lazy("What the shop sells. Search engines show it with the front page."),
    )
    accent = ColourField(
        gettext_lazy("Accent colour"),
        gettext_lazy("For links and buttons. Leave empty for wine red."),
    )
    ground = ColourField(
        gettext_lazy("Background colour"),
        gettext_lazy("A light colour. Dark mode uses a dark one of the same hue."),
    )
    logo = _picture_field(
        gettext_lazy("Logo"),
        gettext_lazy("Replaces the name at the top of each page, on light and dark backgrounds."),
    )
    favicon = _picture_field(
        gettext_lazy("Icon"), gettext_lazy("Shown in browser tabs. Square pictures work best.")
    )
    hero = _picture_field(
        gettext_lazy("Picture of the front page"), gettext_lazy("Landscape pictures work best.")
    )

    def __init__(
        self, brand: Brand, data: Mapping[str, Any] | None = None, pictures: Collection[str] = ()
    ) -> None:
        super().__init__(brand, data)
        self.colours = {"accent": brand.accent, "ground": brand.ground}
        shown = [
            (each, picture(each, _("Picture %(number)d") % {"number": number}, "thumb"))
            for number, each in enumerate(pictures, start=1)
        ]
        for name in PICTURES:
            cast(forms.ChoiceField, self.fields[name]).choices = [("", _("None")), *shown]
        for name, css_name in (("accent", "accent"), ("ground", "paper")):
            self.fields[name].widget.attrs["placeholder"] = f"#{read_stylesheet()[LIGHT][css_name]}"

    def list_lines(self, entity: Brand) -> list[list[Any]]:
        return [list(link) for link in entity.links]

    def make_field(self, column: str, number: int) -> forms.Field:
        line = {"number": number}
        if column == "link_name":
            return forms.CharField(
                label=_("Name, line %(number)d") % line,
                max_length=40,
                required=False,
                empty_value=cast(str, None),
            )
        complaint = _("Enter an address that begins with https://")
        return forms.CharField(
            label=_("Address, line %(number)d") % line,
            max_length=200,
            required=False,
            empty_value=cast(str, None),
            validators=[URLValidator(schemes=["https"], message=complaint)],
            widget=forms.TextInput({"inputmode": "url"}),
        )

    def clean(self) -> dict[str, Any]:
        """Require that all colours that follow from the two stand out from one another."""
        clean = super().clean()
        if {"accent", "ground"} <= clean.keys():
            self.colours = {"accent": clean["accent"], "ground": clean["ground"]}
            for name, complaint in explain_weak_colours(self.colours).items():
                self.add_error(name, complaint)
        return clean

    def get_values(self) -> dict[str, Any]:
        links = tuple((name, address) for name, address in self.list_typed_lines())
        return super().get_values() | {"links": links}

    def build_preview(self) -> Brand:
        """Return the brand as it is typed, also with colours that are refused. Other invalid values are the saved ones."""
        names = ("name", "tagline", *PICTURES)
        typed = {name: self.cleaned_data[name] for name in names if self._is_typed(name)}
        return replace(cast(Brand, self.entity), **typed | self.colours)

    def _is_typed(self, name: str) -> bool:
        return self.is_bound and name not in self.errors


def explain_weak_colours(colours: Mapping[str, str]) -> dict[str, str]:
    """Return a sentence for each of the two colours that is refused: which pair fails, and the nearest colour that passes."""
    return {
        name: f"{pair} {_suggest(name, colours)}".strip()
        for name, pair in _find_causes(colours).items()
    }


def _find_causes(colours: Mapping[str, str]) -> dict[str, WeakPair]:
    """Return the weakest pair that another accent would strengthen, and the weakest that another ground would."""
    found: dict[str, WeakPair] = {}
    for pair in find_weak_pairs(**colours):
        wanted = "accent" if pair.has_accent else "ground"
        found.setdefault(wanted if colours[wanted] else max(colours, key=colours.__getitem__), pair)
    return found


def _suggest(name: str, colours: Mapping[str, str]) -> str:
    def passes(colour: str) -> bool:
        return name not in _find_causes({**colours, name: colour})

    nearest = find_nearest(colours[name], passes)
    return (
        _("The nearest colour that passes is #%(colour)s.") % {"colour": nearest} if nearest else ""
    )
