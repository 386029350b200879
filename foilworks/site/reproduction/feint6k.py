"""Make the tables of Feint6K and RCAD again from public files: captions, similarities, videos, train captions.

Every number comes from the product: imports, the stages of people, releases, the human baseline, LLM-teacher, scoring,
`foilworks feint6k-tables` and `foilworks metrics rcad`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.metrics.registry import METRICS
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files.scores import read_scores
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.projects.models import Project
from foilworks.core.text.registry import load, parse_params
from foilworks.site.exports.collect import export_content
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.audits import audit_files
from foilworks.site.reproduction.feint6k_cells import (
    CLAIMS,
    MSRVTT_PAGE,
    PEOPLE,
    README,
    SIZES,
    STANDARD,
    T1,
    T2,
    VATEX_PAGE,
    claim_cells,
    own_values,
    rank_notes,
    readme_cells,
    table_1,
    table_2,
)
from foilworks.site.reproduction.feint6k_models import CHATBOT, FILLER, MAIN, MODEL_ROWS, SENTENCES, Scored, score
from foilworks.site.reproduction.feint6k_people import (
    ANNOTATORS,
    FOILS,
    SUBTEST,
    WHY_OVERRIDE,
    CollectedRelease,
    can_be_written,
    collect,
)
from foilworks.site.reproduction.progress import begin, plan
from foilworks.site.reproduction.shared_steps import check_weights, export, new_project, write_ladder
from foilworks.site.reproduction.table_cells import Caveat, Cell, Result, Source, compare, missing_lines, not_given
from foilworks.site.teacher.paper_rows import MSRVTT, RANDOM, VATEX
from foilworks.site.teacher.paper_tables import tables

LANGUAGEBIND = "zero-shot, LanguageBind"
# The array that the authors' script writes: six texts of each video by all videos.
OF_SCRIPT = "texts-by-videos"

PAPER = "Feint6K and RCAD"
CODE = "https://github.com/facebookresearch/feint6k"
OF_SCRIPT_PLACE = f"{CODE} (its script writes it)"
VIDEOS, ALL_VIDEOS = "videos", 6243
OTHER_SIZE = "the given files have {:,} videos, both halves of Feint6K {:,}"
# Percent: the paper prints "<1e-3".
BOUND, NO_CHANCE = 0.1, "the paper prints only a bound, <1e-3"
OTHER_FOILS = "the given files have other numbers of videos or foils"


@dataclass(frozen=True)
class Half:
    """One half of Feint6K. `accuracy`: of the paper's people; `train`, `form`: the file of train captions."""

    dataset: str
    slug: str
    accuracy: float
    train: str
    form: str

    @property
    def captions(self) -> str:
        return f"feint6k_{self.slug}.csv"

    @property
    def similarities(self) -> str:
        return f"sim_mat_{self.slug}.npy"


HALVES = (
    Half(MSRVTT, "msrvtt", 0.952, "MSRVTT_data.json", "msrvtt"),
    Half(VATEX, "vatex", 0.968, "vatex_training_v1.0.json", "vatex"),
)
SOURCES = (
    *(Source(half.captions, CODE, (f"Feint6K, Table 1 ({half.dataset})", "Feint6K, Sec. 3.2")) for half in HALVES),
    *(
        Source(half.similarities, OF_SCRIPT_PLACE, ("Feint6K, Table 1 (LanguageBind)", "Feint6K, README"))
        for half in HALVES
    ),
    Source(f"{VIDEOS}/*/*.mp4", f"{MSRVTT_PAGE} and {VATEX_PAGE}", ("Feint6K, Table 1 (models)", "Feint6K, Fig. 5")),
    Source("MSRVTT_data.json", MSRVTT_PAGE, ("Feint6K, Table 1 (finetuned, LLM-teacher)",)),
    Source(
        "vatex_training_v1.0.json",
        VATEX_PAGE,
        ("Feint6K, Table 1 (finetuned, LLM-teacher)", "Feint6K, Table 2"),
    ),
)
OBJECTS_NOTE = (
    "The third row (Feint6K, Table 2) is called “5 object + 5 object captions”; the text (Feint6K, Sec. 5.3) says 5 "
    "action-based and 5 object-based captions. The row here follows the text."
)
FAILURES_NOTE = (
    "The text (Feint6K, Sec. 5.2) says that two failures of InternVideo are in (Feint6K, Fig. 1b); they are in "
    "(Feint6K, Fig. 1a)."
)
FIGURES_NOTE = (
    "Feint6K, Fig. 5 prints no numbers. With trained students, figures/figure-5b has the change of the cosine by edits "
    "of the action. The published captions have no edits of objects for the other part (Feint6K, Fig. 5a)."
)
SUPPLEMENT_NOTE = (
    "The supplement of Feint6K is not public here: its statistics, interface, guidance and influence of text encoders "
    "cannot be compared."
)
NOTES = (OBJECTS_NOTE, FAILURES_NOTE, FIGURES_NOTE, SUPPLEMENT_NOTE)
AGAIN = "{}: {:,} of {:,} items that simulated people made have exactly the published texts; reviewers returned {}."
LEFT_OUT = "{}: items that are not written again, because two of their texts are equal: {:,}."
UNREAD = "{}: records of the published file that are not imported: {:,}; the first: {}"
GREY = "{}: {:,} clips are grey stand-ins, because the videos are not given. Simulated people do not watch."
CONTROL = "{}, {}: R@1 is {:.1f} among six captions of different videos (Feint6K, Fig. 1b: no number printed)."

ORDER = (SIZES, T1, T2, CLAIMS, README)


def reproduce(sources: Path, work: Path, *, weights: Mapping[str, str], seed: int) -> Result:
    """Return every cell that the files in `sources` allow; exports and audits are written below `work`."""
    check_weights(weights, (*MODEL_ROWS, FILLER, SENTENCES, CHATBOT))
    given_sources = {source.name for source in SOURCES if any(sources.glob(source.name))}
    given_halves = [half for half in HALVES if (sources / half.captions).is_file()]
    plan(5 * len(given_halves))
    results = {half.dataset: _make(half, sources, work, weights, seed) for half in given_halves}
    arrays = {half.dataset: array for half in HALVES if (array := _similarities(half, sources)) is not None}
    other = _other_data(sum(result.n for result in results.values()), len(results) == len(HALVES))
    cells = [*_cells(results, arrays, other, tiny=MAIN not in weights)]
    cells.sort(key=lambda cell: ORDER.index(cell.table))
    notes = [*NOTES, *rank_notes(), *(note for result in results.values() for note in result.notes)]
    return Result(PAPER, tuple(cells), tuple(notes), missing_lines(SOURCES, dict.fromkeys(given_sources, True)))


def _other_data(n_videos: int, is_whole: bool) -> Caveat | None:
    """Return why the numbers of these files cannot be compared: the paper has a size only of both halves together."""
    if n_videos == ALL_VIDEOS and is_whole:
        return None
    return Caveat("other data", OTHER_SIZE.format(n_videos, ALL_VIDEOS))


def _cells(
    results: Mapping[str, "HalfResult"], arrays: Mapping[str, Mapping[str, Any]], other: Caveat | None, tiny: bool
) -> Iterator[Cell]:
    values_by_dataset: dict[str, Mapping[str, Mapping[str, float]]] = {}
    for half in HALVES:
        result, array = results.get(half.dataset), arrays.get(half.dataset)
        values = own_values(result.tables) if result else {}
        if array is not None:
            values.setdefault(LANGUAGEBIND, _languagebind(array))
        values_by_dataset[half.dataset] = values
        absent = None if result else not_given(half.captions, CODE)
        yield from table_1(half.dataset, values, result.scored.tiny if result else set(), absent, other)
        yield _standard_chance(half, result, absent)
        yield from readme_cells(half.dataset, array, not_given(half.similarities, OF_SCRIPT_PLACE), other)
    ablation = results.get(VATEX)
    student = ablation.scored.names.get(MAIN, "") if ablation else ""
    yield from table_2(ablation.tables if ablation else None, student, tiny, other)
    yield from claim_cells(values_by_dataset, tiny, dict.fromkeys(values_by_dataset, other))
    yield from _sizes(results, other)


def _standard_chance(half: Half, result: "HalfResult | None", absent: Caveat | None) -> Cell:
    """Return the chance of standard R@1: one of as many captions as the half has videos."""
    column = f"{half.dataset}, {STANDARD}"
    if result is None:
        return compare(T1, RANDOM, column, BOUND, None, digits=3, caveat=absent)
    return compare(T1, RANDOM, column, None, 100 / result.n, digits=3, why=NO_CHANCE)


@dataclass
class HalfResult:
    """What was made of one half."""

    n: int
    foils: frozenset[int]
    tables: dict[str, Any]
    scored: Scored
    notes: list[str]


def _make(half: Half, sources: Path, work: Path, weights: Mapping[str, str], seed: int) -> HalfResult:
    begin(half.dataset, 4)
    path, out = sources / half.captions, work / half.slug
    all_records = {record.video.key: record for record in _records("feint6k", path, {"dataset": half.dataset})}
    records = {key: record for key, record in all_records.items() if can_be_written(record)}
    published, problems = _published(half, path)
    project = _create_caption_project(half, records, sources, out)
    watched = project.videos.filter(split="test", media_state="ready").exists()
    collection = collect(project, records, half.accuracy, out, seed)
    scored = score(project, collection.release, weights, out, seed) if watched else Scored()
    notes = [*problems, *_notes(half, published, collection, all_records)]
    if left_out := len(all_records) - len(records):
        notes.append(LEFT_OUT.format(half.dataset, left_out))
    notes += audit_files({half.dataset: path}, out, seed, form="feint6k")
    notes += [CONTROL.format(half.dataset, label, value) for label, value in scored.controls.items()]
    notes += [f"{half.dataset}: {sentence}" for sentence in write_ladder(collection.release, out / "ladder.json")]
    notes.append(export(collection.release, out / "release"))
    _export(collection.release, out / "published-form")
    foils = frozenset(len(record.foils) for record in all_records.values())
    return HalfResult(len(all_records), foils, tables([collection.release], scored.names), scored, notes)


def _records(form: str, path: Path, params: Mapping[str, Any]) -> Iterator[ItemRecord]:
    """Yield the good records of a published file."""
    entry = IMPORTERS[form]
    for outcome in load(entry).read(path, params=parse_params(entry, params)):
        if isinstance(outcome, ItemRecord):
            yield outcome


def _published(half: Half, path: Path) -> tuple[Release, list[str]]:
    """Return a release of the file as it is published, and a note if some of its records cannot be read."""
    project = new_project(
        f"feint6k-{half.slug}-published", f"Feint6K ({half.dataset}), as published", is_simulated=False
    )
    params = {"dataset": half.dataset, "subtest": SUBTEST}
    report = import_records(project, None, "feint6k", path, as_published=True, params=params)
    problems = [UNREAD.format(half.dataset, len(report.errors), report.errors[0])] if report.errors else []
    return freeze_release(None, project, name="as published", override=WHY_OVERRIDE), problems


def _create_caption_project(half: Half, records: Mapping[str, ItemRecord], sources: Path, work: Path) -> Project:
    """Return a project with the captions to edit, and one caption of each train video that is given."""
    project = new_project(f"feint6k-{half.slug}", f"Feint6K ({half.dataset})", is_simulated=True)
    rows = [_row(record, half, "test") for record in records.values()]
    if (train := sources / half.train).is_file():
        first: dict[str, ItemRecord] = {}
        for record in _records(half.form, train, {}):
            if record.video.split in ("train", "") and record.video.key not in records:
                first.setdefault(record.video.key, record)
        rows += [_row(record, half, "train") for record in first.values()]
    captions_file = work / "captions.jsonl"
    captions_file.parent.mkdir(parents=True, exist_ok=True)
    captions_file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    media = sources / VIDEOS
    import_records(project, None, "jsonl", captions_file, media_dir=media if media.is_dir() else None, strict=True)
    return project


def _row(record: ItemRecord, half: Half, split: str) -> dict[str, str]:
    video = record.video
    return {
        "id": f"{split}-{video.key}",
        # Files are where the authors' script looks for them: videos/msrvttvideo, videos/vatexvideo.
        "video": video.file if "/" in video.file else f"{half.slug}video/{video.source_id}",
        "video_key": video.key,
        "source_dataset": half.dataset,
        "source_id": video.source_id,
        "split": split,
        "caption": record.caption,
    }


def _notes(
    half: Half, published: Release, collection: CollectedRelease, records: Mapping[str, ItemRecord]
) -> list[str]:
    texts = [
        {
            tuple(text.strip() for text in (record["caption"], *record["foils"]))
            for record in release.members.values_list("record", flat=True)
        }
        for release in (published, collection.release)
    ]
    equal_note = AGAIN.format(half.dataset, len(texts[0] & texts[1]), len(records), collection.returned)
    return [equal_note, *([GREY.format(half.dataset, collection.stand_ins)] if collection.stand_ins else [])]


def _export(release: Release, folder: Path) -> None:
    """Write the release in the published form."""
    entry = EXPORTERS["feint6k"]
    exporter = load(entry)
    content = export_content(exporter, release.project, release)
    exporter.write(content, folder, params=parse_params(entry, {}))


def _similarities(half: Half, sources: Path) -> Mapping[str, Any] | None:
    """Return the metrics of the array of similarities that the authors' script writes."""
    path = sources / half.similarities
    if not path.is_file():
        return None
    scores, _notes_of_file = read_scores("choices", [path], layout=OF_SCRIPT)
    metrics: Mapping[str, Any] = load(METRICS["rcad"]).compute(scores, ties="optimistic")
    return metrics


def _languagebind(metrics: Mapping[str, Any]) -> dict[str, float]:
    return {"R@1": 100 * metrics["R@1"], "R@2": 100 * metrics["R@2"], "MeanR": metrics["mean_rank"]}


def _sizes(results: Mapping[str, HalfResult], other: Caveat | None) -> Iterator[Cell]:
    """Yield the sizes of the given files: how many videos, people and negative captions per video."""
    absent = None if results else not_given(" and ".join(half.captions for half in HALVES), CODE)
    make = partial(compare, SIZES, digits=0, why=OTHER_FOILS)
    n_videos = sum(result.n for result in results.values()) or None
    foils = {n for result in results.values() for n in result.foils}
    yield make("videos", "both", ALL_VIDEOS, n_videos, caveat=absent or other)
    yield make("annotators", "both", ANNOTATORS, ANNOTATORS if results else None, caveat=absent or PEOPLE)
    n_foils = max(foils, default=None)
    yield make("negative captions per video", "both", FOILS, n_foils, caveat=absent or other)
