"""Make the tables of the contrast sets again: the two published files, and the eight sets from MSR-VTT and LSMDC.

The published files give their sizes, verbs and audit, and with the clips the accuracy of real models. All eight sets
need the captions and clips, which have terms of use; what was not given stays empty.

Compare the published verb sets with the multiple-choice list that they come from (contrast sets, Sec. D.1).
"""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.analyses import verbs
from evaluation.analyses.proximity import SHARE
from evaluation.charts.of_models import grouped
from evaluation.proximity.measuring import ANTONYMS
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files.analysis_files import read_edits
from evaluation.score_files.items import read_items
from evaluation.scoring.queries import run_results
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.text.registry import load, parse_params
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.audits import audit_files
from foilworks.site.reproduction.contrast_paper import (
    AVERAGE_ROW,
    HUMAN,
    HUMAN_VERBS,
    MISPRINTS,
    MSRVTT_TERMS,
    PAPER,
    PUBLISHED_HASHES,
    README_7K,
    README_9K,
    SIZES,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TEMPORAL_ROW,
    Table,
)
from foilworks.site.reproduction.eight_sets import (
    CLIPS,
    FILES,
    LSMDC,
    MSRVTT,
    TITLES,
    VERB_H,
    VERB_LM,
    DataSet,
    Options,
    accuracy_by_proximity,
)
from foilworks.site.reproduction.eight_sets import PAPER as PAPER_SIZES
from foilworks.site.reproduction.progress import begin, plan
from foilworks.site.reproduction.shared_steps import OVERRIDE, check_weights, export, new_project, score, write_ladder
from foilworks.site.reproduction.table_cells import (
    Caveat,
    Cell,
    Result,
    Source,
    compare,
    missing_lines,
    not_given,
    other_hash,
)
from generation.filters.registry import FILTERS
from generation.grammar.gender_words import TABLE_6 as OURS
from generation.recipes import find_recipe
from generation.records import CaptionInput
from generation.trial import try_method

LIST, GENDER, RANDOM = "msrvtt_mc_test.jsonl", "Gender", "Random"
ROW = "MSR-VTT, {}"
KEPT, SAME = "items with three options of the list", "items with the caption of the list"
OTHER_SIZE = "{} has {} items, the published list {}"
ANOTHER = "the other items of the published file have another caption of the clip than the list"
FEW = "only these captions of the list have a word to swap; other captions of the clips are not public here"


def list_cells(path: Path | None, published: Mapping[str, Path]) -> Iterator[Cell]:
    """Yield the sizes of the sets that the list alone makes, and what the published files keep of it."""
    records = _records("msrvtt", path) if path else []
    sizes, n = PAPER_SIZES[MSRVTT], len(records) if path else None
    caveat = None if path else not_given(LIST, MSRVTT_TERMS)
    if path and n != sizes[RANDOM]:
        caveat = Caveat("other data", OTHER_SIZE.format(LIST, n, sizes[RANDOM]))
    yield compare(SIZES, ROW.format(RANDOM), ITEMS, sizes[RANDOM], n, digits=0, caveat=caveat)
    swapped = _n_changed_by_recipe(records) if path else None
    yield compare(SIZES, ROW.format(GENDER), ITEMS, sizes[GENDER], swapped, digits=0, why=FEW, caveat=caveat)
    if not path:
        return
    of_clip = {record.video.source_id: record for record in records}
    for name, file in published.items():
        pairs = [(record, of_clip.get(record.video.source_id)) for record in _records("contrast", file)]
        matched = [(record, list_record) for record, list_record in pairs if list_record]
        n_kept = sum(
            len(set(record.foils) & set(list_record.foils)) == len(list_record.foils) - 1
            for record, list_record in matched
        )
        n_same = sum(record.caption == list_record.caption for record, list_record in matched)
        of_file = caveat or other_hash(file, PUBLISHED_HASHES)
        for column, count in ((KEPT, n_kept), (SAME, n_same)):
            row = ROW.format(file.name)
            yield compare(SIZES, row, column, sizes[name], count, digits=0, why=ANOTHER, caveat=of_file)


def _n_changed_by_recipe(records: list[ItemRecord]) -> int:
    """Return the number of captions of the list that the recipe of Gender MC changes."""
    captions = [CaptionInput(record.id, record.caption) for record in records]
    outcome = try_method(find_recipe("contrast-gender").method, captions, mode="paper", seed=0, raw_params={})
    return len(outcome["candidates"])


def _records(slug: str, path: Path) -> list[ItemRecord]:
    entry = IMPORTERS[slug]
    params: dict[str, Any] = parse_params(entry, {})
    return [outcome for outcome in load(entry).read(path, params=params) if isinstance(outcome, ItemRecord)]


PUBLISHED = {VERB_LM: "msrvtt_lm_contrast_set.tsv", VERB_H: "msrvtt_human_contrast_set.tsv"}
REPOSITORY = "github.com/jamespark3922/video-lang-contrast-set, folder msrvtt"
LSMDC_TERMS = "sites.google.com/site/describingmovies, under its terms"
OF_MSRVTT, OF_LSMDC = ("contrast sets, Tables 2 and 5",), ("contrast sets, Tables 3 and 4",)
SOURCES = (
    *(
        Source(name, REPOSITORY, ("the sizes of both verb sets", "contrast sets, Fig. 3"))
        for name in PUBLISHED.values()
    ),
    *(Source(name, MSRVTT_TERMS, OF_MSRVTT) for name in (*FILES[MSRVTT], CLIPS.format(MSRVTT))),
    *(Source(name, LSMDC_TERMS, OF_LSMDC) for name in (*FILES[LSMDC], CLIPS.format(LSMDC))),
)
ENCODERS = ("SentBERT", "CLIP-Text")
# Names of weights that make the sets; all others are models to score.
MAKERS = {"T5": "t5", "GPT2-XL": "lm", "sentence": "sentence", "vectors": "vectors"}
# A model without training needs more steps, and a small corpus has rarer verbs.
FROM_RANDOM: Mapping[str, Any] = {
    "tuning": {"epochs": 20, "batch": 16, "learning_rate": 8e-3, "verb_share": 0.8},
    "more_than": 3,
}
NAME = "{}, {}"
SIMULATED = Caveat("simulated", "simulated people, who err in 5 % of their answers")
TINY = Caveat("tiny model", "a small model that was trained here on the train clips")
MADE = Caveat("simulated", "captions were chosen by simulated people, and the sets made by the recipes")
NO_WEIGHTS = "give the model with --weights '{}=SPEC', and the clips"
OTHERS = "the sets, their clips or the weights are not exactly the paper's"
ITEMS, GROUP = "items", "{}: {}"
GROUPS = "Contrast sets, Table 5: sizes of the groups"
SIDES, MAX_VERBS = ("machine", "person"), 30
COLUMN_OF = {VERB_LM: "VerbLM MC", VERB_H: "VerbH MC"}
NO_SET = "the authors published no such set, and the sets that were made here do not have this number"
OTHER_RUN = "the README's numbers are of sets, clips and trainings that are not exactly those here"
ALL_CLIPS = Caveat("other data", "the README's test clips are 1,000 (test-1k-A), those of the files all 2,990")
MAPPING = "The recipe of Gender MC has the counterparts of (contrast sets, Table 6) for {} of {} words."
NO_LSMDC = "The authors published no files of LSMDC, so its half of (contrast sets, Fig. 3) is not public."
SETTINGS = "Seed {}, {} people in {}; every answer is simulated."


def reproduce(sources: Path, work: Path, *, weights: Mapping[str, str], seed: int, **settings: Any) -> Result:
    """Return every cell that the files in `sources` allow. `settings`: others of the eight sets (`Options`)."""
    check_weights(weights, (*(model for model in TABLE_2.rows if model != HUMAN), *MAKERS, *ENCODERS))
    path_by_source = {source.name: path for source in SOURCES if (path := sources / source.name).exists()}
    work.mkdir(parents=True, exist_ok=True)
    published = {name: path_by_source[file] for name, file in PUBLISHED.items() if file in path_by_source}
    same = sum(set(OURS.get(word, ())) == set(words) for word, words in TABLE_6.items())
    notes: list[str] = [*MISPRINTS, NO_LSMDC, MAPPING.format(same, len(TABLE_6))]
    sizes = (*_published_sizes(published), *list_cells(path_by_source.get(LIST), published))
    cells = [*sizes, *_groups(published)]
    if len(published) == len(PUBLISHED):
        cells += _verbs(published, work)
    sets = [
        slug for slug in (MSRVTT, LSMDC) if all(name in path_by_source for name in (*FILES[slug], CLIPS.format(slug)))
    ]
    plan(len(published) + len(sets))
    notes += audit_files({path.name: path for path in published.values()}, work, seed)
    real, near = _score_published(published, sources, weights)
    results = {}
    for slug in sets:
        begin(f"four sets of {TITLES[slug]}")
        results[slug], notes_of_set = _make(slug, sources, work, _options(weights, seed, settings))
        notes += notes_of_set
    caveats = {name: other_hash(path, PUBLISHED_HASHES) for name, path in published.items()}
    cells += _results(results, real, near, weights, path_by_source, caveats)
    return Result(PAPER, tuple(cells), tuple(notes), missing_lines(SOURCES, path_by_source))


def _options(weights: Mapping[str, str], seed: int, settings: Mapping[str, Any]) -> Options:
    """Return the paper's sizes and the models; `Options` says what happens without one."""
    makers = {field: weights[name] for name, field in MAKERS.items() if name in weights}
    usual_options: dict[str, Any] = {
        "sizes": PAPER_SIZES,
        "seed": seed,
        "models": {name: spec for name, spec in weights.items() if name not in {*MAKERS, *ENCODERS}},
        "encoders": {name: weights[name] for name in ENCODERS if name in weights},
        "taught": {"average": AVERAGE_ROW, "temporal": TEMPORAL_ROW},
    }
    return Options(**{**usual_options, **({} if "t5" in makers else FROM_RANDOM), **makers, **settings})


def _make(slug: str, sources: Path, work: Path, options: Options) -> tuple[dict[str, Any], list[str]]:
    data_set = DataSet(slug, sources, work, options)
    results = data_set.results()
    (work / f"results-{slug}.json").write_text(
        json.dumps(results, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
    )
    people = sum(map(len, data_set.people.accounts.values()))
    sentences = [
        SETTINGS.format(options.seed, people, TITLES[slug]),
        export(data_set.release, work / f"release-{slug}"),
    ]
    return results, [*data_set.notes, *sentences, *write_ladder(data_set.release, work / f"ladder-{slug}.json")]


def _published_sizes(published: Mapping[str, Path]) -> Iterator[Cell]:
    for name, file in PUBLISHED.items():
        path = published.get(name)
        n_items = len(read_items([path], "contrast")[0]) if path else None
        printed, row = PAPER_SIZES[MSRVTT][name], NAME.format(TITLES[MSRVTT], file)
        caveat = other_hash(path, PUBLISHED_HASHES) if path else not_given(file, REPOSITORY)
        yield compare(SIZES, row, ITEMS, printed, n_items, digits=0, why=OTHERS, caveat=caveat)


def _verbs(published: Mapping[str, Path], work: Path) -> Iterator[Cell]:
    """Yield shares of the verbs that the text names, and draw the others (contrast sets, Sec. B and Fig. 3)."""
    people = published[VERB_H].stem
    report = verbs.compute(read_edits(list(published.values()), "contrast"), people=people, top=MAX_VERBS)
    rows = [(row["verb"], {source: (row[source], None) for source in SIDES}) for row in report["rows"]]
    (work / "figure-3.svg").write_bytes(grouped(rows, label="share of all verbs of a source"))
    shares = {row["verb"]: row for row in report["rows"]}
    for verb in HUMAN_VERBS:
        for side in SIDES:
            share = 100 * shares[verb][side] if verb in shares else None
            yield compare("Contrast sets, Fig. 3", verb, side, None, share, digits=1)


def _score_published(
    published: Mapping[str, Path], sources: Path, weights: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return model -> set -> accuracy of real models on the published items, and with encoders by semantic proximity.

    Nothing without weights and clips. The captions of MSR-VTT are not needed (contrast sets, Table 5).
    """
    clips = sources / CLIPS.format(MSRVTT)
    models = {name: spec for name, spec in weights.items() if name not in {*MAKERS, *ENCODERS}}
    if not (models and clips.is_dir() and published):
        return {}, {}
    project = new_project("contrast-sets-published", "Contrast sets, as published", is_simulated=False)
    for name, path in published.items():
        params = {"dataset": "MSR-VTT", "subtest": name}
        import_records(project, None, "contrast", path, media_dir=clips, as_published=True, params=params)
    release = freeze_release(None, project, override=OVERRIDE)
    scored = {model: run_results(score(release, spec, model))["subtests"] for model, spec in models.items()}
    accuracies = {model: {name: row["T"] for name, row in rows_by_set.items()} for model, rows_by_set in scored.items()}
    encoders = {name: weights[name] for name in ENCODERS if name in weights}
    subtest = Subtest.objects.filter(project=project, name=VERB_LM).first() if encoders else None
    return accuracies, accuracy_by_proximity(project, release, subtest, encoders, {}) if subtest else {}


def _groups(published: Mapping[str, Path]) -> Iterator[Cell]:
    """Yield how many items of VerbLM change a verb to its antonym, and how many are in each group of 15 %."""
    if VERB_LM not in published:
        return
    edits, antonym = read_edits([published[VERB_LM]], "contrast"), load(FILTERS[ANTONYMS])
    params = {"tagger": "offline"}
    opposite = sum(
        antonym.judge(CaptionInput("", edit.caption), edit.foil, others=(), params=params).passed for edit in edits
    )
    for column, n in (("antonyms", opposite), ("high or low, each", round(SHARE * (len(edits) - opposite)))):
        yield compare(GROUPS, VERB_LM, column, None, n, digits=0)


def _results(
    results: Mapping[str, Any],
    real: Mapping[str, Any],
    near: Mapping[str, Any],
    weights: Mapping[str, str],
    path_by_source: Mapping[str, Path],
    caveats: Mapping[str, Caveat | None],
) -> Iterator[Cell]:
    """Yield (contrast sets, Tables 2-5), the README's tables and the sizes of the sets made here."""
    made = partial(_cells, weights=weights, path_by_source=path_by_source)
    accuracy, all_clips = partial(_accuracy, results.get(MSRVTT, {}), real), dict.fromkeys(caveats, ALL_CLIPS)
    for table, of_files in ((TABLE_2, caveats), (README_7K, caveats), (README_9K, all_clips)):
        yield from made(table, MSRVTT, accuracy, published=dict.fromkeys(real, of_files))
    yield from made(TABLE_3, LSMDC, partial(_accuracy, results.get(LSMDC, {}), {}))
    yield from made(TABLE_4, LSMDC, partial(_rare, results.get(LSMDC, {})))
    by_proximity = results.get(MSRVTT, {"proximity": near})
    of_file = dict.fromkeys(TABLE_5.columns, caveats.get(VERB_LM))
    yield from made(TABLE_5, MSRVTT, partial(_near, by_proximity), published=dict.fromkeys(near, of_file))
    for slug, results_of_set in results.items():
        for name, n in results_of_set["sets"].items():
            row, printed = NAME.format(TITLES[slug], name), PAPER_SIZES[slug][name]
            yield compare(SIZES, row, "items made here", printed, n, digits=0, caveat=MADE)


def _accuracy(results_of_set: Mapping[str, Any], real: Mapping[str, Any], model: str) -> list[float | None]:
    """Return R@1 and the accuracy in the four sets; the published sets come before those made here."""
    sets = list(results_of_set.get("sets", {})) or [None] * 4
    if model == HUMAN:
        majority = results_of_set.get("human", {}).get("majority", {})
        return [None, *(majority.get(name) for name in sets)]
    results_of_model = results_of_set.get("models", {}).get(model, {})
    accuracy = {**results_of_model.get("accuracy", {}), **real.get(model, {})}
    names = [name or fallback for name, fallback in zip(sets, ("", "", VERB_LM, VERB_H), strict=True)]
    return [results_of_model.get("R@1"), *(accuracy.get(name) for name in names)]


def _rare(results_of_set: Mapping[str, Any], model: str) -> list[float | None]:
    row = results_of_set.get("identities", {}).get(model, {})
    return [row.get(name) for name in ("overall", "rare", "difference")]


def _near(results_of_set: Mapping[str, Any], model: str) -> list[float | None]:
    row = results_of_set.get("proximity", {}).get(model, {})
    return [
        row.get(name)
        for name in ("antonyms", *(GROUP.format(encoder, end) for encoder in ENCODERS for end in ("high", "low")))
    ]


def _cells(
    table: Table,
    slug: str,
    shares_of: Any,
    weights: Mapping[str, str],
    path_by_source: Mapping[str, Path],
    published: Mapping[str, Mapping[str, Caveat | None]] | None = None,
) -> Iterator[Cell]:
    """Yield the cells of a table. `published`: the caveats of the published files by model that was scored on them."""
    absent = next((name for name in (*FILES[slug], CLIPS.format(slug)) if name not in path_by_source), "")
    terms = MSRVTT_TERMS if slug == MSRVTT else LSMDC_TERMS
    why = OTHER_RUN if table in (README_7K, README_9K) else OTHERS
    for model, printed in table.rows.items():
        of_files = {COLUMN_OF.get(name, name): caveat for name, caveat in (published or {}).get(model, {}).items()}
        for column, value, share in zip(table.columns, printed, shares_of(model), strict=True):
            if value is None:
                continue
            if share is not None:
                made_here = SIMULATED if model == HUMAN else MADE if model in weights else TINY
                caveat = of_files.get(column, made_here)
            elif absent:
                caveat = not_given(absent, terms)
            else:
                needs_weights = Caveat("needs weights", NO_WEIGHTS.format(model))
                caveat = Caveat("not published", NO_SET) if model in {HUMAN, *weights} else needs_weights
            number = None if share is None else 100 * share
            yield compare(table.name, model, column, value, number, digits=1, why=why, caveat=caveat)
