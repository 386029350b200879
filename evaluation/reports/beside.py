"""Compute what a page shows beside its report, from the same votes and texts; of a large project, its job stores it."""

from collections.abc import Callable
from typing import Any

from evaluation.blind.scores import preferences_of, scorers_of
from evaluation.cached_results.cache import find_result, store_result
from evaluation.cached_results.first_views import is_large
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import item_facts
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project

KIND = "beside"
# The codings of the agreement page, the default first; truth3 is for files with only counts.
CODINGS = ("truth", "shown", "truth3")


def _agreement(project: Project, subtest: str) -> dict[str, Any]:
    """Return the same votes under every coding that they support, and the position bias."""
    codings = []
    for coding in CODINGS:
        try:
            report = project_report(project, "agreement", subtest=subtest or None, params={"coding": coding})
            codings.append({name: value for name, value in report.items() if name not in {"annotators", "pairs"}})
        except EvaluationError as error:
            codings.append({"coding": coding, "alpha": None, "reason": str(error)})
    return {"codings": codings, "position": project_report(project, "position", subtest=subtest or None)}


def _blind(project: Project, subtest: str) -> dict[str, Any]:
    """Return the preferences of the language models, by the key of the scorer. One query per scorer and 500 texts."""
    if not scorers_of(project):
        return {}
    of = Subtest.objects.get(project=project, name=subtest) if subtest else None
    return {
        str(preference["scorer"].pk): preference["found"]
        for preference in preferences_of(project, item_facts(project, of))
    }


BESIDE: dict[str, Callable[[Project, str], dict[str, Any]]] = {"agreement": _agreement, "blind": _blind}


def beside(project: Project, kind: str, subtest: str) -> dict[str, Any]:
    """Return what the page of a kind in BESIDE shows; of a large project what its job stored, {} before that."""
    if not is_large(project):
        return BESIDE[kind](project, subtest)
    row = find_result(project, KIND, [kind, subtest])
    return dict(row.data) if row else {}


def lacks_beside(project: Project, kind: str, subtest: str) -> bool:
    """Report whether no job has stored what belongs to the report: a command computes the report alone."""
    return kind in BESIDE and find_result(project, KIND, [kind, subtest]) is None


def store_beside(project: Project, kind: str, subtest: str) -> None:
    """Store what the page of a large project shows beside its report, if anything."""
    if kind in BESIDE:
        store_result(project, KIND, [kind, subtest], "", BESIDE[kind](project, subtest))
