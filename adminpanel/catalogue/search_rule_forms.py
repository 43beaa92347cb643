"""The forms of rules for searches, one for each kind."""

from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from django import forms
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.product_pages import find_related_ids
from adminpanel.forms import text_input
from adminpanel.settings.forms import SettingForm
from catalogue import queries
from catalogue import search_rules as rules
from catalogue.rules import normalize_sku
from catalogue.search_rules import MAX_TEXT_LENGTH, SEARCH_RULES, SearchRule, split_phrases
from web.types import StrOrPromise

_SEARCHES = (
    gettext_lazy("Searches"),
    gettext_lazy("Separated by commas. Capitals and accents don’t matter."),
)
# Pages with an address for each object, and the read that says whether it is there.
_OBJECTS = {"category": queries.find_category_by_slug, "product": queries.find_product_id_by_slug}


def _text(label: StrOrPromise, hint: StrOrPromise) -> forms.CharField:
    widget = text_input(spellcheck="false")
    return forms.CharField(label=label, help_text=hint, max_length=MAX_TEXT_LENGTH, widget=widget)


class SearchRuleForm(SettingForm[SearchRule]):
    """The base of the forms of rules. `rule_kind` is the rules' `kind`."""

    kind, entity_class = SEARCH_RULES, SearchRule
    template = "adminpanel/catalogue/search_rule.html"
    rule_kind: str
    title: StrOrPromise
    least_phrases = 1
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid4)

    def clean_words(self) -> str:
        """Require words, several of two-way synonyms."""
        return _require_phrases(self.cleaned_data["words"], self.least_phrases)

    def get_values(self) -> dict[str, Any]:
        return super().get_values() | {"kind": self.rule_kind}


class SynonymForm(SearchRuleForm):
    """The form of two-way synonyms."""

    rule_kind, title = rules.TWO_WAY, gettext_lazy("Synonyms")
    least_phrases = 2
    words = _text(
        gettext_lazy("Words that mean the same"),
        gettext_lazy("Separated by commas, such as “sofa, couch, settee”."),
    )


class OneWaySynonymForm(SearchRuleForm):
    """The form of one-way synonyms."""

    rule_kind, title = rules.ONE_WAY, gettext_lazy("One-way synonyms")
    words = _text(
        gettext_lazy("Searched words"), gettext_lazy("Separated by commas, such as “phone”.")
    )
    target = _text(
        gettext_lazy("Words to find as well"),
        gettext_lazy("Such as “smartphone, mobile”. A search for these doesn’t find the others."),
    )

    def clean_target(self) -> str:
        return _require_phrases(self.cleaned_data["target"], 1)


class RedirectForm(SearchRuleForm):
    """The form of a redirect. It leads to a public page of the shop that is there."""

    rule_kind, title = rules.REDIRECT, gettext_lazy("Redirect")
    words = _text(*_SEARCHES)
    target = _text(gettext_lazy("Page"), gettext_lazy("Its path, such as /deals/."))

    def clean_target(self) -> str:
        path = str(self.cleaned_data["target"])
        try:
            match = resolve(urlsplit(path).path) if rules.is_path(path) else None
        except Resolver404:
            match = None
        if match and getattr(match.func, "access", "") == "public":
            find = _OBJECTS.get(match.view_name)
            if find is None or find(match.kwargs["slug"]):
                return path
        raise forms.ValidationError(_("Enter the path of a page of this shop, such as /deals/"))


class PinnedForm(SearchRuleForm):
    """The form of pinned results."""

    rule_kind, title = rules.PINNED, gettext_lazy("Pinned results")
    words = _text(*_SEARCHES)
    target = _text(
        gettext_lazy("SKUs of the products"),
        gettext_lazy("Up to eight, separated by commas. The first is shown at the top."),
    )

    def clean_target(self) -> str:
        """Return the SKUs in their usual form. Refuse unknown ones, too many, or two of one product."""
        typed = str(self.cleaned_data["target"]).split(",")
        skus = list(dict.fromkeys(normalize_sku(sku) for sku in typed if sku.strip()))
        if not 0 < len(skus) <= rules.MAX_PINNED:
            raise forms.ValidationError(
                _("Enter one to %(most)d SKUs") % {"most": rules.MAX_PINNED}
            )
        ids, unknown = find_related_ids(skus)
        if unknown:
            raise forms.ValidationError(_("No product has the SKU %(sku)s") % {"sku": unknown[0]})
        if len(ids) < len(skus):
            raise forms.ValidationError(_("Enter only one SKU of each product"))
        return ", ".join(skus)


class BlockedForm(SearchRuleForm):
    """The form of words that the search field never suggests."""

    rule_kind, title = rules.BLOCKED, gettext_lazy("Never suggested")
    words = _text(
        gettext_lazy("Words never to suggest"),
        gettext_lazy(
            "Separated by commas. A popular search with one of them isn’t suggested while shoppers type."
        ),
    )


FORMS = {
    form.rule_kind: form
    for form in (SynonymForm, OneWaySynonymForm, RedirectForm, PinnedForm, BlockedForm)
}


def _require_phrases(text: str, least: int) -> str:
    if len(split_phrases(text)) < least:
        raise forms.ValidationError(
            _("Enter words") if least == 1 else _("Enter at least two words with a comma between")
        )
    return text
