"""The visitor's shipping country, for the sums of the cart."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from pricing.delivery import get_default_country, list_delivery_countries
from pricing.delivery_settings import country_name
from web.cookies import set_cookie

COUNTRY_SECONDS = 400 * 24 * 3600  # the longest time that browsers keep a cookie


def get_shipping_country(request: HttpRequest) -> str:
    """Return the first known country of these: the URL's, this browser's last choice, the member's preference, the default."""
    countries = list_delivery_countries()
    # A guest has no stored preference.
    preferred = getattr(request.user, "delivery_country", None)
    for country in (
        request.GET.get("country"),
        request.COOKIES.get(settings.COUNTRY_COOKIE_NAME),
        preferred,
    ):
        if country in countries:
            return str(country)
    return get_default_country()


def remember_shipping_country(request: HttpRequest, response: HttpResponse) -> None:
    """Store the country that was chosen by this request, if any, in a cookie."""
    chosen = request.GET.get("country")
    if chosen in list_delivery_countries() and chosen != request.COOKIES.get(
        settings.COUNTRY_COOKIE_NAME
    ):
        set_cookie(response, settings.COUNTRY_COOKIE_NAME, chosen, COUNTRY_SECONDS)


def list_shipping_countries() -> list[tuple[str, str]]:
    """Return the countries we deliver to as pairs of code and English name, sorted by name."""
    return sorted(
        ((code, country_name(code)) for code in list_delivery_countries()), key=lambda each: each[1]
    )
