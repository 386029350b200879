"""`hub`: a data set folder for the Hub: Parquet, a card, `eval.yaml`, Croissant with the fields of responsible AI, an
Inspect task, and the metadata of a DOI deposit. `anonymous` writes a copy for double-blind review instead.
"""

import html
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.anonymous import anonymised, model_name, without_addresses
from foilworks.core.corpus.export_formats.parts.choices import QUESTION, choice_of, write_choices
from foilworks.core.corpus.export_formats.parts.documents import (
    FIELDS,
    bibtex,
    cff,
    croissant,
    datasheet,
    described,
    fenced_bibtex,
    rai_fields,
    render,
    spaced_rai,
)
from foilworks.core.corpus.export_formats.parts.facts import Facts, facts_of, manifest_of
from foilworks.core.corpus.export_formats.parts.folder import (
    safe_name,
    unused_name,
    write_folder,
    write_json,
    write_lines,
)
from foilworks.core.corpus.export_formats.parts.parquet import PARQUET, write_items
from foilworks.core.corpus.export_formats.parts.parquet import write_choices as write_choice_rows
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest
from foilworks.core.corpus.records import ItemRecord, ReleaseContent

DATA, VIDEOS, CHOICES, INSPECT = "data", "videos", "choices", "inspect"
KEYWORDS = ("benchmark", "video", "video-language", "foils", "contrast sets")
VIDEO_FIELDS = ("key", "file", "source_dataset", "source_id", "url", "start_time", "end_time", "time_unit")
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
    content = anonymised(release) if options.anonymous else _released_only(release)
    names = _names(options.videos)
    items = [_with_file(item, names) for item in released_items(content)]
    if not items:
        raise CorpusError(f"{release.release}: has no items; release some first")

    facts = facts_of(content)

    def fill(folder: Path) -> None:
        _fill(folder, facts, items, names, options)
        options.check(folder)

    return write_folder(out, manifest_facts(content, "hub", len(items), facts), fill)


def _released_only(release: ReleaseContent) -> ReleaseContent:
    """Leave out what is only in the full export (other items, rejected candidates), and folders of local models."""
    items = tuple({**item, "provenance": _public_provenances(item)} for item in release.items if item.get("released"))
    ids = {item["id"] for item in items} | {item["proficiency"]["id"] for item in items if item["proficiency"]}
    release_facts = {name: value for name, value in release.papers.known.items() if name != "n_rejected"}
    votes = tuple(vote for vote in release.votes if vote.item in ids)
    gate = without_addresses(release.gate) if release.gate else None
    return replace(release, items=items, votes=votes, gate=gate, papers=replace(release.papers, known=release_facts))


def _public_provenances(item: Mapping[str, Any]) -> list[dict[str, Any] | None]:
    return [
        provenance and {**provenance, "model_id": model_name(provenance.get("model_id") or "")}
        for provenance in item["provenance"]
    ]


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


def _fill(folder: Path, facts: Facts, items: Sequence[ItemRecord], names: Mapping[str, str], options: Options) -> None:
    files = by_subtest(items, ".parquet")
    taken = {name.removesuffix(".parquet").casefold() for name in files}
    choices_path = folder / CHOICES / f"{unused_name(CHOICES, taken)}.parquet"
    for name in (DATA, CHOICES, INSPECT):
        (folder / name).mkdir()
    for name, records in files.items():
        write_items(folder / DATA / name, records)
    choices = [choice_of(item) for item in items if item.foils]
    write_choice_rows(choices_path, choices, QUESTION)
    write_choices(folder / INSPECT, choices, HARNESS)
    manifest = {**manifest_of(facts), "format": "hub", "counts": {"items": len(choices)}}
    write_json(folder / INSPECT / "manifest.json", manifest)
    videos = {item.video.key: vars(item.video) for item in items}
    licences = {source["dataset"]: source["licence"] for source in facts["sources"]}
    write_lines(folder / "videos.jsonl", _video_lines(videos.values(), licences))
    _copy(folder, options.videos, names)
    data = [described(folder / DATA / name, PARQUET, FIELDS) for name in files]
    with_choices = [*sorted(data, key=itemgetter("name")), described(choices_path, PARQUET, CHOICE_FIELDS)]
    write_json(folder / "croissant.json", _described(facts, with_choices, options))
    contents = {"files": data, "n_videos": len(videos), "n_copied": len(names), "choices": choices_path.stem}
    _write_texts(folder, {**facts, **contents, "for_review": options.anonymous}, options)


def _copy(folder: Path, videos: Mapping[str, os.PathLike[str]], names: Mapping[str, str]) -> None:
    """Copy the files: a hard link would let a change of the export change the stored video."""
    if names:
        (folder / VIDEOS).mkdir()
    for key, name in names.items():
        shutil.copyfile(videos[key], folder / VIDEOS / name)


def _video_lines(videos: Iterable[Mapping[str, Any]], licences: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield one line per video: its file if it is in the folder, else what identifies it in its data set."""
    for video in videos:
        row = {name: video[name] for name in VIDEO_FIELDS if video.get(name) not in (None, "")}
        yield {**row, "licence": licences.get(video["source_dataset"], "") or "not stated"}


def _write_texts(folder: Path, facts: Facts, options: Options) -> None:
    contents = {"repository": options.repository, "bibtex": fenced_bibtex(facts), "rai": spaced_rai(facts)}
    texts = {
        "README.md": render(
            "exports/README-hub.md", facts, choices_path=f"{CHOICES}/{facts['choices']}.parquet", **contents
        ),
        "eval.yaml": render("exports/eval.yaml", facts),
        "datasheet.md": datasheet(facts, for_review=options.anonymous) + "\n" + ABOUT_FILES,
    }
    if not options.anonymous:
        texts |= {"CITATION.cff": cff(facts), "citation.bib": bibtex(facts)}
        deposit = deposit_metadata(facts)
        # The first is what a repository's integration reads, the second the body of a request to the deposit API.
        write_json(folder / ".zenodo.json", deposit)
        write_json(folder / "zenodo.json", {"metadata": deposit})
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _described(facts: Facts, files: Sequence[Mapping[str, Any]], options: Options) -> dict[str, Any]:
    """Return Croissant: files, columns, who made it under which licence, and the fields of responsible AI."""
    cited, licence = facts["cited"], facts["licence"]
    people = [{"@type": "sc:Person" if "," in name else "sc:Organization", "name": name} for name in cited["authors"]]
    more = {
        "alternateName": facts["title"],
        "keywords": list(KEYWORDS),
        "license": licence["url"] if licence else cited["licence_url"] or cited["licence"],
        "creator": [{"@type": "sc:Organization", "name": ANYBODY}] if options.anonymous else people,
        "citeAs": "" if options.anonymous else bibtex(facts),
        "url": cited["url"],
        **rai_fields(facts),
    }
    return croissant(facts, files, more, with_rai=True)


def deposit_metadata(facts: Facts) -> dict[str, Any]:
    """Return the metadata of a DOI deposit in the form of Zenodo's API; a field that nobody stated is left out."""
    cited, licence = facts["cited"], facts["licence"]
    frozen = (
        f"Release {facts['release']}, {facts['n_released']} items. SHA-256 of the content: {facts['content_hash']}."
    )
    paragraphs = [html.escape(text, quote=False) for text in (cited["abstract"], frozen) if text]
    metadata: dict[str, Any] = {
        "title": facts["title"],
        "upload_type": "dataset",
        "description": "".join(f"<p>{text}</p>" for text in paragraphs),
        # Zenodo refuses a deposit without a creator.
        "creators": [{"name": name} for name in cited["authors"]] or [{"name": "authors not stated"}],
        "access_right": "open",
        "publication_date": facts["date"],
        "version": facts["release"],
        "keywords": list(KEYWORDS),
        "related_identifiers": [{"identifier": cited["url"], "relation": "isDescribedBy"}] if cited["url"] else [],
        "license": licence["deposit"] if licence else "",
        "doi": facts["doi"],
    }
    return {name: value for name, value in metadata.items() if value}
