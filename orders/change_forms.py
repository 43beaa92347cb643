"""The forms that change a placed order: fewer units of a line, another delivery address, a return."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from accounts.addresses import COUNTRIES, Address, address_from_fields
from accounts.forms import AddressFields
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import ItemUnits
from web.forms import Form

REASONS = {
    "mind": gettext_noop("I changed my mind"),
    "damaged": gettext_noop("It’s damaged or doesn’t work"),
    "wrong": gettext_noop("It isn’t what I ordered"),
    "late": gettext_noop("It arrived too late"),
    "other": gettext_noop("Another reason"),
}


class UnitsChoiceField(forms.TypedChoiceField):
    """A form field for a number of units of a line, from `least` to `most`."""

    def __init__(self, least: int, most: int, label: str) -> None:
        super().__init__(
            label=label,
            coerce=int,
            choices=[(str(number), str(number)) for number in range(least, most + 1)],
            widget=forms.Select({"class": "input--short"}),
            error_messages={
                "required": _("Choose a quantity from %(least)s to %(most)s")
                % {"least": least, "most": most},
                "invalid_choice": _("Choose a quantity from %(least)s to %(most)s")
                % {"least": least, "most": most},
            },
        )


class _LinesForm(Form):
    """A form with a number of units for each line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows: list[tuple[Item, forms.BoundField]] = []

    def _add_units_field(self, item: Item, least: int, most: int, label: str) -> None:
        name = f"line_{item.line_number}"
        self.fields[name] = UnitsChoiceField(least, most, label)
        self.rows.append((item, self[name]))

    @property
    def units(self) -> dict[int, int]:
        """The chosen units of each line, keyed by line number."""
        return {item.line_number: self.cleaned_data[field.name] for item, field in self.rows}


class ChangeForm(_LinesForm):
    """The form that sets the number of units of each line to keep. `packed` units, by line, can no longer be removed."""

    def __init__(
        self, *args: Any, items: Sequence[Item], packed: Mapping[int, int], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        for item in items:
            least = min(packed.get(item.line_number, 0), item.quantity)
            self._add_units_field(
                item,
                least,
                item.quantity,
                gettext("%(item)s: quantity to keep") % {"item": item.label},
            )
            self.initial[f"line_{item.line_number}"] = item.quantity

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError if nothing would change, or nothing would be left."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            if not any(self.units.values()):
                raise forms.ValidationError(
                    _("Keep at least one item. To remove everything, cancel the order.")
                )
            if all(self.units[item.line_number] == item.quantity for item, _ in self.rows):
                raise forms.ValidationError(_("Choose a smaller quantity for at least one item."))
        return cleaned


class ReturnForm(_LinesForm):
    """The form that requests a return: the number of units of each line, and the reason."""

    reason = forms.ChoiceField(
        label=_("Why are you returning it?"),
        choices=[(key, _(reason)) for key, reason in REASONS.items()],
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose a reason"),
            "invalid_choice": _("Choose one of these reasons"),
        },
    )
    words = forms.CharField(
        label=_("Tell us more"),
        required=False,
        max_length=1000,
        widget=forms.Textarea({"rows": 4}),
        help_text=_(
            "For example, what is broken or what you received instead. It helps us reply faster."
        ),
        error_messages={"max_length": _("Enter 1,000 characters or fewer")},
    )

    def __init__(self, *args: Any, contents: Sequence[ItemUnits], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for content in contents:
            self._add_units_field(
                content.item,
                0,
                content.units,
                gettext("%(item)s: quantity to return") % {"item": content.item.label},
            )
        names = [field.name for _, field in self.rows]
        self.order_fields([*names, "reason", "words"])

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError if nothing was chosen."""
        cleaned = super().clean() or self.cleaned_data
        chosen = [name for name in cleaned if name.startswith("line_")]
        if (
            self.rows
            and len(chosen) == len(self.rows)
            and not any(cleaned[name] for name in chosen)
        ):
            self.add_error(self.rows[0][1].name, _("Choose a quantity for at least one item"))
        return cleaned

    @property
    def reason_text(self) -> str:
        """The text of the reason that the order stores."""
        words = self.cleaned_data["words"].strip()
        return ": ".join(filter(None, (REASONS[self.cleaned_data["reason"]], words)))


class DeliveryAddressForm(AddressFields):
    """The form that sets another delivery address in the same country."""

    def __init__(self, *args: Any, current_address: Address, **kwargs: Any) -> None:
        super().__init__(
            *args, initial=current_address.stored_fields(), section="shipping", **kwargs
        )
        self.current_address = current_address
        country, code = self.fields["country"], current_address.country
        country.choices = [(code, COUNTRIES.get(code, code))]  # type: ignore[attr-defined]
        country.widget = forms.HiddenInput()
        country.error_messages["invalid_choice"] = _(
            "You can’t change the country, because tax and delivery depend on it"
        )

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError if the address has not changed."""
        cleaned = super().clean()
        if (
            not self.errors
            and address_from_fields(cleaned).stored_fields() == self.current_address.stored_fields()
        ):
            raise forms.ValidationError(
                _("This is already the delivery address. Enter a different one.")
            )
        return cleaned

    def address(self) -> Address:
        """Return the address that was typed."""
        return address_from_fields(self.cleaned_data)
