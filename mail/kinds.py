"""The kinds of mails, with the shop's own texts: MAILS in the `mail_kinds.py` of each app that sends some.

A mail has a subject, an introduction, a button where there is something to do, and a closing text. Between the introduction and
the button comes what its template draws (templates/mail). Staff may replace the texts (mail.texts). Placeholders in braces are
filled with the facts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.template import Context, Engine, Template
from django.utils.translation import gettext_lazy as _

from web.app_modules import find_app_modules
from web.types import StrOrPromise

TEXTS = ("subject", "intro", "closing")
# What is shown where a mail without a customer is looked at.
_ADDRESS = "https://shop.example/link/"
SAMPLE = {"url": _ADDRESS, "email": "ada@example.com"}
SAMPLE_END = {"end_url": _ADDRESS}


@dataclass(frozen=True)
class MailPlaceholder:
    """A fact that texts name in braces. `value` is what a template would write between `{{` and `}}`.

    What somebody may have typed (`is_typed`) stands in no subject (S58).
    """

    label: StrOrPromise
    value: str
    is_typed: bool = False


SHOP = MailPlaceholder(_("The shop’s name"), "shop")
NAME = MailPlaceholder(_("The customer’s name, if it is known"), "name", is_typed=True)
PRODUCT = MailPlaceholder(_("The product’s name"), "name")

_END = _("Stop these emails")


@dataclass(frozen=True)
class MailKind:
    """A kind of mail. `purpose` says when it is sent. `sample` is a context to look at it, `preview` makes one of an order.

    The introduction or the closing must name each placeholder of `required`. `template` names the files in templates/mail.
    """

    name: str
    purpose: StrOrPromise
    subject: StrOrPromise
    intro: StrOrPromise
    closing: StrOrPromise = ""
    button: StrOrPromise = ""
    end_label: StrOrPromise = _END
    placeholders: Mapping[str, MailPlaceholder] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    template: str = "base"
    sample: Mapping[str, Any] = field(default_factory=dict)
    preview: Callable[[Any], Mapping[str, Any]] | None = None

    @property
    def all_placeholders(self) -> Mapping[str, MailPlaceholder]:
        """The placeholders of the mail's texts, with those that every mail has."""
        return {**self.placeholders, "shop": SHOP}

    def get_text(self, name: str) -> str:
        """Return the shop's own text: `name` is one of TEXTS."""
        return str(getattr(self, name))

    def compute_values(self, context: Mapping[str, Any]) -> dict[str, str]:
        """Return the values of the mail's placeholders for a context."""
        values = Context(dict(context), autoescape=False)
        return {
            name: str(_expression(placeholder.value).render(values))
            for name, placeholder in self.all_placeholders.items()
        }


@lru_cache(maxsize=256)
def _expression(value: str) -> Template:
    return Engine.get_default().from_string(f"{{% load money %}}{{{{ {value} }}}}")


def compile_placeholders() -> None:
    """Compile the placeholders of all kinds, before the first mail needs them."""
    for kind in get_mail_kinds().values():
        for placeholder in kind.all_placeholders.values():
            _expression(placeholder.value)


@cache
def get_mail_kinds() -> Mapping[str, MailKind]:
    """Return the kinds of all installed apps, by name. Raises ImproperlyConfigured when two have one name."""
    found: dict[str, MailKind] = {}
    for module in find_app_modules("mail_kinds").values():
        for kind in module.MAILS:
            if kind.name in found:
                raise ImproperlyConfigured(f"two kinds of mails are named {kind.name!r}")
            found[kind.name] = kind
    return found
