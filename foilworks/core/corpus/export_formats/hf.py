"""`hf`: a data set folder that the `datasets` library loads: one Parquet file a subtest, a dataset card, and Croissant
metadata (`croissant.json`).

A record's columns are those of `jsonl`; `facts` and `extra`, which have no fixed shape, are JSON text. Each subtest is
a configuration with one split, `test`.
"""

import json
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.documents import FIELDS, croissant, described, render
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.export_formats.parts.folder import write_folder, write_json
from foilworks.core.corpus.export_formats.parts.parquet import PARQUET, write_items
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest
from foilworks.core.corpus.records import ReleaseContent

DATA = "data"
TAKES_RECORDS = False


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: nothing is released, the library that writes
    Parquet is missing, or the folder cannot be written there."""
    items = list(released_items(release))
    if not items:
        raise CorpusError(f"{release.release}: has no items; release some first")
    files = by_subtest(items, ".parquet")

    facts = facts_of(release)

    def fill(folder: Path) -> None:
        (folder / DATA).mkdir()
        for name, records in files.items():
            write_items(folder / DATA / name, records)
        # A name from people: one line, and nothing that the card's header could take for its end.
        full_name = json.dumps(" ".join(f"{release.project} {release.release}".split()), ensure_ascii=False)[1:-1]
        described_files = [described(folder / DATA / file_name, PARQUET, FIELDS) for file_name in files]
        text = render("exports/README-hf.md", facts, full_name=full_name, files=described_files)
        (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")
        in_order = sorted(described_files, key=itemgetter("name"))
        write_json(folder / "croissant.json", croissant(facts, in_order, {}))

    return write_folder(out, manifest_facts(release, "hf", len(items), facts), fill)
