"""Build what pages and files show of trainings: one before and after, and many compared (Feint6K, Tables 1 and 2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.charts.of_models import DASHES, LINE_SHADES, distributions
from evaluation.charts.of_reports import INK, LINE, QUIET, percent, sheet, short, svg_of
from foilworks.core.corpus.models import Release
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.plan import LAST_STEP, selected_on
from foilworks.site.teacher.readings import (
    HELD,
    R1,
    RANK,
    STANDARD,
    EvaluationResult,
    changes,
    compared,
    is_share,
    kinds_of,
    summary,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Step, loss, RCAD R@1 and standard R@1 on the release, R@1 on the clips that choose the model.
Point = tuple[int, float, float | None, float | None, float | None]
PANELS = ("loss", "RCAD R@1", "standard R@1", "held-out R@1")
# Rows on the page of the ablation; older trainings have their own pages.
MAX_EVALUATIONS = 60
# Parameters of a training that do not affect the result.
BESIDE = (
    "device",
    "accumulate",
    "processes",
    "save_every",
    "curve_every",
    "curve_items",
    "prefetch",
    "checkpointing",
)
# With them, a choice of the model falls on another step.
OF_POINTS = ("save_every", "curve_every")
BEFORE, AFTER = "before", "after"
HELD_NAMES = tuple(HELD.format(name=name) for name in (R1, STANDARD))


def curves(trainings: Mapping[str, Sequence[Point]], chosen_step: int | None = None) -> bytes:
    """Draw {name: [(step, loss, RCAD R@1, standard R@1, held-out R@1), …]}: a panel per quantity, a line per
    training. `chosen_step`: the step whose model was kept.
    """
    every_point = [point for points in trainings.values() for point in points]
    drawn_panels = [at for at in range(len(PANELS)) if any(_at(point, at) is not None for point in every_point)]
    figure = sheet((1.9 if len(drawn_panels) < len(PANELS) else 1.5) * max(1, len(drawn_panels)) + 0.6)
    every = figure.subplots(max(1, len(drawn_panels)), squeeze=False, sharex=True)[:, 0]
    for axes, at in zip(every, drawn_panels, strict=False):
        _panel(axes, at, trainings)
        if chosen_step is not None:
            axes.axvline(chosen_step, color=QUIET, linewidth=1.0, linestyle=":")
    every[-1].xaxis.get_major_locator().set_params(integer=True)
    every[-1].set_xlabel("step (dotted: the chosen model)" if chosen_step else "step", color=QUIET, fontsize=9)
    handles, labels = every[0].get_legend_handles_labels()
    if len(trainings) > 1:
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return svg_of(figure)


def _at(point: Point, at: int) -> float | None:
    """Return the quantity at this place; None if it was not measured. Earlier versions measured fewer."""
    return point[at + 1] if at + 1 < len(point) else None


def _panel(axes: Axes, at: int, trainings: Mapping[str, Sequence[Point]]) -> None:
    for line_index, (name, points) in enumerate(trainings.items()):
        drawn_points = [(point[0], value) for point in points if (value := _at(point, at)) is not None]
        axes.plot(
            [step for step, _ in drawn_points],
            [value for _, value in drawn_points],
            label=short(name),
            linewidth=1.7,
            color=LINE_SHADES[line_index % len(LINE_SHADES)],
            linestyle=DASHES[line_index % len(DASHES)],
            marker="o" if len(drawn_points) < 30 else None,
            markersize=3,
        )
    axes.set_title(PANELS[at], loc="left", color=INK, fontsize=10)
    if at:
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(lambda value, _place: percent(value))
    axes.tick_params(colors=QUIET, labelsize=8.5)
    axes.grid(axis="y", color=LINE, linewidth=0.6)


def before_and_after(reading: StudentEvaluation) -> list[dict[str, Any]]:
    """Return a row per measure: before, after, their difference with paired intervals; empty until both exist."""
    if reading.before is None or reading.after is None:
        return []
    comparisons = compared([EvaluationResult.of(reading.before)], [EvaluationResult.of(reading.after)])
    return [{"measure": measure, "how": how(measure), **row} for measure, row in comparisons.items()]


def how(measure: str) -> str:
    """Return how a page prints the measure: share, rank or cosine."""
    return "share" if is_share(measure) else "rank" if measure == RANK else "cosine"


def changes_chart(reading: StudentEvaluation) -> bytes:
    """Draw distributions of the change of the cosine by type of edit, before above after (Feint6K, Fig. 5)."""
    results = {BEFORE: EvaluationResult.of(reading.before), AFTER: EvaluationResult.of(reading.after)}
    rows, kinds = changes(results)["rows"], kinds_of(results[BEFORE])
    panels = [
        (
            name,
            [
                (row["group"], row["edges"], row["shares"])
                for row in rows
                if row["model"] == name and row["group"] in kinds and row["n"]
            ],
        )
        for name in results
    ]
    return distributions(panels, label="cosine of the foil minus cosine of the caption", one_scale=True)


def curve_of(training: TeacherTraining) -> list[Point]:
    """Return the points of the curve. One query."""
    rows = training.points.order_by("step").values_list("step", "loss", "rcad", "standard", "parts")
    return [
        (*row, next((loss_terms[name] for name in HELD_NAMES if name in loss_terms), None)) for *row, loss_terms in rows
    ]


def last_parts(training: TeacherTraining) -> dict[str, float]:
    """Return the losses of the last point by name, both divergences and the counts of negatives among them."""
    return training.points.order_by("-step").values_list("parts", flat=True).first() or {}


def curve_chart(training: TeacherTraining, points: Sequence[Point]) -> bytes:
    return curves({training.label: points}, chosen_step(training))


def chosen_step(training: TeacherTraining) -> int | None:
    """Return the step whose model was kept; None before the end, and if the last step is kept."""
    return (training.sources.get("selection") or {}).get("step")


def ablation(release: Release, base: str = "") -> dict[str, Any]:
    """Return a row for trainings that differ only in their seed, compared with the row of training `base` (the first
    row by default).

    {"rows": [{label, student, objective, captions, seeds, left_out, found: {measure: {value, ci}}, against: {measure:
    difference}}], "base": label, "chosen": training, "measures": […]}. The students before training have rows of their
    own.
    """
    readings = StudentEvaluation.objects.filter(release=release, before__isnull=False, after__isnull=False)
    stored_readings = list(readings.select_related("training").order_by("training_id")[:MAX_EVALUATIONS])
    if not stored_readings:
        return {"rows": [], "base": "", "chosen": None, "measures": []}
    groups: dict[tuple[str, ...], list[StudentEvaluation]] = {}
    for reading in stored_readings:
        groups.setdefault(all_but_the_seed(reading.training), []).append(reading)
    base_key = next((key for key, row in groups.items() if base in {str(reading.training_id) for reading in row}), None)
    base_key = base_key or next(iter(groups))
    basis, rows = of_one_set(groups[base_key])[0], []
    labels = Counter(label for label, *_ in groups)
    for key, group in groups.items():
        values, seeds, left_out = of_one_set(group)
        against = compared(basis, values) if key != base_key and _same(basis[0], values[0]) else {}
        row_facts = {
            **_training_facts(group[0].training, shared=labels[key[0]] > 1),
            "seeds": seeds,
            "left_out": left_out,
        }
        rows.append({**row_facts, "found": summary(values), "against": against})
    against_row = rows[list(groups).index(base_key)]
    starts = {reading.training.student: reading for reading in stored_readings}
    for reading in starts.values():
        values = [EvaluationResult.of(reading.before)]
        row_facts = {
            "label": reading.training.student_name,
            "student": "",
            "objective": "",
            "captions": "",
            "seeds": [],
            "left_out": [],
            "training": None,
        }
        against = compared(basis, values) if _same(basis[0], values[0]) else {}
        rows.append({**row_facts, "found": summary(values), "against": against})
    measures = list(summary(basis))
    for row in rows:
        row["cells"] = [(how(name), row["found"].get(name), row["against"].get(name)) for name in measures]
    return {"rows": rows, "base": against_row["label"], "chosen": against_row["training"], "measures": measures}


def all_but_the_seed(training: TeacherTraining) -> tuple[str, ...]:
    """Return what trainings of one row have in common, the label first: everything that affects the result except the
    seed.

    In trainings of earlier versions, which had no `temperatures`, a part or process saw only its own clips.
    """
    chooses = selected_on(training.params) != LAST_STEP
    ignored_params = set(BESIDE) - (set(OF_POINTS) if chooses else set())
    learnt = {name: value for name, value in training.params.items() if name not in ignored_params}
    if "temperatures" not in training.params:
        learnt["parts"] = training.params.get("accumulate", 1) * training.params.get("processes", 1)
    texts = training.sources.get("sha256", "")
    return training.label, training.student, texts, json.dumps(learnt, sort_keys=True)


def of_one_set(readings: Sequence[StudentEvaluation]) -> tuple[list[EvaluationResult], list[int], list[int]]:
    """Return the evaluations after training on the most items, with their seeds, and the seeds of the others: clips may
    have got or lost their files between two evaluations.
    """
    comparable = covering_most(readings)
    left_out = [reading.training.seed for reading in readings if reading not in comparable]
    return (
        [EvaluationResult.of(reading.after) for reading in comparable],
        [reading.training.seed for reading in comparable],
        left_out,
    )


def covering_most(readings: Sequence[StudentEvaluation]) -> list[StudentEvaluation]:
    """Return the evaluations on the same items as the one with the most."""
    values = [EvaluationResult.of(reading.after) for reading in readings]
    most = max(values, key=lambda value: len(value.ids))
    return [reading for reading, value in zip(readings, values, strict=True) if _same(most, value)]


def _same(first: EvaluationResult, second: EvaluationResult) -> bool:
    return first.ids == second.ids and first.sources == second.sources


def _training_facts(training: TeacherTraining, *, shared: bool) -> dict[str, Any]:
    """Describe the row. `shared`: another row has the same label."""
    return {
        "label": f"{training.label} #{training.pk}" if shared else training.label,
        "student": training.student_name,
        "objective": training.objective,
        "captions": training.captions_per_clip,
        "training": training.pk,
    }
