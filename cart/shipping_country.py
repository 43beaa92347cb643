"""The visitor's shipping country. The cart shows its sums for it before anything personal is asked."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from pricing.delivery import get_default_country, list_delivery_countries
from pricing.delivery_settings import country_name

COUNTRY_SECONDS = 400 * 24 * 3600  # as long as browsers keep a cookie at most


def get_shipping_country(request: HttpRequest) -> str:
    """Return the country in the URL, or the one chosen last in this browser, or the member's own, or the default."""
    countries = list_delivery_countries()
    # A guest has no preference.
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
    """Remember in the browser which country was chosen on this page, if one was."""
    chosen = request.GET.get("country")
    if chosen in list_delivery_countries() and chosen != request.COOKIES.get(
        settings.COUNTRY_COOKIE_NAME
    ):
        response.set_cookie(
            settings.COUNTRY_COOKIE_NAME,
            chosen,
            max_age=COUNTRY_SECONDS,
            secure=settings.HTTPS,
            httponly=True,
            samesite="Lax",
        )


def list_shipping_countries() -> list[tuple[str, str]]:
    """Return the countries we deliver to, by code and English name, in the order of their names."""
    return sorted(
        ((code, country_name(code)) for code in list_delivery_countries()), key=lambda each: each[1]
    )
