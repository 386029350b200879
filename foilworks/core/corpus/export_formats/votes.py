"""`votes`: the judgements of a release one a row, under pseudonyms, as the importer of the same name reads them.

All are there, those of proficiency items and those that do not count too: the columns say so, and the importer passes
over what does not count. Cells that a spreadsheet would run get an apostrophe, which a last column names; the importer
takes it off.
"""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.foilworks import vote_line
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts
from foilworks.core.corpus.records import ReleaseContent, ReleaseVote
from foilworks.core.corpus.rules.escaped_cells import ESCAPED, escaped

FILE = "votes.csv"
TAKES_RECORDS = False
COLUMNS = (
    "item",
    "annotator",
    "choice",
    "position",
    "foil",
    "subtest",
    "kind",
    "stage",
    "state",
    "source",
    "simulated",
    "seconds",
)


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    facts = manifest_facts(release, "votes", sum(bool(item.get("released")) for item in release.items))
    votes = sorted(release.votes, key=lambda vote: (vote.item, -1 if vote.foil is None else vote.foil, vote.annotator))
    return write_folder(out, {**facts, "votes": len(votes)}, lambda folder: _write(folder / FILE, votes))


def _write(path: Path, votes: Iterable[ReleaseVote]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [_cells(vote) for vote in votes]
        columns = [*COLUMNS, ESCAPED] if any(row[ESCAPED] for row in rows) else COLUMNS
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)


def _cells(vote: ReleaseVote) -> dict[str, Any]:
    line = vote_line(vote)
    return escaped({name: line[name] for name in COLUMNS})
