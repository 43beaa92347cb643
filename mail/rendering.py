"""Renders a mail: its subject, its plain text and its HTML, from the texts of its kind and its template.

Plain text is wrapped, and each address stands on a line of its own, where mail programs and people find the whole of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from django.conf import settings
from django.template import Context, Engine

from mail.kinds import TEXTS, get_mail_kinds
from mail.texts import MailTexts, fill_text, get_mail_texts, get_text
from shop_settings.brand import get_brand

LINE_LENGTH = 76
# Punctuation after an address is no part of it. A stop or a comma is left out, because the line ends there.
_ADDRESS = re.compile(r"[ \t]*(https?://\S*[^\s.,;:!?)\]”’'\"])[.,;:]*[ \t]*")


@dataclass(frozen=True)
class RenderedMail:
    """A mail that is ready to be stored. `html` is None for a plain mail."""

    subject: str
    text: str
    html: str | None


def render_mail(
    name: str, context: Mapping[str, Any], texts: MailTexts | None = None, *, plain: bool = False
) -> RenderedMail:
    """Return the mail of a kind, with `texts` or else the staff's present ones. Raises CassandraUnavailable."""
    kind, own = get_mail_kinds()[name], texts or get_mail_texts(name)
    context = {"shop_url": settings.PUBLIC_URL, **context, "shop": get_brand().name}
    values = kind.compute_values(context)
    filled = {each: fill_text(get_text(kind, own, each), values).strip() for each in TEXTS}
    subject = " ".join(filled["subject"].split())
    context |= {
        "subject": subject,
        "intro": _split_paragraphs(filled["intro"]),
        "closing": _split_paragraphs(filled["closing"]),
        "button": context.get("button") or kind.button,
        "end_label": kind.end_label,
    }
    return RenderedMail(
        subject,
        lay_out_text(_render(f"mail/{kind.template}.txt", context)),
        None if plain else _render(f"mail/{kind.template}.html", context, is_html=True),
    )


def _split_paragraphs(text: str) -> list[str]:
    return [each.strip("\n") for each in re.split(r"\n\s*\n", text) if each]


def _render(name: str, context: Mapping[str, Any], *, is_html: bool = False) -> str:
    values = Context(dict(context), autoescape=is_html)
    return str(Engine.get_default().get_template(name).render(values))


def lay_out_text(text: str) -> str:
    """Return a mail's text wrapped, with each address on a line of its own. Quoted lines stay as they are."""
    lines = []
    for line in text.splitlines():
        if line.startswith(">"):
            lines.append(line)
            continue
        for part in _ADDRESS.sub(r"\n\1\n", line).strip().split("\n"):
            lines += wrap(
                part.strip(), LINE_LENGTH, break_long_words=False, break_on_hyphens=False
            ) or [""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
