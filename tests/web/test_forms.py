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

# All that a form says about an empty field. A new text is read once as a sentence, and added.
READ_TEXTS = """
Choose a cart | Choose a cart. | Choose a category | Choose a colour | Choose a country |
Choose a delivery method | Choose a file | Choose a format | Choose a new status |
Choose a password | Choose a payment method | Choose a price change | Choose a reason |
Choose a review. | Choose a role | Choose a rounding | Choose a state | Choose a tax rate |
Choose a type of filter | Choose a unit | Choose a warehouse | Choose an action |
Choose an email | Choose an event | Choose an order | Choose at least one country | Choose one |
Choose one to five stars | Choose what they can do | Choose what to do | Choose yes or no |
Enter SKUs of the products | Enter a VAT number | Enter a category | Enter a code |
Enter a code. | Enter a comment | Enter a conversation | Enter a date | Enter a day and a time |
Enter a kind | Enter a name | Enter a name for the cart. | Enter a new address | Enter a note |
Enter a number of stars | Enter a page | Enter a picture | Enter a postcode | Enter a price |
Enter a product | Enter a quantity. | Enter a reason for your colleagues | Enter a review |
Enter a seller | Enter a subject | Enter a tag, for example gift | Enter a tagline |
Enter a text | Enter a title | Enter a town or city | Enter a version |
Enter a whole number from 0 to 1,000,000 | Enter a whole number from 0 to 3,650 |
Enter a whole number from 0 to 60 | Enter a whole number from 0 to 99 |
Enter a whole number from 1 to 1,000,000 | Enter a whole number from 14 to 3,650 |
Enter an act | Enter an address | Enter an amount |
Enter an email address in the format name@example.com | Enter an old address |
Enter an order number | Enter one of your recovery codes | Enter searched words |
Enter searches | Enter the alt text | Enter the card number | Enter the code |
Enter the full name | Enter the name of the shop | Enter the six digits that your app shows |
Enter the street and number | Enter words never to suggest | Enter words that mean the same |
Enter words to find as well | Enter your answer | Enter your current password |
Enter your message | Enter your name | Enter your order number | Enter your password |
Enter your question | Reload the page and try again
"""


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


def test_x60_each_text_for_an_empty_field_is_one_that_somebody_has_read() -> None:
    import_module(settings.ROOT_URLCONF)
    said = set()
    for form_class in _below(Form):
        if form_class.__module__.startswith("tests."):
            continue
        form = Form({})
        form.fields = deepcopy(form_class.base_fields)
        form.full_clean()
        said |= {
            str(field.error_messages["required"])
            for field in form.fields.values()
            if field.required and not field.widget.is_hidden
        }
    assert said == {each.strip() for each in READ_TEXTS.split("|")}


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
