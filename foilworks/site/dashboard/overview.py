"""Count for the overview pages: the open work of a project, the progress of its items. Reads all apps below."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.utils import timezone

from annotation.actions.claims.claim import OF_CANDIDATES, ROLE_OF_STAGE
from annotation.actions.workflow.make_tasks import MAX_GROUPS_PER_CALL, make_tasks_where_missing
from annotation.models import Stage
from annotation.queries.crowd import capped_by_place
from annotation.queries.queues import free_places, open_work_in
from evaluation.scoring.models import Run
from foilworks.core.jobs.models import Job
from foilworks.core.projects.access import visible_projects
from foilworks.core.projects.models import Membership, Project, User
from generation.method_names import method_label
from generation.models import GenerationRun

N_RUNS = 6


@dataclass
class ProjectCard:
    """One project of a person's list; `waiting`: the stages of their roles, with the number of open tasks."""

    project: Project
    roles: list[str]
    waiting: list[tuple[str, int]] = field(default_factory=list)


def projects_of(person: User, *, in_crowd: bool = False) -> list[ProjectCard]:
    """Return the person's projects with roles and open work, including work of runs and imports without tasks yet.

    `in_crowd`: the person works in a crowd study, which asks for a number of tasks. At most six queries, however many
    projects; some more for the first visitor, for crowd workers and for long queues.
    """
    cards = {project.pk: ProjectCard(project, []) for project in visible_projects(person)}
    rows = Membership.objects.filter(project__in=cards, person=person)
    for project_id, role in rows.order_by("role").values_list("project_id", "role"):
        cards[project_id].roles.append(role)
    current = [card for card in cards.values() if card.project.archived_at is None]
    stages = {card.project: person_stages for card in current if (person_stages := stages_of(card.roles))}
    if not stages:
        return list(cards.values())
    free_slots = lay_out(stages)
    for (project_id, stage), n in sorted(open_work_in(person, stages, free_slots, timezone.now()).items()):
        card = cards[project_id]
        n_waiting = capped_by_place(n, person, card.project, stage) if in_crowd else n
        if n_waiting:
            card.waiting.append((Stage(stage).label, n_waiting))
    return list(cards.values())


def stages_of(roles: Collection[str]) -> list[Stage]:
    """Return the stages that the roles open, in the order of the work."""
    return [stage for stage, role in ROLE_OF_STAGE.items() if role in roles]


def lay_out(stages: Mapping[Project, Collection[str]]) -> dict[tuple[int, str], int]:
    """Create the tasks of finished runs and imports when somebody who may do them visits; return the open slots.

    Up to three queries if there is nothing to create. Researchers alone never trigger it: in a project without edits,
    review tasks end the moving of thresholds.
    """
    free_slots = free_places(stages)
    candidates = [project for project, project_stages in stages.items() if OF_CANDIDATES.intersection(project_stages)]
    judged = [project for project, project_stages in stages.items() if Stage.VALIDATION in project_stages]
    idle = [project for project in judged if (project.pk, Stage.VALIDATION) not in free_slots]
    if make_tasks_where_missing(candidates, idle, MAX_GROUPS_PER_CALL):
        free_slots = free_places(stages)
    return free_slots


@dataclass(frozen=True)
class JobRow:
    """A run with its job, whatever it makes."""

    label: str
    what: str
    url_name: str
    pk: int
    job: Job | None


def recent_runs(project: Project) -> list[JobRow]:
    """Return the newest generation and scoring runs with their jobs; two queries."""
    generated = GenerationRun.objects.filter(project=project).select_related("job", "subtest")[:N_RUNS]
    scored = Run.objects.filter(release__project=project).select_related("job", "release")[:N_RUNS]
    rows = [
        (run.created_at, JobRow(method_label(run.method), run.subtest.name, "generation:run", run.pk, run.job))
        for run in generated
    ]
    rows += [(run.created_at, JobRow(run.label, run.release.name, "scoring:run", run.pk, run.job)) for run in scored]
    return [row for _when, row in sorted(rows, key=lambda pair: pair[0], reverse=True)[:N_RUNS]]
