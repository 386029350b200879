"""What a page offers, by role: fields, buttons, links, cells of tables, messages and text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.http import HttpResponse

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Their closing tag is optional: the next of them closes the open element.
_OPTIONAL_END = {"option", "li", "td", "th", "tr", "dt", "dd", "p"}
_NO_TEXT = {"script", "style", "template"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    @property
    def name(self) -> str:
        """What a screen reader says of the element: its label, or its text."""
        return self.attributes.get("aria-label") or self.text or self.attributes.get("value", "")


@dataclass
class Page:
    """Addresses, values and texts without their escapes; white space of texts is collapsed."""

    elements: list[Element]
    text: str

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]

    def after(self, identifier: str) -> "Page":
        """The element with this id and all that follow it."""
        start = next(n for n, element in enumerate(self.elements) if element.attributes.get("id") == identifier)
        return Page(self.elements[start:], " ".join(element.text for element in self.elements[start:]))

    @property
    def tags(self) -> set[str]:
        return {element.tag for element in self.elements}

    @property
    def ids(self) -> set[str]:
        return {element.attributes["id"] for element in self.elements if "id" in element.attributes}

    @property
    def fields(self) -> dict[str, str]:
        """The value of each field that has a name; of a list and of radio buttons the selected value, or ""."""
        values: dict[str, str] = {}
        select = ""
        for element in self.elements:
            given = element.attributes
            if element.tag == "select":
                select = given.get("name", "")
                values[select] = ""
            elif element.tag == "option" and "selected" in given:
                values[select] = given.get("value", element.text)
            elif element.tag == "textarea" and "name" in given:
                values[given["name"]] = "".join(element.pieces).removeprefix("\n")
            elif element.tag == "input" and "name" in given:
                is_off = given.get("type") in {"checkbox", "radio"} and "checked" not in given
                if not is_off or given["name"] not in values:
                    values[given["name"]] = "" if is_off else given.get("value", "on")
        return values

    @property
    def options(self) -> dict[str, str]:
        """The text of each value that a list offers."""
        return {element.attributes.get("value", element.text): element.text for element in self.all("option")}

    @property
    def buttons(self) -> list[str]:
        return [element.name for element in self.all("button")]

    @property
    def links(self) -> dict[str, str]:
        """The text of each address."""
        return {element.attributes["href"]: element.name for element in self.all("a") if "href" in element.attributes}

    @property
    def actions(self) -> list[str]:
        """The addresses that the page's forms and fragments send to, and how often it loads them by itself."""
        names = ("action", "formaction", "hx-get", "hx-post", "hx-trigger")
        return [element.attributes[name] for element in self.elements for name in names if name in element.attributes]

    @property
    def rows(self) -> list[list[str]]:
        """The cells of each row of each table."""
        rows: list[list[str]] = []
        for element in self.all("tr", "td", "th"):
            if element.tag == "tr":
                rows.append([])
            elif rows:
                rows[-1].append(element.text)
        return rows

    @property
    def messages(self) -> list[str]:
        return [element.text for element in self.elements if element.attributes.get("role") in {"alert", "status"}]

    def check(self, *shown: str, absent: tuple[str, ...] = ()) -> None:
        """Fail with every text that the page does not show, and with those that it shows and must not."""
        missing = [text for text in shown if text not in self.text]
        surplus = [text for text in absent if text in self.text]
        assert (missing, surplus) == ([], []), f"not shown: {missing}; shown: {surplus}; the page: {self.text}"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.texts: list[str] = []
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _OPTIONAL_END and self._open and self._open[-1].tag == tag:
            self._open.pop()
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in [element.tag for element in self._open]:
            while self._open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].tag in _NO_TEXT:
            return
        self.texts.append(data)
        for element in self._open:
            element.pieces.append(data)


def read_page(response: HttpResponse | str) -> Page:
    reader = _Reader()
    reader.feed(response if isinstance(response, str) else response.content.decode())
    reader.close()
    return Page(reader.elements, " ".join("".join(reader.texts).split()))
