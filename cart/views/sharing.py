"""Sharing a cart: its people, invitations and links, and the page that a link shows."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.signing import BadSignature
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from cart import operations, owner, people
from cart.access import OWN, ROLE_DESCRIPTIONS, ROLE_NAMES, VIEW, Access, require_access
from cart.errors import CartError, InvitationOver, NoSuchCart, NoSuchPerson, NotAllowed
from cart.forms import (
    CartPersonForm,
    CartRoleForm,
    IdempotencyForm,
    InvitationOrLinkForm,
    InviteForm,
)
from cart.operations import sharing
from cart.people import CartUser, SharedCart
from cart.priced_cart import get_priced_cart
from cassandra_db import current_time
from mail.addresses import email_key
from web.decorators import get_or_post, owner_only, post_only
from web.errors import TooManyAttempts
from web.forms import Form
from web.rate_limits import hit_rate_limit
from web.rendering import render_page, render_too_many_attempts

Action = Callable[[UUID], str]


@require_safe
@owner_only
def cart_people(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Show the page of a cart's people. The owner can change them, and other people can leave the cart."""
    return _people_page(request, _get_access(request, cart_id, VIEW))


@post_only("cart:people", "cart_id")
@owner_only
def invite_person(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Invite a person by e-mail. The response is the same whether the address has an account or not."""
    form, inviter = InviteForm(request.POST), _member(request)
    try:
        found = _get_access(request, cart_id, OWN)
        if inviter is None:
            return _people_page(
                request,
                found,
                status=403,
                refused=_("Sign in to invite people. We send the email in your name."),
            )
        if not form.is_valid():
            return _people_page(request, found, form=form, status=422)
        email, role = form.cleaned_data["email"], form.cleaned_data["role"]
        hit_rate_limit(request, "invitation", f"by {inviter.user_id}", f"to {email_key(email)}")
        sharing.invite_person(inviter, cart_id, email, role, current_time())
    except TooManyAttempts as error:
        return render_too_many_attempts(
            request, error, "cart/people.html", _people_context(request, found, form)
        )
    except NotAllowed as error:
        return _refusal_page(request, cart_id, error)
    except CartError as error:
        form.add_error("email", str(error))
        return _people_page(request, found, form=form, status=422)
    messages.success(request, _("Invitation sent. It’s valid for 14 days."))
    return redirect("cart:people", cart_id)


@post_only("cart:people", "cart_id")
@owner_only
def withdraw_invitation(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Withdraw an invitation."""

    def act(owner_id: UUID) -> str:
        sharing.withdraw_invitation(
            owner_id, cart_id, str(_cleaned_data(InvitationOrLinkForm(request.POST))["key"])
        )
        return _("Invitation withdrawn. Its link no longer works.")

    return _run_action(request, cart_id, act)


@post_only("cart:people", "cart_id")
@owner_only
def change_role(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Give a person another role."""

    def act(owner_id: UUID) -> str:
        sent = _cleaned_data(CartRoleForm(request.POST))
        sharing.change_role(owner_id, cart_id, sent["person"], sent["role"])
        return _("This person %(role)s now.") % {"role": ROLE_DESCRIPTIONS[sent["role"]]}

    return _run_action(request, cart_id, act)


@post_only("cart:people", "cart_id")
@owner_only
def remove_person(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Remove a person from the cart."""

    def act(owner_id: UUID) -> str:
        sharing.remove_person(
            owner_id, cart_id, _cleaned_data(CartPersonForm(request.POST))["person"]
        )
        return _("This person no longer has access to the cart.")

    return _run_action(request, cart_id, act)


@post_only("cart:people", "cart_id")
@owner_only
def create_link(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Make a link that shows the cart to everyone who has it."""

    def act(owner_id: UUID) -> str:
        member = _member(request)
        sharing.create_link(owner_id, cart_id, member.name if member else "", current_time())
        return _("Link created. Anyone who has it can view the cart.")

    return _run_action(request, cart_id, act)


@post_only("cart:people", "cart_id")
@owner_only
def withdraw_link(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Withdraw a link that shows the cart."""

    def act(owner_id: UUID) -> str:
        sharing.withdraw_link(
            owner_id, cart_id, _cleaned_data(InvitationOrLinkForm(request.POST))["key"]
        )
        return _("Link turned off. It no longer works.")

    return _run_action(request, cart_id, act)


@post_only("cart:people", "cart_id")
@owner_only
def leave_cart(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Leave a cart that another person shares."""
    try:
        found = require_access(owner.get_owner_id(request), cart_id, VIEW)
    except NoSuchCart:
        found = None  # the person's access was withdrawn: only remove the cart from the list
    if found and found.is_owner:
        return _people_page(
            request,
            found,
            status=403,
            refused=_("This is your own cart. You can delete it instead."),
        )
    if (person_id := owner.get_owner_id(request)) is None or not sharing.leave_cart(
        person_id, cart_id
    ):
        raise Http404("no such cart")
    messages.success(
        request, _("You’ve left %(name)s.") % {"name": found.name if found else _("the cart")}
    )
    return redirect("cart:carts")


@get_or_post
@owner_only
def invitation_detail(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation, and add its invitee to the cart on submit."""
    try:
        cart_id, invitation = people.find_invitation(token)
    except BadSignature:
        return _invitation_over_page(request)
    member = _member(request)
    if member and request.method == "POST":
        try:
            sharing.accept_invitation(token, member, current_time())
        except InvitationOver:
            return _invitation_over_page(request)
        except CartError as error:
            return _invitation_page(
                request, {"invitation": invitation, "refused": str(error)}, status=409
            )
        messages.success(
            request, _("You’ve joined the cart. You’ll find it in your list of carts.")
        )
        return redirect("cart:one", cart_id)
    if invitation is None and not (member and people.has_joined(cart_id, member.user_id)):
        return _invitation_over_page(request)
    fits = member is not None and (invitation is None or invitation.is_for(member.email))
    return _invitation_page(request, {"invitation": invitation, "fits": fits})


@require_safe
@owner_only
def shared_cart_detail(request: HttpRequest, token: str) -> HttpResponse:
    """Show the present contents of a link's cart to everyone who has the link."""
    found = people.find_shared_cart(token)
    if found is None:
        return _mark_noindex(render_page(request, "cart/link_over.html", {}, status=404))
    return _shared_cart_page(request, token, found)


@post_only("cart:shared", "token")
@owner_only
def copy_shared_cart(request: HttpRequest, token: str) -> HttpResponse:
    """Copy a link's cart into a new cart of the visitor."""
    found = people.find_shared_cart(token)
    if found is None:
        return _mark_noindex(render_page(request, "cart/link_over.html", {}, status=404))
    form = IdempotencyForm(request.POST)
    form.full_clean()
    person_id, guest = owner.get_or_create_owner_id(request), not request.user.is_authenticated
    try:
        idempotency_key, source = form.cleaned_data["operation"], found.cart
        copy_id, name = operations.copy_cart(
            person_id, source.cart_id, source.name, idempotency_key, current_time(), guest=guest
        )
    except CartError as error:
        return _shared_cart_page(request, token, found, refused=str(error))
    messages.success(
        request, _("%(name)s was created with the same items. It’s your own cart.") % {"name": name}
    )
    return redirect("cart:one", copy_id)


def _shared_cart_page(
    request: HttpRequest, token: str, found: SharedCart, *, refused: str = ""
) -> HttpResponse:
    priced_cart = get_priced_cart(found.cart)
    context = {
        "seen": found,
        "cart": found.cart,
        "priced_cart": priced_cart,
        "token": token,
        "operation": uuid4(),
        "refused": refused,
        "has_errors": bool(refused),
    }
    return _mark_noindex(
        render_page(request, "cart/shared.html", context, status=409 if refused else 200)
    )


def _member(request: HttpRequest) -> CartUser | None:
    user: Any = request.user  # the accounts' user, which this app does not import
    return CartUser(user.pk, user.name, user.email) if user.is_authenticated else None


def _get_access(request: HttpRequest, cart_id: UUID, act: str) -> Access:
    """Return the visitor's access to a cart, if their role allows `act`.

    Raises Http404 if the cart does not exist or is not shared with them, and NotAllowed if the role is too weak. Also raises
    CassandraUnavailable.
    """
    try:
        return require_access(owner.get_owner_id(request), cart_id, act)
    except NoSuchCart as error:
        raise Http404("no such cart") from error


def _cleaned_data(form: Form) -> dict[str, Any]:
    """Return the cleaned data of a form that has only hidden fields. Raises NoSuchPerson if the data is invalid."""
    if not form.is_valid():
        raise NoSuchPerson
    return form.cleaned_data


def _run_action(request: HttpRequest, cart_id: UUID, act: Action) -> HttpResponse:
    """Run an action of the cart's owner, and answer with the page of the cart's people."""
    try:
        found = _get_access(request, cart_id, OWN)
        messages.success(request, act(owner.get_or_create_owner_id(request)))
    except NotAllowed as error:
        return _refusal_page(request, cart_id, error)
    except NoSuchCart as error:
        raise Http404("no such cart") from error
    except CartError as error:
        return _people_page(request, found, status=409, refused=str(error))
    return redirect("cart:people", cart_id)


def _refusal_page(request: HttpRequest, cart_id: UUID, error: NotAllowed) -> HttpResponse:
    return _people_page(
        request, _get_access(request, cart_id, VIEW), status=403, refused=str(error)
    )


def _people_page(
    request: HttpRequest,
    found: Access,
    *,
    form: InviteForm | None = None,
    status: int = 200,
    refused: str = "",
) -> HttpResponse:
    context = _people_context(request, found, form or InviteForm()) | {
        "refused": refused,
        "has_errors": bool(refused),
    }
    return _mark_noindex(render_page(request, "cart/people.html", context, status=status))


def _people_context(request: HttpRequest, found: Access, form: InviteForm) -> dict[str, Any]:
    found_people = people.get_people(found.cart_id)
    return {
        "access": found,
        "there": found_people,
        "roles": ROLE_NAMES,
        "places_left": sharing.MAX_PEOPLE - found_people.count,
        "most": sharing.MAX_PEOPLE,
        "form": form,
        "me": owner.get_owner_id(request),
    }


def _invitation_page(
    request: HttpRequest, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    more = {"next": request.get_full_path(), "has_errors": "refused" in context}
    return _mark_noindex(
        render_page(request, "cart/invitation.html", context | more, status=status)
    )


def _invitation_over_page(request: HttpRequest) -> HttpResponse:
    return _mark_noindex(render_page(request, "cart/invitation_over.html", {}, status=404))


def _mark_noindex(response: HttpResponse) -> HttpResponse:
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response
