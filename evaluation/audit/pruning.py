"""Select items of a file whose texts do not tell the answers, and list what leaves, why, and how to repair it."""

import csv
import hashlib
import io
import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.analyses.questions import questions_of
from evaluation.analyses.repairs import review
from evaluation.audit.file_reader import Problems, read_all
from evaluation.audit.selection_record import as_record, hash_of, record_of
from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.parsing.record_removal import Unit, content_without, units_of
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.design import SELECTING
from foilworks.core.solver.folds import structure_of
from foilworks.core.solver.pruning import N_SEEDS, Pruned, prune
from foilworks.core.solver.solution import Selection
from foilworks.core.solver.solve import MIN_GROUPS
from foilworks.core.text.atomic_folders import work_folder
from foilworks.core.text.storable import safe_row

COLUMNS = ("file", "row", "id", "subtest", "action", "s", "s_minus_chance", "tier", "reason", "repair", "detail")
REVIEW, REMOVED = "review.csv", "removed_ids.txt"
N_RANDOM_SETS = 200
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class PrunedFiles:
    """The records of all files, the unit of each in its file, and the selection."""

    sources: Sequence[Source]
    records: Sequence[TextRecord]
    units: Sequence[tuple[str, Unit]]
    pruned: Pruned
    seed: int

    @property
    def selection(self) -> Selection:
        """Return the record of the selection."""
        rows = zip(self.records, self.pruned.is_kept, strict=True)
        return Selection(tuple(name_of(record) for record, kept in rows if not kept), SELECTING, self.seed)


def name_of(record: TextRecord) -> str:
    """Return the id of a record, or its line."""
    return record.id or str(record.where)


def prune_files(sources: Sequence[Source], seed: int = 0, n_seeds: int = N_SEEDS) -> PrunedFiles:
    """Select among the items of all files of a benchmark; `n_seeds` as in `prune`.

    CorpusError or EvaluationError: a file cannot be read, has no items, or is one whose records cannot be removed.
    """
    problems = Problems()
    records = [record.probed() for record in read_all(sources, problems) if record.counted(record.wrongs)]
    if not records:
        raise problems.refusal(sources[0].path)
    questions, answers = questions_of(records)
    if len(np.unique(structure_of(questions, answers).groups)) < MIN_GROUPS:
        raise EvaluationError(
            f"{sources[0].path}: {len(records)} items, which have too few videos to learn from; give at least "
            f"{MIN_GROUPS} videos"
        )
    rows_of_file = defaultdict(list)
    for row, record in enumerate(records):
        if record.address is None:
            raise EvaluationError(
                f"{sources[0].path}: its items cannot be removed one by one; freeze the release again with "
                "`foilworks release --balance`"
            )
        rows_of_file[record.address[0]].append(row)
    units: list[tuple[str, Unit]] = [("", ())] * len(records)
    for source in sources:
        rows = rows_of_file[str(source.path)]
        own = units_of(source.path, [records[row] for row in rows], source.limits, source.columns) if rows else []
        for row, unit in zip(rows, own, strict=True):
            units[row] = str(source.path), unit
    return PrunedFiles(sources, records, units, prune(questions, answers, seed, units, n_seeds), seed)


def review_rows(files: PrunedFiles) -> list[dict[str, Any]]:
    """Return all items, those that are answered most surely first, with the reason and a proposal for each."""
    rows = [
        {
            "file": Path(files.units[number][0]).name,
            "row": record.where,
            "id": name_of(record),
            "subtest": record.subtest,
            **row,
        }
        for number, (record, row) in enumerate(
            zip(files.records, review(files.records, files.pruned, files.seed), strict=True)
        )
    ]
    return sorted(rows, key=lambda row: (-row["s_minus_chance"], row["id"]))


def as_result(files: PrunedFiles, review: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the selection as JSON."""
    pruned = files.pruned
    certificate, is_kept = pruned.certificate, pruned.is_kept
    contradicting = contradictions(files.records)
    return {
        "files": [source.name for source in files.sources],
        "verdict": pruned.verdict,
        "seed": files.seed,
        "n": len(is_kept),
        "n_kept": int(is_kept.sum()),
        "bound": pruned.bound,
        "before": asdict(pruned.before.headline),
        "after": None if certificate is None else asdict(certificate.headline),
        "after_by_chosen": None if certificate is None else asdict(certificate.tiers["set"]),
        "curve": [asdict(point) for point in pruned.curve],
        "at_minimum": pruned.at_minimum,
        "overlap": pruned.overlap,
        "contradicting": {
            name: float(contradicting[members].mean()) if members.any() else None
            for name, members in (("kept", is_kept), ("removed", ~is_kept))
        },
        "repairs": dict(Counter(row["repair"] for row in review if row["repair"])),
    }


def contradictions(records: Sequence[TextRecord]) -> Flags:
    """Report which records have a wrong text that is right for another record of the same clip and question."""
    rights = defaultdict(set)
    for record in records:
        rights[record.clip or record.video, record.question].add(record.right)
    return np.array(
        [
            bool(record.clip or record.video)
            and not rights[record.clip or record.video, record.question].isdisjoint(record.wrongs)
            for record in records
        ]
    )


def rank_correlation(credits: Sequence[Mapping[str, float]], files: PrunedFiles) -> dict[str, float] | None:
    """Return Spearman's correlation of models' ranks on all items with those on the kept items, and the mean of it with
    random sets of the same size. `credits`: item -> credit, per model. None with fewer than two models."""
    if len(credits) < 2:
        return None
    names = [name_of(record) for record in files.records]
    table = np.array([[model.get(name, np.nan) for name in names] for model in credits])

    def correlation(is_kept: Flags) -> float:
        result = scipy.stats.spearmanr(np.nanmean(table, axis=1), np.nanmean(table[:, is_kept], axis=1))
        return float(result.statistic)

    generator = np.random.default_rng(files.seed)
    random_sets = [generator.permutation(files.pruned.is_kept) for _ in range(N_RANDOM_SETS)]
    return {
        "kept": correlation(files.pruned.is_kept),
        "random": float(np.nanmean([correlation(is_kept) for is_kept in random_sets])),
    }


def write_lists(files: PrunedFiles, review: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write the review list and the removed ids. EvaluationError: the folder cannot be written."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(safe_row([row[column] for column in COLUMNS]) for row in review)
    removed = "".join(f"{name}\n" for name in files.selection.removed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / REVIEW).write_text(out.getvalue(), encoding="utf-8")
        (folder / REMOVED).write_text(removed, encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"{folder}: cannot be written ({error.strerror}); choose another --lists") from error


def apply(files: PrunedFiles, out: Path, version: str) -> Path:
    """Write the files without the removed items, with the record of the selection beside them; return their path.

    `out`: a new file of the same ending, or a folder, in which a new file or folder gets a name with seed and hash.
    EvaluationError: the target exists already, has another ending or cannot be written.
    """
    contents = {source.path: _content(files, source.path) for source in files.sources}
    first = files.sources[0].path
    digest = hashlib.sha256(b"".join(contents.values())).hexdigest()[:8]
    target, is_one = out, len(contents) == 1
    if out.is_dir():
        stem = first.stem if is_one else first.parent.name
        target = out / f"{stem}-fair-{version}-seed{files.seed}-{digest}{first.suffix if is_one else ''}"
    elif is_one and out.suffix.lower() != first.suffix.lower():
        raise EvaluationError(f"{out}: --out needs the ending {first.suffix}, as {first.name}; choose another --out")
    if target.exists() or record_of(target).exists():
        raise EvaluationError(f"{target}: exists already; choose another --out")
    try:
        with work_folder(target) as work:
            written = _write_contents(contents, work, target.name if is_one else "")
            facts = {
                "foilworks": version,
                "source": [path.name for path in contents],
                "source_sha256": hash_of([*contents]),
            }
            fields = as_record(files.selection, **facts, sha256=hash_of(written), verdict=files.pruned.verdict)
            record_of(target).write_text(json.dumps(fields, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            (written[0] if is_one else work).rename(target)
    except OSError as error:
        record_of(target).unlink(missing_ok=True)
        raise EvaluationError(f"{target}: cannot be written ({error.strerror}); choose another --out") from error
    return target


def _write_contents(contents: Mapping[Path, bytes], work: Path, name: str) -> list[Path]:
    """Write one file by its new name, or several by their paths below the folder that they share."""
    common = Path(os.path.commonpath([path.parent.absolute() for path in contents]))
    written = []
    for path, content in contents.items():
        written.append(work / (name or path.absolute().relative_to(common)))
        written[-1].parent.mkdir(parents=True, exist_ok=True)
        written[-1].write_bytes(content)
    return written


def _content(files: PrunedFiles, path: Path) -> bytes:
    kept, removed = set[Unit](), set[Unit]()
    for (name, unit), is_kept in zip(files.units, files.pruned.is_kept, strict=True):
        if name == str(path):
            (kept if is_kept else removed).add(unit)
    return content_without(path, kept, removed)
