"""Guidelines as people write them: Markdown, where a list of + lines holds good examples and one of - lines bad ones.

Researchers write them, annotators read them: nothing in them may run, load or reach outside of the page. Markdown's own
HTML is off, pictures become their words, and what comes out is held to a list of allowed tags once more. Pure.
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
# The drawer's own title is of the second level.
MIN_HEADING_LEVEL = 3
TAGS = frozenset(
    "p h3 h4 h5 h6 ul ol li strong em s code pre blockquote br hr a table thead tbody tr th td".split()  # noqa: SIM905
)
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
EXAMPLES = {"+": "example-good", "-": "example-bad"}
CLASSES = {"li": {"example", *EXAMPLES.values()}}
SCHEMES = {"http", "https", "mailto"}
# "+folds" was an example before guidelines were Markdown, which wants a blank there.
TIGHT = re.compile(r"^([+-])(?=[^\W\d])", re.MULTILINE)


@lru_cache(maxsize=128)
def render_guideline(text: str, good: str = "Good:", bad: str = "Bad:") -> str:
    """HTML that is safe to show: `good` and `bad` are the words before an example.

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
        # A piece of work is in the window that a link would leave.
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def _only_outside(tag: str, attribute: str, value: str) -> str | None:
    """Addresses inside this installation are nobody's to guess: a link names its scheme, or it is none."""
    return value if attribute != "href" or value.partition(":")[0].lower() in SCHEMES else None


class _Renderer(RendererHTML):
    """Examples carry their word, headings stand below the drawer's title, a picture is its description."""

    def list_item_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        mark = tokens[idx].markup
        if mark not in EXAMPLES:
            return "<li>"
        return f'<li class="example {EXAMPLES[mark]}"><strong>{nh3.clean_text(env["words"][mark])}</strong> '

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"<{_heading(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"</{_heading(tokens[idx].tag)}>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return nh3.clean_text(tokens[idx].content)


def _heading(tag: str) -> str:
    return f"h{min(6, int(tag[1]) + MIN_HEADING_LEVEL - 1)}"


_MARKDOWN = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])
