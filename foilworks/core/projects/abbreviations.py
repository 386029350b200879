"""The abbreviations of pages, with what they mean. `{% explained %}` marks the first of each in a part of a page.

docs/reference/glossary.md lists the same for readers of the documentation.
"""

import re
from collections.abc import Iterator

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

ABBREVIATIONS: dict[str, Promise] = {
    "P+T": _("Share of items that are right together with their proficiency item"),
    "T": _("Main items only: an item is correct if its caption scores above every foil"),
    "P": _("Proficiency items only, which test a simpler skill"),
    "JS": _("Jensen-Shannon distance between the words of captions and foils: 0 if identical, 1 if no word is shared"),
    "alpha": _("Krippendorff's alpha, the agreement of votes: 1 is perfect, 0 is chance"),
    "kappa": _("Fleiss' kappa, the agreement of votes: 1 is perfect, 0 is chance"),
    "AUC": _("Area under the ROC curve: 1 separates perfectly, 0.5 is chance"),
    "F1": _("Harmonic mean of precision and recall"),
    "R@1": _("Recall at 1: the share of videos whose caption ranks first"),
    "mAP": _("Mean average precision"),
    "CI": _("Confidence interval"),
    "RCAD": _("Retrieval from counterfactually augmented data: ranks each caption among its foils"),
    "UTD": _("Unbiased through Textual Description: finds samples that can be solved from objects alone"),
    "LLM": _("Large language model"),
    "VLM": _("Vision-language model"),
    "pp": _("Percentage points"),
    "API": _("Application programming interface: how programs use Foilworks"),
    "DOI": _("Digital object identifier, a permanent address of a publication"),
}
# Letters of a text that are one of them, unless its words say that they are metrics.
METRICS = frozenset({"T", "P"})
_WORD = re.compile(rf"(?<![\w@+./:=-])({'|'.join(map(re.escape, ABBREVIATIONS))})(?![\w@+=-]|\.\w)", re.IGNORECASE)
_TAG = re.compile(r"(<[^<>]+>)", re.DOTALL)
_NAME = re.compile(r"</?([a-z0-9]+)")
# What cannot hold an element, what is code, and what has an explanation.
_LEFT_ALONE = frozenset({"abbr", "code", "kbd", "option", "pre", "samp", "script", "style", "svg", "textarea", "time"})
_BOTH = {"alpha": "Alpha", "kappa": "Kappa"}


def found_in(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield each known abbreviation of a text without tags, and where it is."""
    for match in _WORD.finditer(text):
        word = match.group()
        known = word if word in ABBREVIATIONS else word.lower()
        spelled = word == known or word == _BOTH.get(known)
        if known in ABBREVIATIONS and spelled and (known not in METRICS or _is_metric(known, text)):
            yield known, match


def explain(html: str) -> str:
    """Return HTML in which the first appearance of each known abbreviation is an `<abbr>` with its meaning."""
    done: set[str] = set()
    parts: list[str] = []
    closing = ""
    for part in _TAG.split(html):
        if not part.startswith("<"):
            if closing == "abbr":
                # Explained by a part that this one contains.
                done |= {known for known, _match in found_in(part)}
            parts.append(part if closing else _explained(part, done))
            continue
        name = match.group(1) if (match := _NAME.match(part)) else ""
        if closing:
            closing = "" if part.startswith("</") and name == closing else closing
        elif name in _LEFT_ALONE and not part.startswith("</"):
            closing = name
        parts.append(part)
    return "".join(parts)


def _explained(text: str, done: set[str]) -> str:
    pieces, end = [], 0
    for known, match in found_in(text):
        if known not in done:
            done.add(known)
            shown = format_html('<abbr title="{}">{}</abbr>', ABBREVIATIONS[known], match.group())
            pieces += [text[end : match.start()], shown]
            end = match.end()
    return "".join([*pieces, text[end:]])


def _is_metric(letter: str, text: str) -> bool:
    return text.strip() == letter or "P+T" in text or f"by {letter}" in text
