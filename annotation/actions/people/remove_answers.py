"""What a person answered is taken out of a project, as if it had not been given; what follows is computed anew."""

from datetime import datetime

from django.db.models import Q

from annotation.actions.quality import recounts
from annotation.models import (
    Attempt,
    Edit,
    Ending,
    ExpertLabel,
    Lease,
    ObjectAnswer,
    Review,
    Slot,
    SlotState,
    Stage,
    Standing,
    Task,
    TaskState,
    Vote,
    VoteState,
)
from annotation.transactions import lock_rows
from corpus.models import Item
from corpus.rules.states import WITHDRAWN
from projects.models import Project, User

# Edits and reviews stay, for others' work stands on them; what tells of the person is taken out of their rows.
ANSWERS = (Stage.VALIDATION, Stage.GOLD, Stage.BASELINE, Stage.OBJECTS)


def remove_answers(person: User, project: Project, actor: User, now: datetime) -> int:
    """Votes, choices, answers to gold, objects and exercises go; how many. Verdicts and items follow.

    Foils that the person wrote and reviews that they made stay, without comments, times and watch evidence: others have
    built on them.
    """
    # First of all, so that nobody takes one of them out until their places are free.
    answered = Vote.objects.filter(person=person, item__subtest__project=project)
    lock_rows(Item.objects.filter(pk__in=answered.values("item")))
    for vote in recounts.votes_of(person, project, VoteState.COUNTED):
        recounts.exclude_vote(vote, project, actor, "answers were removed", now)
    votes = Vote.objects.filter(Q(item__subtest__project=project) | Q(gold__project=project), person=person)
    answers = ObjectAnswer.objects.filter(frame__check_of__project=project, person=person)
    _free_places(person, project, now)
    removed = votes.delete()[0] + answers.delete()[0]
    ExpertLabel.objects.filter(pair__project=project, person=person).delete()
    Attempt.objects.filter(project=project, person=person).delete()
    Standing.objects.filter(policy__project=project, person=person).delete()
    plain = {"watch": {}, "seconds_spent": None}
    Edit.objects.filter(group__run__project=project, person=person).update(**plain)
    Review.objects.filter(candidate__group__run__project=project, person=person).update(**plain, comment="")
    return removed


def _free_places(person: User, project: Project, now: datetime) -> None:
    """The places that the answers filled: free for others in studies, given up elsewhere and where the item is gone."""
    leases = Lease.objects.filter(person=person, task__project=project, task__stage__in=ANSWERS)
    leases.filter(ending=Ending.SUBMITTED).update(ending=Ending.CANCELLED, ended_at=now)
    done = Slot.objects.filter(project=project, person=person, state=SlotState.DONE, stage__in=ANSWERS)
    again = done.filter(stage__in=(Stage.BASELINE, Stage.OBJECTS)).exclude(task__state=TaskState.CANCELLED)
    again = again.exclude(item__state__in=WITHDRAWN)
    tasks = list(again.values_list("task", flat=True))
    nobody = {"person": None, "token": "", "expires_at": None}
    again.update(state=SlotState.FREE, **nobody)
    Task.objects.filter(pk__in=tasks, state=TaskState.DONE).update(state=TaskState.OPEN)
    done.update(state=SlotState.CANCELLED, **nobody)
