"""Reserve the additional votes of a divided pair for skilled validators, and keep their estimates fresh."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from annotation.models import DeclinedVideo, Involvement, Lease, QualityPolicy, Slot, Standing, Task
from annotation.rules.ordering import seeded_share
from annotation.rules.skill import better_half
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Membership, Project, Role

JOB = "annotation.estimate_skill"
RESERVED_FOR = timedelta(days=1)
ESTIMATED_EVERY = timedelta(days=1)


def skilled_people(task: Task, project: Project, n: int) -> list[int]:
    """Return up to n people of the better half by skill who are not involved in the task's video. One query.

    Drawn with a secret seed, so that the best person does not get all divided pairs. The claim checks every rule again.
    """
    validators = Membership.objects.filter(project=project, role=Role.VALIDATOR)
    estimated_standings = Standing.objects.filter(
        policy__project=project,
        state=Standing.State.ACTIVE,
        skill__isnull=False,
        person__in=validators.values("person"),
    )
    involvements = (
        Slot.objects.filter(item=task.item_id, person__isnull=False),
        Lease.objects.filter(caption_video=task.video_id),
        Involvement.objects.filter(video=task.video_id),
        DeclinedVideo.objects.filter(video=task.video_id),
    )
    for rows in involvements:
        estimated_standings = estimated_standings.exclude(person__in=rows.values("person"))
    seed = secret_seed("skilled-first", project.pk)
    people = better_half(list(estimated_standings.values_list("person", "skill")))
    return sorted(people, key=lambda person: seeded_share(seed, task.foil_id, person))[:n]


def refresh_skill(project: Project, now: datetime) -> None:
    """Queue a new estimate if the last one is a day old. Does nothing without quality rules."""
    old = Q(skill_at__isnull=True) | Q(skill_at__lte=now - ESTIMATED_EVERY)
    if QualityPolicy.objects.filter(old, project=project).update(skill_at=now):
        enqueue(JOB, project.pk, title="Estimate the skill of validators", project_id=project.pk, by_person=False)


@transaction.atomic
def store_skills(project: Project, skill_by_person: Mapping[int, float]) -> None:
    """Store the estimates by person; others have none. One audit row with the number of people."""
    policy = QualityPolicy.objects.filter(project=project).first()
    if policy is None:
        return
    standings = list(Standing.objects.select_for_update(no_key=True).filter(policy=policy).order_by("pk"))
    for standing in standings:
        standing.skill = skill_by_person.get(standing.person_id)
    Standing.objects.bulk_update(standings, ["skill"], batch_size=500)
    n_estimated = sum(standing.skill is not None for standing in standings)
    audit.record(audit.event(project, None, "estimate_skill", policy, people=n_estimated))
