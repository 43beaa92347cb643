"""The pages on which a member writes, changes and deletes posts."""

from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.models import User
from adminpanel.moderation.labels import STATES
from cassandra_db import current_time
from catalogue.entities import PictureUpload
from catalogue.errors import MediaUnavailable
from catalogue.queries import list_uploads, prefetch_uploads, uploads_from_rows
from moderation.errors import NoSuchText, TextChanged
from moderation.rules import find_reason_to_hold, get_review_rules
from moderation.similar_texts import find_crowd_or_copy
from moderation.states import REFUSED
from posts import pictures, queries
from posts.entities import Post, PostInput
from posts.errors import NoSuchPost
from posts.forms import PostForm, VersionForm, list_shown_products
from posts.operations import posts as operations
from posts.post_lists import begin_page
from posts.rules import MAX_ALT, MAX_PICTURE_BYTES
from posts.shop_products import ProductChoice, join_choices, list_chosen, list_found, list_ordered
from posts.time_ids import is_form_id, make_form_id
from web.decorators import get_or_post, post_only
from web.errors import TooManyAttempts
from web.rate_limits import hit_local_rate_limit, hit_rate_limit
from web.rendering import render_page, render_too_many_attempts
from web.text import clean_text
from web.uploads import SHOPPER_UPLOADS, takes_files, upload_url

_PAGE = "posts/write.html"


@require_safe
@member_required
def own_posts(request: HttpRequest) -> HttpResponse:
    """List the member's posts in all states, newest first."""
    of = queries.own_posts(current_member(request).user_id)
    page = begin_page(request, of).collect()
    posts = queries.get_posts(page.ids)
    query = urlencode({"after": page.next_token})
    context = {
        "posts": [
            (posts[each], *STATES[posts[each].state])
            for each in page.ids
            if each in posts and not posts[each].is_gone
        ],
        "next_url": f"{reverse('posts:own')}?{query}" if page.next_token else "",
    }
    return render_page(request, "posts/own.html", context)


@require_safe
@member_required
def start_post(request: HttpRequest) -> HttpResponse:
    """Lead to the form of a new post; its address has the id that the post will have."""
    return redirect("posts:write", make_form_id(current_member(request).user_id))


@require_safe
@member_required
def product_choices(request: HttpRequest) -> HttpResponse:
    """Return the products of the form of a post after a search, with those that are ticked."""
    member_id, query = current_member(request).user_id, _read_query(request)
    hit_local_rate_limit(request, "search")
    chosen = list_chosen(list_shown_products(request.GET.getlist("products")))
    choices = join_choices(chosen, list_found(query) if query else list_ordered(member_id))
    return render_page(
        request, _PAGE, {"choices": choices, "find": query, "is_search": True}, part="products"
    )


@member_required
@takes_files(MAX_PICTURE_BYTES)
@get_or_post
def write_post(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the form of a post, and write or change the post on submit."""
    editor = _open_editor(request, post_id)
    if request.method != "POST":
        return editor.render(PostForm.of_post(editor.own))
    form = PostForm(request.POST, request.FILES)
    form.full_clean()
    # Files are stored even if other fields are wrong: a browser does not send them again with the corrected form.
    editor.take_in(form)
    if form.asks_for_products:
        return editor.render(form)
    if not form.errors and not editor.count_pictures():
        form.add_error("pictures", _("Choose a picture"))
    if form.errors:
        return editor.render(form, status=422)
    return _save(editor, form)


def _save(editor: "PostEditor", form: PostForm) -> HttpResponse:
    request, member, typed, own = editor.request, editor.member, form.cleaned_data, editor.own
    change_id = editor.make_change_id(form)
    try:
        if own is None or own.change_id != change_id:
            kind = "edit" if own else "post"
            hit_rate_limit(request, kind, str(member.user_id), hit_id=change_id)
        chosen = list_chosen(typed["products"])
        written = operations.write_post(
            editor.post_id,
            member,
            PostInput(
                body=typed["body"],
                tags=typed["tags"],
                products=tuple(each.shown for each in chosen),
                alts=editor.read_alts(form, chosen, change_id),
                held_for=_find_reason_to_hold(editor, typed["body"], change_id),
            ),
            seen=typed["version"],
            change_id=change_id,
            now=current_time(),
            removed=editor.list_removed(),
        )
    except TooManyAttempts as error:
        return editor.render(form, refused_by=error)
    except NoSuchPost as error:
        raise Http404 from error
    except TextChanged:
        editor.own = queries.get_post(editor.post_id)
        form.begin_again(version=str(editor.own.version if editor.own else 0))
        return editor.render(form, status=409, is_stale=True)
    pictures.forget_refused(editor.list_read())
    if written.is_public and not editor.has_taken:
        messages.success(request, _("Your post is saved."))
        return redirect("posts:post", editor.post_id)
    messages.success(request, _("Thank you. Others see it once we have looked at it."))
    return redirect("posts:write", editor.post_id)


@member_required
@post_only("posts:own")
def withdraw_post(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Delete one of the member's posts."""
    form, own = VersionForm(request.POST), _require_own(request, post_id)
    if not form.is_valid():
        raise Http404
    try:
        operations.withdraw_post(
            post_id,
            seen=form.cleaned_data["version"],
            change_id=uuid5(form.cleaned_data["operation"], f"delete {post_id.hex}"),
            now=current_time(),
        )
    except (NoSuchPost, NoSuchText):
        pass  # the post was deleted before, in another tab
    except TextChanged:
        messages.error(request, _("Your post has just changed. Look at it again."))
        return redirect("posts:write", own.post_id)
    messages.success(request, _("Your post is deleted."))
    return redirect("posts:own")


def _require_own(request: HttpRequest, post_id: UUID) -> Post:
    own = queries.get_post(post_id) if post_id.version == 1 else None
    if own is None or own.user_id != current_member(request).user_id:
        raise Http404
    return own


@dataclass
class PostEditor:
    """The page with the form of a post: its request, the data that was read for it, and the uploads of pictures."""

    request: HttpRequest
    member: User
    post_id: UUID
    own: Post | None
    uploads: list[PictureUpload]
    # Whether this request has brought new pictures.
    has_taken: bool = False

    def make_change_id(self, form: PostForm) -> UUID:
        """Return the id of the form, by which its repeat is recognised."""
        return uuid5(self.member.user_id, form.cleaned_data["operation"].hex)

    def list_removed(self) -> list[str]:
        """Return the pictures that the form removes from the post."""
        present = self.own.own_pictures if self.own else ()
        return [name for name in self.request.POST.getlist("remove") if name in present]

    def list_read(self) -> list[PictureUpload]:
        """Return the uploads of which the page has told that they were refused."""
        read = self.request.POST.getlist("read")
        return [each for each in self.uploads if str(each.upload_id) in read]

    def count_sent(self) -> int:
        """Return the number of uploads that will be pictures of the post."""
        has = self.own.own_pictures if self.own else ()
        return sum(each.state != "refused" and each.picture not in has for each in self.uploads)

    def count_pictures(self) -> int:
        """Return the number of pictures that the post will have."""
        has = len(self.own.own_pictures) if self.own else 0
        return has - len(self.list_removed()) + self.count_sent()

    def read_alts(
        self, form: PostForm, chosen: list[ProductChoice], change_id: UUID
    ) -> dict[str, str]:
        """Return the pictures' descriptions; a picture without one is described by the products."""
        instead = _describe_products(chosen)
        removed = self.list_removed()
        has = [each for each in self.own.own_pictures if each not in removed] if self.own else []
        names = [*has, *(each.salt for each in self.uploads)]
        typed = form.read_alts(names)
        for place in range(len(form.cleaned_data["pictures"])):
            text = clean_text(self.request.POST.get(f"new_alt_{place}", "")).strip()
            if text:
                typed[pictures.make_salt(change_id, place)] = text
        known = self.own.alts if self.own else {}
        for upload in self.uploads:
            typed.setdefault(upload.salt, known.get(upload.salt, ""))
        found = {name: typed.get(name) or instead for name in names}
        return {name: alt for name, alt in found.items() if alt}

    def take_in(self, form: PostForm) -> None:
        """Store the form's files, which the worker decodes, or add an error to the form. Raises CassandraUnavailable."""
        files, operation = form.cleaned_data.get("pictures"), form.cleaned_data.get("operation")
        if not files or not operation:
            return
        change_id = self.make_change_id(form)
        has = (len(self.own.own_pictures) if self.own else 0) - len(self.list_removed())
        if error := pictures.refuse_files(files, has, self.uploads, change_id):
            form.add_error("pictures", error)
            return
        try:
            hit_rate_limit(
                self.request, "review_pictures", str(self.member.user_id), hit_id=change_id
            )
            pictures.take_in_files(self.post_id, files, self.uploads, change_id, current_time())
        except TooManyAttempts:
            form.add_error("pictures", _("You’ve sent many pictures. Try again in an hour."))
        except MediaUnavailable:
            form.add_error(
                "pictures", _("Pictures can’t be taken in at the moment. Try again later.")
            )
        else:
            self.has_taken = True
            self.uploads = list_uploads(self.post_id)

    def list_choices(self, form: PostForm) -> list[ProductChoice]:
        """Return the products to choose from: the ticked ones, those that were searched for, and what the member has ordered."""
        chosen = list_chosen(form.list_chosen(self.own))
        query = _read_query(self.request) if form.asks_for_products else ""
        others = list_found(query) if query else list_ordered(self.member.user_id)
        return join_choices(chosen, others)

    def render(
        self,
        form: PostForm,
        status: int = 200,
        *,
        is_stale: bool = False,
        refused_by: TooManyAttempts | None = None,
    ) -> HttpResponse:
        """Show the form."""
        request, own = self.request, self.own
        # The form itself does not know which pictures are there already.
        form.fields["pictures"].required = not self.count_pictures()
        if own:
            form.fields["pictures"].label = _("More pictures")
        address = reverse("posts:write", args=(self.post_id,))
        context: dict[str, Any] = {
            "post_id": self.post_id,
            "own": own,
            "form": form,
            "is_stale": is_stale,
            "address": address,
            "send_url": upload_url(request, address, SHOPPER_UPLOADS),
            # The part that refreshes itself does not need them.
            "choices": cache(lambda: self.list_choices(form)),
            "find": _read_query(request),
            "alts": self._list_alts(form),
            # The form lacks the changes that were made since the page was opened.
            "is_polled": "X-Refreshes-Itself" in request.headers,
            "removed": request.POST.getlist("remove"),
            "waiting": [each for each in self.uploads if each.state != "refused"],
            "refused": [each for each in self.uploads if each.state == "refused"],
        }
        if form.is_bound and (self.has_taken or form.asks_for_products):
            form.begin_again()
        if refused_by:
            return render_too_many_attempts(request, refused_by, _PAGE, context)
        return render_page(request, _PAGE, context, part="uploads", status=status)

    def _list_alts(self, form: PostForm) -> list[tuple[str, str]]:
        """Return the pictures of the post with their descriptions as the form shows them."""
        own = self.own
        if own is None:
            return []
        typed = form.read_alts(own.own_pictures) if form.is_bound else own.alts
        return [(each, typed.get(each, "")) for each in own.own_pictures]


def _open_editor(request: HttpRequest, post_id: UUID) -> PostEditor:
    """Read a post of the member, or begin one with this id. Raises Http404 for another's post, a deleted one and a strange id."""
    member = current_member(request)
    if post_id.version != 1:
        raise Http404
    reading, reading_uploads = queries.prefetch_post(post_id), prefetch_uploads(post_id)
    own = queries.post_from_row(reading.one())
    if own is None and not is_form_id(post_id, member.user_id, current_time()):
        raise Http404
    if own and (own.user_id != member.user_id or own.is_gone):
        raise Http404
    uploads = uploads_from_rows(reading_uploads.rows())
    return PostEditor(request, member, post_id, own, uploads)


def _describe_products(chosen: list[ProductChoice]) -> str:
    """Return the names of the chosen products as a picture's description; "" without products."""
    names = [each.name for each in chosen]
    if len(names) < 2:
        return "".join(names)[:MAX_ALT]
    joined = _("%(names)s and %(last)s") % {"names": ", ".join(names[:-1]), "last": names[-1]}
    return joined[:MAX_ALT]


def _read_query(request: HttpRequest) -> str:
    sent = request.POST if request.method == "POST" else request.GET
    return clean_text(sent.get("find_products", "")).strip()[:100]


def _find_reason_to_hold(editor: PostEditor, body: str, change_id: UUID) -> str:
    """Return why the staff must read the words of a post before they are published, or "". Raises CassandraUnavailable."""
    if reason := find_reason_to_hold("", body, get_review_rules()):
        return reason
    own = editor.own
    if own and own.state == REFUSED:
        return "again"
    if own and own.body == body:
        return ""
    return find_crowd_or_copy(editor.request, body, editor.member.user_id, change_id)
