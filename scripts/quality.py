"""Measure the methods by rule on published files, and print docs/reference/quality.md.

    .venv/bin/python scripts/quality.py FOLDER                     prints the page
    .venv/bin/python scripts/quality.py FOLDER --write             writes it
    .venv/bin/python scripts/quality.py FOLDER --tagger offline --tagger spacy:MODEL
    .venv/bin/python scripts/quality.py FOLDER --unjudged actor_swap    foils that nobody has judged, as lines to fill

FOLDER has the published files; none is in this repository. tests/generation/quality/ has one module per method. Its
judged.tsv has the judgements: the key of a caption and its foil (no text), the method, and accept or fault. A foil that
changes has no judgement until somebody judges it again.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Not the folder of the scripts: its catalogue.py has the name of a package of spaCy.
sys.path[0] = str(ROOT)

from annotation.rules.pausing import wilson  # noqa: E402 (the root must be on the path first)
from tests.generation.quality import Row  # noqa: E402

ROWS = ROOT / "tests" / "generation" / "quality"
PAGE = ROOT / "docs" / "reference" / "quality.md"
HEAD = (
    "method",
    "tagger",
    "recipe",
    "file",
    "captions",
    "result",
    "equal",
    "judged acceptable",
    "most common refusals",
)
INTRODUCTION = """# Quality on published files

`scripts/quality.py FOLDER --write` writes this page. It runs the methods by rule on published files in a folder. The
files are not in this repository.

- *Result*: captions with a foil; for masked word filling, captions with a blank. The model does not change the blank.
- *Equal*: captions whose result is the authors' choice: their masked verb, or their foil apart from articles. The share
  is of all captions.
- *Judged acceptable*: foils that a reader of the text alone found grammatical, false given the caption, and plausible,
  with a 95 % interval (Wilson). Not every foil was judged.

A judgement of the text is not validity. Validity needs people and the clips.

"""


def key(caption: str, foil: str) -> str:
    """Return the key of a judged pair; it does not reveal the texts."""
    return hashlib.sha256(f"{caption.strip()}\n{foil.strip()}".encode()).hexdigest()[:16]


def judgements() -> dict[tuple[str, str], bool]:
    """Return (method, key) -> whether the foil was accepted."""
    lines = (ROWS / "judged.tsv").read_text(encoding="utf-8").splitlines()
    cells = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {(method, pair): verdict == "accept" for method, pair, verdict in cells}


def modules() -> Iterator[Any]:
    """Yield the modules of tests/generation/quality, by name."""
    for path in sorted(ROWS.glob("[a-z]*.py")):
        yield import_module(f"tests.generation.quality.{path.stem}")


def items_of(path: Path) -> list[Mapping[str, Any]]:
    """Return the items of a published file: a list, or an object of items by id."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return list(found.values()) if isinstance(found, dict) else found


def measured(folder: Path, taggers: Sequence[str]) -> Iterator[tuple[Any, str, Path, Row]]:
    """Yield (module, tagger, file, row) of each method, file and tagger."""
    for module in modules():
        for path in sorted(folder.rglob(module.FILES)):
            for tagger in taggers:
                yield module, tagger, path, module.measure(items_of(path), tagger)


def table(rows: Sequence[Sequence[object]]) -> str:
    lines = (" | ".join(map(str, row)) for row in (HEAD, ["---"] * len(HEAD), *rows))
    return "".join(f"| {line} |\n" for line in lines)


def share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "0"


def judged_cell(method: str, row: Row, known: Mapping[tuple[str, str], bool]) -> str:
    verdicts = [known[method, key(*pair)] for pair in row.foils if (method, key(*pair)) in known]
    if not verdicts:
        return "–"
    low, high = wilson(sum(verdicts), len(verdicts))
    return f"{sum(verdicts)} of {len(verdicts)} ({100 * low:.0f} to {100 * high:.0f} %)"


def page(folder: Path, taggers: Sequence[str]) -> str:
    """Return the page of all rows."""
    known, lines = judgements(), []
    for module, tagger, path, row in measured(folder, taggers):
        refused = "; ".join(f"{why} ({number})" for why, number in row.refused.most_common(3)) or "none"
        shown = tagger.partition(":")[0]
        counts = (row.captions, share(row.made, row.captions), share(row.equal, row.captions))
        judged = judged_cell(module.METHOD, row, known)
        lines.append((f"`{module.METHOD}`", shown, f"`{module.RECIPE}`", path.name, *counts, judged, refused))
    return INTRODUCTION + table(lines)


def unjudged(folder: Path, method: str) -> Iterator[str]:
    """Yield "method, key, verdict?, caption, foil" of each foil that nobody has judged, separated by tabs."""
    known = judgements()
    for module, _, _, row in measured(folder, ["offline"]):
        for caption, foil in row.foils if method == module.METHOD else ():
            if (method, key(caption, foil)) not in known:
                yield "\t".join((method, key(caption, foil), "?", caption.strip(), foil.strip()))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the methods by rule on published files.")
    parser.add_argument("folder", type=Path, help="the folder of the published files")
    parser.add_argument("--tagger", action="append", help="a tagger to measure with; repeatable (default: offline)")
    parser.add_argument("--write", action="store_true", help="write docs/reference/quality.md")
    parser.add_argument("--unjudged", metavar="METHOD", help="print the foils of a method that nobody has judged")
    chosen = parser.parse_args(arguments)
    if chosen.unjudged:
        print("\n".join(unjudged(chosen.folder, chosen.unjudged)))
        return 0
    text = page(chosen.folder, chosen.tagger or ["offline"])
    if chosen.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
