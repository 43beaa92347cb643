"""The staff's forms about products: what is listed, what a product is, one of its variants, its options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from catalogue import rules
from catalogue.columns import COLUMNS, END, LINES, MOMENT, NUMBER, YES_NO
from catalogue.entities import CategoryNode, Product, ProductPicture, Variant
from catalogue.prices import PricePoint, price_in_force
from catalogue.queries import get_category_tree_at_quorum
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import (
    STAFF_DEEPEST,
    STAFF_PAGE_LENGTH,
    STAFF_SORTS,
    StaffFilters,
    list_product_ids_for_staff,
)
from pricing.tax import TAX_CLASSES
from spreadsheets.errors import CellRefused
from spreadsheets.typed_values import (
    format_details,
    format_price,
    format_shop_time,
    format_tags,
    format_whole_number,
    keep_moment,
    parse_barcode,
    parse_details,
    parse_end,
    parse_moment,
    parse_option_values,
    parse_price,
    parse_tags,
    parse_whole_number,
)
from web.forms import FilterForm, Form

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# Whose pages these are.
CATALOGUE_STAFF = ("catalogue",)
Value = TypeVar("Value")
VARIANTS_A_PAGE = 25
STATUS_LABELS = {
    "draft": gettext_lazy("Draft"),
    "active": gettext_lazy("Active"),
    "archived": gettext_lazy("Archived"),
}
AVAILABILITY_LABELS = {
    "in": gettext_lazy("In stock"),
    "few": gettext_lazy("Few left"),
    "ahead": gettext_lazy("Can be ordered ahead"),
    "out": gettext_lazy("Sold out"),
}
SORT_LABELS = {
    "changed": gettext_lazy("Last changed first"),
    "newest": gettext_lazy("Newest first"),
    "name": gettext_lazy("Name"),
    "price": gettext_lazy("Price: low to high"),
    "price-down": gettext_lazy("Price: high to low"),
}
TAX_LABELS = {
    "standard": gettext_lazy("Standard rate"),
    "reduced": gettext_lazy("Reduced rate"),
}
COLUMNS_BY_NAME = {each.name: each for each in COLUMNS}
FIELD_COLUMNS = tuple(each.name for each in COLUMNS if each.form)
SECTIONS = {
    section: [each.name for each in COLUMNS if each.form and each.form.section == section]
    for section in ("sale", "size", "safety", "search")
}
assert SORT_LABELS.keys() == STAFF_SORTS.keys()
assert TAX_LABELS.keys() == set(TAX_CLASSES)


def category_choices() -> list[tuple[str, str]]:
    """The tree of categories as a quorum knows it, each under its parent. Raises CassandraUnavailable."""
    found = []

    def add(nodes: Iterable[CategoryNode]) -> None:
        for node in nodes:
            path = " › ".join(each.name for each in (*node.ancestors, node))
            found.append((str(node.category_id), path))
            add(node.children)

    add(get_category_tree_at_quorum().roots)
    return found


# ---- Which products


@dataclass(frozen=True)
class ProductSelection:
    """Which products are listed, each value usable as it is."""

    query: str
    filters: StaffFilters
    sort: str
    page: int

    @property
    def offset(self) -> int:
        return (self.page - 1) * STAFF_PAGE_LENGTH


class ProductFilterForm(FilterForm):
    """Which products are listed."""

    PLACES = frozenset({"sort", "page"})

    q = forms.CharField(
        label=gettext_lazy("Name, SKU or brand"),
        required=False,
        max_length=100,
        widget=forms.TextInput({"type": "search", "autocomplete": "off"}),
    )
    status = forms.ChoiceField(
        label=gettext_lazy("Status"),
        required=False,
        choices=[("", gettext_lazy("Any")), *STATUS_LABELS.items()],
    )
    category = forms.ChoiceField(label=gettext_lazy("Category"), required=False)
    stock = forms.ChoiceField(
        label=gettext_lazy("Stock"),
        required=False,
        choices=[("", gettext_lazy("Any")), *AVAILABILITY_LABELS.items()],
    )
    brand = forms.CharField(label=gettext_lazy("Brand"), required=False, max_length=100)
    sort = forms.ChoiceField(
        label=gettext_lazy("Sort by"), required=False, choices=list(SORT_LABELS.items())
    )
    reduced = forms.BooleanField(label=gettext_lazy("On sale"), required=False)
    bare = forms.BooleanField(label=gettext_lazy("Without a picture"), required=False)
    page = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=STAFF_DEEPEST // STAFF_PAGE_LENGTH,
        widget=forms.HiddenInput,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="filter-%s", **kwargs)
        category = cast(forms.ChoiceField, self.fields["category"])
        category.choices = [("", _("Any")), *category_choices()]

    def parse_selection(self) -> ProductSelection:
        """Return what is to be listed, unless the form `is_refused`."""
        self.is_valid()
        clean = self.cleaned_data
        category = clean.get("category")
        return ProductSelection(
            clean.get("q", ""),
            StaffFilters(
                status=clean.get("status", ""),
                category_id=UUID(category) if category else None,
                brand=clean.get("brand", ""),
                availability=clean.get("stock", ""),
                without_picture=clean.get("bare", False),
                reduced=clean.get("reduced", False),
            ),
            clean.get("sort") or "changed",
            clean.get("page") or 1,
        )

    def list_product_ids(self) -> tuple[list[UUID], int]:
        """Return all products that are listed, STAFF_DEEPEST at most, and how many there are; none if the form `is_refused`."""
        if self.is_refused:
            return [], 0
        selection = self.parse_selection()
        try:
            return list_product_ids_for_staff(selection.query, selection.filters)
        except SearchIndexMissing:
            return [], 0


# ---- What a product is


def _short(**attributes: str) -> forms.TextInput:
    return forms.TextInput({"class": "input--short", "autocomplete": "off", **attributes})


class TypedField(forms.Field):
    """A field whose text `parse` reads as a file's cell is read, and `show` writes (spreadsheets.typed_values)."""

    def __init__(
        self,
        label: StrOrPromise,
        parse: Callable[[str], Any],
        show: Callable[[Any], str],
        widget: forms.Widget,
        hint: StrOrPromise = "",
        *,
        required: bool = False,
        missing: StrOrPromise = "",
    ) -> None:
        said = {"required": missing} if missing else None
        super().__init__(
            label=label, required=required, help_text=hint, widget=widget, error_messages=said
        )
        self.parse, self.show = parse, show

    def prepare_value(self, value: Any) -> Any:
        """Return what was typed, or a value as text."""
        return value if value is None or isinstance(value, str) else self.show(value)

    def to_python(self, value: Any) -> Any:
        """Return what the text says; None for no text. Raises ValidationError."""
        text = str(value or "").strip()
        if not text:
            return None
        return refuse_in_form(self.parse, text)


def refuse_in_form(parse: Callable[..., Value], *typed: Any) -> Value:
    """Return what `parse` makes of what was typed. Raises ValidationError where that raises CellRefused."""
    try:
        return parse(*typed)
    except CellRefused as refused:
        raise forms.ValidationError(str(refused)) from refused


def _number(label: StrOrPromise, most: int, hint: StrOrPromise = "") -> TypedField:
    return TypedField(
        label,
        lambda text: parse_whole_number(text, most),
        format_whole_number,
        _short(inputmode="numeric"),
        hint,
    )


def _price(label: StrOrPromise, *, required: bool, hint: StrOrPromise = "") -> TypedField:
    return TypedField(
        label,
        lambda text: parse_price(text).amount,
        str,
        _short(inputmode="decimal"),
        hint,
        required=required,
        missing=gettext_lazy("Enter a price"),
    )


def _moment(
    label: StrOrPromise,
    hint: StrOrPromise = "",
    *,
    parse: Callable[[str], datetime | None] = parse_moment,
    required: bool = False,
) -> TypedField:
    """A moment in the shop's time; its clean value is UTC."""
    return TypedField(
        label,
        parse,
        format_shop_time,
        # Not a DateTimeInput, which drops fractions of a second.
        forms.TextInput({"type": "datetime-local"}),
        hint,
        required=required,
        missing=gettext_lazy("Enter a day and a time"),
    )


def make_column_field(name: str) -> forms.Field:
    """Return the field of a column of a product, as catalogue.columns declares it."""
    column = COLUMNS_BY_NAME[name]
    declared = column.form
    assert declared
    label, hint = declared.label, declared.hint
    if column.kind is NUMBER:
        return _number(label, column.most, hint)
    if column.kind in (MOMENT, END):
        return _moment(label, hint, parse=parse_end if column.kind is END else parse_moment)
    if column.kind is YES_NO:
        return forms.BooleanField(label=label, required=False)
    return forms.CharField(
        label=label,
        required=declared.is_required,
        max_length=column.most,
        help_text=hint,
        widget=forms.Textarea({"rows": declared.rows})
        if column.kind is LINES
        else forms.TextInput({"autocomplete": "off"}),
    )


def _sku(*, required: bool = True) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("SKU"),
        required=required,
        max_length=64,
        widget=_short(autocapitalize="characters", spellcheck="false"),
        error_messages={"required": gettext_lazy("Enter a SKU")},
    )


def _split_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class CategoryField(forms.ChoiceField):
    """A category of the shop, by its id."""

    default_error_messages = {
        "required": gettext_lazy("Choose a category"),
        "invalid_choice": gettext_lazy("Choose a category"),
    }


def make_slug(text: str, most: int = rules.MAX_LENGTHS["slug"]) -> str:
    """Return a text as the end of an address; empty if it has no letter that can stand there."""
    words = re.findall(r"[a-z0-9]+", slugify(text).lower())
    return "-".join(words)[:most].rstrip("-")


class NewProductForm(Form):
    """What a new product needs: it begins as a draft with one variant, under ids that its page has made."""

    product_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    variant_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    name = make_column_field("name")
    category_id = CategoryField(label=gettext_lazy("Category"))
    brand = make_column_field("brand")
    sku = _sku()
    price = _price(gettext_lazy("Price"), required=True, hint=gettext_lazy("With tax."))
    weight_grams = _number(
        gettext_lazy("Weight in grams"),
        rules.MAX_WEIGHT_GRAMS,
        gettext_lazy("With its packaging. Delivery costs depend on it."),
    )
    tax_class = forms.ChoiceField(label=gettext_lazy("Tax"), choices=list(TAX_LABELS.items()))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        category = cast(forms.ChoiceField, self.fields["category_id"])
        choices = category_choices()
        self.has_categories = bool(choices)
        category.choices = [("", _("Choose a category")), *choices]

    def clean_sku(self) -> str:
        """Return the SKU as products carry it."""
        return rules.normalize_sku(self.cleaned_data["sku"])

    def build_product(self) -> Product:
        """Return the draft. Its address is made of the name, and of the SKU where letters are lacking."""
        clean = self.cleaned_data
        return Product(
            product_id=clean["product_id"],
            slug=make_slug(clean["name"]) or make_slug(clean["sku"]) or clean["product_id"].hex,
            name=clean["name"],
            brand=clean["brand"],
            description="",
            details={},
            category_id=UUID(clean["category_id"]),
            option_names=(),
            tax_class=clean["tax_class"],
            variants=(
                Variant(
                    clean["variant_id"],
                    clean["sku"],
                    {},
                    Money(clean["price"], settings.CURRENCY),
                    None,
                    "",
                    weight_grams=clean["weight_grams"] or 0,
                ),
            ),
            status="draft",
        )


class ProductForm(Form):
    """What a product is, but for its variants. `version` is how the page has shown it (`fingerprint_product`).

    Beside the fields here it has one for each column that has a field (catalogue.columns).
    """

    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    details = forms.CharField(
        label=gettext_lazy("Details"),
        required=False,
        help_text=gettext_lazy("One a line, such as “Material: stoneware”."),
        widget=forms.Textarea({"rows": 5}),
    )
    category_id = CategoryField(label=gettext_lazy("Main category"))
    category_ids = forms.MultipleChoiceField(
        label=gettext_lazy("Also in"),
        required=False,
        help_text=gettext_lazy(
            "It stands in these, too, and in the categories above each of them."
        ),
        widget=forms.SelectMultiple({"size": 6}),
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        help_text=gettext_lazy("Words by which it is found, with commas between them."),
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    related = forms.CharField(
        label=gettext_lazy("Related products"),
        required=False,
        help_text=gettext_lazy(
            "SKUs, one a line, in the order to show. The shop fills the row up by itself."
        ),
        widget=forms.Textarea({"rows": 3, "autocapitalize": "characters", "spellcheck": "false"}),
    )
    successor = forms.CharField(
        label=gettext_lazy("Followed by"),
        required=False,
        max_length=64,
        help_text=gettext_lazy("A SKU of the product that its page offers once it’s gone."),
        widget=_short(autocapitalize="characters", spellcheck="false"),
    )
    tax_class = forms.ChoiceField(label=gettext_lazy("Tax"), choices=list(TAX_LABELS.items()))
    slug = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=rules.MAX_LENGTHS["slug"],
        help_text=gettext_lazy("The end of its page’s address. The former one leads here."),
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
        error_messages={"required": gettext_lazy("Enter an address")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = category_choices()
        for name in ("category_id", "category_ids"):
            cast(forms.ChoiceField, self.fields[name]).choices = choices

    @property
    def sections(self) -> dict[str, list[forms.BoundField]]:
        """The fields of the columns by the section of the page that lists them."""
        return {section: [self[name] for name in names] for section, names in SECTIONS.items()}

    @classmethod
    def of(cls, product: Product, related_skus: Sequence[str], successor: str = "") -> ProductForm:
        """Return the form of a product as it is, with the SKUs of those that it names."""
        initial = {name: getattr(product, name) for name in SHARED_FIELDS} | {
            "version": fingerprint_product(product),
            "details": format_details(product.details),
            "category_id": str(product.category_id),
            "category_ids": [str(each) for each in product.category_ids],
            "tags": format_tags(product.tags),
            "related": "\n".join(related_skus),
            "successor": successor,
        }
        return cls(initial=initial)

    def clean_details(self) -> dict[str, str]:
        """Return the details by their labels, in their order."""
        return refuse_in_form(parse_details, self.cleaned_data["details"])

    def clean_tags(self) -> frozenset[str]:
        """Return the tags."""
        return parse_tags(self.cleaned_data["tags"])

    def clean_related(self) -> tuple[str, ...]:
        """Return the SKUs."""
        skus = tuple(
            rules.normalize_sku(line) for line in _split_lines(self.cleaned_data["related"])
        )
        if len(skus) > rules.MAX_PINNED:
            raise forms.ValidationError(
                _("Enter %(most)d SKUs at most.") % {"most": rules.MAX_PINNED}
            )
        return skus

    def clean_successor(self) -> str:
        """Return the SKU as products carry it."""
        return rules.normalize_sku(self.cleaned_data["successor"])

    def apply_to(
        self, product: Product, related_ids: tuple[UUID, ...], successor_id: UUID | None
    ) -> Product:
        """Return the product with what the valid form says."""
        clean = self.cleaned_data
        return replace(
            product,
            **{name: _typed_value(name, clean[name], product) for name in SHARED_FIELDS},
            details=clean["details"],
            category_id=UUID(clean["category_id"]),
            category_ids=frozenset(map(UUID, clean["category_ids"])) - {UUID(clean["category_id"])},
            tags=clean["tags"],
            related_ids=related_ids,
            successor_id=successor_id,
        )


# Of the form, and of the product under the same name.
SHARED_FIELDS = ("slug", "tax_class", *FIELD_COLUMNS)
# In the order of the page, in which errors are listed.
FIELD_ORDER = (
    *("version", "name", "description", "brand", "details", "category_id", "category_ids", "tags"),
    *("featured", "related", "successor", *SECTIONS["sale"], "tax_class", *SECTIONS["size"]),
    *(*SECTIONS["safety"], "slug", *SECTIONS["search"]),
)
ProductForm.base_fields = {
    name: make_column_field(name) if name in FIELD_COLUMNS else ProductForm.declared_fields[name]
    for name in FIELD_ORDER
}


def _typed_value(name: str, value: Any, product: Product) -> Any:
    """Return what a field says of a product: no number is 0, and a moment that was not changed stays exact."""
    kind = COLUMNS_BY_NAME[name].kind
    if kind is NUMBER:
        return value or 0
    return keep_moment(value, getattr(product, name)) if kind in (MOMENT, END) else value


def fingerprint_product(product: Product) -> str:
    """Return a short text that differs when anything differs that the form of a product shows."""
    plain = [getattr(product, name) for name in SHARED_FIELDS]
    lists = [list(product.details.items()), product.all_category_ids, sorted(product.tags)]
    return sha256(
        repr([plain, lists, product.related_ids, product.successor_id]).encode()
    ).hexdigest()[:16]


# ---- Its variants


class VariantForm(Form):
    """A variant. `seen` is how the page has shown it (catalogue.operations.fingerprint_variant)."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    sku = _sku()
    price = _price(gettext_lazy("Price"), required=True)
    compare_at = _price(gettext_lazy("Former price"), required=False)
    barcode = forms.CharField(
        label=gettext_lazy("Barcode"),
        required=False,
        max_length=20,
        widget=_short(inputmode="numeric"),
    )
    weight_grams = _number(gettext_lazy("Weight in grams"), rules.MAX_WEIGHT_GRAMS)
    picture = forms.ChoiceField(
        label=gettext_lazy("Picture"),
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Choose one of the product’s pictures")},
    )
    sold = forms.BooleanField(label=gettext_lazy("Sold"), required=False)

    def __init__(
        self,
        variant: Variant,
        seen: str,
        data: Mapping[str, Any] | None = None,
        pictures: Sequence[ProductPicture] = (),
    ) -> None:
        self.variant = variant
        initial = {
            "seen": seen,
            "sku": variant.sku,
            "price": format_price(variant.price),
            "compare_at": format_price(variant.compare_at),
            "barcode": variant.barcode,
            "weight_grams": format_whole_number(variant.weight_grams),
            "picture": variant.picture,
            "sold": variant.sold,
        }
        super().__init__(data, initial=initial, auto_id=f"{variant.variant_id}-%s")
        if "picture" in self.fields:
            choices = _picture_choices(variant, pictures)
            cast(forms.ChoiceField, self.fields["picture"]).choices = choices
        # Its fields stand in the cells of a table, outside the form's own element.
        for field in self.fields.values():
            field.widget.attrs["form"] = self.form_id

    @property
    def form_id(self) -> str:
        return f"variant-{self.variant.variant_id}"

    @staticmethod
    def describe(variant: Variant) -> dict[str, str]:
        """Return what a variant is in words, by the names of the fields."""
        return {
            "sku": variant.sku,
            "price": format_price(variant.price),
            "compare_at": format_price(variant.compare_at),
            "barcode": variant.barcode,
            "weight_grams": format_whole_number(variant.weight_grams),
            "picture": variant.picture,
            "sold": _("yes") if variant.sold else _("no"),
        }

    def clean_sku(self) -> str:
        """Return the SKU as products carry it."""
        return rules.normalize_sku(self.cleaned_data["sku"])

    def clean_barcode(self) -> str:
        """Return the digits."""
        return parse_barcode(self.cleaned_data["barcode"])

    def clean_picture(self) -> str:
        """Return the picture that was chosen; what was not asked for stays."""
        return str(self.cleaned_data["picture"] if "picture" in self.data else self.variant.picture)

    def build_variant(self) -> Variant:
        """Return the variant as the valid form says."""
        clean = self.cleaned_data
        currency = self.variant.price.currency
        return replace(
            self.variant,
            sku=clean["sku"],
            price=Money(clean["price"], currency),
            compare_at=Money(clean["compare_at"], currency) if clean["compare_at"] else None,
            barcode=clean["barcode"],
            weight_grams=clean["weight_grams"] or 0,
            picture=clean["picture"],
            sold=clean["sold"],
        )


def _picture_choices(variant: Variant, pictures: Sequence[ProductPicture]) -> list[tuple[str, str]]:
    """Return the pictures that a variant may have: the product's first, any other of its, or the drawing that it has."""
    found = {"": _("The product’s first") if pictures else _("None")}
    if variant.picture:
        found[variant.picture] = _("A drawing")
    return list((found | {each.picture: each.alt for each in pictures}).items())


class PriceForm(VariantForm):
    """The price of a variant alone, in its product's row of the list."""

    sku = compare_at = barcode = weight_grams = picture = sold = None  # type: ignore[assignment]

    def build_variant(self) -> Variant:
        """Return the variant with the price of the valid form."""
        currency = self.variant.price.currency
        return replace(self.variant, price=Money(self.cleaned_data["price"], currency))


class PlannedPriceForm(Form):
    """A price that a variant has from a moment on, perhaps until another one. `seen` is how the page has shown the variant."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    price = _price(gettext_lazy("Price"), required=True, hint=gettext_lazy("With tax."))
    compare_at = _price(
        gettext_lazy("Former price, crossed out"),
        required=False,
        hint=gettext_lazy(
            "At most the lowest price of the 30 days before. Leave empty to cross out nothing."
        ),
    )
    starts = _moment(gettext_lazy("From"), required=True)
    ends = _moment(
        gettext_lazy("Until"),
        gettext_lazy(
            "Then the price from before comes back, with nothing crossed out. Leave empty for no end."
        ),
        parse=parse_end,
    )

    def clean(self) -> dict[str, Any]:
        """See that it ends after it has begun."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        if clean.get("starts") and clean.get("ends") and clean["ends"] <= clean["starts"]:
            self.add_error("ends", _("Enter a time after the first one"))
        return clean

    def plan_for(self, variant: Variant, now: datetime) -> tuple[PricePoint, ...]:
        """Return the variant's planned prices with that of the valid form; what is planned within its time makes way."""
        clean, currency = self.cleaned_data, variant.price.currency
        starts, ends = clean["starts"], clean["ends"]
        points = [
            PricePoint(variant.price_from or now, variant.price, variant.compare_at),
            *variant.planned,
        ]
        was = Money(clean["compare_at"], currency) if clean["compare_at"] else None
        planned = [PricePoint(starts, Money(clean["price"], currency), was)]
        kept = [each for each in variant.planned if each.starts_at < starts]
        if ends:
            after = price_in_force(points, ends)
            # Unless another price was planned to begin meanwhile, that of before comes back, whatever it is then.
            is_back = after == price_in_force(points, starts)
            back = replace(after, compare_at=None, back_to=starts) if is_back else after
            planned.append(replace(back, starts_at=ends))
            kept += [each for each in variant.planned if each.starts_at > ends]
        else:
            kept += [each for each in variant.planned if each.starts_at > starts]
        return tuple(sorted((*kept, *planned), key=lambda each: each.starts_at))


class OptionsForm(Form):
    """The options of a product, from which its variants are generated."""

    options = forms.CharField(
        label=gettext_lazy("Options and their values"),
        required=False,
        max_length=rules.MAX_FORM_CHARACTERS,
        help_text=gettext_lazy(
            "One option a line, such as “Colour: Oat, Slate”. Every combination is a variant."
        ),
        widget=forms.Textarea({"rows": 4}),
    )

    def clean_options(self) -> dict[str, tuple[str, ...]]:
        """Return each option's values, in their order."""
        return refuse_in_form(parse_option_values, self.cleaned_data["options"])
