"""Guidelines in Markdown: a list with + contains good examples, one with - bad examples.

Researchers write them, annotators read them: nothing in them may run, load or change the rest of the page. HTML in
Markdown is disabled, images become their description, and the result may contain only allowed tags. Pure.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

MAX_CHARACTERS = 50_000
# The drawer's own title is a heading of level 2.
MIN_HEADING_LEVEL = 3
TAGS = frozenset(
    "p h3 h4 h5 h6 ul ol li strong em s code pre blockquote br hr a table thead tbody tr th td".split()  # noqa: SIM905
)
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
EXAMPLES = {"+": "example-good", "-": "example-bad"}
CLASSES = {"li": {"example", *EXAMPLES.values()}}
SCHEMES = {"http", "https", "mailto"}
# "+folds" was an example before guidelines were Markdown, which requires a space.
TIGHT = re.compile(r"^([+-])(?=[^\W\d])", re.MULTILINE)


@lru_cache(maxsize=128)
def render_guideline(text: str, good: str = "Good:", bad: str = "Bad:") -> str:
    """Render HTML that is safe to show; `good` and `bad` are the words before an example.

    >>> render_guideline("+ folds: unfolds")
    '<ul>\\n<li class="example example-good"><strong>Good:</strong> folds: unfolds</li>\\n</ul>\\n'
    """
    words = {"+": good, "-": bad}
    raw = _MARKDOWN.render(TIGHT.sub(r"\1 ", text), {"words": words})
    return nh3.clean(
        raw,
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        allowed_classes={tag: set(names) for tag, names in CLASSES.items()},
        url_schemes=set(SCHEMES),
        attribute_filter=_only_outside,
        link_rel="noopener noreferrer nofollow",
        # A link must not leave the window of an open task.
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def _only_outside(tag: str, attribute: str, value: str) -> str | None:
    """Allow links with a scheme only, so that no link leads to an address of this installation."""
    return value if attribute != "href" or value.partition(":")[0].lower() in SCHEMES else None


class _Renderer(RendererHTML):
    """Render labelled examples, headings below the drawer's title, and images as their description."""

    def list_item_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        mark = tokens[idx].markup
        if mark not in EXAMPLES:
            return "<li>"
        return f'<li class="example {EXAMPLES[mark]}"><strong>{nh3.clean_text(env["words"][mark])}</strong> '

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        """Render "->" as an arrow, which no line end can cut in two."""
        return nh3.clean_text(tokens[idx].content.replace("->", "→"))

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"<{_heading(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"</{_heading(tokens[idx].tag)}>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return nh3.clean_text(tokens[idx].content)


def _heading(tag: str) -> str:
    return f"h{min(6, int(tag[1]) + MIN_HEADING_LEVEL - 1)}"


_MARKDOWN = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])
