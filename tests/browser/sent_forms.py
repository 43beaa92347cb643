"""Sends each form of each page as it stands, in a process of the shop: `print_answers` prints what came back.

`manage.py shell -c "from tests.browser import sent_forms; sent_forms.print_answers()"`
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from unittest.mock import patch
from urllib.parse import urlsplit

from django.conf import settings
from django.template import Origin
from django.test import Client
from django.test.utils import override_settings

from tests.architecture.apps import ROOT
from tests.browser.shop_data import Cookies, make_shop_data
from tests.browser.shop_pages import PAGES_BY_NAME, ShopPage
from tests.journeys.visitor import Form, parse_forms
from web import templates

# The hidden field that says which form of which template it is.
MARK = "form-of-template"
# What takes away what other forms are about is sent after them, and what takes away more at the very end.
LATE = re.compile(
    r"unlink|(?<!people/)withdraw|remove|empty|cancel|/end/|give_up|promotions/.*/duplicate"
)
LAST = re.compile(r"logout|session|erase|delete|leave|account/email|account/reset|staff/people")


def name_forms(template: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield each token of a template, and, where it begins a form, the form's name: its template and its action."""
    for kind, text in templates.tokens(source):
        is_form = kind is templates.Kind.START and templates.element_name(text) == "form"
        action = re.search(r'\baction="([^"]*)"', text) if is_form else None
        yield text, f"{template}: {action[1] if action else 'itself'}" if is_form else ""


def list_forms() -> set[str]:
    """Return the names of the forms in all templates."""
    folder = ROOT / "templates"
    return {
        name
        for path in folder.rglob("*.html")
        for _, name in name_forms(path.relative_to(folder).as_posix(), path.read_text())
        if name
    }


def print_answers() -> None:
    """Make what there is to be seen, open all pages, and print what each form was answered, by its name."""
    get_contents = templates.Loader.get_contents

    def get_marked(loader: templates.Loader, origin: Origin) -> str:
        source, template = get_contents(loader, origin), str(origin.template_name)
        if not template.endswith(".html"):
            return source
        return "".join(
            f'{text}<input type="hidden" name="{MARK}" value="{_quote(name)}">' if name else text
            for text, name in name_forms(template, source)
        )

    unlimited = dict.fromkeys(settings.RATE_LIMITS, (0, 0, 0, 900))
    with (
        override_settings(RATE_LIMITS=unlimited, WHOLE_PAGE_SECONDS=0, ALLOWED_HOSTS=["*"]),
        patch.object(templates.Loader, "get_contents", get_marked),
    ):
        made = make_shop_data()
        clients = {who: _client(made["people"].get(who, {})) for who in ["", *made["people"]]}
        found: dict[str, FoundForm] = {}
        for place in PAGES_BY_NAME.values():
            for each in _find_forms(place, made["things"], clients[place.who]):
                found.setdefault(each.name, each)
        answers = {each.name: each.send() for each in sorted(found.values(), key=FoundForm.turn)}
    print(json.dumps(answers))


@dataclass(frozen=True)
class FoundForm:
    """A form on a page: where it was, and with which cookies."""

    name: str
    form: Form
    address: str
    cookies: Cookies

    def turn(self) -> int:
        """Return when it is sent."""
        address = self.form.action or self.address
        return 2 if LAST.search(address) else 1 if LATE.search(address) else 0

    def send(self) -> tuple[str, int]:
        """Send it as it stands, by its first button; return where it was, and the status."""
        name, value, _ = self.form.buttons[0]
        sent = self.form.values | ({name: value} if name else {})
        client, address = _client(self.cookies), self.form.action or self.address
        ask = client.post if self.form.method.lower() == "post" else client.get
        return self.address, ask(address, sent).status_code


def _quote(name: str) -> str:
    """Return an attribute's value in which Django finds no tag."""
    return escape(name).replace("{", "&#123;").replace("}", "&#125;")


def _client(cookies: Cookies) -> Client:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.cookies.load(dict(cookies))
    return client


def _find_forms(place: ShopPage, things: dict[str, str], client: Client) -> Iterator[FoundForm]:
    """Open a page, and yield the forms that have a button: nobody can send the others."""
    if place.template:
        return
    address = place.address.format_map(things)
    if place.form_data:
        answer = client.generic(
            "POST", address, place.form_data, "application/x-www-form-urlencoded"
        )
    else:
        answer = client.get(address)
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    for form in parse_forms(answer.content.decode()):
        if name := form.values.pop(MARK) if form.buttons else "":
            yield FoundForm(name, form, urlsplit(address).path, cookies)
