"""The form of a redirect from an address of a former shop."""

from django import forms
from django.utils.translation import gettext_lazy

from adminpanel.forms import text_input
from catalogue.errors import RedirectRefused
from catalogue.operations.redirects import Redirect, check_room, get_redirect, make_redirect
from web.forms import Form

MAX_ADDRESS_LENGTH = 500


class RedirectForm(Form):
    """The form of a redirect: an address of a former shop, and the address of the shop to which it leads."""

    old_address = forms.CharField(
        label=gettext_lazy("Old address"),
        max_length=MAX_ADDRESS_LENGTH,
        help_text=gettext_lazy("Such as /pages/about-us. Capitals, host and query don’t count."),
        widget=text_input(autocapitalize="none", spellcheck="false"),
    )
    new_address = forms.CharField(
        label=gettext_lazy("New address"),
        max_length=MAX_ADDRESS_LENGTH,
        help_text=gettext_lazy("Of a page of this shop, such as /c/mugs/."),
        widget=text_input(autocapitalize="none", spellcheck="false"),
    )

    def clean(self) -> dict[str, object]:
        """Return the clean data with the `redirect`, and with the redirect that its path has now as `former`."""
        clean: dict[str, object] = super().clean() or {}
        if self.errors:
            return clean
        try:
            redirect = make_redirect(str(clean["old_address"]), str(clean["new_address"]))
            former: Redirect | None = get_redirect(redirect.path)
            if former is None:
                check_room(redirect.path)
        except RedirectRefused as refused:
            self.add_error(refused.field, str(refused))
            return clean
        return clean | {"redirect": redirect, "former": former}
