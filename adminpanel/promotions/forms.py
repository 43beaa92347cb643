"""The form of a promotion."""

from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from adminpanel.forms import choice_errors, day_input, decimal_field, short_input, text_input
from catalogue.queries import get_category_tree_at_quorum
from pricing.money import to_minor_units
from promotions.operations import PromotionTerms
from promotions.rules import AMOUNT, BUY_GET, FREE_DELIVERY, MAX_CODE_LENGTH, PERCENTAGE
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


# The error messages of the fields that a kind of promotion needs, if they are empty.
NEEDED = {
    "percent": gettext_lazy("Enter a percentage"),
    "amount": gettext_lazy("Enter an amount"),
    "buy": gettext_lazy("Enter how many items to buy"),
    "free": gettext_lazy("Enter how many items are free"),
}


class PromotionForm(Form):
    """The form of a promotion's terms. Days are in the shop's time zone, sums in its currency."""

    title = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=80,
        help_text=gettext_lazy("Shoppers see this next to the discount."),
    )
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
    kind = forms.ChoiceField(
        label=gettext_lazy("Type"),
        choices=[
            (PERCENTAGE, gettext_lazy("Percentage off")),
            (AMOUNT, gettext_lazy("Amount off")),
            (BUY_GET, gettext_lazy("Buy some, get the cheapest free")),
            (FREE_DELIVERY, gettext_lazy("Free delivery")),
        ],
        widget=forms.RadioSelect,
        error_messages=choice_errors(gettext_lazy("Choose a type")),
    )
    percent = decimal_field(gettext_lazy("Percentage"), least="0.1", most=100, places=1)
    amount = _amount(gettext_lazy("Amount"), gettext_lazy("In euros."))
    buy = _limit(gettext_lazy("Items to buy"), gettext_lazy("In “buy two, get one free”: 2."))
    free = _limit(gettext_lazy("Free items"), gettext_lazy("In “buy two, get one free”: 1."))
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
    ends = _day(
        gettext_lazy("Last day"),
        gettext_lazy("The promotion lasts until the end of this day. Leave empty for no end."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="promotion-%s", **kwargs)
        nodes = [node for node in get_category_tree_at_quorum().nodes if node.slug]
        nodes.sort(key=lambda node: (node.name, str(node.category_id)))
        category = cast(forms.ChoiceField, self.fields["category"])
        named = [(str(node.category_id), node.name) for node in nodes]
        category.choices = [("", _("Everything")), *named]

    def clean(self) -> dict[str, Any]:
        """Require the fields that the chosen kind of promotion needs."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        needed = {PERCENTAGE: ("percent",), AMOUNT: ("amount",), BUY_GET: ("buy", "free")}
        for name in needed.get(clean.get("kind", ""), ()):
            if not clean.get(name) and name not in self.errors:
                self.add_error(name, NEEDED[name])
        if not clean.get("voucher"):
            for name in ("uses", "per_person"):
                if clean.get(name):
                    self.add_error(name, _("Enter a code above, or leave this empty"))
        if clean.get("starts") and clean.get("ends") and clean["ends"] < clean["starts"]:
            self.add_error("ends", _("Enter a last day that isn’t before the first day"))
        return clean

    def build_terms(self) -> PromotionTerms:
        """Return the terms of the valid form. Fields that belong to other kinds of promotion are ignored."""
        clean = self.cleaned_data
        kind = clean["kind"]
        return PromotionTerms(
            title=clean["title"],
            kind=kind,
            code=clean["voucher"].strip(),
            percent=clean["percent"] if kind == PERCENTAGE else Decimal(0),
            amount=_cents(clean["amount"]) if kind == AMOUNT else 0,
            buy=clean["buy"] if kind == BUY_GET else 0,
            free=clean["free"] if kind == BUY_GET else 0,
            category_id=UUID(clean["category"]) if clean["category"] else None,
            minimum=_cents(clean["minimum"]),
            limit_per_customer=clean["per_person"] or 0,
            uses=clean["uses"] or 0,
            starts_at=start_of_day(clean["starts"]) if clean["starts"] else None,
            ends_at=end_of_day(clean["ends"]) if clean["ends"] else None,
        )


def _cents(amount: Decimal | None) -> int:
    return to_minor_units(Money(amount, settings.CURRENCY)) if amount else 0
