"""`hf`: a data set folder that the `datasets` library loads: one Parquet file a subtest, a dataset card, and Croissant
metadata (`croissant.json`).

A record's columns are those of `jsonl`; `facts` and `extra`, which have no fixed shape, are JSON text. Each subtest is
a configuration with one split, `test`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.croissant import croissant
from foilworks.core.corpus.export_formats.parts.folder import write_folder, write_json
from foilworks.core.corpus.export_formats.parts.parquet import write_items
from foilworks.core.corpus.export_formats.parts.released_items import (
    canary_line,
    card_notes,
    manifest_facts,
    released_items,
)
from foilworks.core.corpus.export_formats.parts.tables import by_subtest
from foilworks.core.corpus.records import ItemRecord, ReleaseContent

USES_TABLES = False
DATA = "data"
CARD = """---
pretty_name: {name}
task_categories:
- video-text-to-text
- zero-shot-classification
tags:
- video-language
- foils
size_categories:
- {size}
configs:
{configs}
---

# {name}

{n_items} items in {n_subtests} subtests: a video, a caption that is true of it, and foils, minimal edits of the caption
that are false of it. Frozen as release `{release}` on {date}; content hash `{content_hash}`.
{published}{canary}
| column | meaning |
|---|---|
| `id`, `subtest`, `test` | the item, its subtest, the phenomenon that several subtests share |
| `caption`, `foils` | the true sentence and the false ones |
| `video`, `url`, `source_dataset`, `source_id` | the source of the video; this data set contains no videos |
| `start_time`, `end_time`, `time_unit` | the clip in the video, in seconds, presentation timestamps or frames |
| `pair` | a name that two items share: the caption of each is the foil of the other, whose clip differs |
| `proficiency` | a simpler pair of the same video, if there is one |
| `votes` | how many validators chose the caption, the foil, anything else |
| `facts`, `extra` | JSON: facts that methods read, and other fields of the record |

```python
from datasets import load_dataset

items = load_dataset("path/to/this/folder", "{first}", split="test")
```
"""


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError: nothing is released, the library that writes
    Parquet is missing, or the folder cannot be written there."""
    items = list(released_items(release))
    if not items:
        raise CorpusError(f"{release.release}: has no items; release some first")
    files = by_subtest(items, ".parquet")

    def fill(folder: Path) -> None:
        (folder / DATA).mkdir()
        for name, found in files.items():
            write_items(folder / DATA / name, found)
        (folder / "README.md").write_text(_card(release, files), encoding="utf-8", newline="\n")
        write_json(folder / "croissant.json", croissant(release, folder / DATA, sorted(files)))

    return write_folder(out, manifest_facts(release, "hf", len(items)), fill)


def _card(release: ReleaseContent, files: Mapping[str, Sequence[ItemRecord]]) -> str:
    n_items = sum(map(len, files.values()))
    stems = [name.removesuffix(".parquet") for name in files]
    configs = "\n".join(
        f"- config_name: {json.dumps(stem)}\n  data_files:\n  - split: test\n    path: {json.dumps(f'{DATA}/{name}')}"
        for stem, name in zip(stems, files, strict=True)
    )
    # A name from people: one line, and nothing that the card's header could take for its end.
    name = " ".join(f"{release.project} {release.release}".split())
    return CARD.format(
        name=json.dumps(name, ensure_ascii=False)[1:-1],
        size="n<1K" if n_items < 1_000 else "1K<n<10K" if n_items < 10_000 else "10K<n<100K",
        configs=configs,
        n_items=n_items,
        n_subtests=len(files),
        release=release.release,
        date=release.created_at[:10],
        content_hash=release.content_hash,
        published=f"\n{said}\n" if (said := card_notes(release)) else "",
        canary=canary_line(release),
        first=stems[0],
    )
