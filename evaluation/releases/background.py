"""Preview and freeze a release of a large project by jobs: each reads all valid items (decision 126)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.cached_results.cache import find_result, locked_result, store_result
from evaluation.cached_results.models import CachedResult
from evaluation.ladder.selection import Offer as LadderOffer
from evaluation.ladder.selection import Selection, SubtestCount
from evaluation.releases.actions.freeze_release import freeze_release, freezing_parameters
from evaluation.releases.balanced_items import Offer
from evaluation.releases.freezable import Preview, preview
from evaluation.scoring.models import Run
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.models import AuditEvent, Project, User

PREVIEW, FREEZING = "freeze_preview", "freezing"
JOBS = {PREVIEW: "releases.preview", FREEZING: "releases.freeze"}
VERSION = "2"


@dataclass(frozen=True)
class StoredPreview:
    """`preview` None: not computed yet. Stale: something of the project changed since the job began."""

    row: CachedResult
    preview: Preview | None
    is_stale: bool

    @property
    def is_at_work(self) -> bool:
        return bool(self.row.job and not self.row.job.is_over)


def stored_preview(project: Project, run_ids: Sequence[int]) -> StoredPreview:
    """Return the preview with the ladders of the runs as a job stored it; the first request queues the job."""
    runs = sorted(set(run_ids))
    row = find_result(project, PREVIEW, ["runs", *runs]) or request_preview(project, runs)
    if row.fingerprint != VERSION:
        return StoredPreview(row, None, is_stale=True)
    began = row.job.started_at if row.job and row.job.started_at else row.created_at
    last = AuditEvent.objects.filter(project=project).order_by("-id").values_list("at", flat=True).first()
    return StoredPreview(row, _preview(project, row.data), is_stale=last is not None and last > began)


@transaction.atomic
def request_preview(project: Project, run_ids: Sequence[int]) -> CachedResult:
    """Queue the job that computes the preview; a request while it is in progress changes nothing."""
    runs = sorted(set(run_ids))
    row = locked_result(project, PREVIEW, ["runs", *runs], {"runs": runs})
    title = _("Check of the next release of %(project)s") % {"project": project.name}
    return _queue_job(row, PREVIEW, title)


def store_preview(row: CachedResult) -> None:
    """Compute and store what the page shows before a freeze."""
    content = preview(row.project, row.params["runs"])
    ladder, gate = content.ladder, content.gate
    data = {
        "gate": gate and {**gate, "offers": [[row.name, row.n, row.n_kept, row.verdict] for row in gate["offers"]]},
        "ladder": ladder
        and {
            "runs": [run.pk for run in ladder.runs],
            "chosen": [run.pk for run in ladder.chosen],
            "needs": [
                [
                    need,
                    selection.looks,
                    selection.is_enough,
                    [[subtest.name, subtest.n, subtest.n_kept, subtest.n_unknown] for subtest in selection.subtests],
                ]
                for need, selection in ladder.selections.items()
            ],
        },
    }
    store_result(row.project, PREVIEW, ["runs", *row.params["runs"]], VERSION, data, row.params)


def _preview(project: Project, data: Mapping[str, Any]) -> Preview:
    """Return the stored preview; it names no items."""
    gate, ladder = data["gate"], data["ladder"]
    if gate:
        gate = {**gate, "offers": [Offer(*row) for row in gate["offers"]]}
    return Preview(gate, ladder and _ladder(project, ladder))


def _ladder(project: Project, data: Mapping[str, Any]) -> LadderOffer | None:
    runs = Run.objects.filter(release__project=project).select_related("release__project").in_bulk(data["runs"])
    ladder_runs = [runs[pk] for pk in data["chosen"] if pk in runs]
    selections = {
        need: Selection(need, ladder_runs, frozenset(), looks, enough, tuple(SubtestCount(*row) for row in subtests))
        for need, looks, enough, subtests in data["needs"]
    }
    return LadderOffer([runs[pk] for pk in data["runs"] if pk in runs], ladder_runs, selections)


def freezing_of(project: Project) -> CachedResult | None:
    """Return the row of the latest freeze by a job, if there was one; its data names the release."""
    return find_result(project, FREEZING)


@transaction.atomic
def request_freeze(person: User, project: Project, params: Mapping[str, Any]) -> CachedResult:
    """Queue a job that freezes a release with the parameters of `freeze_release`; one at a time."""
    require_researcher(person, project)
    row = locked_result(project, FREEZING)
    if row.job is not None and not row.job.is_over:
        return row
    row.params, row.data = {"person": person.pk, **params}, {}
    row.save(update_fields=["params", "data"])
    return _queue_job(row, FREEZING, _("New release of %(project)s") % {"project": project.name})


def freeze_from_row(row: CachedResult) -> None:
    """Freeze what the row requests, and store which release it is."""
    params = dict(row.params)
    person = User.objects.get(pk=params.pop("person"))
    release = freeze_release(person, row.project, **freezing_parameters(params))
    store_result(row.project, FREEZING, "", VERSION, {"release": release.pk, "name": release.name}, row.params)


def _queue_job(row: CachedResult, kind: str, title: str) -> CachedResult:
    if row.job is None or row.job.is_over:
        row.job = enqueue(JOBS[kind], row.pk, title=title, project_id=row.project_id)
        row.save(update_fields=["job"])
    return row
