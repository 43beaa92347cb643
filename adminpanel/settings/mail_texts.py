"""The pages of the mails' texts: the list, a mail's form with its preview, a test mail, and the way back to the shop's own texts."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID, uuid4

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.looks import ORDER_LOOK, prefetch_looks, record_look
from accounts.roles import ADMIN
from adminpanel.conflicts import get_seen_version
from adminpanel.parameters import found_or_404
from adminpanel.settings.editing import edit_setting, get_posted, show_setting
from adminpanel.settings.forms import SettingForm
from cassandra_db import current_time
from mail.frames import frame_html, open_links_outside, with_frame
from mail.kinds import SAMPLE, TEXTS, MailKind, get_mail_kinds
from mail.operations import MailOptions, queue_mail
from mail.rendering import render_mail
from mail.texts import (
    MAIL_TEXTS,
    MAX_SUBJECT,
    MAX_TEXT,
    PARTITION,
    MailTexts,
    find_broken_brace,
    get_text,
    list_missing,
)
from orders.board_queries import list_board_orders
from orders.lifecycle.entities import Order
from orders.lifecycle.states import BOARD_COLUMNS
from orders.numbers import normalize_order_number
from orders.queries import get_order_by_number
from shop_settings import operations
from shop_settings.errors import SettingChanged, SettingsBusy
from shop_settings.queries import get_settings_at_quorum
from web.decorators import get_or_post, post_only
from web.rendering import render_page


class MailTextsForm(SettingForm[MailTexts]):
    """The form of a mail's texts. `order` and `test` are the preview's: an order to show, and the id of a test mail."""

    kind, entity_class = MAIL_TEXTS, MailTexts
    template = "adminpanel/settings/mail_text.html"
    saved_text = gettext_lazy("Saved. Emails use it within seconds.")
    subject = forms.CharField(label=gettext_lazy("Subject"), max_length=MAX_SUBJECT)
    intro = forms.CharField(
        label=gettext_lazy("Introduction"),
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea({"rows": 9}),
        help_text=gettext_lazy("An empty line starts a new paragraph."),
    )
    closing = forms.CharField(
        label=gettext_lazy("Closing text"),
        required=False,
        max_length=MAX_TEXT,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy("Shown below the button."),
    )
    order = forms.CharField(
        label=gettext_lazy("Order to show"),
        required=False,
        max_length=20,
        help_text=gettext_lazy(
            "An order number. Leave empty for the newest order. The customer’s name and address are replaced by samples."
        ),
    )
    test = forms.UUIDField(widget=forms.HiddenInput, required=False)

    def __init__(
        self,
        setting: MailTexts | None,
        data: Mapping[str, Any] | None = None,
        mail: MailKind | None = None,
    ) -> None:
        self.mail = mail or get_mail_kinds()[cast(MailTexts, setting).key]
        super().__init__(setting, data)
        self.initial.update({name: get_text(self.mail, setting, name) for name in TEXTS})
        self.initial["test"] = uuid4()
        if not self.mail.preview:
            del self.fields["order"]

    def clean(self) -> dict[str, Any]:
        """Refuse braces that mean nothing, and texts without what the mail must say. A text like the shop's own follows it."""
        clean = cast(dict[str, Any], super().clean())
        typed = {name: clean.get(name, "").strip() for name in TEXTS}
        for name, text in typed.items():
            if broken := find_broken_brace(self.mail, name, text):
                self.add_error(name, broken)
        if not self.errors and (missing := list_missing(self.mail, typed)):
            names = ", ".join(f"{{{each}}}" for each in missing)
            self.add_error("intro", _("This email must say %(names)s.") % {"names": names})
        return clean | {
            name: None if text == self.mail.get_text(name) else text for name, text in typed.items()
        }

    def describe(self) -> dict[str, str]:
        """Return the texts, keyed by label."""
        order = str(self.base_fields["order"].label)
        return {label: value for label, value in super().describe().items() if label != order}


@staff_required((ADMIN,))
@require_safe
def mail_text_list(request: HttpRequest) -> HttpResponse:
    """List the mails, and which of them have texts of the staff's."""
    saved = get_settings_at_quorum(PARTITION).get_values(MAIL_TEXTS)
    lines = [
        (kind, get_text(kind, saved.get(name), "subject"), name in saved)
        for name, kind in get_mail_kinds().items()
    ]
    return render_page(request, "adminpanel/settings/mail_texts.html", {"lines": lines})


def _get_mail(key: str) -> tuple[MailKind, MailTexts | None]:
    mail = found_or_404(get_mail_kinds().get(key), "mail")
    return mail, get_settings_at_quorum(PARTITION).get_values(MAIL_TEXTS).get(key)


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
@with_frame
def mail_text(request: HttpRequest, key: str) -> HttpResponse:
    """Show or save a mail's texts."""
    mail, saved = _get_mail(key)
    form = MailTextsForm(saved, get_posted(request), mail)
    return edit_setting(request, form, key, "adminpanel:mail_texts", mail=mail)


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def preview_mail_text(request: HttpRequest, key: str) -> HttpResponse:
    """Return the preview's frame: a mail's HTML and text side by side, with the typed texts or else the saved ones."""
    mail, saved = _get_mail(key)
    form = MailTextsForm(saved, get_posted(request), mail)
    texts = saved or MailTexts(key)
    if form.is_valid():
        texts = form.build_setting(key)
    context = None if form.errors else _make_context(request, form)[0]
    rendered = render_mail(key, context, texts) if context is not None else None
    html = open_links_outside(rendered.html or "") if rendered else ""
    page = {
        "errors": form.errors,
        "rendered": rendered,
        "html": html,
        "is_requested": form.is_bound,
    }
    answer = frame_html(render_to_string("mail/preview.html", page, request))
    answer.status_code = 422 if form.errors else 200
    return answer


def _make_context(
    request: HttpRequest, form: MailTextsForm
) -> tuple[Mapping[str, Any] | None, UUID | None]:
    """Return a context for the form's mail, and the member of its order.

    The context is None if the mail needs an order, and there is none or the form was not sent: an order is shown only on request.
    """
    if not form.mail.preview:
        return {**SAMPLE, **form.mail.sample}, None
    if not form.is_bound:
        return None, None
    typed = form.cleaned_data["order"]
    order = get_order_by_number(normalize_order_number(typed)) if typed else _find_order()
    if order is None:
        return None, None
    staff, now = current_member(request), current_time()
    record_look(staff, ORDER_LOOK, order.number, prefetch_looks(staff, now), now)
    return form.mail.preview(order), order.user_id


def _find_order() -> Order | None:
    for column in BOARD_COLUMNS:
        for row in list_board_orders(column, limit=1, newest_first=True)[0]:
            return get_order_by_number(row.number)
    return None


@staff_required((ADMIN,), is_about_people=False)
@post_only("adminpanel:mail_text", "key")
@with_frame
def send_test_mail(request: HttpRequest, key: str) -> HttpResponse:
    """Mail the typed texts to the current member of staff. A form that is sent twice sends one mail."""
    mail, saved = _get_mail(key)
    form = MailTextsForm(saved, get_posted(request), mail)
    context, about = _make_context(request, form) if form.is_valid() else (None, None)
    if form.is_valid() and context is None:
        form.add_error("order", _("There is no order with this number."))
    if context is None:
        return show_setting(request, form, key, status=422, mail=mail)
    staff, test = current_member(request), form.cleaned_data["test"] or uuid4()
    options = MailOptions(about=about, texts=form.build_setting(key))
    queue_mail(staff.user_id, f"test {test}", staff.email, key, context, current_time(), options)
    form.keep_typed(test=uuid4())
    messages.success(request, _("A test email is on its way to you. Nothing is saved yet."))
    return show_setting(request, form, key, mail=mail)


@staff_required((ADMIN,), is_about_people=False)
@post_only("adminpanel:mail_text", "key")
@with_frame
def reset_mail_text(request: HttpRequest, key: str) -> HttpResponse:
    """Go back to the shop's own texts of a mail."""
    mail, saved = _get_mail(key)
    try:
        operations.remove_setting(MAIL_TEXTS, key, get_seen_version(request.POST), current_time())
    except SettingChanged as changed:
        messages.error(request, str(changed))
        return show_setting(
            request, MailTextsForm(_get_mail(key)[1], mail=mail), key, 409, mail=mail
        )
    except SettingsBusy as busy:
        messages.error(request, str(busy))
        return redirect("adminpanel:mail_text", key)
    if saved:
        own = MailTextsForm(None, mail=mail)
        note_changes(request, MailTextsForm(saved, mail=mail).describe(), own.describe())
    messages.success(request, _("The email uses the default texts again."))
    return redirect("adminpanel:mail_texts")
