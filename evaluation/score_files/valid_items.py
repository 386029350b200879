"""Restrict scores to the items that a benchmark counts: its item file says which were found valid (ViLMA, Table 6)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaluation.analyses.records import ItemFacts
from evaluation.errors import EvaluationError
from evaluation.metrics.pairwise import PairScores
from evaluation.score_files.items import read_items
from foilworks.core.text.quoting import quoted


def restrict_to_valid(
    data: PairScores, files: Sequence[Path], items: Sequence[Path]
) -> tuple[PairScores, dict[str, list[str]]]:
    """Return the scores of valid items, with those of their valid proficiency pairs, and the ids of the others by
    reason.

    `items`: an item file (ViLMA's JSON, JSON lines) for each of the score `files`. An id may omit its subtest.
    EvaluationError: a different number of files, or items without votes.
    """
    if len(items) != len(files):
        raise EvaluationError(f"{len(items)} item files for {len(files)} score files; give one for each")
    known: dict[str, ItemFacts] = {}
    for scores, path in zip(files, items, strict=True):
        prefix = f"{scores.stem}/" if len(files) > 1 else ""
        for item in read_items([path])[0]:
            if item.valid is None:
                raise EvaluationError(
                    f"{path}: votes: item {quoted(item.id)} has none, so its validity is unknown; give a file with "
                    "votes"
                )
            known[prefix + item.id] = known[prefix + item.id.removeprefix(f"{item.subtest}:")] = item
    found = [known.get(name) for name in data.ids]
    kept = [place for place, item in enumerate(found) if item is not None and item.valid]
    if not kept:
        raise EvaluationError(
            f"{items[0]}: id: no scored item is a valid item of this file; give the item file of these scores"
        )
    paired = [bool(item and item.proficiency and item.proficiency.valid) for item in found]
    left_out = {
        "not_in_items": [name for name, item in zip(data.ids, found, strict=True) if item is None],
        "not_valid": [name for name, item in zip(data.ids, found, strict=True) if item is not None and not item.valid],
    }
    return (
        replace(
            data,
            main=data.main[kept],
            proficiency=np.where(np.array(paired)[:, None], data.proficiency, np.nan)[kept],
            **{
                name: [getattr(data, name)[place] for place in kept]
                for name in ("ids", "subtests", "tests", "clusters")
            },
        ),
        left_out,
    )
