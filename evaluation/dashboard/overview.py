"""Numbers of the overview pages: what waits in a project, how far its items are. Reads all apps below."""

from dataclasses import dataclass, field

from django.db.models import Count, Q

from annotation.actions.claim import ROLE_OF_STAGE
from annotation.models import Slot, SlotState, Stage
from corpus.models import Subtest
from corpus.rules.states import ItemState
from evaluation.models import Run
from generation.methods.table import METHODS
from generation.models import GenerationRun
from jobs.models import Job
from projects.access import visible_projects
from projects.models import Membership, Project, User

N_RUNS = 6


@dataclass
class ProjectCard:
    """One project of a person's list; `waiting` counts free places of the stages that are theirs."""

    project: Project
    roles: list[str]
    waiting: list[tuple[str, int]] = field(default_factory=list)


def projects_of(person: User) -> list[ProjectCard]:
    """The person's projects with roles and open work; three queries, however many projects."""
    cards = {project.pk: ProjectCard(project, []) for project in visible_projects(person)}
    rows = Membership.objects.filter(project__in=cards, person=person)
    for project_id, role in rows.order_by("role").values_list("project_id", "role"):
        cards[project_id].roles.append(role)
    free = Slot.objects.filter(project__in=cards, state=SlotState.FREE)
    counts = free.values_list("project_id", "stage").annotate(n=Count("id")).order_by("stage")
    for project_id, stage, n in counts:
        if ROLE_OF_STAGE.get(stage) in cards[project_id].roles:
            cards[project_id].waiting.append((Stage(stage).label, n))
    return list(cards.values())


@dataclass(frozen=True)
class JobRow:
    """A run with its job, whatever it makes."""

    label: str
    what: str
    url_name: str
    pk: int
    job: Job | None


def recent_runs(project: Project) -> list[JobRow]:
    """The newest generation and scoring runs with their jobs; two queries."""
    made = GenerationRun.objects.filter(project=project).select_related("job", "subtest")[:N_RUNS]
    scored = Run.objects.filter(release__project=project).select_related("job", "release")[:N_RUNS]
    rows = [
        (run.created_at, JobRow(_method_label(run.method), run.subtest.name, "generation:run", run.pk, run.job))
        for run in made
    ]
    rows += [(run.created_at, JobRow(run.label, run.release.name, "evaluation:run", run.pk, run.job)) for run in scored]
    return [row for _when, row in sorted(rows, key=lambda pair: pair[0], reverse=True)[:N_RUNS]]


def _method_label(slug: str) -> str:
    return METHODS[slug].label if slug in METHODS else slug


def freezable(project: Project) -> list[Subtest]:
    """What a release made now would hold: main subtests with `n_valid` items and `n_paired` of them.

    A paired item is one whose proficiency item is valid too: P and P+T stand over those.
    """
    valid = Q(items__state=ItemState.VALID)
    paired = valid & Q(items__proficiency_item__state=ItemState.VALID)
    rows = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN).order_by("name")
    return list(rows.annotate(n_valid=Count("items", filter=valid), n_paired=Count("items", filter=paired)))
