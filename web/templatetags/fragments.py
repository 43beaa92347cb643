"""A part of a page that is drawn once for all who see the same (decision 044).

    {% fragment card eager first card.is_new %}…{% endfragment %}
    {% fragment product country drawing choices blank csrf_token cart_badge.name %}…{% endfragment %}

First stands all that the part shows, as variables: together with the language it is the key. Nothing else is there inside, so that what is
not in the key cannot be drawn. With a filter (`cards|new_flags`) it is in the key alone. `drawing` names what is made of that alone: it is looked at only when the part is drawn, so make it lazily.
`blank` names what differs for each visitor: inside, it is a blank to be written out as it is, and its value is put in each time.
"""

from collections.abc import Sequence
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, Variable
from django.template.context import Context
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from web.blanks import blank
from web.text_cache import FRAGMENTS, Content

register = template.Library()


@register.tag
def fragment(parser: Parser, token: Token) -> "FragmentNode":
    """Draw what stands up to `endfragment`, or take what was drawn of the same."""
    named: dict[str, list[FilterExpression]] = {"": [], "drawing": [], "blank": []}
    kind = ""
    for word in token.split_contents()[1:]:
        if word in named:
            kind = word
        else:
            named[kind].append(parser.compile_filter(word))
    nodelist = parser.parse(("endfragment",))
    parser.delete_first_token()
    return FragmentNode(nodelist, named[""], named["drawing"], named["blank"])


def _path(expression: FilterExpression) -> tuple[str, ...]:
    """Return a variable's name, by its parts. Raises TemplateSyntaxError for anything but a name with one dot at most."""
    lookups = expression.var.lookups if isinstance(expression.var, Variable) else None
    if not lookups or len(lookups) > 2:
        raise template.TemplateSyntaxError(
            f"fragment takes variables with one dot at most, not {expression}"
        )
    return tuple(lookups)


class FragmentNode(template.Node):
    """A part that is cached under what it shows."""

    def __init__(
        self,
        nodelist: NodeList,
        shown: Sequence[FilterExpression],
        made_of_it: Sequence[FilterExpression],
        blanks: Sequence[FilterExpression],
    ) -> None:
        self.nodelist = nodelist
        self.shown = [(_path(each), each) for each in shown]
        self.made_of_it = [(_path(each), each) for each in made_of_it]
        self.blanks = [
            (path, blank(".".join(path)), each) for each in blanks for path in [_path(each)]
        ]

    def render(self, context: Context) -> SafeString:
        """Return the part with the visitor's own put in. Raises TypeError if something shown has no hash."""
        if not FRAGMENTS.max_bytes:
            return self.nodelist.render(context)
        values = [each.resolve(context) for _, each in self.shown]
        key = Content(self, get_language(), *values)
        text = FRAGMENTS.get(key)
        if text is None:
            text = self._draw(context, values)
            FRAGMENTS.put(key, text)
        for _, word, each in self.blanks:
            if word in text:
                text = text.replace(word, str(conditional_escape(each.resolve(context))))
        return SafeString(text)

    def _draw(self, context: Context, values: Sequence[Any]) -> str:
        shown = {
            path: value
            for (path, each), value in zip(self.shown, values, strict=True)
            if not each.filters
        }
        shown |= {path: each.resolve(context) for path, each in self.made_of_it}
        shown |= {path: word for path, word, _ in self.blanks}
        there: dict[str, Any] = {path[0]: value for path, value in shown.items() if len(path) == 1}
        parts: dict[str, dict[str, Any]] = {}
        for path, value in shown.items():
            if path[0] not in there:
                parts.setdefault(path[0], {})[path[1]] = value
        return self.nodelist.render(context.new(there | parts))
