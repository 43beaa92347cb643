"""The pages of the demo shop's mail reader, where visitors read the mails that the shop has sent."""

from functools import wraps
from smtplib import SMTPException
from uuid import uuid4

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.mail import EmailMessage
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from cart.forms import IdempotencyKeyField
from conversations.rules import MAX_BODY
from demo.mail import maildir
from mail.frames import frame_html, with_frame
from web.decorators import P, View, no_store, post_only, public
from web.forms import Form
from web.rendering import render_page


class AnswerForm(Form):
    """The form that answers a mail. `operation` makes the Message-ID, so a repeat is the same mail."""

    message = forms.CharField(
        label=_("Your answer"), max_length=MAX_BODY, widget=forms.Textarea({"rows": 6})
    )
    operation = IdempotencyKeyField()


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
@with_frame
def mail_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show the page with a mail's HTML in a frame, and its text, in which addresses are links."""
    found = _get_mail(key)
    form = AnswerForm(initial={"operation": uuid4()})
    return render_page(request, "demo/message.html", {"mail": found, "form": form})


@demo_only
@require_safe
@no_store
@public
def mail_html(request: HttpRequest, key: str) -> HttpResponse:
    """Return a mail's HTML for the page's frame."""
    if not (html := _get_mail(key).html):
        raise Http404
    return frame_html(html)


@demo_only
@post_only("mail:message", "key")
@no_store
@public
@with_frame
def answer_mail(request: HttpRequest, key: str) -> HttpResponse:
    """Send an answer to a mail, with the mail quoted below it, as its reader's mail program would."""
    found, form = _get_mail(key), AnswerForm(request.POST)
    if not found.reply_to:
        raise Http404
    if form.is_valid():
        quote = "\n".join(f"> {line}" for line in found.text.splitlines())
        day = f"{found.sent_at:%d %B %Y}" if found.sent_at else "an earlier day"
        answer = EmailMessage(
            f"Re: {found.subject.removeprefix('Re: ')}",
            f"{form.cleaned_data['message']}\n\nOn {day}, {found.sender} wrote:\n{quote}\n",
            found.to,
            [found.reply_to],
            headers={
                "Message-ID": f"<{form.cleaned_data['operation']}@demo.example>",
                "In-Reply-To": found.message_id,
            },
        )
        try:
            answer.send()
        except (SMTPException, OSError):
            form.add_error(None, gettext("The shop has not taken your email. Try again later."))
        else:
            messages.success(request, gettext("Your email is sent."))
            return redirect("mail:message", key)
    context = {"mail": found, "form": form}
    return render_page(request, "demo/message.html", context, status=422)


def _get_mail(key: str) -> maildir.CaughtMail:
    """Return a caught mail. Raises Http404."""
    found = maildir.get_mail(key)
    if found is None:
        raise Http404
    return found
