"""What the page of the blind audit shows beside the report: the bars, what the gate would say, language models."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.models import Subtest
from evaluation.actions.set_blind_bars import LEAST, MOST
from evaluation.actions.start_run import LONGEST_SPEC
from evaluation.blind.scores import preferences_of
from evaluation.errors import EvaluationError
from evaluation.models import BlindScorer
from evaluation.releases.balanced_items import offer
from evaluation.releases.gate import Finding, bars_of, inspect, row_of
from evaluation.releases.snapshot import valid_items
from evaluation.reporting.facts import item_facts
from projects.models import Project

PROBES = {
    "classifier": _("classifier of words"),
    "longer": _("the longer text"),
    "shorter": _("the shorter text"),
}


class BarsForm(forms.Form):
    """The project's bar, and one field a main subtest that may leave it."""

    def __init__(self, project: Project, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        shared = {"min_value": LEAST, "max_value": MOST, "step_size": 0.01}
        self.fields["bar"] = forms.FloatField(label=_("Every subtest"), initial=project.blind_bar, **shared)
        self.subtests = list(Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN))
        for row in self.subtests:
            field = forms.FloatField(label=row.name, required=False, initial=row.blind_bar, **shared)
            field.widget.attrs["placeholder"] = project.blind_bar
            self.fields[f"subtest-{row.pk}"] = field

    def of_subtests(self) -> dict[int, float | None]:
        return {row.pk: self.cleaned_data[f"subtest-{row.pk}"] for row in self.subtests}


class BlindScorerForm(forms.Form):
    spec = forms.CharField(
        label=_("Model of text alone"),
        max_length=LONGEST_SPEC,
        help_text=_("Such as lm:openai-community/gpt2, or lm: and a folder of the installation's models."),
    )


def extras(project: Project, subtest: str, data: dict[str, Any]) -> dict[str, Any]:
    """`rows`: one a subtest, with its part after validation, what the gate says of that, and each model's preference.

    Queries: bars, scorers, the texts of items once more, and one a scorer and 500 texts.
    """
    scorers = preferences_of(project, _facts(project, subtest))
    bars = bars_of(project)
    return {
        "rows": [_row(row, bars, scorers) for row in data["subtests"]],
        "overall": _row(data["overall"], {"overall": project.blind_bar}, scorers, overall=True),
        "scorers": scorers,
        "bars_form": BarsForm(project),
        "scorer_form": BlindScorerForm(),
        "chart_alt": "; ".join(_spoken(row) for row in data["subtests"]),
        "at_work": [one["scorer"] for one in scorers if _at_work(one["scorer"])],
    }


def _facts(project: Project, subtest: str) -> list[Any]:
    row = Subtest.objects.get(project=project, name=subtest) if subtest else None
    return item_facts(project, row)


def _at_work(scorer: BlindScorer) -> bool:
    return bool(scorer.job and not scorer.job.is_over)


def _row(
    row: Mapping[str, Any], bars: Mapping[str, float], scorers: list[dict[str, Any]], *, overall: bool = False
) -> dict[str, Any]:
    cells = [_cell(one["found"], row["name"], overall=overall) for one in scorers]
    named = {str(one["scorer"]): cell for one, cell in zip(scorers, cells, strict=True) if cell}
    after = row["valid"]
    judged = row_of(after or row, bars[row["name"]], {k: v["valid"] or v for k, v in named.items()})
    return {"before": row, "after": after, "gate": named_probes(judged), "preferences": cells}


def _cell(found: Mapping[str, Any] | None, name: str, *, overall: bool) -> dict[str, Any] | None:
    if found is None:
        return None
    return found["overall"] if overall else next((row for row in found["subtests"] if row["name"] == name), None)


def named_probes(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the gate with its probes in words."""
    return {
        **row,
        "probes": [{**probe, "words": PROBES.get(probe["probe"], probe["probe"])} for probe in row["probes"]],
    }


def _spoken(row: Mapping[str, Any]) -> str:
    if row["classifier_accuracy"] is None:
        return f"{row['name']}: {row['reason']}"
    after = row["valid"] and row["valid"]["classifier_accuracy"]
    later = f", {after:.1%} after validation" if after is not None else ""
    return f"{row['name']}: {row['classifier_accuracy']:.1%}{later}"


def gate_preview(project: Project) -> dict[str, Any] | None:
    """What the gate says of the items that are valid now; None while there is none."""
    try:
        frozen = valid_items(project)
    except EvaluationError:
        return None
    finding: Finding = inspect(project, [one.record for one in frozen])
    offers = [offer(frozen, name) for name in finding.stopped]
    return {"rows": [named_probes(row) for row in finding.rows], "stopped": finding.stopped, "offers": offers}
