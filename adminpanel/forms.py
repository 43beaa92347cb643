"""The staff's forms."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.utils import timezone
from moneyed import Money

from accounts.audit_log import ACCOUNTS, RETENTION, STAFF
from accounts.forms import email_field
from accounts.roles import ROLE_DUTIES
from adminpanel.sales import LONGEST, USUAL
from catalogue.queries import get_category_tree
from orders.numbers import normalize_order_number
from orders.states import BOARD_COLUMNS, STAFF_TRANSITIONS
from pricing.money import to_minor_units
from promotions.operations import PromotionTerms
from promotions.rules import AMOUNT, BUY_GET, FREE_DELIVERY, LONGEST_CODE, PERCENTAGE
from web.forms import Form

MAX_NOTE = 1000
DEFAULT_COLUMN = "to_pack"


class BoardForm(Form):
    """Which orders to show. Whatever is not understood shows the orders to pack."""

    column = forms.ChoiceField(choices=list(BOARD_COLUMNS.items()), required=False)
    after = forms.CharField(required=False, max_length=500)
    seen = forms.CharField(required=False, max_length=64)  # what the requesting page shows already

    def parse_selection(self) -> tuple[str, str, str]:
        """Return column, page token and what was seen, each usable as it is."""
        self.is_valid()
        clean = self.cleaned_data
        return clean.get("column") or DEFAULT_COLUMN, clean.get("after", ""), clean.get("seen", "")


class FindOrderForm(Form):
    """An order's number, however it was typed (X57)."""

    number = forms.CharField(
        label="Order number",
        max_length=40,
        widget=forms.TextInput(
            {
                "class": "input--short",
                "autocomplete": "off",
                "autocapitalize": "characters",
                "spellcheck": "false",
            }
        ),
    )

    def clean_number(self) -> str:
        """Return the number as orders carry it."""
        return normalize_order_number(self.cleaned_data["number"])


def _note(label: str, *, required: bool) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=required,
        max_length=MAX_NOTE,
        widget=forms.Textarea({"rows": 3}),
        help_text="Only staff see it.",
        error_messages={
            "required": "Write something first.",
            "max_length": f"A note has at most {MAX_NOTE} characters; this one has %(show_value)d.",
        },
    )


class TransitionForm(Form):
    """One submit of a button of an order's page, which was drawn when the order had this version."""

    event = forms.ChoiceField(choices=[(move.kind, move.label) for move in STAFF_TRANSITIONS])
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    note = _note("Note on this step", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="move-%s", **kwargs)


class NoteForm(Form):
    """A note among the staff."""

    note = _note("Note", required=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="note-%s", **kwargs)


class CodeForm(Form):
    """The six digits that a telephone shows."""

    code = forms.CharField(
        label="Code",
        max_length=20,
        help_text="The six digits that your authenticator app shows for Stoa.",
        widget=forms.TextInput(
            {
                "class": "input--short",
                "autocomplete": "one-time-code",
                "inputmode": "numeric",
                "spellcheck": "false",
            }
        ),
        error_messages={"required": "Enter the six digits that your app shows"},
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class RecoveryCodeForm(Form):
    """A recovery code, for the day when the telephone is lost."""

    code = forms.CharField(
        label="Recovery code",
        max_length=40,
        help_text="One of the ten that you were given, like ABCD-EFGH-JKLM. Each works once.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
        error_messages={"required": "Enter one of your recovery codes"},
    )
    next = forms.CharField(required=False, widget=forms.HiddenInput)


class FindPersonForm(Form):
    """Finds an account."""

    email = email_field("off")


class RoleForm(Form):
    """A user's role."""

    role = forms.ChoiceField(
        label="Role",
        choices=[
            ("shopper", "Shopper: no staff pages"),
            *((role, f"{role.capitalize()}: {may}") for role, may in ROLE_DUTIES.items()),
        ],
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose one of the roles",
            "invalid_choice": "Choose one of the roles",
        },
    )

    def clean_role(self) -> str:
        """Return the role as accounts carry it: '' for a shopper."""
        return "" if self.cleaned_data["role"] == "shopper" else str(self.cleaned_data["role"])


class LogForm(Form):
    """Which page of the audit log. Whatever is not understood shows today's acts of the staff."""

    book = forms.ChoiceField(
        label="Show", choices=[(STAFF, "What staff did"), (ACCOUNTS, "Accounts")], required=False
    )
    day = forms.DateField(
        label="Day", required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    who = forms.UUIDField(required=False)
    after = forms.CharField(required=False, max_length=500)

    def parse_selection(self, today: date) -> tuple[str, date, UUID | None, str]:
        """Return book, day (one that is kept), whose acts alone, and page token, each usable as it is."""
        self.is_valid()
        clean = self.cleaned_data
        day = min(max(clean.get("day") or today, today - RETENTION), today)
        return clean.get("book") or STAFF, day, clean.get("who"), clean.get("after", "")


def _limit(label: str, hint: str) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=hint,
        widget=forms.TextInput(
            {"class": "input--short", "inputmode": "numeric", "autocomplete": "off"}
        ),
    )


def _amount(label: str, hint: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=Decimal("0.01"),
        max_value=Decimal(100_000),
        decimal_places=2,
        help_text=hint,
        widget=forms.TextInput(
            {"class": "input--short", "inputmode": "decimal", "autocomplete": "off"}
        ),
    )


def _day(label: str, hint: str) -> forms.DateField:
    widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(label=label, required=False, help_text=hint, widget=widget)


class PromotionForm(Form):
    """The terms of a promotion. Days are the shop's, sums its currency."""

    title = forms.CharField(
        label="Name", max_length=80, help_text="Shoppers see it beside what is taken off."
    )
    # Not "code": the audit log shows no field of that name.
    voucher = forms.CharField(
        label="Code",
        required=False,
        max_length=LONGEST_CODE,
        help_text="Without one it counts by itself. Capitals, spaces and dashes do not matter.",
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )
    kind = forms.ChoiceField(
        label="What it does",
        choices=[
            (PERCENTAGE, "Takes off so many per cent"),
            (AMOUNT, "Takes off an amount"),
            (BUY_GET, "Of so many things, gives the cheapest away"),
            (FREE_DELIVERY, "Makes delivery free"),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": "Choose what it does", "invalid_choice": "Choose what it does"},
    )
    percent = forms.DecimalField(
        label="Per cent",
        required=False,
        min_value=Decimal("0.1"),
        max_value=Decimal(100),
        decimal_places=1,
        widget=forms.TextInput(
            {"class": "input--short", "inputmode": "decimal", "autocomplete": "off"}
        ),
    )
    amount = _amount("Amount", "In euros.")
    buy = _limit("Things to buy", "Of “buy two, get one free”, the two.")
    free = _limit("Things that are free", "The one.")
    category = forms.ChoiceField(label="In", required=False)
    minimum = _amount("Least sum of goods", "In euros, before anything is taken off.")
    uses = _limit("Uses in all", "Of a code; without a number there is no limit.")
    per_person = _limit(
        "Uses a person", "Of a code; guests are told apart by their e-mail address."
    )
    starts = _day("First day", "Without one it starts at once.")
    ends = _day("Last day", "It counts until midnight.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="promotion-%s", **kwargs)
        named = sorted(
            (str(key), node.name) for key, node in get_category_tree().by_id.items() if node.slug
        )
        category = cast(forms.ChoiceField, self.fields["category"])
        category.choices = [("", "Everything"), *sorted(named, key=lambda each: each[1])]

    def clean(self) -> dict[str, Any]:
        """Ask for what the kind needs."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        needed = {PERCENTAGE: ("percent",), AMOUNT: ("amount",), BUY_GET: ("buy", "free")}
        for name in needed.get(clean.get("kind", ""), ()):
            if not clean.get(name) and name not in self.errors:
                self.add_error(name, f"Enter {str(self.fields[name].label).lower()}")
        if not clean.get("voucher"):
            for name in ("uses", "per_person"):
                if clean.get(name):
                    self.add_error(name, "Only the uses of a code can be limited")
        if clean.get("starts") and clean.get("ends") and clean["ends"] < clean["starts"]:
            self.add_error("ends", "The last day is before the first one")
        return clean

    def build_terms(self) -> PromotionTerms:
        """Return the terms of the valid form. Those that its kind does not have stay out."""
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
            per_person=clean["per_person"] or 0,
            uses=clean["uses"] or 0,
            starts_at=_midnight(clean["starts"]) if clean["starts"] else None,
            ends_at=_midnight(clean["ends"] + timedelta(days=1)) if clean["ends"] else None,
        )


def _cents(amount: Decimal | None) -> int:
    return to_minor_units(Money(amount, settings.CURRENCY)) if amount else 0


def _midnight(day: date) -> datetime:
    """Return when a day begins in the shop's time zone; that is UTC's midnight nowhere else."""
    return datetime.combine(day, time(), timezone.get_default_timezone()).astimezone(UTC)


class SalesForm(Form):
    """Of which days the sales are shown, both included. Whatever is not understood shows the last thirty days."""

    first = forms.DateField(
        label="From", required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    last = forms.DateField(
        label="To", required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )

    def parse_selection(self, today: date) -> tuple[date, date]:
        """Return the first and the last day, in this order, a year apart at most, and none of them to come."""
        self.is_valid()
        last = min(self.cleaned_data.get("last") or today, today)
        first = min(self.cleaned_data.get("first") or last - min(USUAL, last - date.min), last)
        return max(first, last - min(LONGEST, last - date.min)), last
