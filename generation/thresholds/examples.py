"""Choose candidates that would pass or be held back under a preview of thresholds."""

import numpy as np
from numpy.typing import NDArray

from foilworks.core.text.diff import diff_segments
from generation.models import Candidate
from generation.thresholds.arithmetic import Preview

EXAMPLES = 20


def examples(found: Preview) -> dict[str, list[Candidate]]:
    """Return up to EXAMPLES candidates that would pass or be held back, spread evenly over the run. One query."""
    places = {"pass": _spread(found, found.passes), "leave": _spread(found, found.leaves)}
    back = found.comes_back
    ids = {name: found.sheet.ids[part].tolist() for name, part in places.items()}
    new = {pk for name, part in places.items() for pk, at in zip(ids[name], part, strict=True) if back[at]}
    wanted = [pk for part in ids.values() for pk in part]
    rows = Candidate.objects.select_related("group__caption").in_bulk(wanted) if wanted else {}
    for row in rows.values():
        row.segments = diff_segments(row.group.caption.text, row.text)
        row.comes_back = row.pk in new
    return {name: [rows[pk] for pk in part if pk in rows] for name, part in ids.items()}


def _spread(found: Preview, which: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Choose indices in the sheet. Candidates that would move come first, since they are of most interest."""
    moving = np.flatnonzero(which & found.comes_back)
    rest = np.flatnonzero(which & ~found.comes_back)
    first = _evenly(moving, EXAMPLES)
    return np.concatenate([first, _evenly(rest, EXAMPLES - len(first))])


def _evenly(places: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    return places[np.linspace(0, max(0, len(places) - 1), min(most, len(places))).astype(int)]
