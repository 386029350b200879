"""Find what a person reads on a page: its text, and the attributes that browsers show or speak."""

from collections.abc import Iterator
from html.parser import HTMLParser

_SPOKEN = ("title", "alt", "placeholder", "aria-label", "aria-description", "data-hotkey-label", "data-confirm")
# Not read, or the same in every language: code, keys, what people type, and times, which browsers write.
_SKIPPED = {"script", "style", "template", "code", "pre", "kbd", "samp", "textarea", "time"}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        skipped = self._is_skipped() or tag in _SKIPPED or _stays(tag, given)
        if not skipped:
            self._read_attributes(tag, given)
        if tag not in _VOID:
            self._open.append((tag, skipped))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._is_skipped():
            self._read_attributes(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag in [name for name, _ in self._open]:
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._is_skipped() and data.strip():
            self.texts.append(" ".join(data.split()))

    def _is_skipped(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def _read_attributes(self, tag: str, given: dict[str, str | None]) -> None:
        shown = [*_SPOKEN, *(["content"] if given.get("name") == "description" else [])]
        if tag == "input" and given.get("type") in {"submit", "button", "reset"}:
            shown.append("value")
        self.texts += [" ".join(value.split()) for name in shown if (value := given.get(name))]


def _stays(tag: str, given: dict[str, str | None]) -> bool:
    """Whether the element is marked as the same in every language; `mono` is for names that the code has."""
    has_language = "lang" in given and tag != "html"
    return given.get("translate") == "no" or has_language or "mono" in (given.get("class") or "").split()


def visible_texts(page: str) -> Iterator[str]:
    """Yield each text of the page that a person reads or hears, in its order, with white space collapsed.

    Code, keys, times, and elements with `translate="no"`, the class `mono` or a `lang` of their own are left out.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    yield from reader.texts
