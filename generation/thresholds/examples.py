"""Choose candidates that would pass or be held back under a preview of thresholds."""

import numpy as np
from numpy.typing import NDArray

from foilworks.core.text.diff import diff_segments
from generation.models import Candidate
from generation.thresholds.arithmetic import Preview

EXAMPLES = 20


def examples(preview: Preview) -> dict[str, list[Candidate]]:
    """Return up to EXAMPLES candidates that would pass or be held back, spread evenly over the run. One query."""
    indices_by_outcome = {"pass": _spread(preview, preview.passes), "leave": _spread(preview, preview.leaves)}
    back = preview.comes_back
    ids = {name: preview.sheet.ids[indices].tolist() for name, indices in indices_by_outcome.items()}
    new = {pk for name, part in indices_by_outcome.items() for pk, at in zip(ids[name], part, strict=True) if back[at]}
    candidate_ids = [pk for part in ids.values() for pk in part]
    rows = Candidate.objects.select_related("group__caption").in_bulk(candidate_ids) if candidate_ids else {}
    for row in rows.values():
        row.segments = diff_segments(row.group.caption.text, row.text)
        row.comes_back = row.pk in new
    return {name: [rows[pk] for pk in part if pk in rows] for name, part in ids.items()}


def _spread(preview: Preview, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Choose indices in the sheet. Candidates that would move come first, since they are of most interest."""
    moving = np.flatnonzero(which & preview.comes_back)
    staying = np.flatnonzero(which & ~preview.comes_back)
    first = _evenly(moving, EXAMPLES)
    return np.concatenate([first, _evenly(staying, EXAMPLES - len(first))])


def _evenly(indices: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    return indices[np.linspace(0, max(0, len(indices) - 1), min(most, len(indices))).astype(int)]
