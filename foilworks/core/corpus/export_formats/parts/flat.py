"""The released items as flat rows that `datasets` and Croissant read: `data/<subtest>.jsonl`, `croissant.json`, and the
data card that names them. Every row has every column; what has no fixed shape is JSON text.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.jsonl import line
from foilworks.core.corpus.export_formats.parts.citation import bibtex, title_of
from foilworks.core.corpus.export_formats.parts.croissant import croissant
from foilworks.core.corpus.export_formats.parts.folder import write_json, write_lines
from foilworks.core.corpus.export_formats.parts.markdown import link_safe
from foilworks.core.corpus.export_formats.parts.released_items import canary_line, card_notes, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest
from foilworks.core.corpus.records import ItemRecord, ReleaseContent

DATA = "data"
JSON_LINES = "application/jsonlines"
TEXTS = (
    "id",
    "subtest",
    "test",
    "caption",
    "video",
    "video_key",
    "url",
    "source_dataset",
    "source_id",
    "time_unit",
    "split",
    "class_label",
    "category",
    "movie",
    "facts",
    "extra",
    "proficiency_caption",
)
LISTS = ("foils", "proficiency_foils")
NUMBERS = ("start_time", "end_time")
COUNTS = ("votes_caption", "votes_foil", "votes_other")


def texts_of(items: Sequence[ItemRecord]) -> tuple[str, ...]:
    """The columns of text of a file: with the name of the pair, if an item of it has one."""
    return (*TEXTS, "pair") if any(item.pair for item in items) else TEXTS


def flat_rows(items: Sequence[ItemRecord]) -> list[dict[str, Any]]:
    """The rows of one file, all with the same columns."""
    texts = texts_of(items)
    return [flat_row(item, texts) for item in items]


def flat_row(item: ItemRecord, texts: Sequence[str] = TEXTS) -> dict[str, Any]:
    """Texts are "" and lists empty where there is nothing; numbers are null."""
    record = line(item)
    pair, votes = record.get("proficiency") or {}, record.get("votes") or {}
    row: dict[str, Any] = {name: record.get(name) or "" for name in texts}
    row |= {name: _json(record.get(name)) for name in ("facts", "extra")}
    row |= {"foils": record["foils"], "proficiency_caption": pair.get("caption", "")}
    row |= {"proficiency_foils": pair.get("foils", []), **{name: record.get(name) for name in NUMBERS}}
    return row | {f"votes_{choice}": votes.get(choice) for choice in ("caption", "foil", "other")}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True) if value else ""


def files_of(items: Sequence[ItemRecord]) -> dict[str, list[ItemRecord]]:
    """File name in `data/` -> its items."""
    return by_subtest(items, ".jsonl")


def write_flat(folder: Path, release: ReleaseContent) -> None:
    """The data files, the card, and Croissant over them; only the card where nothing is released any more."""
    files = files_of(list(released_items(release)))
    if files:
        (folder / DATA).mkdir()
    for name, items in files.items():
        write_lines(folder / DATA / name, flat_rows(items))
    if files:
        write_json(folder / "croissant.json", described(release, folder, sorted(files)))
    (folder / "README.md").write_text(card(release, files), encoding="utf-8", newline="\n")


def described(release: ReleaseContent, folder: Path, files: Sequence[str]) -> dict[str, Any]:
    """Croissant of the JSON lines, with their authors and licence, where these are known."""
    document = croissant(release, folder / DATA, files)
    cited = release.papers.citation
    for each in document["distribution"]:
        each["encodingFormat"] = JSON_LINES
    for each in document["recordSet"]:
        _rename(each, each["name"].removesuffix(".jsonl"))
    document["citeAs"] = bibtex(release)
    if cited.licence or cited.licence_url:
        document["license"] = cited.licence_url or cited.licence
    if cited.authors:
        document["creator"] = [{"@type": "sc:Person", "name": name} for name in cited.authors]
    if cited.url:
        document["url"] = cited.url
    return document


def _rename(records: dict[str, Any], name: str) -> None:
    """A set of records is not named as its file is: both names are ids of one document."""
    records |= {"@id": name, "name": name, "key": {"@id": f"{name}/id"}}
    for each in records["field"]:
        each["@id"] = f"{name}/{each['name']}"


CARD = """# {title}

{n_items} items in {n_subtests} subtests: a video, a caption that is true of it, and foils, minimal edits of the caption
that are false of it. Frozen as release {release} on {date}; content hash `{content_hash}`.
{published}{canary}
| file | contains |
|---|---|
| `items.jsonl` | the items as they were frozen, with their status; items that are not in the release are marked |
| `data/` | the released items as flat rows, one file a subtest |
| `votes.jsonl`, `votes_not_counted.jsonl` | single judgements under pseudonyms |
{rejected}| `scores.jsonl`, `scores/` | raw scores of every model |
| `tables/`, `figures/` | reports, leaderboard, blind audit, human baseline, pay; drawings with their numbers |
| `datasheet.md`, `CHANGELOG.md`, `LICENCES.md` | read these before use |
| `CITATION.cff`, `citation.bib`, `croissant.json` | for programs that cite and load |
| `load.py` | reads all of this with Python alone |
| `manifest.json` | the SHA-256 of every file; `foilworks verify .` recomputes the tables |

## Loading

```python
from datasets import load_dataset

items = load_dataset("path/to/this/folder", "{first}", split="test")
```

Without any library, `python load.py`, or from another folder:

```python
import runpy

release = runpy.run_path("path/to/this/folder/load.py")
for item in release["items"]():
    print(item["caption"], item["foils"])
```

This data set contains no videos: `source_dataset` and `source_id` identify the video, `start_time` and
`end_time` the part of it, in `time_unit`. Licences of the sources are in `LICENCES.md`.

## Citation

```bibtex
{bibtex}```
"""
REJECTED = "| `rejected.jsonl` | candidates that did not become foils, with the reasons and their origin |\n"


def card(release: ReleaseContent, files: Mapping[str, Sequence[ItemRecord]]) -> str:
    """`README.md`: the header that `datasets` reads, then what each file holds."""
    n_items = sum(map(len, files.values()))
    stems = [name.removesuffix(".jsonl") for name in files]
    texts = [texts_of(items) for items in files.values()]
    return _header(release, stems, list(files), n_items, texts) + CARD.format(
        title=link_safe(title_of(release)),
        n_items=n_items,
        n_subtests=len(files),
        release=link_safe(release.release),
        date=release.created_at[:10],
        content_hash=release.content_hash,
        published=f"\n{said}\n" if (said := card_notes(release)) else "",
        canary=canary_line(release),
        rejected=REJECTED if release.papers.known.get("n_rejected") else "",
        first=stems[0] if stems else "",
        bibtex=bibtex(release).replace("```", "'''"),
    )


def _header(
    release: ReleaseContent, stems: Sequence[str], names: Sequence[str], n_items: int, texts: Sequence[Sequence[str]]
) -> str:
    size = "n<1K" if n_items < 1_000 else "1K<n<10K" if n_items < 10_000 else "10K<n<100K"
    lines = ["---", f"pretty_name: {json.dumps(title_of(release), ensure_ascii=False)}", "task_categories:"]
    lines += ["- video-text-to-text", "tags:", "- video-language", "- foils", "size_categories:", f"- {size}"]
    if stems:
        lines.append("configs:")
    for stem, name in zip(stems, names, strict=True):
        lines += [f"- config_name: {json.dumps(stem)}", "  data_files:", "  - split: test"]
        lines.append(f"    path: {json.dumps(f'{DATA}/{name}')}")
    if stems:
        lines.append("dataset_info:")
    for stem, columns in zip(stems, texts, strict=True):
        lines += [f"- config_name: {json.dumps(stem)}", "  features:", *_features(columns)]
    return "\n".join([*lines, "---", "", ""])


def _features(texts: Sequence[str]) -> list[str]:
    """Types are said, so that a column that is empty in one subtest has the same one everywhere."""
    rows = [(name, "dtype: string") for name in texts] + [(name, "sequence: string") for name in LISTS]
    rows += [(name, "dtype: float64") for name in NUMBERS] + [(name, "dtype: int64") for name in COUNTS]
    return [text for name, kind in rows for text in (f"  - name: {name}", f"    {kind}")]
