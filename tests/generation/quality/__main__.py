"""Measure the methods by rule on published files, and print docs/reference/quality.md.

    .venv/bin/python -m tests.generation.quality FOLDER ...                 prints the page
    .venv/bin/python -m tests.generation.quality FOLDER ... --write         writes it
    .venv/bin/python -m tests.generation.quality FOLDER --tagger offline --tagger spacy:MODEL
    .venv/bin/python -m tests.generation.quality FOLDER --unjudged actor_swap > swap3.tsv   foils that nobody judged
    .venv/bin/python -m tests.generation.quality --judgements FOLDER        adds those of a folder to judged.tsv

FOLDER has published files of ViLMA, and `msrvtt_human.tsv` for captions of MSR-VTT; none is in this repository, and
methods without their file have no rows. tests/generation/quality/ has one module per method. Its judged.tsv has the
judgements: method, key of a caption and its foil (no text), who made the foil (ours or authors), reader, accept or
fault, and the failed questions: g (grammatical), f (false given the caption), p (plausible). A foil that changes has no
judgement until readers judge it again: print it with --unjudged, and import the answers NAME.A.jsonl and NAME.B.jsonl.
"""

import argparse
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluation.metrics.intervals import wilson
from tests.generation.quality import Result, Sample
from tests.generation.quality import _judgements as judging

ROOT = Path(__file__).resolve().parents[3]
ROWS = Path(__file__).resolve().parent
JUDGED = ROWS / "judged.tsv"
PAGE = ROOT / "docs" / "reference" / "quality.md"
YIELD_HEAD = ("method", "recipe", "file", "settings", "captions", "result", "equal", "most common refusals")
ACCEPTABLE_HEAD = (
    "method",
    "file",
    "settings",
    "reader",
    "foils now",
    "judged",
    "acceptable",
    "failed g, f, p",
    "authors: acceptable",
    "difference in points",
)
FIRST_HEAD = ("method", "reader", "acceptable when judged", "no longer made", "acceptable of these")
AGREEMENT_HEAD = ("method", "foils judged by A and B", "equal verdicts", "kappa")
INTRODUCTION = """# Quality on published files

`python -m tests.generation.quality FOLDER --write` writes this page. It runs the methods by rule on published files
in a folder, with seed 0. The files are not in this repository.

## Results and refusals

- *Result*: captions with a foil. For masked models, captions with a blank: the model does not change the blank. For
  `cos_caption`, source sentences with a caption.
- *Equal*: captions whose result is the authors' choice, apart from articles. The share is of all captions. A dash means
  that the file has no such choice.
- *Settings*: parameters that differ from the recipe. *Total variation*: between the counts of the foils and of the
  released foils. It is 0 if they are equally frequent, and 1 if no count is in both.
- *Half*: the first rules were written on the development half and measured on the held half. Later changes used both.

"""
ACCEPTABILITY = """
## Acceptability of the text

One or two readers (A, B) judged random samples of foils. **The readers are language models, instructed as strict
annotators. No person has judged these foils.** They saw the caption and the foil as text only, in random order. They
did not see who made the foil. They answered three questions: g (is the foil grammatical?), f (is it false if the
caption is true?), p (is it plausible?). A foil is acceptable if all three answers are yes.

This is not validity. Validity needs people and the clips. The readers are stricter than ViLMA's validators, who saw the
clips: the validators found 61.6 % of the spatial relations valid
([counts](../papers/vilma.md#counts-the-papers-tables-4-and-6-and-here)).

- *Foils now*: different pairs of caption and foil that the method makes today. *Judged*: those of them with a
  judgement. A judged foil that the method no longer makes does not count here.
- *Acceptable*: the share with a 95 % interval (Wilson).
- *Authors*: the authors' own foils of the released file for the same captions, judged by the same reader.
- *Difference*: our share minus the authors' share, paired by caption, with a 95 % interval. The interval is a
  percentile bootstrap over captions, or exact if captions are few or do not differ.

"""
FIRST = """
### Foils when they were judged

After a judgement, we change rules so that they refuse the kinds of foils that readers reject. This table has all our
judged foils, including those that the method no longer makes on these files. If some are no longer made, the shares
above are too favourable until readers judge a new sample.

"""
AGREEMENT = """
### Agreement of the readers

These rows count all foils that both readers judged: ours and the authors'. Kappa is Fleiss' kappa.

"""


@dataclass(frozen=True)
class Measured:
    """A sample with its module, tagger ("" if none is used) and file."""

    module: Any
    tagger: str
    path: Path
    sample: Sample

    @property
    def method(self) -> str:
        return str(self.module.METHOD)

    @property
    def settings(self) -> str:
        tagger = f"tagger {self.tagger.partition(':')[0]}" if self.tagger else ""
        return ", ".join(filter(None, (self.sample.settings, tagger)))

    @property
    def group(self) -> tuple[str, str, str]:
        """Return what one row of acceptability covers: all parts of a file with the same settings."""
        return self.method, self.path.name, self.settings


def modules() -> Iterator[Any]:
    """Yield the modules of tests/generation/quality, by name."""
    for path in sorted(ROWS.glob("[a-z]*.py")):
        yield import_module(f"tests.generation.quality.{path.stem}")


def items_of(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the items of a published file by id: JSON, or a table of captions among endings."""
    if path.suffix == ".tsv":
        with path.open(encoding="utf-8", newline="") as table:
            rows = list(csv.DictReader(table, delimiter="\t"))
        return {str(at): {"caption": row[f"ending{row['label']}"], "clip": row["clip"]} for at, row in enumerate(rows)}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SystemExit(f"{path}: not JSON ({error}); give the published file") from error
    return found if isinstance(found, dict) else {str(at): item for at, item in enumerate(found)}


def measured(folders: Sequence[Path], taggers: Sequence[str]) -> Iterator[Measured]:
    """Yield the samples of each method and file, with each tagger if the method uses one."""
    for module in modules():
        paths = [path for pattern in module.FILES for folder in folders for path in sorted(folder.rglob(pattern))]
        for path in paths:
            for tagger in taggers if module.USES_TAGGER else [""]:
                for sample in module.measure(items_of(path), tagger):
                    yield Measured(module, tagger, path, sample)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = (" | ".join(map(str, row)) for row in (head, ["---"] * len(head), *rows))
    return "".join(f"| {line} |\n" for line in lines)


def share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "0"


def yield_row(one: Measured) -> tuple[object, ...]:
    """Return the row of a sample: its results, those equal to the authors', and why there are no others."""
    results = one.sample.results
    # Quoted words differ by caption; the reason is what counts.
    why = Counter(re.sub(r"'[^']*'", "…", result.why) for result in results if not result.made)
    refused = "; ".join(f"{reason} ({number})" for reason, number in why.most_common(3)) or "none"
    known = [result.equal for result in results if result.equal is not None]
    return (
        f"`{one.method}`",
        f"`{one.module.RECIPE}`",
        ", ".join(filter(None, (one.path.name, one.sample.part))),
        "; ".join(filter(None, (one.settings, one.sample.note))) or "–",
        len(results),
        share(sum(result.made for result in results), len(results)),
        share(sum(known), len(results)) if known else "–",
        refused,
    )


def accepted(failed: Sequence[str]) -> str:
    """Return the share of accepted foils with its interval, from the failed questions of each."""
    right, total = failed.count(""), len(failed)
    interval = wilson(right, total)
    if interval is None:
        return "–"
    low, high = interval
    return f"{right} of {total}: {100 * right / total:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def difference(ours: judging.Verdicts, authors: judging.Verdicts) -> str:
    """Return our share minus the authors' in points, with its interval."""
    found = judging.difference(ours, authors)
    if found.value is None or found.ci is None:
        return "–"
    low, high = found.ci
    return f"{100 * found.value:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def acceptable_rows(
    group: tuple[str, str, str], results: Sequence[Result], known: judging.Known
) -> Iterator[tuple[object, ...]]:
    """Yield a row per reader who judged any of the foils that are made now."""
    method, file, settings = group
    made = {judging.key_of(result.caption, foil) for result in results for foil in result.foils}
    for reader in judging.READERS:
        ours = judging.verdicts(method, results, "foils", reader, known)
        if not ours.failed:
            continue
        authors = judging.verdicts(method, results, "authors", reader, known).among(ours.by_caption)
        failed = ", ".join(str(sum(asked in one for one in ours.failed)) for asked in judging.QUESTIONS)
        yield (
            f"`{method}`",
            file,
            settings or "–",
            reader,
            len(made),
            share(len(ours.failed), len(made)),
            accepted(ours.failed),
            failed,
            accepted(authors.failed),
            difference(ours, authors),
        )


def first_rows(
    every: Sequence[Measured], judgements: Sequence[judging.Judgement], method: str
) -> Iterator[tuple[object, ...]]:
    """Yield a row per reader: all our judged foils of a method, and those that it no longer makes."""
    made = {judging.key_of(*pair) for one in every if one.method == method for pair in pairs(one.sample)}
    for reader in judging.READERS:
        ours = [one for one in judgements if (one.method, one.origin, one.reader) == (method, "ours", reader)]
        gone = [one.failed for one in ours if one.key not in made]
        if ours:
            shown = accepted([one.failed for one in ours])
            yield f"`{method}`", reader, shown, share(len(gone), len(ours)), gone.count("") if gone else "–"


def agreement_rows(method: str, known: judging.Known) -> Iterator[tuple[object, ...]]:
    """Yield the row of a method that both readers judged."""
    number, equal, kappa = judging.agreement(method, known)
    if equal is not None:
        yield f"`{method}`", number, f"{100 * equal:.1f} %", "–" if kappa is None else f"{kappa:.2f}"


def pairs(sample: Sample) -> Iterator[tuple[str, str]]:
    return ((result.caption, foil) for result in sample.results for foil in result.foils)


def page(folders: Sequence[Path], taggers: Sequence[str]) -> str:
    """Return the page of all rows; acceptability is that of the first tagger's foils."""
    every, judgements = list(measured(folders, taggers)), judging.stored(JUDGED)
    known, groups = judging.by_text(judgements), dict[tuple[str, str, str], list[Result]]()
    first = [one for one in every if one.tagger in ("", taggers[0]) and one.sample.judged]
    for one in first:
        groups.setdefault(one.group, []).extend(one.sample.results)
    methods = list(dict.fromkeys(one.method for one in first))
    acceptable = [row for group, results in groups.items() for row in acceptable_rows(group, results, known)]
    before = [row for method in methods for row in first_rows(first, judgements, method)]
    agreeing = [row for method in methods for row in agreement_rows(method, known)]
    return (
        INTRODUCTION
        + table(YIELD_HEAD, [yield_row(one) for one in every])
        + ACCEPTABILITY
        + table(ACCEPTABLE_HEAD, acceptable)
        + FIRST
        + table(FIRST_HEAD, before)
        + AGREEMENT
        + table(AGREEMENT_HEAD, agreeing)
    )


def unjudged(folders: Sequence[Path], method: str) -> Iterator[str]:
    """Yield the header and "n, caption, foil" of each foil that nobody has judged, separated by tabs."""
    known = judging.by_text(judging.stored(JUDGED))
    found = (pair for one in measured(folders, ["offline"]) if one.method == method for pair in pairs(one.sample))
    new = dict.fromkeys(pair for pair in found if (method, judging.key_of(*pair)) not in known)
    yield "n\tcaption\tfoil"
    for n, (caption, foil) in enumerate(new):
        yield f"{n}\t{caption.strip()}\t{foil.strip()}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the methods by rule on published files.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folders of the published files")
    parser.add_argument("--tagger", action="append", help="a tagger to measure with; repeatable (default: offline)")
    parser.add_argument("--write", action="store_true", help="write docs/reference/quality.md")
    parser.add_argument("--unjudged", metavar="METHOD", help="print the foils of a method that nobody has judged")
    parser.add_argument("--judgements", type=Path, metavar="FOLDER", help="add a folder's judgements to judged.tsv")
    chosen = parser.parse_args(arguments)
    for folder in (*chosen.folders, *filter(None, [chosen.judgements])):
        if not folder.is_dir():
            parser.error(f"{folder}: not a folder; give the folder that contains the files")
    if chosen.judgements:
        print("{} new judgements, {} in all".format(*judging.store(JUDGED, chosen.judgements)), file=sys.stderr)
    if not chosen.folders:
        return 0 if chosen.judgements else parser.error("give the folder of the published files")
    if chosen.unjudged:
        print("\n".join(unjudged(chosen.folders, chosen.unjudged)))
        return 0
    text = page(chosen.folders, chosen.tagger or ["offline"])
    if chosen.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
