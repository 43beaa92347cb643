"""The form of a block of the front page. It has the fields that the block's kind uses."""

from collections.abc import Mapping
from typing import Any, Self, cast
from uuid import UUID, uuid4

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import moment_field
from adminpanel.catalogue.product_pages import find_related_ids
from adminpanel.forms import text_input
from adminpanel.settings.forms import SettingForm
from catalogue import queries
from catalogue.front_page import CHOSEN, FRONT_BLOCKS, MAX_PRODUCTS, Block, BlockKind
from catalogue.menu_links import InvalidTarget, find_target, find_target_url, make_category_target
from catalogue.rules import normalize_sku
from shop_settings.brand import UPLOADS_OWNER

_ALWAYS = ("version", "key", "starts_at", "ends_at")


class FrontBlockForm(SettingForm[Block]):
    """The form of a block. A field that the kind does not use is left out."""

    kind, entity_class = FRONT_BLOCKS, Block
    position = 0  # of a block that the page does not have yet
    template = "adminpanel/catalogue/front_block.html"
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid4)
    title = forms.CharField(
        label=gettext_lazy("Title"),
        required=False,
        max_length=80,
        widget=text_input(),
        help_text=gettext_lazy("Leave empty for the default title."),
    )
    text = forms.CharField(
        label=gettext_lazy("Text"),
        required=False,
        max_length=2000,
        widget=forms.Textarea({"rows": 5}),
    )
    source = forms.ChoiceField(
        label=gettext_lazy("Content"),
        required=False,
        error_messages={"required": gettext_lazy("Choose the content")},
    )
    product_ids = forms.CharField(
        label=gettext_lazy("SKUs of the chosen products"),
        required=False,
        max_length=400,
        widget=text_input(autocapitalize="characters", spellcheck="false"),
        help_text=gettext_lazy("Separated by commas, in their order; four at most."),
    )
    link = forms.CharField(
        label=gettext_lazy("Button link"),
        required=False,
        max_length=300,
        widget=text_input(inputmode="url", spellcheck="false"),
        help_text=gettext_lazy("Such as /new/, or one that begins with https://."),
    )
    link_label = forms.CharField(
        label=gettext_lazy("Button text"), required=False, max_length=40, widget=text_input()
    )
    picture = forms.ChoiceField(label=gettext_lazy("Picture"), required=False)
    alt = forms.CharField(
        label=gettext_lazy("Alt text"), required=False, max_length=200, widget=text_input()
    )
    starts_at = moment_field(
        gettext_lazy("Shown from"), gettext_lazy("Leave empty to show it at once.")
    )
    ends_at = moment_field(gettext_lazy("Shown until"), gettext_lazy("Leave empty for no end."))

    def __init__(
        self, block: Block | None, block_kind: BlockKind, data: Mapping[str, Any] | None = None
    ) -> None:
        self.block_kind = block_kind
        super().__init__(block, data)
        for name in set(self.fields) - {*_ALWAYS, *block_kind.fields}:
            del self.fields[name]
        choices = {"source": self._list_sources, "picture": self._list_pictures}
        for name in choices.keys() & self.fields.keys():
            cast(forms.ChoiceField, self.fields[name]).choices = choices[name]()
        if "source" in self.fields:
            self.fields["source"].required = "" not in dict(block_kind.sources)
        for name, label in block_kind.labels.items():
            self.fields[name].label = label

    def build_setting(self, key: str) -> Block:
        if self.entity:
            return super().build_setting(key)
        return self.build(key=key, kind=self.block_kind.name, position=self.position)

    def renew(self, setting: Block) -> Self:
        return type(self)(setting, self.block_kind)

    @property
    def shared_names(self) -> list[str]:
        return [
            name for name in super().shared_names if name in (*_ALWAYS, *self.block_kind.fields)
        ]

    def _list_sources(self) -> list[tuple[str, Any]]:
        sources = list(self.block_kind.sources)
        if CHOSEN in dict(sources):
            nodes = (node for root in queries.list_root_categories() for node in root.subtree)
            sources += [(make_category_target(node.category_id), node.name) for node in nodes]
        present = self.entity.source if self.entity else ""
        # Otherwise the browser would choose the first source, and the next save would change the block.
        if present and present not in dict(sources):
            sources.append((present, _("None: its category was removed")))
        return sources

    def _list_pictures(self) -> list[tuple[str, Any]]:
        """Return the block's picture, the uploaded ones of the brand, and those of categories."""
        nodes = (node for root in queries.list_root_categories() for node in root.subtree)
        named = {node.picture: node.name for node in nodes if node.picture}
        uploads = queries.list_uploads(UPLOADS_OWNER)
        named |= {each.picture: each.file_name for each in uploads if each.state == "ready"}
        if self.entity and self.entity.picture:
            named.setdefault(self.entity.picture, _("Current picture"))
        return [("", _("No picture")), *named.items()]

    def get_initial_values(self, entity: Block) -> dict[str, Any]:
        values = super().get_initial_values(entity)
        if "product_ids" in values:
            found = queries.get_products(map(UUID, entity.product_ids), queries.leave_out)
            values["product_ids"] = ", ".join(each.variants[0].sku for each in found.values())
        if values.get("link"):
            values["link"] = find_target_url(entity.link) or entity.link
        return values

    def clean_product_ids(self) -> tuple[str, ...]:
        """Return the ids of the products with the typed SKUs."""
        skus = [
            sku
            for each in self.cleaned_data["product_ids"].split(",")
            if (sku := normalize_sku(each))
        ]
        ids, unknown = find_related_ids(skus)
        if unknown:
            raise forms.ValidationError(
                _("No product has the SKU %(sku)s.") % {"sku": ", ".join(unknown)}
            )
        if len(ids) > MAX_PRODUCTS:
            raise forms.ValidationError(_("Enter %(most)d SKUs at most") % {"most": MAX_PRODUCTS})
        return tuple(each.hex for each in ids)

    def clean_link(self) -> str:
        """Return the target of the typed address. Require that it leads somewhere."""
        link: str = self.cleaned_data["link"]
        if not link or link.startswith("#"):
            return link
        try:
            return find_target(link)
        except InvalidTarget as invalid:
            raise forms.ValidationError(str(invalid)) from invalid

    def clean(self) -> dict[str, Any]:
        """Require what belongs together: an end after the start, words on a button, words for a picture, chosen products."""
        clean = cast(dict[str, Any], super().clean())
        start, end = clean.get("starts_at"), clean.get("ends_at")
        if start and end and end <= start:
            self.add_error("ends_at", _("Enter a time after the first one"))
        if clean.get("picture") and not clean.get("alt"):
            self.add_error("alt", _("Enter the alt text"))
        if clean.get("link") and not clean.get("link_label"):
            self.add_error("link_label", _("Enter the button text"))
        if clean.get("source") == CHOSEN and clean.get("product_ids") == ():
            self.add_error("product_ids", _("Enter the SKU of a product"))
        return clean
