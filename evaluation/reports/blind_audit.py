"""Load what the blind audit page shows in addition to the report: limits, gate results, language models."""

from collections.abc import Collection, Mapping
from typing import Any

from django.utils.translation import gettext as _

from evaluation.audit.pages import solver_part
from evaluation.blind.forms import BarsForm, BlindScorerForm
from evaluation.blind.models import BlindScorer
from evaluation.blind.probes import named_probes
from evaluation.blind.scores import scorers_of
from evaluation.releases.gate import bars_of, published_subtests, row_of
from evaluation.reports import certificate
from evaluation.reports.beside import beside
from evaluation.reports.reports import stored_report
from foilworks.core.projects.models import Project


def extras(project: Project, subtest: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return `rows`: one per subtest, with its part after validation, its gate result, and each model's preference.

    Queries: limits, scorers and, if there are some, the texts of items again, and one per scorer and 500 texts.
    """
    shares_by_scorer = beside(project, "blind", subtest)
    scorers = [{"scorer": scorer, "found": shares_by_scorer.get(str(scorer.pk))} for scorer in scorers_of(project)]
    bars, published = bars_of(project), published_subtests(project)
    return {
        "rows": [_row(row, bars, scorers, published) for row in data["subtests"]],
        "overall": _row(data["overall"], {"overall": project.blind_bar}, scorers, overall=True),
        "scorers": scorers,
        "bars_form": BarsForm(project),
        "scorer_form": BlindScorerForm(),
        "chart_alt": "; ".join(_spoken(row) for row in data["subtests"]),
        "certificate": _certificate(project, subtest),
        "at_work": [scorer_row["scorer"] for scorer_row in scorers if _at_work(scorer_row["scorer"])],
    }


def _certificate(project: Project, subtest: str) -> dict[str, Any]:
    """Return the stored certificate as `_report_stored.html` reads it, with its verdict and sentence."""
    stored = stored_report(project, certificate.KIND, subtest or None, {})
    return {"stored": stored, **(solver_part(stored.data) if stored.data else {})}


def _at_work(scorer: BlindScorer) -> bool:
    return bool(scorer.job and not scorer.job.is_over)


def _row(
    row: Mapping[str, Any],
    bars: Mapping[str, float],
    scorers: list[dict[str, Any]],
    published: Collection[str] = (),
    *,
    overall: bool = False,
) -> dict[str, Any]:
    cells = [_cell(scorer_row["found"], row["name"], overall=overall) for scorer_row in scorers]
    cells_by_scorer = {str(scorer_row["scorer"]): cell for scorer_row, cell in zip(scorers, cells, strict=True) if cell}
    after = row["valid"]
    preferred = {k: v["valid"] or v for k, v in cells_by_scorer.items()}
    judged = row_of(after or row, bars[row["name"]], preferred, published=not overall and row["name"] in published)
    return {"before": row, "after": after, "gate": named_probes(judged), "preferences": cells}


def _cell(shares: Mapping[str, Any] | None, name: str, *, overall: bool) -> dict[str, Any] | None:
    if shares is None:
        return None
    return shares["overall"] if overall else next((row for row in shares["subtests"] if row["name"] == name), None)


def _spoken(row: Mapping[str, Any]) -> str:
    if row["solver_accuracy"] is None:
        return f"{row['name']}: {row['reason']}"
    after = row["valid"] and row["valid"]["solver_accuracy"]
    later = ", " + _("%(share)s after validation") % {"share": f"{after:.1%}"} if after is not None else ""
    return f"{row['name']}: {row['solver_accuracy']:.1%}{later}"
