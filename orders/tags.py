"""The rules for tags: the words by which staff mark orders to find them. Only staff see them; they must not describe people."""

from django.utils.translation import gettext as _

from orders.lifecycle.errors import InvalidTag

MAX_TAGS = 20
MAX_TAG_LENGTH = 30
# Separates tags in a form field and in a cell of a file.
_SEPARATOR = ","


def normalize_tag(text: str) -> str:
    """Return a tag as it is stored: casefolded, with single spaces. Raises InvalidTag."""
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
    """Return the tags in a text, separated by commas, each once. Raises InvalidTag."""
    typed = (part for part in text.split(_SEPARATOR) if part.strip())
    return tuple(dict.fromkeys(normalize_tag(part) for part in typed))
