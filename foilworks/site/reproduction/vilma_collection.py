"""Make foils for ViLMA's captions again by its recipes, and let simulated people edit, review and validate them.

Three votes per item of 101 validators, as in (ViLMA, Sec. B.1). Each simulated validator is as often wrong as the
public votes of the subtest are. Models that are not given are fake ones, which answer by hashing. Without the videos,
every caption has the same gray clip, because nobody gets a task without a clip.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.analyses.analysis_inputs import ItemFacts
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import project_report
from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.models import Item, Release
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Project
from foilworks.core.text.registry import load
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.shared_steps import OVERRIDE, done, new_project
from foilworks.site.reproduction.simulated_work import People
from foilworks.site.reproduction.table_cells import Cell
from foilworks.site.reproduction.vilma_counts import Items, row_name
from foilworks.site.reproduction.vilma_paper import Subtest
from generation.actions.runs import start_run
from generation.recipes import find_recipe
from generation.run_request import FoilRequest

# Per subtest, from the beginning of its file: enough for each of the 101 people to vote several times.
CAPTIONS = 60
VALIDATORS, VOTES, NEEDED = 101, 3, 2
GRAY, SIDE, FRAMES = "gray.mp4", 32, 8
TITLE = "ViLMA, Table 4, foils made again"
SIMULATED = "{} captions, {} simulated people, as often wrong as the public votes ({:.1f} %)"
FAKES = "; models that were not given are fake"
NO_ITEM = "{}: the recipe {} made no foil of its first {} captions."
NEEDS_VIDEOS = "{}: the recipe {} needs the videos and was left out."
# File -> recipe, the name of its model among the weights, and the fake model.
RECIPES = {
    "change-state-action": ("vilma-state-action", "", ""),
    "change-state-prestate": ("vilma-state-pre", "", ""),
    "change-state-poststate": ("vilma-state-post", "", ""),
    "change-state-inverse": ("vilma-state-reverse", "", ""),
    "counting-easy-spelled-sec": ("vilma-counting-easy", "", ""),
    "counting-hard-spelled-sec": ("vilma-counting-difficult", "", ""),
    "relations": ("vilma-spatial-unranked", "", ""),
    "rare-actions-verb-foils": ("vilma-rare-verb", "T5", "fake-t5:"),
    "SRL_Action_Replacement_Top_1000": ("vilma-action-replacement", "RoBERTa", "fake-mask:"),
    "SRL_Actor_Swapping": ("vilma-actor-swap", "", ""),
}
WITH_VIDEOS = {"rare-actions-noun-foils": "vilma-rare-object"}
# Filter -> its parameters that name a model: the name among the weights, and the fake model.
JUDGES = {
    "nli": {"model": ("NLI", "fake-classifier:")},
    "grammaticality": {"cola": ("CoLA", "fake-classifier:cola"), "lm": ("lm", "fake-mask:")},
}
JUDGING = frozenset(name for models in JUDGES.values() for name, _fake in models.values())
# A fake judge's numbers mean nothing.
NO_MINIMUM = {"min": 0.0}
COLUMNS = (("#Inst.", "n_items"), ("#Valid", "n_valid"), ("#Unan.", "n_unanimous"))


@dataclass(frozen=True)
class SecondRound:
    """The project of foils made again, its release (None: nothing is valid), its cells and what is to be said."""

    project: Project
    release: Release | None
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


def make_again(
    files: Mapping[Subtest, Path], items: Items, videos: Path, work: Path, weights: Mapping[str, str], seed: int
) -> SecondRound:
    """Import captions, generate, edit, review, validate and freeze. `videos`: their folder, which may be missing."""
    project = new_project("reproduce-vilma-again", "ViLMA, foils made again", is_simulated=True)
    wrong = {subtest.files[0]: _share_of_mistakes(items[subtest]) for subtest in files}
    people = People(project, seed, 0.0, VALIDATORS, wrong)
    notes = []
    gray = "" if videos.is_dir() else GRAY
    clips = videos if videos.is_dir() else _gray_clip(work)
    for subtest, path in files.items():
        name = subtest.files[0]
        if name in WITH_VIDEOS:
            notes.append(NEEDS_VIDEOS.format(row_name(subtest), WITH_VIDEOS[name]))
            continue
        _generate(people, name, _captions(path, work / f"{name}.jsonl", gray), clips, weights, seed)
    people.edit_and_review()
    people.validate()
    subtest_names = set(Item.objects.filter(subtest__project=project).values_list("subtest__name", flat=True))
    absent = [subtest for subtest in files if subtest.files[0] in RECIPES.keys() - subtest_names]
    notes += [NO_ITEM.format(row_name(missing), RECIPES[missing.files[0]][0], CAPTIONS) for missing in absent]
    valid = Item.objects.filter(subtest__project=project, state="valid").exists()
    release = freeze_release(people.owner, project, name="again", override=OVERRIDE) if valid else None
    cells = tuple(_cells(project, files, wrong, weights)) if subtest_names else ()
    return SecondRound(project, release, cells, tuple(notes))


def _gray_clip(work: Path) -> Path:
    """Write the clip that stands in for all videos; return its folder."""
    folder = work / "gray"
    folder.mkdir(parents=True, exist_ok=True)
    write_mp4(folder / GRAY, [np.full((SIDE, SIDE, 3), 127, np.uint8)] * FRAMES, float(FRAMES))
    return folder


def _records(path: Path) -> Iterator[ItemRecord]:
    params = {param.name: param.default for param in IMPORTERS["vilma"].params}
    outcomes = load(IMPORTERS["vilma"]).read(path, params=params)
    return (outcome for outcome in outcomes if isinstance(outcome, ItemRecord))


def _share_of_mistakes(items: Sequence[ItemFacts]) -> float:
    """Return the share of public votes that are not for the caption."""
    tallies = [counts for item in items for counts in item.tallies]
    total = sum(map(sum, tallies))
    return 1 - sum(n_caption for n_caption, *_others in tallies) / total if total else 0.0


def _captions(path: Path, out: Path, clip: str) -> Path:
    """Write the first captions of a published file, without their foils, as records to import; `clip`: of all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, record in enumerate(_records(path)):
        if number == CAPTIONS:
            break
        video = record.video
        # The gray clip is shorter than the trims.
        fields = ("source_dataset", "source_id", "split", *(() if clip else ("start_time", "end_time", "time_unit")))
        video_fields = {name: getattr(video, name) for name in fields if getattr(video, name) not in (None, "")}
        row = {"id": record.id, "video_key": video.key, "caption": record.caption, "facts": dict(record.facts)}
        row |= {"video": clip} if clip else {}
        lines.append(json.dumps({**row, **video_fields}, ensure_ascii=False) + "\n")
    out.write_text("".join(lines), encoding="utf-8")
    return out


def _generate(people: People, name: str, captions: Path, clips: Path, weights: Mapping[str, str], seed: int) -> None:
    """Import the captions and run the recipe of the subtest on them."""
    slug, model, fake = RECIPES[name]
    recipe, project = find_recipe(slug), people.project
    import_records(project, people.owner, "jsonl", captions, media_dir=clips, params={"subtest": name})
    subtest = create_subtest(people.owner, project, name=name, votes_wanted=VOTES, votes_needed=NEEDED)
    params = {**recipe.params, **({"model": weights.get(model, fake)} if model else {})}
    with captions.open(encoding="utf-8") as lines:
        keys = [json.loads(line)["id"] for line in lines]
    run = start_run(
        None,
        project,
        FoilRequest(
            subtest=subtest,
            method=recipe.method,
            mode="paper",
            params=params,
            filters=_filters(recipe.filters_in("paper"), weights),
            seed=seed,
            selection={"caption_keys": keys},
            recipe=f"{slug}@{recipe.version}",
        ),
    )
    done(run.job)


def _filters(filters: Mapping[str, Mapping[str, Any]], weights: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the filters with the given models, or fake ones, which have no minimum."""
    filters_with_models = {}
    for slug, params in filters.items():
        models = JUDGES.get(slug, {})
        specs = {param: weights.get(name, fake) for param, (name, fake) in models.items()}
        is_fake = any(name not in weights for name, _fake in models.values())
        filters_with_models[slug] = {**params, **specs, **(NO_MINIMUM if is_fake and "min" in params else {})}
    return filters_with_models


def _cells(
    project: Project, files: Mapping[Subtest, Path], wrong: Mapping[str, float], weights: Mapping[str, str]
) -> Iterator[Cell]:
    rows = {row["name"]: row for row in project_report(project, "validation")["subtests"]}
    for subtest in files:
        name = subtest.files[0]
        if name not in rows:
            continue
        row, (_slug, model, _fake) = rows[name], RECIPES[name]
        why = SIMULATED.format(row["n_items"], VALIDATORS, 100 * wrong[name])
        why += FAKES if model and {model, *JUDGING} - weights.keys() else ""
        printed = (subtest.n, subtest.valid[0], subtest.unanimous[0])
        for (column, key), value in zip(COLUMNS, printed, strict=True):
            yield Cell(TITLE, row_name(subtest), column, value, row[key], "simulated", why)
        for column, key, percent in (
            ("#Valid (%)", "n_valid", subtest.valid[1]),
            ("#Unan. (%)", "n_unanimous", subtest.unanimous[1]),
        ):
            share = 100 * row[key] / row["n_items"] if row[key] is not None else None
            yield Cell(TITLE, row_name(subtest), column, percent, share, "simulated", why)
        yield Cell(TITLE, row_name(subtest), "α", subtest.words[3], row["alpha_all"], "simulated", why)
