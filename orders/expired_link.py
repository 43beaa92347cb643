"""The page that visitors get if the link in their mail is too old."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from orders.forms import LookupForm
from web.rendering import render_page


def expired_link_page(request: HttpRequest) -> HttpResponse:
    """Show the page that says that the link is too old, and asks for the order's number and e-mail address."""
    context = {"form": LookupForm(), "expired_after_days": settings.ORDER_LINK_DAYS}
    return render_page(request, "orders/lookup.html", context, status=410)
