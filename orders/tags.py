"""What a tag may be: a word or a few that staff put on orders, to find them by. It is for staff alone, and about no person."""

from django.utils.translation import gettext as _

from orders.lifecycle.errors import InvalidTag

MAX_TAGS = 20
MAX_TAG_LENGTH = 30
# Between tags that are typed in one field, or stand in one cell of a file.
_SEPARATOR = ","


def normalize_tag(text: str) -> str:
    """Return a tag as it is kept: casefolded, with single spaces. Raises InvalidTag."""
    tag = " ".join(text.split()).casefold()
    if not tag or _SEPARATOR in tag or not tag.isprintable():
        raise InvalidTag(_("A tag is a word or a few, without commas."))
    if len(tag) > MAX_TAG_LENGTH:
        raise InvalidTag(
            _("“%(tag)s” is too long. A tag has up to %(limit)s letters.")
            % {"tag": tag, "limit": MAX_TAG_LENGTH}
        )
    return tag


def parse_tags(text: str) -> tuple[str, ...]:
    """Return the tags of a text with commas between them, each once. Raises InvalidTag."""
    typed = (part for part in text.split(_SEPARATOR) if part.strip())
    return tuple(dict.fromkeys(normalize_tag(part) for part in typed))
