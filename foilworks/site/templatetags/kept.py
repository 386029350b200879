"""{% kept %}…{% endkept %}: render what is the same for everybody once per process and language.

The block sees only the variables that the tag names (`{% kept answers %}`), which must be constants. It is for pages
that are requested thousands of times per hour and whose words rarely change.
"""

from django import template
from django.template.base import Node, NodeList, Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

register = template.Library()


class Kept(Node):
    child_nodelists = ("nodelist",)

    def __init__(self, nodelist: NodeList, names: tuple[str, ...]) -> None:
        self.nodelist, self._names = nodelist, names
        self._texts: dict[str | None, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        language = get_language()
        text = self._texts.get(language)
        if text is None:
            constants = context.new({name: context[name] for name in self._names})
            # bandit B308, B703: escaped like any other block.
            text = self._texts[language] = mark_safe(self.nodelist.render(constants))  # noqa: S308  # nosec
        return text


@register.tag
def kept(parser: Parser, token: Token) -> Kept:
    _tag, *names = token.split_contents()
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    return Kept(nodelist, tuple(names))
