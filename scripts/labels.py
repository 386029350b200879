"""Check that every label that a manual page names, such as *Release* or *Account → Delete my account*, is on a page.

    .venv/bin/python scripts/labels.py    list the labels that no page, form or script has; exit 1 if there is one

A label is text in single asterisks that begins with a capital letter. What reads like one and is none: NO_LABELS.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from doc_pages import DOCS, ROOT, name_of

MANUAL = ("how-to", "reference", "explanation", ".")
# Definitions of ASVS and of tables, names that a reader chooses, and a sentence of a model.
NO_LABELS = {
    "does not apply",
    "growth",
    "share of n",
    "extrapolated",
    "the answer is b",
    "foils now",
    "my clips",
    "total variation",
}
LABEL = re.compile(r"(?<![\w*])\*(?!\*)([A-Z][^*\n]{1,60}?)\*(?![\w*])")
STEP = re.compile(r"\s*→\s*")
TRANSLATED = re.compile(r"translate [\"']([^\"']+)[\"']")
BLOCK = re.compile(r"(?:blocktranslate[^%]*|plural\s*)%}(.*?){%", re.DOTALL)
VARIABLE = re.compile(r"{{ *(\w+)[^}]*}}")
QUOTED = re.compile(r"[\"'`]((?:[^\"'`\\\n]|\\.)+)[\"'`]")
SOURCES = {"templates/**/*.html": (TRANSLATED, BLOCK), "static/**/*.js": (QUOTED,)} | {
    f"{package}/**/*.py": (QUOTED,) for package in ("annotation", "evaluation", "foilworks", "generation")
}


def main() -> int:
    """Print every label without a page, and return 1 if there is one."""
    texts = set(shown_texts())
    missing = [line for page in manual_pages() for line in unknown_labels(page, texts)]
    print("\n".join(missing))
    return bool(missing)


def shown_texts() -> Iterator[str]:
    """Yield the texts of templates, scripts and code."""
    for pattern, forms in SOURCES.items():
        for path in ROOT.glob(pattern):
            source = path.read_text(encoding="utf-8")
            yield from (_plain(text) for form in forms for text in form.findall(source))


def manual_pages() -> list[Path]:
    """Return the pages that tell people what to press."""
    return [path for folder in MANUAL for path in sorted((DOCS / folder).glob("*.md"))]


def unknown_labels(page: Path, texts: set[str]) -> Iterator[str]:
    """Yield a line per label of the page that is not in `texts`."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        labels = (step for label in LABEL.findall(line) for step in STEP.split(label))
        for label in labels:
            if _plain(label) not in texts | NO_LABELS:
                yield f"{name_of(page)}:{number}: no page has *{label}*; write the label of the page"


def _plain(text: str) -> str:
    """Return a text without case, end marks and the braces of variables: *Score again with M* for a model's button."""
    return " ".join(VARIABLE.sub(r"\1", text).replace("’", "'").split()).rstrip("…:.").lower()


if __name__ == "__main__":
    sys.exit(main())
