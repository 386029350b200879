"""What pages and files show of trainings: one before and after, many beside each other (Feint6K, Tables 1 and 2)."""

from collections.abc import Sequence
from typing import Any

from corpus.models import Release
from evaluation.charts.of_models import distributions
from evaluation.teacher.curves import Point, curves
from evaluation.teacher.readings import RANK, Reading, changes, compared, is_share, kinds_of, summary
from evaluation.teacher.tables import TeacherReading, TeacherTraining

# Of the ablation's page; older ones are reached by their own.
MOST_READ = 60
BEFORE, AFTER = "before", "after"


def before_and_after(reading: TeacherReading) -> list[dict[str, Any]]:
    """A row a measure: before, after, their difference with paired intervals; empty until both are read."""
    if reading.before is None or reading.after is None:
        return []
    found = compared([Reading.of(reading.before)], [Reading.of(reading.after)])
    return [{"measure": measure, "how": how(measure), **row} for measure, row in found.items()]


def how(measure: str) -> str:
    """How a page prints the measure: share, rank or cosine."""
    return "share" if is_share(measure) else "rank" if measure == RANK else "cosine"


def changes_chart(reading: TeacherReading) -> bytes:
    """Distributions of the change of the cosine by kind of edit, before above after (Fig. 5)."""
    both = {BEFORE: Reading.of(reading.before), AFTER: Reading.of(reading.after)}
    rows, kinds = changes(both)["rows"], kinds_of(both[BEFORE])
    panels = [
        (name, [(row["group"], row["edges"], row["shares"]) for row in rows
                if row["model"] == name and row["group"] in kinds and row["n"]])
        for name in both
    ]  # fmt: skip
    return distributions(panels, label="cosine of the foil minus cosine of the caption")


def curve_of(training: TeacherTraining) -> list[Point]:
    """One query."""
    return list(training.points.order_by("step").values_list("step", "loss", "rcad", "standard"))


def curve_chart(training: TeacherTraining, points: Sequence[Point]) -> bytes:
    return curves({training.label: points})


def ablation(release: Release, base: str = "") -> dict[str, Any]:
    """Rows of trainings by their label, seeds together, each against the row `base` (the oldest where it is not there).

    {"rows": [{label, objective, captions, seeds, measures: {measure: {value, ci}}, against: {measure: difference}}],
    "base": label, "measures": […], "start": …}. What the students were before stands in rows of their own.
    """
    readings = TeacherReading.objects.filter(release=release, before__isnull=False, after__isnull=False)
    found = list(readings.select_related("training").order_by("training_id")[:MOST_READ])
    groups: dict[str, list[TeacherReading]] = {}
    for each in found:
        groups.setdefault(each.training.label, []).append(each)
    if not groups:
        return {"rows": [], "base": "", "measures": []}
    chosen = base if base in groups else next(iter(groups))
    basis = _after(groups[chosen])
    rows = []
    for label, each in groups.items():
        values = _after(each)
        against = compared(basis, values) if label != chosen and _same(basis, values) else {}
        rows.append({**_about(label, each), "found": summary(values), "against": against})
    starts = {each.training.student: each for each in found}
    for each in starts.values():
        values = [Reading.of(each.before)]
        about = {"label": each.training.student_name, "objective": "", "captions": "", "seeds": [], "training": None}
        against = compared(basis, values) if _same(basis, values) else {}
        rows.append({**about, "found": summary(values), "against": against})
    measures = list(summary(basis))
    for row in rows:
        row["cells"] = [(how(name), row["found"].get(name), row["against"].get(name)) for name in measures]
    return {"rows": rows, "base": chosen, "measures": measures}


def _after(readings: Sequence[TeacherReading]) -> list[Reading]:
    return [Reading.of(each.after) for each in readings]


def _same(left: Sequence[Reading], right: Sequence[Reading]) -> bool:
    """Items without a file may have got one between two readings."""
    return left[0].ids == right[0].ids and left[0].sources == right[0].sources


def _about(label: str, readings: Sequence[TeacherReading]) -> dict[str, Any]:
    one = readings[0].training
    return {
        "label": label, "objective": one.objective, "captions": one.captions_per_clip,
        "seeds": [each.training.seed for each in readings], "training": one.pk,
    }  # fmt: skip
