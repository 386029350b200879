"""Gold for one validator: which pairs may be mixed in, and how many tasks are to come."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import GoldPair, Involvement, Lease, Question, Slot, SlotState, Stage, Use, Vote
from annotation.queries.eligibility import declined_by
from annotation.queries.quality import policy_and_standing
from annotation.rules.gold_serving import pieces_to_come
from foilworks.core.corpus.models import WATCHABLE
from foilworks.core.projects.models import Project, User


def unseen(person: int, project_id: int) -> QuerySet[GoldPair]:
    """Return the pairs that may be mixed in for the person.

    Never leased or asked before; not involved in the video or the texts; its item neither judged nor held by them; the
    video not declined; and if a sentence is judged once, its caption not shown before.
    """
    pairs = GoldPair.objects.filter(
        project=project_id, use=Use.MIXED, withdrawn_at=None, video__media_state__in=WATCHABLE
    )
    kinds = [Involvement.Kind.MADE, Involvement.Kind.REVIEWED, Involvement.Kind.SETTLED]
    hands = Involvement.objects.filter(
        Q(video=OuterRef("video")) | Q(video=OuterRef("item__video")), person=person, kind__in=kinds
    )
    caption = OuterRef("item__caption")
    shown = Lease.objects.filter(person=person, caption_video=OuterRef("item__video"))
    shown = shown.filter(Q(slot__item__caption=caption) | Q(task__gold__item__caption=caption))
    asked = Question.objects.filter(pair__item__caption=caption, attempt__person=person)
    return pairs.exclude(Q(project__judge_caption_once=True) & (Q(Exists(shown)) | Q(Exists(asked)))).exclude(
        Exists(Lease.objects.filter(task__gold=OuterRef("pk"), person=person))
        | Exists(Question.objects.filter(pair=OuterRef("pk"), attempt__person=person))
        | Exists(hands)
        | Exists(Vote.objects.filter(item=OuterRef("item"), person=person))
        | Exists(Slot.objects.filter(item=OuterRef("item"), person=person))
        | Exists(declined_by(person))
    )


def skipped(person: int, project_id: int) -> QuerySet[Slot]:
    """Return the gold slots that the person skipped: like other tasks, they come back at the end."""
    slots = Slot.objects.filter(project=project_id, stage=Stage.GOLD, index=person, state=SlotState.FREE)
    had = Lease.objects.filter(slot=OuterRef("pk"), person=person)
    asked = slots.filter(Exists(had), task__gold__withdrawn_at=None, video__media_state__in=WATCHABLE)
    return asked.exclude(Exists(declined_by(person))).order_by("pk")


def with_gold(person: User, project: Project, real: int) -> int:
    """Return the number of tasks for the person with `real` ones and gold. Three queries with gold, else one.

    The number falls by one with every task: a number that stayed the same would reveal gold.
    """
    found = policy_and_standing(person, project)
    if found is None or not found[0].gold_rate:
        return real
    policy, standing = found
    served = standing.served if standing else 0
    left = unseen(person.pk, project.pk).count()
    pieces = pieces_to_come(real, left, policy.secret, person.pk, served, policy.gold_rate)
    return pieces + skipped(person.pk, project.pk).count()
