"""The data for annotation.rules.activity: work, judgements and gold of a project's people."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from annotation.models import Choice, Edit, Ending, Lease, ObjectAnswer, Review, Stage, Vote, VoteState
from annotation.models.stages import public_stage
from annotation.rules.activity import Figures, Judgement, Piece, figures
from foilworks.core.projects.models import Project, User

# Of the evidence of watching only the seconds: a project has hundreds of thousands of pieces.
PIECE = ("person", "seconds_spent", "watch__seconds")


def figures_of(project: Project) -> dict[int, Figures]:
    """Return the figures of everybody who has submitted work, by person. Six queries for any size of project."""
    return figures(_pieces(project), _judgements(project), _gold(project))


def own_figures(project: Project, person: User, *, now: datetime | None = None) -> Figures:
    """Return one person's figures, without those that would reveal too much.

    Accuracy on gold would reveal which tasks are gold. An answer that can still be undone is not compared with others',
    or it could be changed to match.
    """
    settled = (now or timezone.now()) - timedelta(seconds=project.undo_seconds)
    mine = Vote.objects.filter(person=person, state=VoteState.COUNTED, item__subtest__project=project)
    judged = mine.filter(created_at__lt=settled)
    beside = _judgements(project, Vote.objects.filter(item__in=judged.values("item")))
    return figures(_pieces(project, person), beside, {}).get(person.pk, Figures())


def skips_of(project: Project) -> list[tuple[str, str, int]]:
    """Return (stage, reason, number of skipped tasks), most first; the reason is "" if none was given. One query.

    Videos declined for their content are among those without a reason, so nothing reveals them.
    """
    skipped = Lease.objects.filter(task__project=project, ending=Ending.SKIPPED).order_by()
    counts: Counter[tuple[str, str]] = Counter()
    for stage, reason, n in skipped.values_list("task__stage", "skip_reason").annotate(n=Count("pk")):
        counts[public_stage(stage), reason] += n
    return [(stage, reason, n) for (stage, reason), n in counts.most_common()]


def _pieces(project: Project, person: User | None = None) -> Iterator[Piece]:
    own = {"person": person} if person is not None else {"person__isnull": False}
    rows = {
        Stage.EDIT: Edit.objects.filter(undone_at=None, group__run__project=project, **own),
        Stage.REVIEW: Review.objects.filter(undone_at=None, candidate__group__run__project=project, **own),
        Stage.OBJECTS: ObjectAnswer.objects.filter(undone_at=None, frame__check_of__project=project, **own),
    }
    for stage, pieces in rows.items():
        for pk, seconds, watch in pieces.values_list(*PIECE).order_by():
            yield Piece(pk, stage, seconds, _number(watch))
    public = {stage.value: str(public_stage(stage)) for stage in Stage}
    here = Q(item__subtest__project=project) | Q(gold__project=project)
    votes = Vote.objects.filter(here, **own).exclude(state=VoteState.UNDONE)
    for stage, pk, seconds, watch in votes.values_list("stage", *PIECE).order_by():
        yield Piece(pk, public[stage], seconds, _number(watch))


def _judgements(project: Project, votes: QuerySet[Vote] | None = None) -> Iterator[Judgement]:
    rows = Vote.objects.all() if votes is None else votes
    counted = rows.filter(item__subtest__project=project, stage=Stage.VALIDATION, state=VoteState.COUNTED).order_by()
    for item, foil, person, choice, first in counted.values_list("item", "foil", "person", "choice", "caption_first"):
        sided = first is not None and choice in (Choice.CAPTION, Choice.FOIL)
        yield Judgement((item, foil), person, choice, (choice == Choice.CAPTION) == first if sided else None)


def _gold(project: Project) -> dict[int, tuple[int, int]]:
    answers = Vote.objects.filter(gold__project=project).exclude(state=VoteState.UNDONE)
    rows = answers.values_list("person").annotate(right=Count("pk", filter=Q(choice=F("gold__answer"))), n=Count("pk"))
    return {person: (right, n) for person, right, n in rows.order_by()}


def _number(seconds: object) -> float | None:
    return seconds if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None
