"""The tag for a part of a page that is drawn once for all visitors to whom it looks the same (decision 044).

    {% fragment product_body blank csrf_token cart_badge.name %}…{% endfragment %}

The first word is a view object: a frozen dataclass with all data that the part shows. The language, the brand
and the object's fields are the part's key in the cache. The part sees no other variables, so it cannot show data that its key lacks. Data that are costly
to make are methods of the object that use only its fields. They are called only when the part is drawn. A part that is equal
for everybody has no view object. For the variables after `blank`, the part has blanks, which each visitor's values replace.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, Variable
from django.template.context import Context
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from shop_settings.brand import get_drawing_key
from web.blanks import blank
from web.text_cache import FRAGMENTS, Content

register = template.Library()


@register.tag
def fragment(parser: Parser, token: Token) -> "FragmentNode":
    """Draw the template's text up to `endfragment`, or take it from the cache."""
    words = token.split_contents()[1:]
    end = words.index("blank") if "blank" in words else len(words)
    if end > 1 or not all(map(str.isidentifier, words[:end])):
        raise template.TemplateSyntaxError(
            f"fragment takes one view object at most, not {' '.join(words[:end])}"
        )
    nodelist = parser.parse(("endfragment",))
    parser.delete_first_token()
    blanks = [parser.compile_filter(word) for word in words[end + 1 :]]
    return FragmentNode(nodelist, "".join(words[:end]), blanks)


def _path(expression: FilterExpression) -> tuple[str, ...]:
    """Return a variable's name, split at its dot. Raises TemplateSyntaxError for anything but a name with at most one dot."""
    lookups = expression.var.lookups if isinstance(expression.var, Variable) else None
    if not lookups or len(lookups) > 2:
        raise template.TemplateSyntaxError(
            f"fragment takes variables with one dot at most, not {expression}"
        )
    return tuple(lookups)


@cache
def _field_reader(view_class: Any) -> Callable[[Any], tuple[Hashable, ...]]:
    """Return a function that returns the values of all fields of a view object. Raises TypeError for anything but a dataclass."""
    names = [each.name for each in fields(view_class)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda view: tuple(getattr(view, name) for name in names)


class FragmentNode(template.Node):
    """A part of a page. Its key in the cache is the view object in the variable `view_name` ("" for none)."""

    def __init__(
        self, nodelist: NodeList, view_name: str, blanks: Sequence[FilterExpression]
    ) -> None:
        self.nodelist, self.view_name = nodelist, view_name
        self.blanks = [
            (path, blank(".".join(path)), each) for each in blanks for path in [_path(each)]
        ]

    def render(self, context: Context) -> SafeString:
        """Return the part, filled with the visitor's own values. Raises TypeError if a field of the view object has no hash."""
        if not FRAGMENTS.max_bytes:
            return self.nodelist.render(context)
        view: Any = context[self.view_name] if self.view_name else None
        view_class: Any = type(view)
        values = _field_reader(view_class)(view) if self.view_name else ()
        drawing_key = get_drawing_key()
        key = Content(self, get_language(), drawing_key, *values)
        text = FRAGMENTS.get(key)
        if text is None:
            text = self._draw(context, view)
            # A text that was drawn while the brand changed belongs to neither key.
            if get_drawing_key() == drawing_key:
                FRAGMENTS.put(key, text)
        for _, word, each in self.blanks:
            if word in text:
                text = text.replace(word, str(conditional_escape(each.resolve(context))))
        return SafeString(text)

    def _draw(self, context: Context, view: Any) -> str:
        there: dict[str, Any] = {self.view_name: view}
        for path, word, _ in self.blanks:
            if len(path) == 1:
                there[path[0]] = word
            else:
                there.setdefault(path[0], {})[path[1]] = word
        return self.nodelist.render(context.new(there))
