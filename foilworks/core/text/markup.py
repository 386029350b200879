"""Read a text that an annotation tool stored as HTML. Pure."""

import html
import re

_TAG = re.compile(
    r"</?(?:a|b|br|div|em|font|i|li|mark|p|small|span|strong|sub|sup|u|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_BLOCK = re.compile(r"<(?:/?(?:div|li|p|ul)|br)\b", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")


def without_markup(text: str) -> str:
    """Return a text without tags of HTML and with its entities as characters; other signs < and & stay."""
    if "<" not in text and "&" not in text:
        return text
    plain = _TAG.sub(lambda tag: " " if _BLOCK.match(tag[0]) else "", text)
    plain = _ENTITY.sub(lambda entity: html.unescape(entity[0]), plain)
    return text if plain == text else " ".join(plain.split())
