"""Audit and prune the public files, beyond what the papers do."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.analyses.sampling import SAMPLE_ITEMS
from evaluation.audit.audit import Options, audit, sources_of
from evaluation.audit.pruning import name_of, prune_files, review_rows, write_lists
from evaluation.audit.without_video import sentence
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.site.reproduction.progress import begin
from foilworks.site.reproduction.table_cells import Cell, compare

AUDIT = "Beyond the paper: audit of {}. {} All checks: audit.json."
PRUNED = "Beyond the paper: pruning of {} keeps {:,} of {:,} items ({}). The lists are in pruned/."
VERDICTS = {"fair": "certified", "too_few": "too few are left", "no_fair_subset": "no fair part was found"}
COLUMNS = ("items", "items that the solver read", "chance, %", "answered without the video, %")
SAMPLE = "{} (a random sample of {:,} of its {:,} items)"
Documents = Mapping[str, Mapping[str, Any]]


class Selected(NamedTuple):
    """All items of a file by their names, those that our pruning removes, and a sentence."""

    names: frozenset[str]
    removed: frozenset[str]
    note: str


def audits(files: Mapping[str, Path], work: Path, seed: int, items: int = SAMPLE_ITEMS, form: str = "") -> Documents:
    """Audit each file or folder and write all checks to audit.json. `items`: how many the solver reads of each.

    `form`: the format of the files, if it is known.
    """
    if not files:
        return {}
    options = Options(seed=seed, items=items)
    documents = {name: _audited(name, Source(path, form), options) for name, path in files.items()}
    work.mkdir(parents=True, exist_ok=True)
    (work / "audit.json").write_text(json.dumps(documents, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return documents


def _audited(name: str, source: Source, options: Options) -> dict[str, Any]:
    begin(f"audit of {name}")
    return audit(sources_of(source), options)


def audit_files(files: Mapping[str, Path], work: Path, seed: int, form: str = "") -> tuple[str, ...]:
    """Audit each file, write all checks to audit.json, and return a sentence per name."""
    return audit_notes(audits(files, work, seed, form=form))


def audit_notes(documents: Documents) -> tuple[str, ...]:
    """Return what each audit means, in a sentence per name."""
    meanings = {_with_sample(name, document): sentence(document) for name, document in documents.items()}
    return tuple(AUDIT.format(name, meaning) for name, meaning in meanings.items() if meaning)


def _with_sample(name: str, document: Mapping[str, Any]) -> str:
    """Return the name, with the size of the sample if the solver did not read all items."""
    n_read, n_items = document["sample"]["items"], document["items"]
    return name if n_read == n_items else SAMPLE.format(name, n_read, n_items)


def audit_cells(table: str, documents: Documents) -> Iterator[Cell]:
    """Yield what the solver answers of each set without its videos; the papers print no such numbers."""
    for name, document in documents.items():
        solved = document["without_video"]
        numbers = (
            document["items"],
            document["sample"]["items"],
            *((100 * solved[key]) if solved else None for key in ("chance", "value")),
        )
        for column, number in zip(COLUMNS, numbers, strict=True):
            yield compare(table, name, column, None, number, digits=1)


def prune_file(name: str, path: Path, work: Path, seed: int) -> Selected:
    """Select items whose texts do not tell the answers, and write the lists below `work`."""
    begin(f"pruning of {name}", 3)
    files = prune_files(sources_of(Source(path)), seed)
    write_lists(files, review_rows(files), work / "pruned")
    n_kept, verdict = int(files.pruned.is_kept.sum()), VERDICTS[files.pruned.verdict]
    note = PRUNED.format(name, n_kept, len(files.records), verdict)
    return Selected(frozenset(map(name_of, files.records)), frozenset(files.selection.removed), note)
