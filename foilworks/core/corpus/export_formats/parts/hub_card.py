"""The texts of a data set folder for the Hub: its card, and `eval.yaml`, which registers it as a benchmark."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foilworks.core.corpus.export_formats.parts.citation import bibtex, title_of
from foilworks.core.corpus.export_formats.parts.licence_ids import known_licence
from foilworks.core.corpus.export_formats.parts.markdown import link_safe
from foilworks.core.corpus.export_formats.parts.rai import rai_fields, spaced
from foilworks.core.corpus.export_formats.parts.released_items import canary_line, card_notes
from foilworks.core.corpus.records import ReleaseContent

DATA, VIDEOS, CHOICES, INSPECT = "data", "videos", "choices", "inspect"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
HIGHEST = "n>1M"
CARD = """
# {title}

{abstract}{n_items} items in {n_subtests} subtests. Each item is a clip of a video, a caption that is true of it, and
foils: minimal edits of the caption that are false of it. Release {release}, {date}; content hash `{content_hash}`.
{notes}
## Load

```python
from datasets import load_dataset

items = load_dataset("{repository}", "{first}", split="test")
```

Each subtest is a configuration with the split `test`. `{choices}` has all items as a choice by letter.

| column | content |
|---|---|
| `id`, `subtest`, `test` | the item, its subtest, and the phenomenon that several subtests share |
| `caption`, `foils` | the true sentence, and the false ones |
| `video`, `url`, `source_dataset`, `source_id` | the clip: its file, its address, its id in its data set |
| `start_time`, `end_time`, `time_unit` | the part of the video |
| `proficiency` | a simpler pair about the same clip |
| `votes` | how many validators chose the caption, the foil, anything else |

## Videos

{videos}

## Evaluate

`eval.yaml` names a task without the clip: a choice from the words alone, which shows what a model solves without
seeing anything. It runs from the Hub. The task with the clip runs from a copy of this folder:

```
cd {inspect}
FOILWORKS_VIDEOS=../{folder} inspect eval task.py@choice --model PROVIDER/MODEL
```

## Annotation, biases, limits

{facts}

`datasheet.md` answers the questions of “Datasheets for Datasets”.

## Licences

{licences}
{citation}"""
CITATION = """
## Citation

```bibtex
{bibtex}```
"""
NO_VIDEOS = (
    "This data set contains no videos. `source_dataset` and `source_id` identify each video where it was published; "
    "`videos.jsonl` lists them."
)
SOME_VIDEOS = (
    "`videos/` contains {n} of {all} videos: those whose source allows it. `videos.jsonl` lists all of them, with the "
    "data set and the id of those that you must obtain from their source."
)
SIMULATED = "**The people and judgements of this release are simulated.**"
ANONYMOUS = (
    "This is an anonymised copy for review. Authors, contact, addresses, free text and names of files are left out, "
    "and ids are numbers. The content hash is that of this copy."
)
FACT = "**{name}.** {text}"
OWN_LICENCE = "- Captions, foils, judgements: {licence}"
OF_SOURCE = "- Videos of {source}: {licence} {url}"
NOT_STATED = "not stated"


@dataclass(frozen=True)
class Contents:
    """What is in the folder: subtest files with their number of items, and how many videos are copied."""

    files: Mapping[str, int]
    n_videos: int
    n_copied: int
    choices: str
    is_anonymous: bool
    repository: str


def card(release: ReleaseContent, contents: Contents) -> str:
    """Return `README.md`: the header that the Hub reads, then the card."""
    cited = release.papers.citation
    abstract = "" if contents.is_anonymous else cited.abstract
    notes = [ANONYMOUS] if contents.is_anonymous else []
    notes += [SIMULATED] if release.simulated else []
    notes += [said] if (said := card_notes(release)) else []
    notes += [said] if (said := canary_line(release).strip()) else []
    return _header(release, contents) + CARD.format(
        title=link_safe(title_of(release)),
        abstract=f"{link_safe(abstract)}\n\n" if abstract else "",
        n_items=sum(contents.files.values()),
        n_subtests=len(contents.files),
        release=link_safe(release.release),
        date=release.created_at[:10],
        content_hash=release.content_hash,
        notes="".join(f"\n{note}\n" for note in notes),
        repository=contents.repository or "path/to/this/folder",
        first=_stem(next(iter(contents.files))),
        choices=_stem(contents.choices),
        videos=_videos(contents),
        inspect=INSPECT,
        folder=VIDEOS,
        facts=_facts(release),
        licences="\n".join(_licences(release)),
        citation="" if contents.is_anonymous else CITATION.format(bibtex=bibtex(release).replace("```", "'''")),
    )


def _header(release: ReleaseContent, contents: Contents) -> str:
    n_items = sum(contents.files.values())
    size = next((name for most, name in SIZES if n_items < most), HIGHEST)
    lines = ["---", f"pretty_name: {_quoted(title_of(release))}", *_licence_lines(release)]
    lines += ["task_categories:", "- video-text-to-text", "- multiple-choice", "tags:", "- benchmark"]
    lines += ["- video-language", "- foils", "size_categories:", f"- {size}", "configs:"]
    places = {f"{DATA}/{name}": _stem(name) for name in contents.files}
    for path, name in {**places, f"{CHOICES}/{contents.choices}": _stem(contents.choices)}.items():
        lines += [f"- config_name: {_quoted(name)}", "  data_files:", "  - split: test", f"    path: {_quoted(path)}"]
    return "\n".join([*lines, "---", ""])


def _licence_lines(release: ReleaseContent) -> list[str]:
    cited = release.papers.citation
    licence = known_licence(cited.licence, cited.licence_url)
    if licence is not None:
        return [f"license: {licence.hub}"]
    if not (cited.licence or cited.licence_url):
        return []
    named = [f"license_name: {_quoted(cited.licence)}"] if cited.licence else []
    return ["license: other", *named, *([f"license_link: {_quoted(cited.licence_url)}"] if cited.licence_url else [])]


def _videos(contents: Contents) -> str:
    if not contents.n_copied:
        return NO_VIDEOS
    return SOME_VIDEOS.format(n=contents.n_copied, all=contents.n_videos)


def _facts(release: ReleaseContent) -> str:
    """Return the RAI fields as paragraphs, so that the card and Croissant say the same."""
    found = []
    for name, value in rai_fields(release).items():
        text = value if isinstance(value, str) else " · ".join(value)
        found.append(FACT.format(name=spaced(name.removeprefix("rai:")), text=link_safe(text)))
    return "\n\n".join(found)


def _licences(release: ReleaseContent) -> list[str]:
    cited = release.papers.citation
    own = f"{link_safe(cited.licence)} {link_safe(cited.licence_url)}".strip() or NOT_STATED
    lines = [OWN_LICENCE.format(licence=own)]
    for source in release.papers.sources:
        stated = link_safe(source.licence) or NOT_STATED
        name = link_safe(source.dataset) or "no named data set"
        lines.append(OF_SOURCE.format(source=name, licence=stated, url=link_safe(source.url)).rstrip())
    return lines


def eval_yaml(release: ReleaseContent, config: str) -> str:
    """Return the registration of a benchmark: one task for Inspect, whose form has no field for a video.

    The field names are those that the Hub documents and that Inspect checks when it loads `hf/OWNER/NAME`.
    """
    lines = [
        f"name: {_quoted(title_of(release))}",
        f"description: {_quoted(DESCRIPTION)}",
        "evaluation_framework: inspect-ai",
        "",
        "tasks:",
        f"- id: {TASK}",
        f"  config: {_quoted(config)}",
        "  split: test",
        "  field_spec:",
        "    input: question",
        "    target: answer",
        "    choices: options",
        "    metadata: [id, subtest, test]",
        "  solvers:",
        "  - name: multiple_choice",
        "  scorers:",
        "  - name: choice",
    ]
    return "\n".join(lines) + "\n"


TASK = "no_clip"
DESCRIPTION = (
    "Choose the sentence that is true of a video, from the words alone. A benchmark of video understanding should not "
    "be solvable this way: the score shows what its texts give away."
)


def video_lines(videos: Sequence[Mapping[str, Any]], licences: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one line per video: its file if it is in the folder, else what identifies it in its data set."""
    names = ("key", "file", "source_dataset", "source_id", "url", "start_time", "end_time", "time_unit")
    rows = []
    for video in videos:
        row = {name: video[name] for name in names if video.get(name) not in (None, "")}
        rows.append({**row, "licence": licences.get(video["source_dataset"], "") or NOT_STATED})
    return rows


def _stem(name: str) -> str:
    return name.removesuffix(".parquet")


def _quoted(text: str) -> str:
    """Return a JSON string of one line, which YAML reads as it is."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
