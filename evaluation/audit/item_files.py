"""Write how far each item is answered without the video."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.text.storable import safe_row

COLUMNS = ("id", "s", "s_minus_chance", "sd", "tier", "reason", "n_options")


def csv_of(item_scores: Sequence[Mapping[str, Any]]) -> str:
    """Return the scores as CSV, in the order of the file. Items with different numbers of options do not share a rank:
    compare `s_minus_chance` within `n_options`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in item_scores:
        writer.writerow(safe_row([item[column] for column in COLUMNS]))
    return out.getvalue()
