"""What a form says of bad input: the shop's own words, whatever its fields and whoever made the form."""

from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from typing import Any

from django import forms
from django.conf import settings
from django.core import validators
from django.core.files.uploadedfile import SimpleUploadedFile

from web.forms import Form


def _below(parent: type[Any]) -> Iterator[type[Any]]:
    for each in parent.__subclasses__():
        yield each
        yield from _below(each)


def _list_django_messages() -> list[object]:
    fields = [forms.Field, *(each for each in _below(forms.Field) if "django." in each.__module__)]
    found = [
        text for each in fields for text in getattr(each, "default_error_messages", {}).values()
    ]
    found += [each.message for each in vars(validators).values() if hasattr(each, "message")]
    return [*found, *validators.DecimalValidator.messages.values()]


def test_x60_no_form_speaks_in_djangos_words() -> None:
    import_module(settings.ROOT_URLCONF)
    djangos, shops, wrong = _list_django_messages(), [*_below(Form)], []
    assert len(shops) > 100
    for form_class in shops:
        for name, field in form_class.base_fields.items():

            class OneField(Form):
                pass

            form = OneField({})
            form.fields[name] = field = deepcopy(field)
            form.full_clean()
            said = dict(field.error_messages)
            for each in field.validators:
                messages = getattr(each, "messages", {getattr(each, "code", ""): ""})
                texts = {code: getattr(each, "message", text) for code, text in messages.items()}
                said = texts | said
            wrong += [
                f"{form_class.__name__}.{name}: {code}"
                for code, text in said.items()
                if any(text is each for each in djangos)
            ]
    assert wrong == []


class SampleForm(Form):
    """A field of each kind, and one that is added to the form."""

    text = forms.CharField(label="Place", max_length=3)
    least = forms.CharField(min_length=2)
    count = forms.IntegerField(min_value=1, max_value=9)
    price = forms.DecimalField(max_digits=4, decimal_places=2)
    bound = forms.IntegerField(validators=[validators.MaxValueValidator(3, "Own bound")])
    day = forms.DateField()
    choice = forms.ChoiceField(label="Role", choices=[("a", "A")])
    choices = forms.MultipleChoiceField(choices=[("a", "A")])
    thing = forms.UUIDField()
    version = forms.IntegerField(widget=forms.HiddenInput)
    password = forms.CharField(widget=forms.PasswordInput)
    email = forms.EmailField()
    file = forms.FileField(max_length=5)
    own = forms.CharField(max_length=1, error_messages={"max_length": "Own words"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.fields["added"] = forms.CharField(max_length=1)


def _list_errors(form: Form) -> dict[str, str]:
    return {name: " ".join(map(str, errors)) for name, errors in form.errors.items()}


def test_x60_what_is_wrong_is_said_in_the_shops_words() -> None:
    sent = {
        "text": "xxxx",
        "least": "x",
        "count": "10",
        "price": "1.234",
        "bound": "9",
        "day": "odd",
        "choice": "b",
        "choices": "b",
        "thing": "odd",
        "version": "odd",
        "password": "\0",
        "email": "ada",
        "own": "xx",
        "added": "xx",
    }
    form = SampleForm(sent, {"file": SimpleUploadedFile("longer.csv", b"x")})
    assert _list_errors(form) == {
        "text": "Enter at most 3 characters",
        "least": "Enter at least 2 characters",
        "count": "Enter 9 or less",
        "price": "Enter at most 2 decimal places",
        "bound": "Own bound",
        "day": "Enter a date in the format 2026-11-21",
        "choice": "Choose one of the options",
        "choices": "Choose only from the options",
        "thing": "Reload the page and try again",
        "version": "Reload the page and try again",
        "password": "Enter it without unprintable characters",
        "email": "Enter an email address in the format name@example.com",
        "file": "Give the file a name of at most 5 characters",
        "own": "Own words",
        "added": "Enter at most 1 character",
    }
    said = _list_errors(SampleForm({"count": "0", "price": "123.4"}))
    assert (said["text"], said["choice"], said["file"]) == (
        "Enter a place",
        "Choose a role",
        "Choose a file",
    )
    assert said["count"] == "Enter 1 or more"
    assert said["price"] == "Enter at most 2 digits before the decimal point"
