"""Numbers of the overview pages: what waits in a project, how far its items are. Reads all apps below."""

from dataclasses import dataclass, field

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.claim import ROLE_OF_STAGE
from annotation.models import Edit, Slot, SlotState, Stage, TaskState
from corpus.models import Caption, Subtest
from corpus.rules.states import ItemState
from evaluation.models import Run
from evaluation.reports import funnel_counts
from generation.methods.table import METHODS
from generation.models import GenerationRun
from jobs.models import Job
from projects.access import visible_projects
from projects.models import Membership, Project, Role, User

N_RUNS = 6


@dataclass
class ProjectCard:
    """One project of a person's list; `waiting` counts free places of the stages that are theirs."""

    project: Project
    roles: list[str]
    waiting: list[tuple[str, int]] = field(default_factory=list)

    @property
    def is_owner(self) -> bool:
        return Role.RESEARCHER in self.roles


def projects_of(person: User) -> list[ProjectCard]:
    """The person's projects with roles and open work; three queries, however many projects."""
    cards = {project.pk: ProjectCard(project, []) for project in visible_projects(person)}
    rows = Membership.objects.filter(project__in=cards, person=person)
    for project_id, role in rows.order_by("role").values_list("project_id", "role"):
        cards[project_id].roles.append(role)
    free = Slot.objects.filter(project__in=cards, state=SlotState.FREE, task__state=TaskState.OPEN)
    counts = free.values_list("project_id", "stage").annotate(n=Count("id")).order_by("stage")
    for project_id, stage, n in counts:
        if ROLE_OF_STAGE.get(stage) in cards[project_id].roles:
            cards[project_id].waiting.append((Stage(stage).label, n))
    return list(cards.values())


@dataclass(frozen=True)
class FunnelStep:
    """`percent` of the step before where that counts the same thing (captions, candidates, items), else None.

    `most` is the largest count of the steps that count the same thing: the length of a full bar.
    """

    label: str
    count: int
    what: str
    most: int
    percent: float | None = None


def funnel(project: Project) -> list[FunnelStep]:
    """From captions to released items, in order; main items only. Seven queries."""
    counts = funnel_counts(project)
    edited = Edit.objects.filter(undone_at=None, group__run__project=project).aggregate(n=Count("candidates"))["n"]
    rows = [
        (_("Captions"), "captions", Caption.objects.filter(video__project=project).count()),
        (_("Captions that runs made foils for"), "captions", counts.captions),
        (_("Candidates made"), "candidates", counts.made),
        (_("Passed the filters"), "candidates", counts.passed),
        (_("Submitted by an annotator"), "candidates", edited),
        (_("Accepted in review"), "candidates", counts.accepted),
        (_("Items assembled or imported"), "items", counts.items),
        (_("Valid items"), "items", counts.valid),
        (_("In a release"), "items", counts.released),
    ]
    if not project.edit_stage:
        del rows[4]
    return _steps(rows)


def _steps(rows: list[tuple[str, str, int]]) -> list[FunnelStep]:
    """(label, what is counted, how many) in order -> the steps with their shares."""
    steps: list[FunnelStep] = []
    for label, what, count in rows:
        before = steps[-1].count if steps and steps[-1].what == what else 0
        most = max(1, *(n for _label, same, n in rows if same == what))
        steps.append(FunnelStep(label, count, what, most, 100 * count / before if before else None))
    return steps


@dataclass
class StageQueue:
    """Places of one stage. `expired` leases are over but not taken yet: they are open, not leased."""

    stage: str
    label: str
    open: int = 0
    leased: int = 0
    done: int = 0

    @property
    def total(self) -> int:
        return self.open + self.leased + self.done


def queues(project: Project) -> list[StageQueue]:
    """Open, leased and done places of every stage that has any; one query."""
    over = Q(state=SlotState.LEASED, expires_at__lte=timezone.now())
    rows = (
        Slot.objects.filter(project=project)
        .values_list("stage")
        .annotate(
            free=Count("id", filter=(Q(state=SlotState.FREE) | over) & Q(task__state=TaskState.OPEN)),
            leased=Count("id", filter=Q(state=SlotState.LEASED) & ~over),
            done=Count("id", filter=Q(state=SlotState.DONE)),
        )
    )
    found = {stage: StageQueue(stage, Stage(stage).label, *counts) for stage, *counts in rows}
    return [found[stage] for stage in Stage.values if stage in found]


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


def items_by_subtest(project: Project) -> list[Subtest]:
    """The project's subtests with counts of items: `n_items`, `n_waiting`, `n_valid`, `n_invalid`, `n_split`."""

    def count(*states: str) -> Count:
        return Count("items", filter=Q(items__state__in=states))

    return list(
        Subtest.objects.filter(project=project)
        .order_by("name")
        .annotate(
            n_items=Count("items"),
            n_waiting=count(ItemState.IN_VALIDATION),
            n_valid=count(ItemState.VALID),
            n_invalid=count(ItemState.INVALID, ItemState.REQUEUED),
            n_split=count(ItemState.SPLIT),
        )
    )


def freezable(project: Project) -> list[Subtest]:
    """What a release made now would hold: main subtests with `n_valid` items and `n_paired` of them.

    A paired item is one whose proficiency item is valid too: P and P+T stand over those.
    """
    valid = Q(items__state=ItemState.VALID)
    paired = valid & Q(items__proficiency_item__state=ItemState.VALID)
    rows = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN).order_by("name")
    return list(rows.annotate(n_valid=Count("items", filter=valid), n_paired=Count("items", filter=paired)))
