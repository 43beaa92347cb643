"""Pages read as a browser without scripts reads them: their forms, filled in and sent as they stand."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client


@dataclass
class Form:
    """A form with what it would send."""

    action: str
    method: str
    values: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)  # name, value, words


class _Forms(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._open: Form | None = None
        self._select = ""
        self._in_button = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(given.get("action", ""), given.get("method", "get"))
            self.forms.append(self._open)
        if self._open is None:
            return
        name, value = given.get("name", ""), given.get("value", "")
        if tag == "input" and name:
            if given.get("type") not in ("radio", "checkbox") or "checked" in given:
                self._open.values[name] = value or ("on" if given.get("type") == "checkbox" else "")
        elif tag == "textarea" and name:
            self._open.values[name] = ""
        elif tag == "select":
            self._select = name
        elif (
            tag == "option"
            and self._select
            and ("selected" in given or self._select not in self._open.values)
        ):
            self._open.values[self._select] = value
        elif tag == "button" and given.get("type", "submit") == "submit":
            self._open.buttons.append((name, value, ""))
            self._in_button = True

    def handle_data(self, data: str) -> None:
        if self._in_button and self._open:
            name, value, words = self._open.buttons[-1]
            self._open.buttons[-1] = (name, value, " ".join(f"{words} {data}".split()))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "button":
            self._in_button = False
        elif tag == "select":
            self._select = ""


def parse_forms(text: str) -> list[Form]:
    """Return the forms of a page."""
    return _Forms(text).forms


class Visitor:
    """A visitor who reads a page, fills in its forms and follows where they lead."""

    def __init__(self) -> None:
        self.client = Client()
        self.address = ""
        self.text = ""
        self.status = 0

    def open(self, address: str) -> None:
        """Open a page, and remember where redirects have led."""
        self._read(self.client.get(address, follow=True), address)

    def submit(self, words: str, **filled: Any) -> None:
        """Fill in the form that has a button with these words, and submit it. A POST that succeeds answers 303 (X2)."""
        form, (name, value, _) = next(
            (form, button)
            for form in parse_forms(self.text)
            for button in form.buttons
            if words in button[2]
        )
        sent = form.values | ({name: value} if name else {}) | filled
        address = form.action or self.address
        if form.method.lower() == "get":
            self._read(self.client.get(address, sent, follow=True), address)
            return
        answer = self.client.post(address, sent)
        assert answer.status_code in (303, 422, 409), answer.status_code
        if answer.status_code == 303:
            self.open(answer["Location"])
        else:
            self._read(answer, address)

    def _read(self, answer: Any, address: str) -> None:
        chain = getattr(answer, "redirect_chain", [])
        self.address = chain[-1][0] if chain else address
        self.status = answer.status_code
        self.text = answer.content.decode()
