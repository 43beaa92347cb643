"""The shop's pages, each ready to be looked at: with something in the cart, an order placed, somebody signed in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import URLPattern, URLResolver, get_resolver

from demo.goods import PRODUCTS
from tests.browser.making import CSRF
from tests.browser.steps import TWO_CHOICES, sold_out
from tests.factories import PASSWORD


@dataclass(frozen=True)
class Place:
    """A page: the view that draws it, or a template that needs none; where it is, who looks, and what it answers.

    "{order}" in an address stands for what `making` has made. `sent` is what a form sends there.
    """

    view: str = ""
    address: str = ""
    who: str = ""
    status: int = 200
    sent: str = ""
    drawn: str = ""


_SOLD_OUT = next((each.slug, sku) for each in PRODUCTS for sku in sold_out(each))
_ORDER, _SENT = "/orders/{order}/", "/orders/{sent}/"
_ANOTHER_ADDRESS = urlencode(
    {"email": "max@example.org", "current": PASSWORD, "csrfmiddlewaretoken": CSRF}
)
_TOO_MANY_FIELDS = "&".join(f"field{number}=" for number in range(201))

# By the part of the shop: each is looked at in one go. A page may stand here in several states.
PLACES: dict[str, dict[str, Place]] = {
    "shop window": {
        "front": Place("home", "/"),
        "category": Place("category", "/c/kitchen/"),
        "product": Place("product", f"/p/{TWO_CHOICES.slug}/"),
        "sold out": Place("product", "/p/{}/?variant={}".format(*_SOLD_OUT)),
        "no longer sold": Place("product", "/p/{gone}/", status=410),
        "not found": Place("product", "/p/no-such-thing/", status=404),
        "search": Place("search", "/search?q=cotton"),
        "search without a result": Place("search", "/search?q=zzzzzz"),
        "suggestions": Place("suggest", "/search/suggest?q=tow"),
        "recently viewed": Place("viewed", "/viewed/"),
        "nothing viewed": Place("viewed", "/viewed/", "ann"),
        "help": Place("help", "/help/"),
        "delivery": Place("delivery", "/help/delivery/"),
        "privacy": Place("privacy", "/help/privacy/"),
        "imprint": Place("imprint", "/help/imprint/"),
    },
    "carts": {
        "empty cart": Place("cart:show", "/cart/"),
        "cart": Place("cart:show", "/cart/", "guest"),
        "another cart": Place("cart:one", "/carts/{other}/", "guest"),
        "shared cart": Place("cart:one", "/carts/{shared}/", "ann"),
        "shared cart, changed": Place("cart:changes", "/carts/{shared}/changes/", "ann"),
        "no carts": Place("cart:carts", "/carts/"),
        "carts": Place("cart:carts", "/carts/", "guest"),
        "another name": Place("cart:rename", "/carts/{cart}/rename/", "guest"),
        "merge": Place("cart:merge", "/carts/{cart}/merge/", "guest"),
        "merge into": Place("cart:merge", "/carts/{cart}/merge/?into={other}", "guest"),
        "move": Place("cart:move", "/carts/{cart}/lines/{line}/move/", "guest"),
        "a guest's people": Place("cart:people", "/carts/{cart}/people/", "guest"),
        "a member's people": Place("cart:people", "/carts/{shared}/people/", "ann"),
        "cart behind a link": Place("cart:shared", "/carts/shared/{link}/"),
        "link that is over": Place("cart:shared", "/carts/shared/{forged}/", status=404),
        "invitation": Place("cart:invitation", "/carts/invitation/{invitation}/"),
        "another's invitation": Place("cart:invitation", "/carts/invitation/{invitation}/", "ann"),
        "invitation that is over": Place(
            "cart:invitation", "/carts/invitation/{forged}/", status=404
        ),
        "tell me": Place("notifications:wait", f"/cart/wait/?variant={_SOLD_OUT[1]}"),
        "tell me, confirmed": Place("notifications:waiting", "/cart/wait/{wish}/"),
        "tell me no more": Place("notifications:wait_end", "/cart/wait/end/{end}/"),
        "telling that is over": Place("notifications:waiting", "/cart/wait/{forged}/", status=410),
    },
    "orders": {
        "checkout's first step": Place("checkout:details", "/checkout/", "guest"),
        "checkout's second step": Place("checkout:delivery", "/checkout/delivery/", "guest"),
        "checkout's last step": Place("checkout:review", "/checkout/review/", "guest"),
        "line before the checkout": Place(address="/checkout/", drawn="waiting_room.html"),
        "bank": Place("testbank:pay", "/testbank/{card}/"),
        "bank that asks for a code": Place("testbank:pay", "/testbank/{code}/"),
        "order": Place("orders:detail", _ORDER, "guest"),
        "order to be paid": Place("orders:detail", "/orders/{unpaid}/", "guest"),
        "order that has arrived": Place("orders:detail", _SENT, "guest"),
        "buy again": Place("orders:again", f"{_ORDER}again/", "guest"),
        "cancel": Place("orders:cancel", f"{_ORDER}cancel/", "guest"),
        "too late to cancel": Place("orders:cancel", f"{_SENT}cancel/", "guest"),
        "take something out": Place("orders:change", f"{_ORDER}change/", "guest"),
        "another door": Place("orders:door", f"{_ORDER}address/", "guest"),
        "nothing to send back": Place("orders:send_back", f"{_ORDER}return/", "guest"),
        "send back": Place("orders:send_back", f"{_SENT}return/", "guest"),
        "find an order": Place("orders:lookup", "/orders/"),
        "history": Place("orders:history", "/account/orders/", "ann"),
    },
    "accounts": {
        "sign in": Place("accounts:login", "/account/login/"),
        "sign out": Place("accounts:logout", "/account/logout/", "ann"),
        "register": Place("accounts:register", "/account/register/"),
        "registration sent": Place("accounts:sent", "/account/register/sent/"),
        "registration's link": Place("accounts:finish", "/account/register/{registration}/"),
        "registered already": Place("accounts:finish", "/account/register/{registered}/"),
        "registration that is over": Place(
            "accounts:finish", "/account/register/{forged}/", status=410
        ),
        "forgotten password": Place("accounts:reset", "/account/reset/"),
        "reset sent": Place("accounts:reset_sent", "/account/reset/sent/"),
        "reset's link": Place("accounts:reset_finish", "/account/reset/{reset}/"),
        "reset that is over": Place(
            "accounts:reset_finish", "/account/reset/{forged}/", status=410
        ),
        "profile": Place("accounts:profile", "/account/", "ann"),
        "addresses": Place("accounts:addresses", "/account/addresses/", "ann"),
        "new address": Place("accounts:address_add", "/account/addresses/add/", "ann"),
        "address": Place("accounts:address_edit", "/account/addresses/{address}/", "ann"),
        "security": Place("accounts:security", "/account/security/", "ann"),
        "new password": Place("accounts:password", "/account/password/", "ann"),
        "new e-mail address": Place("accounts:email", "/account/email/", "ann"),
        "new e-mail address's link": Place(
            "accounts:email_confirm", "/account/email/{new_email}/", "ann"
        ),
        "new e-mail address that is over": Place(
            "accounts:email_confirm", "/account/email/{forged}/", "ann", 410
        ),
        "preferences": Place("accounts:preferences", "/account/preferences/", "ann"),
        "own data": Place("accounts:privacy", "/account/privacy/", "ann"),
        "erasing": Place("accounts:erase", "/account/privacy/erase/", "ann"),
        "goodbye": Place("accounts:erased", "/account/privacy/erased/"),
    },
    "staff": {
        "board": Place("adminpanel:board", "/staff/", "staff"),
        "nothing found": Place("adminpanel:find", "/staff/find/?number=x", "staff", 422),
        "staff's order": Place("adminpanel:order", "/staff/orders/{order}/", "staff"),
        "staff's order with a return": Place("adminpanel:order", "/staff/orders/{sent}/", "admin"),
        "second factor": Place("adminpanel:second_factor", "/staff/second-factor/", "not passed"),
        "recovery code": Place(
            "adminpanel:second_factor", "/staff/second-factor/?way=recovery", "not passed"
        ),
        "enrolling": Place("adminpanel:second_factor", "/staff/second-factor/", "not enrolled"),
        "own second factor": Place("adminpanel:second_factor", "/staff/second-factor/", "staff"),
        "people": Place("adminpanel:people", "/staff/people/", "admin"),
        "person": Place("adminpanel:person", "/staff/people/{ann}/", "admin"),
        "audit log": Place("adminpanel:log", "/staff/log/", "admin"),
        "sales": Place("adminpanel:sales", "/staff/sales/", "admin"),
        "worker": Place("adminpanel:worker", "/staff/worker/", "staff"),
        "promotions": Place("adminpanel:promotions", "/staff/promotions/", "admin"),
        "mails": Place("mail:messages", "/demo/mail/"),
        "mail": Place("mail:message", "/demo/mail/{mail}/"),
    },
    "errors": {
        "makes no sense": Place(
            "accounts:email", "/account/email/", "ann", 400, sent=_TOO_MANY_FIELDS
        ),
        "form from elsewhere": Place(
            "accounts:login", "/account/login/", status=403, sent="email=x"
        ),
        "not for everybody": Place("adminpanel:people", "/staff/people/", "staff", 403),
        "no such address": Place(address="/no-such-page/", status=404),
        "too often": Place(
            "accounts:email", "/account/email/", "limited", 429, sent=_ANOTHER_ADDRESS
        ),
        "broken": Place(address="/", status=500, drawn="errors/500.html"),
        "away": Place(address="/", status=503, drawn="errors/503.html"),
    },
}
BY_NAME = {name: place for group in PLACES.values() for name, place in group.items()}

_SUBMIT = "a press, which leads to a page"
_CART_ACTIONS = (
    *(
        "add",
        "agree",
        "change",
        "remove",
        "restore",
        "voucher",
        "make",
        "switch",
        "undo",
        "duplicate",
        "empty",
        "delete",
    ),
    *(
        "later",
        "now",
        "drop",
        "shared_copy",
        "invite",
        "withdraw",
        "role",
        "exclude",
        "link",
        "unlink",
        "leave",
    ),
)
_STAFF_ACTIONS = (
    *(
        "move",
        "note",
        "pack",
        "parcel",
        "sent_back",
        "return_refund",
        "refund",
        "lines",
        "door",
        "received",
        "money_sent",
    ),
    *("recovery_codes", "person_find", "person_role", "person_sessions_end", "person_factor_reset"),
    *("promotion_make", "promotion_end"),
)
# Addresses that show no page of ours to whoever opens them, and why.
NO_PAGES = {
    "picture": "a drawing",
    "adminpanel:second_factor_picture": "a drawing",
    "sitemap": "for robots",
    "sitemap_part": "for robots",
    "robots": "for robots",
    "favicon": "a redirect to the icon",
    "healthz": "for machines",
    "readyz": "for machines",
    "cart:panel": "a part of a page, for htmx",
    "orders:invoice": "a PDF",
    "orders:track": "a redirect to the order",
    "orders:payment_return": "a redirect to the order",
    "orders:payment_notice": "for a gateway's machines",
    "viewed_forget": _SUBMIT,
    "accounts:export": _SUBMIT,
    **dict.fromkeys((f"cart:{name}" for name in _CART_ACTIONS), _SUBMIT),
    **dict.fromkeys((f"orders:{name}" for name in ("pay", "give_up", "keep")), _SUBMIT),
    **dict.fromkeys(
        (
            f"accounts:{name}"
            for name in ("session_end", "sessions_end_others", "sessions_end_all", "address_remove")
        ),
        _SUBMIT,
    ),
    **dict.fromkeys((f"adminpanel:{name}" for name in _STAFF_ACTIONS), _SUBMIT),
}
# What stands in their addresses.
GIVEN = {
    "<uuid:cart_id>": "{cart}",
    "<uuid:key>": "{line}",
    "<int:key>": "{address}",
    "<str:number>": "{order}",
    "<int:number>": "1",
    "<str:token>": "{link}",
    "<str:house>": "berlin",
    "<str:parcel_id>": "1",
    "<str:return_id>": "1",
    "<uuid:user_id>": "{ann}",
    "<uuid:payment_id>": "{card}",
    "<str:gateway>": "testbank",
    "<slug:shelf>": "code",
    "<str:name>": "welcome10",
    "<slug:shape>": "mug",
    "<slug:colours>": "c8724c-efeae0",
}


def addresses(patterns: Any = None, space: str = "", route: str = "/") -> Iterator[tuple[str, str]]:
    """Yield the names of all addresses of the shop, and their routes."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from addresses(pattern.url_patterns, inner, f"{route}{pattern.pattern}")
        elif isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name}", f"{route}{pattern.pattern}"
