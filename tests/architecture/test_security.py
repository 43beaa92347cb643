"""Each rule of security that holds in this shop has a test that bears its number; and what holds for every address."""

import re
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from django.conf import settings
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from django.utils.module_loading import import_string

from accounts.operations import registration_link
from accounts.roles import ADMIN, ROLES
from storefront.feeds import CACHE_SECONDS, CONTENT_TYPES, write_feeds
from tests.architecture.apps import FILES, relative_path
from tests.architecture.requirements import list_numbered_rules
from tests.architecture.routes import ROUTES
from tests.cart.shared_carts import make_person, make_shared_cart
from tests.clock import now
from tests.factories import PASSWORD, make_category, make_product, make_user, sign_in_staff

RULES = {*range(1, 26), *range(32, 41), 46, 47, 52, 53, 54}
# How a visitor becomes a member, or is one again: all else below /account/ is for members.
BEFORE_LOGIN = {
    *("accounts:register", "accounts:sent", "accounts:finish", "accounts:login", "accounts:logout"),
    *("accounts:reset", "accounts:reset_sent", "accounts:reset_finish", "accounts:erased"),
}
# Pages for members that stand elsewhere, and why.
MEMBERS_ELSEWHERE = {"posts:feed": "the feed is one of the lists of posts"}
# What takes a submit without a form's token, and why.
WITHOUT_TOKEN = {
    "orders:payment_webhook": "the bank's webhook carries a signature in its stead (S46)",
    "stock_alerts:unsubscribe": "a mail program's button; the mailed link is the proof (X237)",
    "notifications:end_mails": "a mail program's button; the mailed link is the proof (X350)",
    "reviews:stop": "a mail program's button; the mailed link is the proof (X237)",
    "readings": "a device has a token of its own, and no session (S99)",
}


def test_it_has_a_test_named_by_its_number() -> None:
    without = sorted(RULES - list_numbered_rules("s"))
    assert not without, f"no test bears the number of {without}"


def test_s25_each_view_says_whom_it_is_for() -> None:
    """See docs/architecture.md: @public, @owner_only, @member_required or @staff_required(roles) on each view."""
    violations = []
    for name, path, access, roles in (
        (each.name, each.sample_path, each.access, each.roles) for each in ROUTES
    ):
        if access not in {"public", "own", "member", "staff"}:
            violations.append(f"{name} says of nobody that it is for them")
        if access == "staff" and not (roles and roles <= {*ROLES}):
            violations.append(f"{name} is for roles that there are not: {roles}")
        if (access == "staff") != path.startswith("/staff/"):
            violations.append(
                f"{name} at {path} is for {access!r}: what is for staff stands below /staff/, and nothing else"
            )
        is_below_account = path.startswith("/account/") and name not in BEFORE_LOGIN
        if (access == "member") != (is_below_account or name in MEMBERS_ELSEWHERE):
            violations.append(
                f"{name} at {path} is for {access!r}: what is for members stands below /account/"
            )
    assert not violations, "\n".join(violations)
    assert len({each.name for each in ROUTES}) == len(ROUTES) >= 125


def test_s19_no_submit_counts_without_its_token() -> None:
    """Neither a guest's, nor that of an admin, who may submit all there is for staff."""
    routes = [each for each in ROUTES if each.name not in WITHOUT_TOKEN]
    for_staff = [each for each in routes if each.sample_path.startswith("/staff/")]
    guest, admin = (
        Client(enforce_csrf_checks=True, raise_request_exception=False) for _ in range(2)
    )
    sign_in_staff(admin, make_user("Ada", role=ADMIN))
    violations = []
    for who, client, each in (
        *(("a guest", guest, each) for each in routes),
        *(("an admin", admin, each) for each in for_staff),
    ):
        answer = client.post(each.sample_path, {"operation": "any"})
        if answer.status_code != 403 or "Nothing was changed" not in answer.content.decode():
            violations.append(
                f"{each.name} takes a submit of {who} at {each.sample_path}: {answer.status_code}"
            )
    assert not violations, "\n".join(violations)
    assert len(routes) >= 125
    assert len(for_staff) >= 28


def test_s19_no_view_is_spared_the_token_but_the_banks() -> None:
    assert {
        each.name for each in ROUTES if getattr(each.view, "csrf_exempt", False)
    } == WITHOUT_TOKEN.keys()


def test_s19_the_token_is_looked_at_before_a_request_does_anything() -> None:
    position = settings.MIDDLEWARE.index("django.middleware.csrf.CsrfViewMiddleware")
    # It looks at it when its view is known, as nothing does that stands before it.
    assert [
        each
        for each in settings.MIDDLEWARE[:position]
        if hasattr(import_string(each), "process_view")
    ] == []


def test_s56_s74_who_may_keep_a_page_is_decided_by_whom_it_is_for() -> None:
    """Pages for everybody are the browser's own, and asked for again; all that is somebody's, and errors, nobody keeps.

    Feeds, which a job writes, are kept by all for some minutes.
    """
    category = make_category()
    product = make_product(category=category, listed=True)
    write_feeds([product], now())
    guest, admin = (Client(raise_request_exception=False) for _ in range(2))
    sign_in_staff(admin, make_user("Ada", role=ADMIN))
    paths = {each.name: each.sample_path for each in ROUTES}
    paths |= {"product": f"/p/{product.slug}/", "category": f"/c/{category.slug}/"}
    violations, kept = [], set()
    for each in ROUTES:
        # What has no app's name before it is the shop window, as posts are; other pages are somebody's own.
        public = each.access == "public" and (
            ":" not in each.name or each.name.startswith("posts:")
        )
        answer = (guest if each.access in ("public", "own") else admin).get(paths[each.name])
        said = answer["Cache-Control"]
        if public and answer.status_code < 400:
            kept.add(each.name)
        if each.name in CONTENT_TYPES:
            expected = f"public, max-age={CACHE_SECONDS}"
        else:
            expected = "private, no-cache" if each.name in kept else "no-store"
        if said != expected:
            violations.append(f"{each.name}, {answer.status_code}: {said}")
    assert not violations, "\n".join(violations)
    assert {"home", "product", "category", "search", "help"} <= kept
    assert "no-store" in guest.get("/no/such/page")["Cache-Control"]


def test_s75_what_is_said_atop_the_next_page_names_nobody() -> None:
    """It stands in a cookie until then. An e-mail address in it fails any test (tests/conftest.py)."""
    admin, about, email = (
        Client(),
        make_user("Ottilie", role="support"),
        f"{uuid4().hex}@example.com",
    )
    sign_in_staff(admin, make_user("Ada", role=ADMIN))
    owner, newcomer, cart_id = Client(), Client(), make_shared_cart(ann := make_user("Ann"))
    owner.force_login(ann)
    person = make_person(ann, cart_id, "viewer", name="Ottilie")
    link = urlsplit(registration_link(email)).path
    for client, path, sent in (
        (newcomer, link, {"name": "Ottilie", "password": PASSWORD}),
        (owner, f"/carts/{cart_id}/people/role/", {"person": person.pk, "role": "editor"}),
        (
            admin,
            reverse("adminpanel:person_role", args=[about.pk]),
            {"role": "warehouse", "seen": "support"},
        ),
        (admin, reverse("adminpanel:person_sessions_end", args=[about.pk]), {}),
        (admin, reverse("adminpanel:person_factor_reset", args=[about.pk]), {}),
    ):
        answer = client.post(path, sent)
        assert answer.status_code == 303, path
        *_, said = get_messages(answer.wsgi_request)
        assert "Ottilie" not in str(said), path


def test_s31_no_page_may_use_the_browsers_devices() -> None:
    for path in ("/", "/no/such/page", "/account/", "/pictures/mug/c8724c-efeae0.svg", "/healthz"):
        policy = Client().get(path)["Permissions-Policy"]
        assert {"camera=()", "geolocation=()", "microphone=()"} <= set(policy.split(", ")), path


def test_s19_htmx_sends_it_by_header_and_it_is_another_one_after_login() -> None:
    user, strict = make_user(), Client(enforce_csrf_checks=True)
    page = strict.get(reverse("accounts:login")).content.decode()
    sent = re.search(r'x-csrftoken": "(\w+)"', page)
    assert sent
    before = strict.cookies[settings.CSRF_COOKIE_NAME].value
    typed = {"email": user.email, "password": PASSWORD}
    answer = strict.post(
        reverse("accounts:login"), typed, headers={"X-CSRFToken": sent[1], "HX-Request": "true"}
    )
    assert answer["HX-Redirect"] == reverse("accounts:profile")
    assert strict.cookies[settings.CSRF_COOKIE_NAME].value != before
    # The token of a page from before the login is worth nothing any more; that of a fresh page is.
    old = strict.post(
        reverse("accounts:profile"), {"name": "Eve"}, headers={"X-CSRFToken": sent[1]}
    )
    assert old.status_code == 403
    fresh = re.search(
        r'x-csrftoken": "(\w+)"', strict.get(reverse("accounts:profile")).content.decode()
    )
    assert fresh
    answer = strict.post(
        reverse("accounts:profile"), {"name": "Ann"}, headers={"X-CSRFToken": fresh[1]}
    )
    assert answer.status_code == 303


def test_s21_over_tls_a_submit_comes_from_our_own_pages() -> None:
    violations = []
    for headers, status in (
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://testserver"}, 403),  # the same name, without TLS
        ({"Origin": "null"}, 403),
        ({"Referer": "https://evil.example/testserver"}, 403),
        ({}, 403),  # neither of the two
        ({"Origin": "https://testserver"}, 422),
        ({"Referer": "https://testserver/account/login/"}, 422),
    ):
        strict = Client(enforce_csrf_checks=True)
        page = strict.get(reverse("accounts:register"), secure=True).content.decode()
        token = re.search(r'x-csrftoken": "(\w+)"', page)
        assert token
        sent = {"X-CSRFToken": token[1], **headers}
        answer = strict.post(reverse("accounts:register"), {"email": ""}, secure=True, headers=sent)
        if answer.status_code != status:
            violations.append(
                f"{headers or 'neither Origin nor Referer'}: {answer.status_code}, not {status}"
            )
    assert not violations, "\n".join(violations)


def test_x266_next_is_never_a_host_wherever_it_is_read() -> None:
    """Not even this site's: what a browser makes of "//host" depends on how it is written."""
    readers = [
        relative_path(path)
        for path in FILES
        if "url_has_allowed_host_and_scheme(" in path.read_text()
    ]
    # The referrer has a host; what is made of it goes through the other one.
    assert sorted(readers) == ["accounts/access.py", "web/own_pages.py"]
    client, member, login = Client(), make_user(), reverse("accounts:login")
    client.force_login(member)
    violations = []
    for to in (
        *("//testserver/x", "//evil.example", "///evil.example", "/\\evil.example"),
        *("/\t/evil.example", "https://testserver/x", "\\\\testserver", "//x@evil.example"),
    ):
        typed = {"email": member.email, "password": PASSWORD, "next": to}
        path = to.replace("\t", "")
        answers = {
            "login": Client().post(login, typed),
            "login of who is": client.get(login, {"next": to}),
            "referrer": Client().post(
                reverse("accounts:email"), headers={"Referer": f"http://testserver{path}"}
            ),
            "htmx": Client().get(
                reverse("accounts:addresses"),
                headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver{path}"},
            ),
        }
        for name, answer in answers.items():
            where = answer.get("Location") or answer.get("HX-Redirect")
            assert where, f"{name}: {answer.status_code} {to!r}"
            going = parse_qs(urlsplit(where).query).get("next", [where])[0]
            if not going.startswith("/") or going[1:2] in ("/", "\\"):
                violations.append(f"{name}, asked for {to!r}: {where}")
    assert not violations, "\n".join(violations)


def test_s33_htmx_is_never_led_where_a_request_says() -> None:
    sku = make_product().variants[0].sku
    violations = []
    for to in (
        "//evil.example",
        "https://evil.example",
        "\\\\evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/\r\nX: y",
    ):
        client, user, htmx_headers = Client(), make_user(), {"HX-Request": "true"}
        typed = {"email": user.email, "password": PASSWORD, "next": to}
        answers = {
            "accounts:login": [client.post(reverse("accounts:login"), typed, headers=htmx_headers)]
        }
        if "\n" not in to:
            htmx_headers |= {"HX-Current-URL": to, "Referer": to}
        for name in ("cart:switch", "cart:add", "accounts:addresses", "cart:panel"):
            submitted = client.post(
                reverse(name), {"next": to, "variant": sku}, headers=htmx_headers
            )
            answers[name] = [
                submitted,
                Client().get(reverse(name), {"next": to}, headers=htmx_headers),
            ]
        for name, answer in ((name, each) for name, both in answers.items() for each in both):
            for header in (
                "HX-Redirect",
                "HX-Location",
                "HX-Push-Url",
                "HX-Replace-Url",
                "Location",
            ):
                location = answer.get(header, "")
                ours = location.startswith("/") and not location.startswith(("//", "/\\"))
                asked_for = "evil.example" in location.split("?")[0] or (
                    "evil.example" in location and "next=" in location
                )
                if location and (not ours or asked_for):
                    violations.append(f"{name}, asked for {to!r}: {header}: {location}")
    assert not violations, "\n".join(violations)
