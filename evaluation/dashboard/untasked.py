"""What waits for people and has no task yet: tasks are made when those who may do them look (annotation.actions).

Counted, never made: where nobody edits, review tasks end the moving of thresholds, and an owner only looks here.
"""

from collections import Counter

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, Sum
from django.db.models.functions import Least

from annotation.actions.workflow.make_tasks import groups_without_tasks, items_without_tasks
from annotation.models import Stage, Task, TaskState
from corpus.models import Foil
from corpus.rules.states import CandidateState
from generation.models import PERSON_METHOD, Candidate
from projects.models import Project


def slots_not_yet_created(project: Project) -> Counter[str]:
    """Stage -> places that its tasks will have. Two queries, cheap where few groups wait: they have an index."""
    foils = Foil.objects.filter(item__in=items_without_tasks(project))
    votes = foils.aggregate(n=Sum("item__subtest__votes_wanted"))["n"] or 0
    stage, n = (Stage.EDIT, _edits(project)) if project.edit_stage else (Stage.REVIEW, _reviews(project))
    return +Counter({stage: n, Stage.VALIDATION: votes})


def _edits(project: Project) -> int:
    begun = Task.objects.filter(group=OuterRef("pk"), state=TaskState.OPEN)
    queued = Candidate.objects.filter(group=OuterRef("pk"), state=CandidateState.QUEUED)
    groups = groups_without_tasks(project).filter(~Exists(begun), item=None)
    return groups.filter(Q(run__method=PERSON_METHOD) | Exists(queued)).count()


def _reviews(project: Project) -> int:
    """Of a caption as many foils are reviewed at a time as its item lacks."""
    begun = Task.objects.filter(candidate__group=OuterRef("group"), state=TaskState.OPEN)
    waiting = Candidate.objects.filter(~Exists(begun), state=CandidateState.IN_REVIEW)
    groups = waiting.filter(group__in=groups_without_tasks(project)).order_by().values("group")
    lacking = F("group__run__subtest__foils_per_item")
    at_a_time = groups.annotate(n=Least(Count("pk"), lacking, output_field=IntegerField()))
    return at_a_time.aggregate(all=Sum("n"))["all"] or 0
