"""`hub`: a data set folder for the Hub: Parquet, a card, `eval.yaml`, Croissant with the fields of responsible AI, an
Inspect task, and the metadata of a DOI deposit. `anonymous` writes a copy for double-blind review instead.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.anonymous import anonymised, model_name, without_addresses
from foilworks.core.corpus.export_formats.parts.choices import QUESTION, choice_of, write_choices
from foilworks.core.corpus.export_formats.parts.citation import bibtex, cff, title_of
from foilworks.core.corpus.export_formats.parts.croissant import FIELDS, croissant, file_object, record_set
from foilworks.core.corpus.export_formats.parts.datasheet import datasheet
from foilworks.core.corpus.export_formats.parts.folder import (
    safe_name,
    unused_name,
    write_folder,
    write_json,
    write_lines,
)
from foilworks.core.corpus.export_formats.parts.hub_card import (
    CHOICES,
    DATA,
    INSPECT,
    VIDEOS,
    Contents,
    card,
    eval_yaml,
    video_lines,
)
from foilworks.core.corpus.export_formats.parts.licence_ids import known_licence
from foilworks.core.corpus.export_formats.parts.parquet import write_choices as write_choice_rows
from foilworks.core.corpus.export_formats.parts.parquet import write_items
from foilworks.core.corpus.export_formats.parts.rai import CONFORMS_TO, rai_fields
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest
from foilworks.core.corpus.export_formats.parts.zenodo import KEYWORDS, deposit_metadata
from foilworks.core.corpus.records import ItemRecord, ReleaseContent

USES_TABLES = True
HARNESS = (("inspect_task.py", "task.py"), ("clips.py", "clips.py"))
ANYBODY = "Anonymous"
CHOICE_FIELDS = {
    **{name: FIELDS[name] for name in ("id", "subtest", "test", "video")},
    "question": "what is asked",
    "options": "the caption and the foils, in an order that a hash of the id determines",
    "answer": "letter of the caption among the options",
}
ABOUT_FILES = (
    "> `items.jsonl`, `votes.jsonl`, `rejected.jsonl`, `scores.jsonl` and `tables/` are in the full export "
    "(`foilworks export foilworks`), not in this folder.\n"
)


@dataclass(frozen=True)
class Options:
    """`videos`: by key, the files whose sources allow a copy. `check`: looks at the whole folder before it is put into
    place; an error of it leaves nothing behind."""

    anonymous: bool = False
    videos: Mapping[str, os.PathLike[str]] = field(default_factory=dict)
    repository: str = ""
    check: Callable[[Path], None] = lambda _folder: None


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out` without videos; the paths of its files. CorpusError: nothing is released, the library
    that writes Parquet is missing, or the folder cannot be written there."""
    return write_hub(release, out, Options(anonymous=bool(params.get("anonymous", False))))


def write_hub(release: ReleaseContent, out: Path, options: Options) -> list[Path]:
    """Write the folder `out` as the options say. CorpusError as in `write`, or an anonymous copy with videos."""
    if options.anonymous and options.videos:
        raise CorpusError(
            "--videos: video files can name people in their metadata; leave them out of an anonymised copy"
        )
    shown = anonymised(release) if options.anonymous else _released_only(release)
    names = _names(options.videos)
    items = [_with_file(item, names) for item in released_items(shown)]
    if not items:
        raise CorpusError(f"{release.release}: has no items; release some first")

    def fill(folder: Path) -> None:
        _fill(folder, shown, items, names, options)
        options.check(folder)

    return write_folder(out, manifest_facts(shown, "hub", len(items)), fill)


def _released_only(release: ReleaseContent) -> ReleaseContent:
    """Leave out what is only in the full export (other items, rejected candidates), and folders of local models."""
    items = tuple({**item, "provenance": _made(item)} for item in release.items if item.get("released"))
    ids = {item["id"] for item in items} | {item["proficiency"]["id"] for item in items if item["proficiency"]}
    known = {name: value for name, value in release.papers.known.items() if name != "n_rejected"}
    votes = tuple(vote for vote in release.votes if vote.item in ids)
    gate = without_addresses(release.gate) if release.gate else None
    return replace(release, items=items, votes=votes, gate=gate, papers=replace(release.papers, known=known))


def _made(item: Mapping[str, Any]) -> list[dict[str, Any] | None]:
    return [one and {**one, "model_id": model_name(one.get("model_id") or "")} for one in item["provenance"]]


def _names(videos: Mapping[str, os.PathLike[str]]) -> dict[str, str]:
    """Return {key of a video: its file's name in the folder}."""
    taken: set[str] = set()
    names = {}
    for key, path in sorted(videos.items()):
        # Two names that differ only before the suffix stay apart; the suffix tells players what it is.
        names[key] = unused_name(safe_name(key), taken) + PurePosixPath(str(path)).suffix.lower()
    return names


def _with_file(item: ItemRecord, names: Mapping[str, str]) -> ItemRecord:
    name = names.get(item.video.key)
    return replace(item, video=replace(item.video, file=name)) if name else item


def _fill(
    folder: Path, release: ReleaseContent, items: Sequence[ItemRecord], names: Mapping[str, str], options: Options
) -> None:
    files = by_subtest(items, ".parquet")
    taken = {name.removesuffix(".parquet").casefold() for name in files}
    choices_file = f"{unused_name(CHOICES, taken)}.parquet"
    for place in (DATA, CHOICES, INSPECT):
        (folder / place).mkdir()
    for name, found in files.items():
        write_items(folder / DATA / name, found)
    choices = [choice_of(item) for item in items if item.foils]
    write_choice_rows(folder / CHOICES / choices_file, choices, QUESTION)
    write_choices(folder / INSPECT, choices, HARNESS)
    write_json(folder / INSPECT / "manifest.json", manifest_facts(release, "hub", len(choices)))
    videos = {item.video.key: vars(item.video) for item in items}
    licences = {source.dataset: source.licence for source in release.papers.sources}
    write_lines(folder / "videos.jsonl", video_lines(list(videos.values()), licences))
    _copy(folder, options.videos, names)
    contents = Contents(
        files={name: len(found) for name, found in files.items()},
        n_videos=len(videos),
        n_copied=len(names),
        choices=choices_file,
        is_anonymous=options.anonymous,
        repository=options.repository,
    )
    _write_texts(folder, release, contents)


def _copy(folder: Path, videos: Mapping[str, os.PathLike[str]], names: Mapping[str, str]) -> None:
    """Copy the files: a hard link would let a change of the export change the stored video."""
    if names:
        (folder / VIDEOS).mkdir()
    for key, name in names.items():
        shutil.copyfile(videos[key], folder / VIDEOS / name)


def _write_texts(folder: Path, release: ReleaseContent, contents: Contents) -> None:
    texts = {
        "README.md": card(release, contents),
        "eval.yaml": eval_yaml(release, contents.choices.removesuffix(".parquet")),
        "datasheet.md": datasheet(release, for_review=contents.is_anonymous) + "\n" + ABOUT_FILES,
    }
    if not contents.is_anonymous:
        texts |= {"CITATION.cff": cff(release), "citation.bib": bibtex(release)}
        deposit = deposit_metadata(release)
        # The first is what a repository's integration reads, the second the body of a request to the deposit API.
        write_json(folder / ".zenodo.json", deposit)
        write_json(folder / "zenodo.json", {"metadata": deposit})
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    write_json(folder / "croissant.json", _described(folder, release, contents))


def _described(folder: Path, release: ReleaseContent, contents: Contents) -> dict[str, Any]:
    """Return the Croissant document: files, columns, who made it under which licence, and the RAI fields."""
    document = croissant(release, folder / DATA, sorted(contents.files))
    document["distribution"].append(file_object(folder / CHOICES / contents.choices))
    document["recordSet"].append(record_set(contents.choices, CHOICE_FIELDS))
    document["conformsTo"] = [document["conformsTo"], CONFORMS_TO]
    cited = release.papers.citation
    licence = known_licence(cited.licence, cited.licence_url)
    stated = licence.url if licence else cited.licence_url or cited.licence
    people = [{"@type": "sc:Person" if "," in name else "sc:Organization", "name": name} for name in cited.authors]
    facts: dict[str, Any] = {
        "alternateName": title_of(release),
        "keywords": list(KEYWORDS),
        "license": stated,
        "creator": [{"@type": "sc:Organization", "name": ANYBODY}] if contents.is_anonymous else people,
        "citeAs": "" if contents.is_anonymous else bibtex(release),
        "url": cited.url,
        **rai_fields(release),
    }
    return document | {name: value for name, value in facts.items() if value}
