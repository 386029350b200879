"""Make (Feint6K, Tables 1 and 2) from the runs and trainings of a project.

A row of the paper has numbers if a run or a training here has the name of its model, or was given that name. Other
models of the project are rows of their own. Every cell keeps the ids of what it was computed from. RCAD covers items
with two foils or more of which none changes an object, for runs, trainings and people alike.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import digest
from evaluation.errors import EvaluationError
from evaluation.metrics import rcad
from evaluation.metrics.choices import ChoiceScores
from evaluation.reports.edit_kinds import edited_kinds, subtests_of_action
from evaluation.scoring.clip_keys import clip_key
from evaluation.scoring.human_baseline import human_line
from evaluation.scoring.model_cards import cards_of
from evaluation.scoring.models import ModelCard, Run
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import counted, is_winners_only, pair_scores, records_of, release_scores
from evaluation.scoring.run_results import axes_from, is_comparable
from evaluation.scoring.standard_results import standard_of
from foilworks.core.corpus.models import Release
from foilworks.core.text.quoting import quoted
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.pages import all_but_the_seed, covering_most
from foilworks.site.teacher.paper_rows import (
    CHATBOT,
    DEFAULT,
    FINETUNED,
    FIVE,
    FIVE_FIVE,
    HUMAN,
    LBL,
    LGT,
    MEASURES,
    NOT_STATED,
    OBJECT_NOTE,
    RANDOM,
    TABLE_1,
    TABLE_2,
    TOP,
    ZERO_SHOT,
)
from foilworks.site.teacher.readings import OBJECT, R1, R2, RANK, STANDARD, EvaluationResult, summary

OF_STUDENTS = dict(zip(MEASURES, (STANDARD, R1, R2, RANK), strict=True))
OF_RUNS = dict(zip(MEASURES[1:], ("R@1", "R@2", "mean_rank"), strict=True))
SECTIONS = {ModelCard.Adaptation.ZERO_SHOT: ZERO_SHOT, ModelCard.Adaptation.FINE_TUNED: FINETUNED}
ORDER = (TOP, ZERO_SHOT, FINETUNED, NOT_STATED)


@dataclass
class Cell:
    """The values of a row on one release by measure: {"value", "ci", "n"}; `sources`: what they were computed from."""

    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)


@dataclass
class Row:
    """One row of a table. `base`: the row that an objective's differences are against; `cells` by release id."""

    section: str
    name: str
    base: str = ""
    from_paper: bool = False
    printed: Mapping[str, Any] = field(default_factory=dict)
    cells: dict[int, Cell] = field(default_factory=dict)

    def cell(self, release: Release) -> Cell:
        return self.cells.setdefault(release.pk, Cell())


@dataclass(frozen=True)
class Learned:
    """Trainings of one release that differ only in their seed, and the result of their models."""

    trainings: Sequence[TeacherTraining]
    after: Sequence[EvaluationResult]

    @property
    def first_training(self) -> TeacherTraining:
        return self.trainings[0]

    @property
    def objective(self) -> str:
        """Return the name of the paper's objective; "" for plain fine-tuning."""
        names = [name for share, name in (("lbl", LBL), ("lgt", LGT)) if self.first_training.params.get(share)]
        return " + ".join(names)

    @property
    def captions(self) -> str:
        return caption_kind(self.first_training)

    def cell(self, release: Release) -> Cell:
        return _cell_of(self.after, self.trainings, release)


def tables(releases: Sequence[Release], names: Mapping[str, str]) -> dict[str, Any]:
    """Return both tables over the releases, as JSON. `names`: {row of the paper: name of a model here}.

    EvaluationError: releases of several projects, no such row of the paper, or a name that no model here has.
    """
    models = list(dict.fromkeys(row.name for row in TABLE_1 if row.section and not row.base))
    if wrong := [name for name in names if name not in models]:
        raise EvaluationError(f"the paper has no row {quoted(wrong[0])}; choose one of: {', '.join(models)}")
    if len({release.project_id for release in releases}) != 1:
        raise EvaluationError("the releases belong to several projects; give releases of one project")
    learned = {release.pk: _learned(release) for release in releases}
    rows = [Row(row.section, row.name, row.base, True, row.printed) for row in TABLE_1]
    model_names: set[str] = set()
    for release in releases:
        _people_and_chance(release, rows)
        model_names |= _add_runs(release, rows, names)
        model_names |= _add_students(release, learned[release.pk], rows, names)
    if unknown_names := [name for name in names.values() if name not in model_names]:
        listed_names = ", ".join(sorted(model_names)) or "none yet"
        raise EvaluationError(
            f"no model of these releases has the name {quoted(unknown_names[0])}; the names are: {listed_names}"
        )
    rows.sort(key=lambda row: ORDER.index(row.section))
    policies = {PROTOCOLS[run.protocol].ties for release in releases for run in latest_runs(release)} | {"half"}
    return {
        "releases": [_about(release) for release in releases],
        "measures": list(MEASURES),
        "table_1": [_plain(row, rows) for row in rows],
        "table_2": [table for release in releases for table in _ablations(release, learned[release.pk])],
        "notes": [OBJECT_NOTE, f"Tied candidates: {', '.join(sorted(policies))}.", *_without(releases)],
    }


def _without(releases: Sequence[Release]) -> list[str]:
    """Return a sentence for each release without an item of RCAD."""
    words = "{name}: has no item with two foils or more that change no object, so it has no RCAD."
    return [words.format(name=release.name) for release in releases if not counterfactuals(release)]


def _about(release: Release) -> dict[str, Any]:
    """Return what names a release in the tables: the data set of its clips if there is one, its hash."""
    datasets = {record["video"].get("source_dataset") or "" for record in records_of(release)}
    dataset = datasets.pop() if len(datasets) == 1 else ""
    return {"release": release.pk, "name": release.name, "dataset": dataset, "hash": release.content_hash}


def counterfactuals(release: Release) -> list[dict[str, Any]]:
    """Return the public records of RCAD: two foils or more, and none that changes an object."""
    of_action = subtests_of_action(release)
    several = (record for record in records_of(release) if len(record["foils"]) > 1)
    return [record for record in several if OBJECT not in edited_kinds(record, of_action)]


def _people_and_chance(release: Release, rows: Sequence[Row]) -> None:
    records = counterfactuals(release)
    if not records:
        return
    by_name = {row.name: row for row in rows}
    axes = axes_from(records)
    captions: dict[str, str] = {}
    for record in records_of(release):
        captions.setdefault(clip_key(record["video"]), record["caption"])
    choices = len(set(captions.values()))
    chance = {"value": float(np.mean([1 / (1 + n) for n in axes.n_foils])), "ci": None, "n": len(records)}
    cell = by_name[RANDOM].cell(release)
    cell.values |= {"R@1": chance, STANDARD: {"value": 1 / choices, "ci": None, "n": len(captions)}}
    cell.sources.append("computed from the number of candidates")
    # The items that count may change with their subtests, so they are part of the name under which this is cached.
    human_baseline = human_line(release, axes, f"counterfactuals {digest(list(axes.ids))[:16]}")
    if human_baseline:
        cell = by_name[HUMAN].cell(release)
        cell.values["R@1"] = {"value": human_baseline["T"], "ci": human_baseline["T_ci"], "n": human_baseline["n"]}
        cell.sources.append(f"human baseline, {human_baseline['n_choices']} choices")


def _add_runs(release: Release, rows: list[Row], names: Mapping[str, str]) -> set[str]:
    """Add the latest run of each model; return their names."""
    item_ids = {record["id"] for record in counterfactuals(release)}
    cards = cards_of(release.project)
    labels = set()
    for run in latest_runs(release):
        if not (is_comparable(run) and run.model_key):
            continue
        labels.add(run.label)
        ranked, standard, ties = _ranked(run, item_ids), standard_of(run), PROTOCOLS[run.protocol].ties
        if ranked is None and standard is None:
            continue
        card = cards.get(run.model_key)
        section = SECTIONS.get(ModelCard.Adaptation(card.adaptation)) if card else None
        cell = _row_of(rows, section or _section_of(run.label, names), run.label, names).cell(release)
        if ranked is not None:
            result = rcad.compute(ranked, ties=ties)
            for name, own in OF_RUNS.items():
                cell.values[name] = {"value": result[own], "ci": result[f"{own}_ci"], "n": result["n"]}
        if standard is not None:
            cell.values[STANDARD] = {"value": standard["R@1"], "ci": standard["R@1_ci"], "n": standard["n"]}
        cell.sources.append(f"run {run.pk}")
    return labels


def _section_of(label: str, names: Mapping[str, str]) -> str:
    """Return where a model is shown whose card states no adaptation: in the paper's row that it was given."""
    paper_names = [paper for paper, model_name in names.items() if model_name == label]
    return next((row.section for row in TABLE_1 if row.name in paper_names), NOT_STATED)


def _ranked(run: Run, item_ids: set[str]) -> ChoiceScores | None:
    rows, _left_out = counted(run, release_scores(run)[0])
    ranked_rows = [row for row in rows if row.id in item_ids]
    if not ranked_rows or is_winners_only(run, rows):
        return None
    data = pair_scores(ranked_rows)
    return ChoiceScores(data.ids, data.main, np.zeros(len(ranked_rows), dtype=np.int64), data.clusters)


def _row_of(rows: list[Row], section: str, name: str, names: Mapping[str, str], base: str = "") -> Row:
    """Return the row of a model: the paper's row of its name in that section, else an own one, which is added."""
    paper_names = {model_name: paper for paper, model_name in names.items()}
    paper_name = paper_names.get(base or name, base or name)
    for row in rows:
        model, is_it = (row.base, row.name == name) if base else (row.name, not row.base)
        if row.section == section and is_it and model.casefold() == paper_name.casefold():
            return row
    owner = next(
        (row.name for row in rows if not row.base and row.name.casefold() == paper_name.casefold()), paper_name
    )
    new_row = Row(section, name, owner if base else "")
    below = (at for at, row in enumerate(rows) if base and row.section == section and owner in (row.name, row.base))
    rows.insert(max(below, default=len(rows) - 1) + 1, new_row)
    return new_row


def _learned(release: Release) -> list[Learned]:
    """Return the trainings that were evaluated on the release, those that differ only in their seed together."""
    rows = StudentEvaluation.objects.filter(release=release, before__isnull=False, after__isnull=False)
    groups: dict[tuple[str, ...], list[StudentEvaluation]] = defaultdict(list)
    for reading in rows.select_related("training").order_by("training_id"):
        groups[all_but_the_seed(reading.training)].append(reading)
    learned = []
    for group in groups.values():
        readings = covering_most(group)
        learned.append(
            Learned(
                [reading.training for reading in readings], [EvaluationResult.of(reading.after) for reading in readings]
            )
        )
    return learned


def _add_students(release: Release, learned: Sequence[Learned], rows: list[Row], names: Mapping[str, str]) -> set[str]:
    """Add each student before training, after plain fine-tuning and with each objective; return their names."""
    students: dict[str, list[Learned]] = defaultdict(list)
    for seed_group in learned:
        students[seed_group.first_training.student_name].append(seed_group)
    for name, group in students.items():
        reading = StudentEvaluation.objects.get(training=group[0].first_training, release=release)
        cell = _row_of(rows, ZERO_SHOT, name, names).cell(release)
        if not cell.sources:
            before = [EvaluationResult.of(reading.before)]
            cell.values |= _cell_of(before, [], release).values
            cell.sources.append(f"training {group[0].first_training.pk}, before")
        # Rows of an objective stand below their model, also if it was not fine-tuned plainly.
        _row_of(rows, FINETUNED, name, names)
        for objective in ("", LBL, LGT, f"{LBL} + {LGT}"):
            own = [seed_group for seed_group in group if seed_group.objective == objective]
            own = _default_captions(own) if objective else own
            for seed_group in own:
                label = objective or name
                if len(own) > 1:
                    label = f"{label} ({seed_group.first_training.label})"
                row = _row_of(rows, FINETUNED, label, names, base=name if objective else "")
                own_cell = seed_group.cell(release)
                row.cell(release).values |= own_cell.values
                row.cell(release).sources += own_cell.sources
    return set(students)


def _default_captions(learned: Sequence[Learned]) -> Sequence[Learned]:
    """Return those with the captions of the paper's default if there are any: the others are ablations."""
    return [seed_group for seed_group in learned if seed_group.captions == DEFAULT] or learned


def _cell_of(results: Sequence[EvaluationResult], trainings: Sequence[TeacherTraining], release: Release) -> Cell:
    summaries = summary(results)
    values = {name: summaries[own] for name, own in OF_STUDENTS.items() if own in summaries}
    return Cell(values, [f"training {training.pk}, seed {training.seed}" for training in trainings])


def caption_kind(training: TeacherTraining) -> str:
    """Return the row of (Feint6K, Table 2) of the training's captions, or their own description."""
    params = training.params
    if params.get("negatives"):
        return training.captions_per_clip
    counts = (params.get("actions", 0), params.get("objects", 0))
    methods = {run["method"] for run in training.sources.get("runs", ())}
    if counts == (10, 0):
        return CHATBOT if methods == {"chat"} else DEFAULT
    if methods == {"chat"}:
        return f"{training.captions_per_clip} by a chatbot"
    return {(5, 0): FIVE, (5, 5): FIVE_FIVE}.get(counts, training.captions_per_clip)


def _ablations(release: Release, learned: Sequence[Learned]) -> list[dict[str, Any]]:
    """Return (Feint6K, Table 2) for each student and objective; without any, the paper's rows alone."""
    groups_by_student: dict[tuple[str, str], list[Learned]] = defaultdict(list)
    for seed_group in learned:
        if seed_group.objective:
            groups_by_student[seed_group.first_training.student_name, seed_group.objective].append(seed_group)
    ablation_tables = []
    for (student, objective), group in groups_by_student.items() or {("", ""): []}.items():
        rows = {kind: Row("", row.name, DEFAULT, True, row.printed) for kind, row in TABLE_2.items()}
        rows[DEFAULT].base = ""
        for seed_group in group:
            taken = seed_group.captions in rows and rows[seed_group.captions].cells
            kind = f"{seed_group.captions} ({seed_group.first_training.label})" if taken else seed_group.captions
            row = rows.setdefault(kind, Row("", kind, DEFAULT))
            row.cells[release.pk] = seed_group.cell(release)
        table_rows = list(rows.values())
        for row in table_rows:
            row.base = TABLE_2[DEFAULT].name if row.base else ""
        facts = {"release": release.pk, "student": student, "objective": objective.removeprefix("w/ ")}
        ablation_tables.append({**facts, "rows": [_plain(row, table_rows) for row in table_rows]})
    return ablation_tables


def _plain(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the row as JSON, each value with its difference from the base row on the same release."""
    base = next(
        (base_row for base_row in rows if row.base and base_row.name == row.base and base_row.section == row.section),
        None,
    )
    cells = {}
    for release, cell in row.cells.items():
        against = base.cells.get(release, Cell()).values if base else {}
        values = {
            name: {**value, "change": value["value"] - against[name]["value"] if name in against else None}
            for name, value in cell.values.items()
        }
        cells[str(release)] = {"values": values, "sources": cell.sources}
    printed = {dataset: list(values) for dataset, values in row.printed.items()}
    facts = {"section": row.section, "name": row.name, "base": row.base, "of_paper": row.from_paper}
    return {**facts, "cells": cells, "paper": printed}
