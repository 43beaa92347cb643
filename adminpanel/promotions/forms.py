"""The forms of a promotion: a new one of a kind, and what staff can change of an existing one."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from adminpanel.forms import day_input, decimal_field, short_input, text_input
from catalogue.queries import get_category_tree_at_quorum
from pricing.money import from_minor_units, to_minor_units
from promotions.operations import PromotionTerms
from promotions.rules import AMOUNT, BUY_GET, FREE_DELIVERY, MAX_CODE_LENGTH, PERCENTAGE, Promotion
from web.days import end_of_day, start_of_day, validate_shop_day
from web.forms import Form
from web.types import StrOrPromise


def _limit(label: StrOrPromise, hint: StrOrPromise) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=hint,
        widget=short_input(inputmode="numeric"),
    )


def _amount(label: StrOrPromise, hint: StrOrPromise) -> forms.DecimalField:
    return decimal_field(label, least="0.01", most=100_000, hint=hint)


def _day(label: StrOrPromise, hint: StrOrPromise) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        help_text=hint,
        widget=day_input(),
        validators=[validate_shop_day],
    )


# The kinds of promotions, in the order of the menu.
KIND_LABELS = {
    PERCENTAGE: gettext_lazy("Percentage off"),
    AMOUNT: gettext_lazy("Amount off"),
    BUY_GET: gettext_lazy("Buy X, get Y free"),
    FREE_DELIVERY: gettext_lazy("Free delivery"),
}
# The fields that one kind of promotion needs and the others lack, with the error message of an empty field.
FIELDS_BY_KIND: Mapping[str, Mapping[str, StrOrPromise]] = {
    PERCENTAGE: {"percent": gettext_lazy("Enter a percentage")},
    AMOUNT: {"amount": gettext_lazy("Enter an amount")},
    BUY_GET: {
        "buy": gettext_lazy("Enter how many items to buy"),
        "free": gettext_lazy("Enter how many items are free"),
    },
    FREE_DELIVERY: {},
}


def _title() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Name"),
        max_length=80,
        help_text=gettext_lazy("Shoppers see this next to the discount."),
        error_messages={"required": gettext_lazy("Enter a name")},
    )


def _ends() -> forms.DateField:
    return _day(
        gettext_lazy("Last day"),
        gettext_lazy("The promotion lasts until the end of this day. Leave empty for no end."),
    )


class PromotionForm(Form):
    """The form of a new promotion's terms. Days are in the shop's time zone, sums in its currency.

    With `replaces` it begins with the terms of that promotion, and has a code if that one has.
    """

    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    title = _title()
    # The field is not named "code", because the audit log hides fields of that name.
    voucher = forms.CharField(
        label=gettext_lazy("Code"),
        required=False,
        max_length=MAX_CODE_LENGTH,
        help_text=gettext_lazy(
            "Leave empty to apply the promotion automatically. "
            "Capitals, spaces and dashes don’t matter."
        ),
        widget=text_input(autocapitalize="characters", spellcheck="false"),
    )
    percent = decimal_field(gettext_lazy("Percentage"), least="0.1", most=100, places=1)
    amount = _amount(gettext_lazy("Amount"), gettext_lazy("In euros."))
    buy = _limit(gettext_lazy("Items to buy"), gettext_lazy("For “buy two, get one free”: 2."))
    free = _limit(
        gettext_lazy("Free items"),
        gettext_lazy("For “buy two, get one free”: 1. The cheapest items are free."),
    )
    category = forms.ChoiceField(label=gettext_lazy("Applies to"), required=False)
    minimum = _amount(gettext_lazy("Minimum spend"), gettext_lazy("In euros, before any discount."))
    uses = _limit(
        gettext_lazy("Total uses"), gettext_lazy("For codes only. Leave empty for no limit.")
    )
    per_person = _limit(
        gettext_lazy("Uses per person"),
        gettext_lazy("For codes only. Guests are counted by their email address."),
    )
    starts = _day(gettext_lazy("First day"), gettext_lazy("Leave empty to start now."))
    ends = _ends()

    def __init__(
        self, kind: str, data: Mapping[str, Any] | None = None, *, replaces: Promotion | None = None
    ) -> None:
        self.kind, self.replaces = kind, replaces
        initial = _get_initial_terms(replaces) if replaces else None
        super().__init__(data, initial=initial, auto_id="promotion-%s")
        for of_kind, needed in FIELDS_BY_KIND.items():
            for name, complaint in needed.items():
                self.fields[name].required = True
                self.fields[name].error_messages["required"] = complaint
                if of_kind != kind:
                    del self.fields[name]
        if replaces and replaces.code:
            self.fields["voucher"].required = True
            self.fields["voucher"].help_text = _("Each promotion has a code of its own.")
        elif replaces:
            for name in ("voucher", "uses", "per_person"):
                del self.fields[name]
        nodes = [node for node in get_category_tree_at_quorum().nodes if node.slug]
        nodes.sort(key=lambda node: (node.name, str(node.category_id)))
        category = cast(forms.ChoiceField, self.fields["category"])
        named = [(str(node.category_id), node.name) for node in nodes]
        category.choices = [("", _("Everything")), *named]

    def clean(self) -> dict[str, Any]:
        """Refuse limits without a code, and an end before the start."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        if not clean.get("voucher"):
            for name in ("uses", "per_person"):
                if clean.get(name):
                    self.add_error(name, _("Enter a code above, or leave this empty"))
        if clean.get("starts") and clean.get("ends") and clean["ends"] < clean["starts"]:
            self.add_error("ends", _("Enter a last day that isn’t before the first day"))
        return clean

    def build_terms(self) -> PromotionTerms:
        """Return the terms of the valid form."""
        clean = self.cleaned_data
        return PromotionTerms(
            title=clean["title"],
            kind=self.kind,
            code=clean.get("voucher", "").strip(),
            percent=clean.get("percent", Decimal(0)),
            amount=_cents(clean.get("amount")),
            buy=clean.get("buy", 0),
            free=clean.get("free", 0),
            category_id=UUID(clean["category"]) if clean["category"] else None,
            minimum=_cents(clean["minimum"]),
            limit_per_customer=clean.get("per_person") or 0,
            uses=clean.get("uses") or 0,
            starts_at=start_of_day(clean["starts"]) if clean["starts"] else None,
            ends_at=end_of_day(clean["ends"]) if clean["ends"] else None,
        )


def _cents(amount: Decimal | None) -> int:
    return to_minor_units(Money(amount, settings.CURRENCY)) if amount else 0


def _euros(cents: int) -> Decimal | None:
    return from_minor_units(cents, settings.CURRENCY).amount if cents else None


def _get_initial_terms(replaced: Promotion) -> dict[str, Any]:
    """Return what the form of a promotion that replaces another begins with."""
    starts = timezone.localdate(replaced.starts_at) if replaced.starts_at else None
    today = timezone.localdate()
    return {
        "title": replaced.title,
        "voucher": f"{replaced.code}-2" if replaced.code else "",
        "percent": f"{replaced.percent.normalize():f}",
        "amount": _euros(replaced.amount),
        "buy": replaced.buy,
        "free": replaced.free,
        "category": str(replaced.category_id or ""),
        "minimum": _euros(replaced.minimum),
        "uses": replaced.uses or None,
        "per_person": replaced.limit_per_customer or None,
        "starts": starts if starts and starts > today else None,
        "ends": replaced.last_day if replaced.last_day and replaced.last_day >= today else None,
    }


class PromotionChangeForm(Form):
    """The form of what staff can change of a promotion: its name and end, and its limits upwards."""

    version = forms.CharField(widget=forms.HiddenInput, required=False)
    title = _title()
    ends = _ends()
    uses = _limit(gettext_lazy("Total uses"), "")
    per_person = _limit(gettext_lazy("Uses per person"), "")

    def __init__(self, promotion: Promotion, data: Mapping[str, Any] | None = None) -> None:
        self.promotion = promotion
        self.limits = {"uses": promotion.uses, "per_person": promotion.limit_per_customer}
        initial = {
            "version": get_version(promotion),
            "title": promotion.title,
            "ends": promotion.last_day,
            **self.limits,
        }
        super().__init__(data, initial=initial, auto_id="promotion-%s")
        for name, limit in self.limits.items():
            self.fields[name].help_text = _(
                "At least %(limit)s. Leave empty to remove the limit."
            ) % {"limit": limit}
            if not limit:
                del self.fields[name]

    def clean_ends(self) -> date | None:
        """Refuse a new end in the past, or before the start."""
        ends: date | None = self.cleaned_data["ends"]
        if ends is None or ends == self.promotion.last_day:
            return ends
        if ends < timezone.localdate():
            raise forms.ValidationError(_("Enter today or a later day"))
        starts_at = self.promotion.starts_at
        if starts_at and ends < timezone.localdate(starts_at):
            raise forms.ValidationError(_("Enter a last day that isn’t before the first day"))
        return ends

    def clean(self) -> dict[str, Any]:
        """Refuse lower limits."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        for name, limit in self.limits.items():
            if 0 < (clean.get(name) or 0) < limit:
                complaint = _("Enter %(limit)s or more, or leave this empty for no limit")
                self.add_error(name, complaint % {"limit": limit})
        return clean

    def describe(self) -> dict[str, str]:
        """Return the visible values, keyed by label."""
        return {str(each.label): str(each.value() or "") for each in self.visible_fields()}

    def build(self) -> Promotion:
        """Return the promotion with the values of the valid form."""
        clean, ends_at = self.cleaned_data, self.promotion.ends_at
        if clean["ends"] != self.promotion.last_day:
            ends_at = end_of_day(clean["ends"]) if clean["ends"] else None
        return replace(
            self.promotion,
            title=clean["title"],
            ends_at=ends_at,
            uses=clean.get("uses") or 0,
            limit_per_customer=clean.get("per_person") or 0,
        )


def get_version(promotion: Promotion) -> str:
    """Return a text that differs whenever what staff can change of a promotion differs."""
    moments = (promotion.ends_at, promotion.ended_at)
    numbers = (promotion.uses, promotion.limit_per_customer)
    return " ".join([*map(_stamp, moments), *map(str, numbers), promotion.title])


def _stamp(moment: datetime | None) -> str:
    return moment.isoformat() if moment else "-"
