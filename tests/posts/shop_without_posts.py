"""Run as a process of its own, with POSTS=false: opens pages of the shop, and prints what it has of posts, as JSON."""

import json
import re
import sys
from contextlib import suppress

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import override_settings  # noqa: E402
from django.urls import NoReverseMatch, reverse  # noqa: E402

from cassandra_db.partitions import list_models  # noqa: E402
from consistency.runner import CHECKS  # noqa: E402
from jobs.registry import list_jobs  # noqa: E402
from notifications.kinds import get_kinds  # noqa: E402
from tests.factories import make_product, make_user, sign_in_staff  # noqa: E402
from web.personal_data import list_privacy_modules  # noqa: E402


def list_addresses() -> list[str]:
    found = []
    for name in ("posts:newest", "posts:own", "posts:new"):
        with suppress(NoReverseMatch):
            found.append(reverse(name))
    return found


def list_linking_pages() -> list[str]:
    """Return the pages with a link to posts."""
    guest, member, product = Client(), Client(), make_product("Jug")
    member.force_login(make_user("Ann"))
    staff = sign_in_staff(Client(), make_user("Sam", role="admin"))
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    asked = [
        *((guest, address) for address in ("/", f"/p/{product.slug}/", "/sitemap.xml")),
        *(
            (member, address)
            for address in (f"/p/{product.slug}/", "/account/", reverse("accounts:notifications"))
        ),
        (staff, "/staff/reviews/"),
    ]
    found = []
    for client, address in asked:
        with override_settings(STORAGES=settings.STORAGES | {"staticfiles": plain}):
            answer = client.get(address, follow=True)
        text = answer.content.decode()
        if answer.status_code != 200 or re.search(r"/posts/|[\"\n]/people/", text):
            found.append(f"{address}: {answer.status_code}")
    return found


print(
    json.dumps(
        {
            "modules": [each for each in sys.modules if each.split(".")[0] == "posts"],
            "addresses": list_addresses(),
            "tables": [
                each.__table_name__ for each in list_models() if each.__module__.startswith("posts")
            ],
            "pages": list_linking_pages(),
            "jobs": [each.name for each in list_jobs() if each.run.__module__.startswith("posts")],
            "kinds": [each for each in get_kinds() if each.startswith("post")],
            "rules": [each.name for each in CHECKS if "I47" in each.rules],
            "privacy": [
                each.__name__ for each in list_privacy_modules() if "posts" in each.__name__
            ],
        }
    )
)
