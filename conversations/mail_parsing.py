"""Reads a mail that came in, in bounded memory. All that it says comes from a stranger: damage is repaired or ignored, bombs are refused."""

import codecs
import hashlib
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.feedparser import BytesFeedParser
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import getaddresses
from functools import partial
from typing import Any, cast

import nh3

from web.text import clean_text

MAX_MAIL_BYTES = 36 * 1024 * 1024  # 25 MB of files, as mails write them
MAX_LINES = 1_200_000  # each costs the parser some 60 bytes, besides its letters
MAX_PARTS = 100  # and so the depth
MAX_HEADERS = 1000  # of all parts
MAX_HEADER_BYTES = 64 * 1024  # of one header
MAX_SENDERS = 5
MAX_TAGS = 10_000  # of an HTML text; the time to read them grows with their square
MAX_TEXT_BYTES = 256 * 1024  # of the parts that are read as text; the rest is cut off
_PIECE = 64 * 1024
_ADDRESS = re.compile(r"[^\s<>@,;:\"]{1,64}@[^\s<>@,;:\"]{1,190}")
_MESSAGE_ID = re.compile(r"<[!-;=?-~]{3,250}>")
_DAEMONS = re.compile(r"(mailer-daemon|postmaster)@")
# Others are no encodings of letters, or take time that grows with the square of the text.
_CHARSETS = re.compile(r"ascii|utf|iso|cp\d|koi8|gb|big5|shift|euc|mac|hz|johab|tis")
_BLOCKS = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote"}


class MailRefused(Exception):
    """The mail cannot be taken; the text says why, and is for its sender."""


@dataclass(frozen=True)
class MailFile:
    """A file in a mail. `read` decodes its content."""

    name: str
    read: Callable[[], bytes]


@dataclass(frozen=True)
class ParsedMail:
    """A mail as the shop uses it. `senders` are the addresses that claim to have written it."""

    key: str  # the Message-ID, or a hash of the content
    message_id: str
    senders: tuple[str, ...]
    sender_name: str
    text: str
    files: tuple[MailFile, ...]
    is_automatic: bool  # an answer without a person
    is_bounce: bool
    is_flagged: bool  # the mail server calls it spam


def read_mail(read: Callable[[int], bytes]) -> ParsedMail:
    """Return the mail that `read` returns in pieces. Raises MailRefused for one that is too large or too complex."""
    headers = 0

    class CountingPolicy(Compat32):
        def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
            nonlocal headers
            headers += 1
            if headers > MAX_HEADERS or sum(map(len, sourcelines)) > MAX_HEADER_BYTES:
                raise MailRefused("This mail has too many or too long headers.")
            return super().header_source_parse(sourcelines)

    policy, parts = CountingPolicy(), 0

    def make_part(**_: Any) -> Message:
        nonlocal parts
        parts += 1
        if parts > MAX_PARTS:
            raise MailRefused("This mail has too many parts.")
        return Message(policy)

    parser, digest = BytesFeedParser(make_part, policy=policy), hashlib.sha256()
    size = lines = 0
    while piece := read(_PIECE):
        size, lines = size + len(piece), lines + piece.count(b"\n") + piece.count(b"\r")
        if size > MAX_MAIL_BYTES or lines > MAX_LINES:
            raise MailRefused("This mail is too large. Send at most 25 MB of files.")
        digest.update(piece)
        parser.feed(piece)
    return _describe(parser.close(), digest.hexdigest())


def _describe(mail: Message, digest: str) -> ParsedMail:
    found = _MESSAGE_ID.search(_header(mail, "Message-ID"))
    message_id = found[0] if found else ""
    written_by = getaddresses([_header(mail, "From", each) for each in mail.get_all("From", [])])
    senders = tuple(
        dict.fromkeys(address for _, address in written_by if _ADDRESS.fullmatch(address))
    )
    name = decode_words(written_by[0][0]) if written_by else ""
    plain, marked_up, files = _split(mail)
    return ParsedMail(
        key=message_id or digest,
        message_id=message_id,
        senders=senders if len(senders) == len(written_by) <= MAX_SENDERS else (),
        sender_name=name[:60].strip(),
        text=_tidy(plain if plain.strip() else marked_up),
        files=tuple(files),
        is_automatic=_is_automatic(mail),
        is_bounce=_is_bounce(mail, senders),
        is_flagged=_header(mail, "X-Spam-Flag").strip().casefold() in ("yes", "true"),
    )


def _header(mail: Message, name: str, value: Any = None) -> str:
    """Return a header as one line, without damaged letters; "" if there is none."""
    found = str(mail.get(name, "") if value is None else value)
    return clean_text(found.encode("utf-8", "replace").decode("utf-8", "replace"))


def _is_automatic(mail: Message) -> bool:
    submitted = _header(mail, "Auto-Submitted").partition(";")[0].strip().casefold()
    precedence = _header(mail, "Precedence").strip().casefold()
    marks = ("List-Id", "X-Auto-Response-Suppress", "X-Autoreply", "X-Autorespond")
    return (
        submitted not in ("", "no")
        or precedence in ("bulk", "junk", "list", "auto_reply")
        or any(name in mail for name in marks)
    )


def _is_bounce(mail: Message, senders: tuple[str, ...]) -> bool:
    return (
        _header(mail, "Return-Path").strip() == "<>"
        or mail.get_content_type() == "multipart/report"
        or any(_DAEMONS.match(each.casefold()) for each in senders)
    )


def _split(mail: Message) -> tuple[str, str, list[MailFile]]:
    """Return a mail's plain text, the text of its HTML, and its files. A part without a name that is no text is a file, too."""
    plain: list[str] = []
    marked_up: list[str] = []
    files: list[MailFile] = []
    room = MAX_TEXT_BYTES
    for part in _walk(mail):
        name = decode_words(_quietly(part.get_filename) or "")
        kind = part.get_content_type()
        is_text = kind in ("text/plain", "text/html") and not name
        if is_text and part.get_content_disposition() != "attachment":
            content = _content(part)[: max(room, 0)]
            room -= len(content)
            text = decode(content, _quietly(part.get_content_charset))
            if kind == "text/plain":
                plain.append(text)
            else:
                marked_up.append(html_to_text(text))
        else:
            default = "mail" if part.get_content_maintype() == "message" else "file"
            files.append(MailFile(name or default, partial(_content, part)))
    return "\n\n".join(plain), "\n\n".join(marked_up), files


def _walk(mail: Message) -> Iterator[Message]:
    """Yield the parts with content. A mail within the mail is one part."""
    if mail.get_content_maintype() != "multipart" or not mail.is_multipart():
        yield mail
        return
    for part in cast(list[Message], mail.get_payload()):
        yield from _walk(part)


def _content(part: Message) -> bytes:
    if part.is_multipart():
        part = cast(list[Message], part.get_payload())[0]  # a mail within the mail
        return _quietly(part.as_bytes) or b""
    return _quietly(partial(part.get_payload, decode=True)) or b""


def _quietly(read: Callable[[], Any]) -> Any:
    """Return what a method of the email package reads from a damaged mail; None where it raises any error."""
    try:
        return read()
    except Exception:  # noqa: BLE001 -- the package promises no errors for damaged mails
        return None


def decode(content: bytes, charset: object) -> str:
    """Return the text in its charset; damaged letters are replaced, and an unknown charset is UTF-8 or Latin-1."""
    try:
        name = codecs.lookup(str(charset or "utf-8").replace("\x00", "")).name
    except (LookupError, ValueError):
        name = ""
    for codec in (name, "utf-8"):
        if _CHARSETS.match(codec):
            try:
                # UTF-7 makes halves of letters, which nothing can store.
                return content.decode(codec).encode("utf-8", "replace").decode()
            except (UnicodeError, LookupError):
                continue
    return content.decode("latin-1")


def decode_words(text: str) -> str:
    """Return a name in a header whose letters are encoded (RFC 2047), without damaged and unseen ones."""
    try:
        words = decode_header(text[:1000])
    except HeaderParseError:
        words = [(text[:1000], None)]
    name = "".join(
        each if isinstance(each, str) else decode(each, charset) for each, charset in words
    )
    return clean_text(name.encode("utf-8", "replace").decode())


def html_to_text(text: str) -> str:
    """Return the text of an HTML mail. Quoted lines begin with ">", as those of a plain mail do."""
    text = "<".join(text.split("<", MAX_TAGS)[:MAX_TAGS])
    # What nh3 returns is well-formed, so the rest needs no parser.
    clean = nh3.clean(
        text, tags=_BLOCKS, clean_content_tags={"script", "style", "title"}, attributes={}
    )
    depth, lines = 0, [(0, "")]
    for piece in re.split(r"(<[^>]*>)", clean):
        last_depth, line = lines.pop()
        tag = re.match(r"<(/?)(\w+)", piece)
        if not tag:
            lines.append((last_depth, line + re.sub(r"\s+", " ", html.unescape(piece))))
            continue
        if tag[2] == "blockquote":
            depth += -1 if tag[1] else 1
        if line.strip() or tag[2] in ("br", "p"):
            lines.append((last_depth, line))
        lines.append((depth, ""))
    return "\n".join(f"{'> ' if quoted else ''}{line.strip()}" for quoted, line in lines)


def _tidy(text: str) -> str:
    """Return a text with plain line ends, without unseen letters, and with at most one empty line in a row."""
    text = clean_text(text, keep_lines=True).replace("\xa0", " ")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(map(str.rstrip, text.split("\n")))).strip()
