"""Audit the clips of a benchmark without looking at a frame: do their files answer the items?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.analyses.questions import questions_of
from evaluation.audit.clip_files import file_of, files_by_name
from evaluation.audit.records import Finding, Verdict
from foilworks.core.corpus.records import TextRecord
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_facts import file_facts
from foilworks.core.solver.clip_side import PLAYED, Facts, clip_side

# What items that need the time ask about: their clips differ in it by design.
CLOCK = frozenset({"seconds", "bits per second", "frames per second", "frames", "bytes", PLAYED})


def of_clips(records: Sequence[TextRecord], videos: Path, seed: int) -> Finding:
    """Return how far the files of the clips answer the items. `videos`: the folder of the files, by name.

    Items whose file is missing or unreadable do not count. It fails if the files add more to the texts than chance.
    """
    files = files_by_name(videos)
    paths = [file_of(record, files) for record in records]
    facts = {path: _facts_of(path) for path in dict.fromkeys(paths) if path}
    rows = [(record, facts[path]) for record, path in zip(records, paths, strict=True) if path]
    read = [(record, _of_item(record, row)) for record, row in rows if row]
    solution = (
        clip_side(*questions_of([record for record, _ in read]), [row for _, row in read], seed) if read else None
    )
    details: dict[str, Any] = {"unit": "items", "without_file": len(records) - len(read)}
    if solution is None:
        reason = "fewer than five videos of the items are in the folder"
        return Finding("clips", "nothing_found", n=len(read), details={**details, "reason": reason})
    verdict: Verdict = solution.verdict
    if solution.value - solution.texts <= (solution.interval[1] - solution.interval[0]) / 2 and verdict == "fail":
        verdict = "nothing_found_so_far"
    details |= {
        "texts": solution.texts,
        "alone": dict(solution.alone),
        "most": max(solution.alone, key=lambda name: solution.alone[name]),
        "needs_time": sum(record.needs_time for record, _ in read),
    }
    return Finding("clips", verdict, solution.value, list(solution.interval), solution.chance, solution.n, "", details)


def _facts_of(path: Path) -> Facts | None:
    try:
        return file_facts(path)
    except MediaError:
        return None


def _of_item(record: TextRecord, facts: Facts) -> Facts:
    row = {**facts, PLAYED: record.played} if record.played else facts
    return {name: value for name, value in row.items() if not (record.needs_time and name in CLOCK)}
