"""The documentation as pages of an installation: Markdown of docs/ in, HTML out ([decision 79]).

`foilworks/site/docs` is a link to `docs/`; the wheel has copies of the pages. Pages for users are served: the tutorial,
how-to, explanation and reference. A link to another page or file is only its text.

[decision 79]: docs/decisions/0079-help-inside-the-app.md
"""

import posixpath
import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin

DOCS = Path(__file__).resolve().parent / "docs"
INDEX = "index"
ALONE = (INDEX, "tutorial", "workflow", "deploy")
SHELVES = ("how-to", "explanation", "reference")
OUTSIDE = ("https://", "http://", "mailto:")
_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class HelpPage:
    """`name`: its path in docs/ without ".md". `sections`: (anchor, title) of each heading of the second level."""

    name: str
    title: str
    html: SafeString
    sections: tuple[tuple[str, str], ...]
    anchors: frozenset[str]


@cache
def help_names() -> frozenset[str]:
    """Return the names of all served pages."""
    paths = (path for shelf in SHELVES for path in (DOCS / shelf).glob("*.md"))
    return frozenset({*ALONE, *(path.relative_to(DOCS).with_suffix("").as_posix() for path in paths)})


def help_address(name: str, anchor: str = "") -> str:
    """Return the address of a page by its name, and of a place on it."""
    page = reverse("help") if name == INDEX else reverse("help_page", args=[name])
    return f"{page}#{anchor}" if anchor else page


@cache
def help_page(name: str) -> HelpPage:
    """Render a page. `name` is one of `help_names()`."""
    tokens = _MARKDOWN.parse(_COMMENT.sub("", (DOCS / f"{name}.md").read_text(encoding="utf-8")))
    headings = [(token, after) for token, after in pairwise(tokens) if token.type == "heading_open"]
    titles = {str(token.attrs["id"]): (token.tag, _plain(after)) for token, after in headings}
    # The template shows the title above the page.
    first = next(number for number, token in enumerate(tokens) if token.type == "heading_close")
    body = tokens[first + 1 :]
    targets = {token.content for token in body if token.type == "myst_target"}
    _rewrite(body, name, set(titles))
    return HelpPage(
        name,
        next(title for tag, title in titles.values() if tag == "h1"),
        # Made of our own pages, in which Markdown's HTML is off.
        mark_safe(_MARKDOWN.renderer.render(body, _MARKDOWN.options, {})),  # noqa: S308  # nosec
        tuple((anchor, title) for anchor, (tag, title) in titles.items() if tag == "h2"),
        frozenset({*titles, *targets}),
    )


def _rewrite(tokens: Sequence[Token], name: str, headings: set[str]) -> None:
    """Point links to served pages, and give each table the name of its section."""
    section = ""
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and after:
            section = _plain(after)
        elif token.type == "table_open":
            token.meta["label"] = section or name
        elif token.type == "myst_target":
            token.hidden = token.content in headings
        for child in _links(token):
            href = _href(str(child[0].attrs["href"]), name)
            for link_token in child:
                link_token.hidden = href is None
            child[0].attrs["href"] = href or ""


def _links(token: Token) -> Iterator[tuple[Token, Token]]:
    """Yield the beginning and the end of each link of a text."""
    children = token.children or []
    opened = (child for child in children if child.type == "link_open")
    closed = (child for child in children if child.type == "link_close")
    yield from zip(opened, closed, strict=True)


def _href(link: str, name: str) -> str | None:
    """Return where a link of the page `name` leads, None where nothing is served."""
    if link.startswith(OUTSIDE):
        return link
    target, _, anchor = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else f"{name}.md"
    led = path.removesuffix(".md")
    return help_address(led, anchor) if led != path and led in help_names() else None


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])


class _Renderer(RendererHTML):
    """Tables and code scroll by key, a picture is its description, and directives are for the site alone."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return escape(tokens[idx].content).replace("&lt;br&gt;", "<br>")

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        label = escape(tokens[idx].meta["label"])
        return f'<div class="table-wrap" tabindex="0" role="region" aria-label="{label}"><table class="table">'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return "</table></div>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        if tokens[idx].info.startswith("{"):
            return ""
        return f'<pre tabindex="0"><code>{escape(tokens[idx].content)}</code></pre>\n'

    code_block = fence

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"<em>{escape(tokens[idx].content)}</em>"

    def myst_target(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return "" if tokens[idx].hidden else f'<span id="{escape(tokens[idx].content)}"></span>\n'


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    markdown.use(anchors_plugin, max_level=4).use(myst_block_plugin)
    markdown.add_render_rule("myst_target", _Renderer.myst_target)
    return markdown


_MARKDOWN = _markdown()
