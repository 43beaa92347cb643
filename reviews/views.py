"""The pages of a product's reviews."""

from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.models import User
from accounts.queries import find_user_by_email
from cassandra_db import current_time
from cassandra_db.errors import InvalidPageToken
from catalogue.entities import PictureUpload, Product
from catalogue.errors import MediaUnavailable
from catalogue.queries import (
    list_uploads,
    prefetch_categories,
    prefetch_product,
    prefetch_uploads,
    uploads_from_rows,
)
from mail.one_click import confirm_one_click, is_one_click
from moderation.errors import NoSuchText, TextChanged
from moderation.pages import product_on_sale_from_rows, require_product_id
from moderation.rules import find_reason_to_hold, get_review_rules, shown_name
from moderation.similar_texts import find_crowd_or_copy
from moderation.states import PUBLISHED, REFUSED, WITHDRAWN
from orders.lifecycle.entities import Order
from orders.queries import get_order, list_items
from reviews import links, operations, queries
from reviews.entities import Review, ReviewInput
from reviews.errors import ReviewsBusy
from reviews.forms import ReportForm, ReviewForm, VoteForm, WithdrawForm
from reviews.pictures import (
    MAX_PICTURE_BYTES,
    forget_refused,
    picture_owner,
    refuse_files,
    take_in_files,
)
from reviews.queries import ALL, HELPFUL
from reviews.requests import list_member_ids
from reviews.votes import set_vote
from web.decorators import get_or_post, owner_only, post_only, public
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import render_page, render_too_many_attempts
from web.uploads import SHOPPER_UPLOADS, takes_files, upload_url


@require_safe
@public
def product_reviews(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a product's reviews: all reviews, the reviews with one number of stars, or the most helpful reviews."""
    prefetch_categories()
    product_id, stars = require_product_id(slug), request.GET.get("stars", "")
    by_helpfulness = request.GET.get("sort") == "helpful"
    if stars and stars not in set("12345"):
        raise Http404("no such reviews")
    which = int(stars) if stars else HELPFUL if by_helpfulness else ALL
    after = request.GET.get("after", "")
    try:
        reading = queries.prefetch_review_page(product_id, which, after)
        rating_pending, product_pending = (
            queries.prefetch_rating(product_id),
            prefetch_product(product_id),
        )
        product = product_on_sale_from_rows(product_pending.rows())
        page = queries.review_page_from_rows(product_id, which, after, reading.rows())
    except InvalidPageToken as error:
        raise Http404 from error
    if product.slug != slug:
        return redirect("reviews:list", product.slug, permanent=True)
    context = {
        "product": product,
        "rating": queries.rating_from_row(rating_pending.one()),
        "page": page,
        "which": which,
        "stars": which if 1 <= which <= 5 else 0,
        "by_helpfulness": which == HELPFUL,
        "next_url": _list_url(product.slug, which, page.next_token) if page.next_token else "",
        "voted": request.GET.get("voted", ""),
    }
    return render_page(request, "reviews/list.html", context)


@dataclass(frozen=True)
class Writer:
    """The writer of a review: a member, or a guest with a mail about an order. A new review gets the first of `ids`."""

    ids: tuple[UUID, ...]
    name: str
    write_url: str
    withdraw_url: str
    order: Order | None = None

    @classmethod
    def of_member(cls, member: User, slug: str) -> Self:
        """Return a member as a writer, who can also change the reviews that they wrote as a guest."""
        return cls(
            tuple(list_member_ids(member)),
            member.name,
            reverse("reviews:write", args=(slug,)),
            reverse("reviews:withdraw", args=(slug,)),
        )

    @classmethod
    def of_guest(cls, order: Order, token: str, slug: str) -> Self:
        """Return the owner of an order's e-mail address as a writer."""
        return cls(
            tuple(queries.guest_ids(order.email)),
            order.name,
            reverse("reviews:write_as_guest", args=(token, slug)),
            reverse("reviews:withdraw_as_guest", args=(token, slug)),
            order,
        )

    def has_received(self, product_id: UUID) -> bool:
        """Return whether the writer has received the product. Raises CassandraUnavailable."""
        if self.order is None:
            return queries.has_received(self.ids[0], product_id)
        return self.order.fulfilment == "delivered" and any(
            each.product_id == product_id for each in list_items(self.order)
        )


@member_required
@takes_files(MAX_PICTURE_BYTES)
@get_or_post
def write_review(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of the member's review of a product, and write or change the review on submit."""
    return _write(request, slug, Writer.of_member(current_member(request), slug))


@takes_files(MAX_PICTURE_BYTES)
@get_or_post
@owner_only
def write_as_guest(request: HttpRequest, token: str, slug: str) -> HttpResponse:
    """Show a guest who follows a mailed link the form for a review of an ordered product; write or change the review on submit."""
    order = _find_guest_order(token, slug)
    if order is None:
        return _link_over(request)
    account = find_user_by_email(order.email)
    if order.user_id or (account and account.verified_at):
        # The e-mail address belongs to an account, and a person reviews a product only once.
        return redirect("reviews:write", slug)
    return _write(request, slug, Writer.of_guest(order, token, slug))


@member_required
@post_only("reviews:write", "slug")
def withdraw_review(request: HttpRequest, slug: str) -> HttpResponse:
    """Withdraw the member's review of a product."""
    return _withdraw(request, slug, Writer.of_member(current_member(request), slug))


@post_only("reviews:write_as_guest", "token", "slug")
@owner_only
def withdraw_as_guest(request: HttpRequest, token: str, slug: str) -> HttpResponse:
    """Withdraw a guest's review of a product."""
    order = _find_guest_order(token, slug)
    if order is None or order.user_id:
        return _link_over(request)
    return _withdraw(request, slug, Writer.of_guest(order, token, slug))


# A mail program has no CSRF token. The link's token protects this view.
@csrf_exempt
@get_or_post
@owner_only
def stop_requests(request: HttpRequest, token: str) -> HttpResponse:
    """Stop review requests to an address: from the page behind a mail's link, or by the mail program's button."""
    email = links.parse_stop_token(token)
    if email is None:
        return _link_over(request)
    if request.method != "POST":
        return render_page(request, "reviews/stop.html", {"email": email, "token": token})
    operations.stop_requests(email, current_time())
    if is_one_click(request):
        return confirm_one_click()
    messages.success(
        request, _("You’ve unsubscribed. We won’t ask you for reviews by email any more.")
    )
    return redirect("home")


def _find_guest_order(token: str, slug: str) -> Order | None:
    """Return the order of a mailed link, or None if the link is invalid. Raises Http404 for a product that is not in the order."""
    order_id = links.order_id_from_guest_token(token)
    order = get_order(order_id) if order_id else None
    if order is None or order.is_erased:
        return None
    product_id = require_product_id(slug)
    if all(each.product_id != product_id for each in list_items(order)):
        raise Http404
    return order


def _link_over(request: HttpRequest) -> HttpResponse:
    return render_page(request, "reviews/link_over.html", {}, status=410)


def _write(request: HttpRequest, slug: str, writer: Writer) -> HttpResponse:
    editor = _open_editor(request, require_product_id(slug), writer)
    if request.method != "POST":
        return editor.render(ReviewForm.of_review(editor.own))
    form = ReviewForm(request.POST, request.FILES)
    form.full_clean()
    # Files are stored even if other fields are wrong: a browser does not send them again with the corrected form.
    editor.take_in(form)
    if form.errors:
        return editor.render(form, status=422)
    typed, own, product = form.cleaned_data, editor.own, editor.product
    order_id = writer.order.order_id if writer.order else own.order_id if own else None
    change_id = uuid5(editor.writer_id, typed["operation"].hex)
    if own and own.change_id != change_id:
        try:
            hit_rate_limit(request, "edit", str(editor.writer_id), hit_id=change_id)
        except TooManyAttempts as error:
            return editor.render(form, refused_by=error)
    try:
        written = operations.write_review(
            product.product_id,
            editor.writer_id,
            ReviewInput(
                stars=typed["stars"],
                title=typed["title"],
                body=typed["body"],
                name=shown_name(writer.name),
                verified=writer.has_received(product.product_id),
                held_for=_find_reason_to_hold(editor, typed["title"], typed["body"], change_id),
                order_id=order_id,
            ),
            seen=typed["version"],
            change_id=change_id,
            now=current_time(),
            removed=editor.list_removed(),
        )
    except TextChanged:
        editor.own = queries.get_review(product.product_id, editor.writer_id)
        form.show_newer(editor.own)
        return editor.render(form, status=409, is_stale=True)
    except ReviewsBusy:
        form.add_error(None, _("Many people are reviewing this product right now. Try again."))
        return editor.render(form, status=422)
    editor.forget_refused()
    if editor.has_taken:
        messages.success(request, _("Thank you. Your pictures appear once we have looked at them."))
        return redirect(writer.write_url)
    if written.state == PUBLISHED:
        messages.success(request, _("Thank you. Your review is on the page."))
        return redirect("reviews:list", product.slug)
    messages.success(request, _("Thank you. We’ll read your review before it appears."))
    return redirect(writer.write_url)


@dataclass
class ReviewEditor:
    """The page with the form of a review: its request, the data that was read for it, and the uploads of pictures."""

    request: HttpRequest
    product: Product
    writer: Writer
    writer_id: UUID
    own: Review | None
    uploads: list[PictureUpload]
    # Whether this request has brought new pictures.
    has_taken: bool = False

    def list_removed(self) -> list[str]:
        """Return the pictures that the form removes from the review."""
        present = self.own.own_pictures if self.own else ()
        return [name for name in self.request.POST.getlist("remove") if name in present]

    def take_in(self, form: ReviewForm) -> None:
        """Store the form's files, which the worker decodes, or add an error to the form. Raises CassandraUnavailable."""
        files, operation = form.cleaned_data.get("pictures"), form.cleaned_data.get("operation")
        if not files or not operation:
            return
        product_id, writer_id = self.product.product_id, self.writer_id
        change_id = uuid5(writer_id, operation.hex)
        has = (len(self.own.own_pictures) if self.own else 0) - len(self.list_removed())
        if error := refuse_files(files, has, self.uploads, change_id):
            form.add_error("pictures", error)
            return
        try:
            hit_rate_limit(self.request, "review_pictures", str(writer_id), hit_id=change_id)
            take_in_files(product_id, writer_id, files, self.uploads, change_id, current_time())
        except TooManyAttempts:
            form.add_error("pictures", _("You’ve sent many pictures. Try again in an hour."))
        except MediaUnavailable:
            form.add_error(
                "pictures", _("Pictures can’t be taken in at the moment. Try again later.")
            )
        else:
            self.has_taken = True
            self.uploads = list_uploads(picture_owner(product_id, writer_id))

    def forget_refused(self) -> None:
        """Delete the refused uploads that the form has shown. Raises CassandraUnavailable."""
        read = self.request.POST.getlist("read")
        forget_refused([each for each in self.uploads if str(each.upload_id) in read])

    def render(
        self,
        form: ReviewForm,
        status: int = 200,
        *,
        is_stale: bool = False,
        refused_by: TooManyAttempts | None = None,
    ) -> HttpResponse:
        """Show the form."""
        request, own, writer = self.request, self.own, self.writer
        context: dict[str, Any] = {
            "product": self.product,
            "own": own if own and own.state != WITHDRAWN else None,
            "form": form,
            "writer": writer,
            "is_stale": is_stale,
            "send_url": upload_url(
                request, writer.write_url, SHOPPER_UPLOADS, is_for_guest=writer.order is not None
            ),
            # The form lacks the changes that were made since the page was opened.
            "is_polled": "X-Refreshes-Itself" in request.headers,
            "removed": request.POST.getlist("remove"),
            # A ready upload becomes a picture of the review within a minute.
            "waiting": [each for each in self.uploads if each.state != "refused"],
            "refused": [each for each in self.uploads if each.state == "refused"],
        }
        if self.has_taken and form.is_bound:
            form.begin_again()
        if refused_by:
            return render_too_many_attempts(request, refused_by, "reviews/write.html", context)
        return render_page(request, "reviews/write.html", context, part="uploads", status=status)


def _open_editor(request: HttpRequest, product_id: UUID, writer: Writer) -> ReviewEditor:
    """Read the data that the form of a review shows, in one round of parallel reads. Raises Http404."""
    pending = prefetch_product(product_id)
    uploads = {each: prefetch_uploads(picture_owner(product_id, each)) for each in writer.ids}
    own = queries.find_own_review(product_id, writer.ids)
    product = product_on_sale_from_rows(pending.rows())
    writer_id = own.user_id if own else writer.ids[0]
    found = uploads_from_rows(uploads[writer_id].rows())
    return ReviewEditor(request, product, writer, writer_id, own, found)


def _withdraw(request: HttpRequest, slug: str, writer: Writer) -> HttpResponse:
    product_id, form = require_product_id(slug), WithdrawForm(request.POST)
    own = queries.find_own_review(product_id, writer.ids)

    def show_again(status: int) -> HttpResponse:
        editor = _open_editor(request, product_id, writer)
        return editor.render(ReviewForm.of_review(editor.own), status, is_stale=True)

    if not form.is_valid():
        return show_again(422)
    if own is None:
        raise Http404
    try:
        operations.withdraw_review(
            product_id,
            own.user_id,
            seen=form.cleaned_data["version"],
            change_id=uuid5(own.user_id, form.cleaned_data["operation"].hex),
            now=current_time(),
        )
    except NoSuchText:
        pass  # the review was withdrawn before, in another tab
    except TextChanged:
        return show_again(409)
    messages.success(request, _("Your review is withdrawn."))
    return redirect("reviews:list", slug)


@member_required
@post_only("reviews:list", "slug")
def vote(request: HttpRequest, slug: str) -> HttpResponse:
    """Vote for a review as helpful, or take the vote back."""
    form, member = VoteForm(request.POST), current_member(request)
    if not form.is_valid():
        raise Http404
    review = _get_published(slug, form.cleaned_data["review"])
    if review.user_id in list_member_ids(member):
        messages.error(request, _("This is your own review."))
        return redirect("reviews:list", slug)
    is_helpful = form.cleaned_data["helpful"]
    if queries.has_voted(review.review_id, member.user_id) != is_helpful:
        hit_rate_limit(request, "vote", str(member.user_id))
        set_vote(review, member.user_id, is_helpful=is_helpful, now=current_time())
    if not is_helpful:
        messages.success(request, _("Your vote is taken back."))
        return redirect("reviews:list", slug)
    messages.success(request, _("Thank you for your vote."))
    query = urlencode({"voted": str(review.review_id), "sort": "helpful"})
    return redirect(f"{reverse('reviews:list', args=(slug,))}?{query}#r{review.review_id}")


@member_required
@post_only("reviews:list", "slug")
def report_review(request: HttpRequest, slug: str) -> HttpResponse:
    """Report a review to the staff; a second report changes nothing."""
    form, member = ReportForm(request.POST), current_member(request)
    if not form.is_valid():
        raise Http404
    review = _get_published(slug, form.cleaned_data["review"])
    if not review.has_report(member.user_id):
        # Two submits at once count as one.
        hit_id = uuid5(review.review_id, f"{member.user_id.hex} {review.version}")
        hit_rate_limit(request, "report", str(member.user_id), hit_id=hit_id)
        try:
            operations.report_review(review, member.user_id, now=current_time())
        except (TextChanged, NoSuchText):
            # The writer has just changed the review: the reader must read it again.
            messages.error(request, _("This review has just changed. Please read it again."))
            return redirect("reviews:list", slug)
    messages.success(request, _("Thank you. We’ll look at this review."))
    return redirect("reviews:list", slug)


def _get_published(slug: str, review_id: UUID) -> Review:
    product_id = require_product_id(slug)
    listed = queries.get_listed(product_id, review_id)
    review = queries.get_review(product_id, listed.user_id) if listed else None
    if review is None or not review.is_counted:
        raise Http404
    return review


def _find_reason_to_hold(editor: ReviewEditor, title: str, body: str, change_id: UUID) -> str:
    """Return why the staff must read a review before it is published, or "". Raises CassandraUnavailable."""
    if reason := find_reason_to_hold(title, body, get_review_rules()):
        return reason
    own = editor.own
    if own and own.is_waiting and own.held_for != operations.PICTURES:
        return own.held_for  # an edit does not take a review out of the queue
    # A writer cannot avoid the queue by withdrawing the review and writing another one.
    if own and (own.state == REFUSED or (own.state == WITHDRAWN and own.queued_at)):
        return "again"
    if own and own.state == PUBLISHED and own.body == body:
        return ""
    return find_crowd_or_copy(editor.request, body, editor.writer_id, change_id)


def _list_url(slug: str, which: int, after: str) -> str:
    query: dict[str, str] = (
        {"stars": str(which)}
        if 1 <= which <= 5
        else {"sort": "helpful"}
        if which == HELPFUL
        else {}
    )
    return f"{reverse('reviews:list', args=(slug,))}?{urlencode({**query, 'after': after})}"
