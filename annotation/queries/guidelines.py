"""The data of the guideline pages: versions, and how much work was done under each."""

from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Ending, Guideline, Lease, Stage
from annotation.models.stages import public_stage
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project

DONE_OR_BEGUN = (Ending.SUBMITTED, Ending.RUNNING)
# The path to a lease's subtest.
_SUBTEST = {
    Stage.EDIT: "slot__task__group__run__subtest",
    Stage.REVIEW: "slot__task__candidate__group__run__subtest",
    Stage.VALIDATION: "slot__item__subtest",
    Stage.BASELINE: "slot__item__subtest",
    Stage.UNSEEN: "slot__item__subtest",
}


@dataclass(frozen=True)
class Current:
    """The current guidelines of a stage (`subtest` None: for all its subtests); `guideline` None: not yet written."""

    stage: str
    label: str
    subtest: Subtest | None
    guideline: Guideline | None


def versions_of(project: Project, stage: str, subtest: Subtest | None) -> QuerySet[Guideline]:
    """Return the versions, newest first, each with `n_done`: tasks done or held under it."""
    under = Lease.objects.filter(guideline=OuterRef("pk"), ending__in=DONE_OR_BEGUN).order_by()
    counted = Subquery(under.values("guideline").annotate(n=Count("pk")).values("n"))
    rows = Guideline.objects.filter(project=project, stage=stage, subtest=subtest).select_related("created_by")
    return rows.annotate(n_done=Coalesce(counted, 0)).order_by("-version")


def current_guidelines(project: Project) -> list[Current]:
    """Return each stage's general guidelines and those of its subtests that have their own. One query."""
    newest: dict[tuple[str, int | None], Guideline] = {}
    for row in Guideline.objects.filter(project=project).select_related("subtest").order_by("version"):
        newest[row.stage, row.subtest_id] = row
    found = []
    for stage, label in Stage.choices:
        if public_stage(stage) != stage:
            # People know gold as validation.
            continue
        found.append(Current(stage, label, None, newest.get((stage, None))))
        own = [row for (of, subtest), row in newest.items() if of == stage and subtest is not None]
        found += [Current(stage, label, row.subtest, row) for row in sorted(own, key=lambda row: row.subtest.name)]
    return found


def work_under_version(project: Project, stage: str, subtest: Subtest | None) -> int:
    """Return how many tasks were done or are held under the version that a new one would replace."""
    leases = Lease.objects.filter(slot__project=project, slot__stage=stage, ending__in=DONE_OR_BEGUN)
    if subtest is None:
        # Subtests with their own guidelines use those.
        return leases.filter(Q(guideline=None) | Q(guideline__subtest=None)).count()
    path = _SUBTEST.get(Stage(stage), "guideline__subtest")
    return leases.filter(**{path: subtest}).count()
