"""Restrict scores to the items that a benchmark counts: its item file says which were found valid (ViLMA, Table 6)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaluation.analyses.analysis_inputs import ItemFacts
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
    item_by_id: dict[str, ItemFacts] = {}
    for scores, path in zip(files, items, strict=True):
        prefix = f"{scores.stem}/" if len(files) > 1 else ""
        for item in read_items([path])[0]:
            if item.valid is None:
                raise EvaluationError(
                    f"{path}: votes: item {quoted(item.id)} has none, so its validity is unknown; give a file with "
                    "votes"
                )
            item_by_id[prefix + item.id] = item_by_id[prefix + item.id.removeprefix(f"{item.subtest}:")] = item
    scored_items = [item_by_id.get(name) for name in data.ids]
    valid_indices = [index for index, item in enumerate(scored_items) if item is not None and item.valid]
    if not valid_indices:
        raise EvaluationError(
            f"{items[0]}: id: no scored item is a valid item of this file; give the item file of these scores"
        )
    paired = [bool(item and item.proficiency and item.proficiency.valid) for item in scored_items]
    left_out = {
        "not_in_items": [name for name, item in zip(data.ids, scored_items, strict=True) if item is None],
        "not_valid": [
            name for name, item in zip(data.ids, scored_items, strict=True) if item is not None and not item.valid
        ],
    }
    return (
        replace(
            data,
            main=data.main[valid_indices],
            proficiency=np.where(np.array(paired)[:, None], data.proficiency, np.nan)[valid_indices],
            **{
                name: [getattr(data, name)[index] for index in valid_indices]
                for name in ("ids", "subtests", "tests", "clusters")
            },
        ),
        left_out,
    )
