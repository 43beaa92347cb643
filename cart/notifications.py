"""What members are told about shared carts."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from django.conf import settings
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from cart import people, queries
from cart.people import Invitation
from cassandra_db import PendingResult
from mail.operations import MailOptions, queue_mail
from mail.words import quote_words
from notifications.entities import CARTS, PAGE, Kind, Line, News, Notification
from notifications.kinds import find_recipient, wants_mail
from notifications.links import unsubscribe_url
from shop_settings.brand import get_brand

CART_CHANGED, CART_INVITATION = "cart_changed", "cart_invitation"
# What an announcement is about: the first word of its detail.
CHANGED, INVITED = "changed", "invited"
QUIET_FOR = timedelta(hours=1)
# A change is announced when its request has run for at most so long.
_LONGEST_REQUEST = timedelta(seconds=30)


def prepare_news(cart_id: UUID, detail: str, noted_at: datetime) -> list[News] | None:
    """Return the news of a cart for each member whom it concerns; None while the announced write is under way.

    Queues the mail of an invitation, unless its reader is a member who wants none. Raises CassandraUnavailable.
    """
    about, *words = detail.split()
    if about == CHANGED:
        return _list_changes(cart_id, UUID(words[0]), noted_at)
    return _prepare_invitation(cart_id, words[0], UUID(words[1]))


def _list_changes(cart_id: UUID, actor_id: UUID, noted_at: datetime) -> list[News] | None:
    reading = people.prefetch_people(cart_id)
    sums = queries.SUMS.one(cart_id=cart_id)
    others = {each.user_id for each in people.people_from_rows(cart_id, reading.rows()).people}
    if not others:
        return []
    if sums is None or sums.changed_at is None or sums.changed_at < noted_at - _LONGEST_REQUEST:
        return None
    if sums.deleted_at or sums.owner_id is None:
        return []
    readers = sorted((others | {sums.owner_id}) - {actor_id})
    return [News(CART_CHANGED, each, noted_at, {"cart": cart_id.hex}) for each in readers]


def _prepare_invitation(cart_id: UUID, key: str, owner_id: UUID) -> list[News] | None:
    invitation = people.get_invitation(cart_id, key)
    if invitation is None:
        return None
    reader = find_recipient(invitation.email)
    if reader is None or wants_mail(CART_INVITATION, reader.choices):
        end_url = unsubscribe_url(reader.user_id, CART_INVITATION) if reader else ""
        _queue_invitation_mail(invitation, owner_id, end_url)
    if reader is None:
        return []
    ids = {"cart": cart_id.hex, "key": key}
    return [News(CART_INVITATION, reader.user_id, invitation.invited_at, ids)]


def _describe_invitation(invitation: Invitation) -> str:
    shop, owner, cart = (
        get_brand().name,
        quote_words(invitation.owner_name),
        quote_words(invitation.cart_name),
    )
    sentences = [
        gettext("Someone who goes by the name %(owner)s shared a cart with you at %(shop)s.")
        % {"owner": owner, "shop": shop}
        if owner
        else gettext("Someone shared a cart with you at %(shop)s.") % {"shop": shop},
        gettext("They call it %(cart)s.") % {"cart": cart} if cart else "",
        gettext("You %(role)s.") % {"role": invitation.role_description},
    ]
    return " ".join(filter(None, sentences))


def _queue_invitation_mail(invitation: Invitation, owner_id: UUID, end_url: str) -> None:
    context = {
        "details": _describe_invitation(invitation),
        "day": date_format(invitation.last_day, "j F"),
        "email": invitation.email,
        "register_url": settings.PUBLIC_URL + reverse("accounts:register"),
        "url": settings.PUBLIC_URL + reverse("cart:invitation", args=[invitation.token]),
        "end_url": end_url,
    }
    queue_mail(
        uuid5(invitation.cart_id, invitation.token),
        "invited",
        invitation.email,
        "cart_invitation",
        context,
        invitation.invited_at,
        MailOptions(about=owner_id, unsubscribe_url=end_url),
    )


def _describe_changes(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the carts of the notifications' readers. A cart that a reader no longer has is gone."""
    reading = {user_id: queries.prefetch_carts(user_id) for user_id in {n.user_id for n in notes}}

    def collect() -> Mapping[UUID, Line]:
        names = {
            (user_id, row.cart_id): row.cart_name
            for user_id, pending in reading.items()
            for row in pending.rows()
            if row.cart_id
        }
        lines = {}
        for note in notes:
            cart_id = UUID(note.ids["cart"])
            if name := names.get((note.user_id, cart_id)):
                text = gettext("Somebody changed the shared cart %(name)s")
                path = reverse("cart:one", args=[cart_id])
                lines[note.notification_id] = Line(text % {"name": quote_words(name)}, path)
        return lines

    return collect


def _describe_invitations(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the invitations. One that was accepted, withdrawn or is over is gone."""
    reading: dict[UUID, PendingResult] = {
        note.notification_id: people.PERSON_ROW.start(
            cart_id=UUID(note.ids["cart"]), kind=people.INVITATION, key=note.ids["key"]
        )
        for note in notes
    }

    def collect() -> Mapping[UUID, Line]:
        lines = {}
        for note in notes:
            cart_id = UUID(note.ids["cart"])
            row = reading[note.notification_id].one()
            if row and row.key is not None:
                invitation = people.invitation_from_row(cart_id, row)
                path = reverse("cart:invitation", args=[invitation.token])
                text = gettext("You’re invited to share the cart %(name)s")
                name = quote_words(invitation.cart_name)
                lines[note.notification_id] = Line(text % {"name": name}, path)
        return lines

    return collect


KINDS = [
    Kind(
        CART_CHANGED,
        CARTS,
        _("Shared cart changed"),
        _("A shared cart that you no longer have was changed"),
        _describe_changes,
        PAGE,
        quiet_for=QUIET_FOR,
    ),
    Kind(
        CART_INVITATION,
        CARTS,
        _("Invitation to a cart"),
        _("An invitation to a cart that is used or over"),
        _describe_invitations,
        has_own_mail=True,
    ),
]
