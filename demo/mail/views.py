"""The pages of the demo shop's mail reader, where visitors read the mails that the shop has sent."""

from functools import wraps

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from demo.mail import maildir
from web.decorators import P, View, no_store, public
from web.rendering import render_page


def demo_only(view: View[P]) -> View[P]:
    """Return a view that answers 404 in a real shop, where mails are private."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not settings.DEMO:
            raise Http404
        return view(request, *args, **kwargs)

    return checked


@demo_only
@require_safe
@no_store
@public
def mail_list(request: HttpRequest) -> HttpResponse:
    """Show the page with the list of caught mails."""
    return render_page(request, "demo/messages.html", {"mails": maildir.list_mails()})


@demo_only
@require_safe
@no_store
@public
def mail_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show the page with a mail's text, in which addresses are links."""
    found = maildir.get_mail(key)
    if found is None:
        raise Http404
    return render_page(request, "demo/message.html", {"mail": found})
