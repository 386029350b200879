"""Who may validate now, and the running tally that decides it: one read at a claim, one row at a submit."""

from datetime import datetime

from django.db.models import F

from annotation.actions.leases.leasing import end_lease
from annotation.errors import NotAdmitted
from annotation.messages import ADMISSION
from annotation.models import (
    Choice,
    Ending,
    Lease,
    QualityPolicy,
    Slot,
    SlotState,
    Stage,
    Standing,
    Vote,
)
from annotation.models.stages import stages_shown_as
from annotation.queries.quality import PAUSED, bars_of, policy_and_standing, why_not_admitted
from annotation.rules.pausing import JudgementCounts, Reason, suspicion
from annotation.rules.watch_evidence import shown_seconds
from annotation.transactions import serialize_writes
from projects import audit
from projects.models import Project, User

COUNTS = ("gold_seen", "gold_right", "first", "second", "timed", "fast")


def admitted(person: User, project: Project, now: datetime) -> Standing | None:
    """The person's standing, made where it is missing; None where the project has no policy. NotAdmitted says why."""
    found = policy_and_standing(person, project)
    if found is None:
        return None
    policy, standing = found
    refusal = why_not_admitted(policy, standing)
    if refusal is not None:
        raise NotAdmitted(str(ADMISSION[refusal]), refusal)
    if standing is None:
        standing, _made = Standing.objects.get_or_create(policy=policy, person=person, defaults={"counted_from": now})
    standing.policy = policy
    # Null: the version before made the row.
    standing.gold_ahead = standing.gold_ahead or []
    return standing


def count_piece(standing: Standing, *, gold: bool) -> None:
    """Count a piece that was given out, and store which gold waits for the person from now on."""
    Standing.objects.filter(pk=standing.pk).update(
        served=F("served") + 1, gold_served=F("gold_served") + int(gold), gold_ahead=standing.gold_ahead
    )


def locked(pk: int | None) -> Standing | None:
    """The standing with its policy; other judgements of the person wait until the transaction ends."""
    if pk is None:
        return None
    return Standing.objects.select_for_update(of=("self",), no_key=True).select_related("policy__project").get(pk=pk)


def is_fast(standing: Standing, lease: Lease, now: datetime) -> bool | None:
    """Whether so little time has passed since the clip was handed out; None where nobody looks, or knows its length.

    Our own clock: what the browser says of its time could be anything.
    """
    video = lease.slot.video
    share = standing.policy.fast_share
    length = shown_seconds(video.start_time, video.end_time, video.time_unit, video.duration)
    if not share or length is None:
        return None
    return (now - lease.leased_at).total_seconds() < share * length


def counts_of_vote(vote: Vote) -> dict[str, int]:
    """What a judgement adds to the counts. Its gold pair is loaded."""
    counts = dict.fromkeys(COUNTS, 0)
    if vote.gold_id is not None:
        counts["gold_seen"] = 1
        counts["gold_right"] = int(vote.choice == vote.gold.answer)
    if vote.choice in (Choice.CAPTION, Choice.FOIL) and vote.caption_first is not None:
        counts["first" if (vote.choice == Choice.CAPTION) == vote.caption_first else "second"] = 1
    if vote.fast is not None:
        counts["timed"], counts["fast"] = 1, int(vote.fast)
    return counts


def add_vote(standing: Standing, vote: Vote, now: datetime) -> None:
    """The judgement goes into the locked standing; who is under the bar is paused from here on.

    One that was sent before the counts began anew, and waited for that, is not in them.
    """
    if vote.created_at < standing.counted_from:
        return
    _add(standing, counts_of_vote(vote), 1)
    reason = suspicion(JudgementCounts(**{name: getattr(standing, name) for name in COUNTS}), bars_of(standing.policy))
    if reason is not None and standing.state == Standing.State.ACTIVE:
        pause(standing, reason, now, None)


def subtract_vote(standing: Standing, vote: Vote) -> None:
    """An undone judgement leaves the locked standing; one from before the counts began is not in them."""
    if vote.created_at >= standing.counted_from:
        _add(standing, counts_of_vote(vote), -1)


def pause(standing: Standing, reason: Reason, now: datetime, actor: User | None, note: str = "") -> int:
    """Active -> paused; how many leases were freed. The standing is locked, its policy's project loaded."""
    project = standing.policy.project
    serialize_writes(standing.person)
    standing.state, standing.paused_at, standing.paused_by = Standing.State.PAUSED, now, actor
    standing.paused_why, standing.paused_note = reason, note[:500]
    standing.save(update_fields=["state", "paused_at", "paused_by", "paused_why", "paused_note"])
    counts = {name: getattr(standing, name) for name in COUNTS}
    audit.record(
        audit.event(
            project, actor, "pause", standing, from_state="active", to_state="paused", reason=note or reason, **counts
        )
    )
    # Work that comes in late under an ended lease finds the pause through it.
    leases = Lease.objects.filter(person=standing.person_id, task__project=project, standing=None)
    leases.filter(task__stage__in=stages_shown_as(Stage.VALIDATION)).exclude(ending=Ending.SUBMITTED).update(
        standing=standing
    )
    held = Slot.objects.filter(project=project, person=standing.person_id, state=SlotState.LEASED)
    held = held.filter(stage__in=stages_shown_as(Stage.VALIDATION))
    slots = list(held.select_for_update(of=("self",), no_key=True).select_related("task", "project"))
    for slot in slots:
        end_lease(slot, Ending.CANCELLED, now, actor)
    return len(slots)


def refuse_undo_while_paused(standing: Standing | None) -> None:
    """Who is paused takes nothing back: the piece would be in their hands again."""
    if standing is not None and standing.state == Standing.State.PAUSED:
        raise NotAdmitted(str(ADMISSION[PAUSED]), PAUSED)


def _add(standing: Standing, counts: dict[str, int], sign: int) -> None:
    for name, count in counts.items():
        setattr(standing, name, max(0, getattr(standing, name) + sign * count))
    standing.save(update_fields=list(COUNTS))


def policy_of(project: Project) -> QualityPolicy:
    """The policy, locked; a new one asks for nothing."""
    pk = QualityPolicy.objects.get_or_create(project=project)[0].pk
    return QualityPolicy.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=pk)


def standing_of(person: User, project: Project) -> Standing:
    """The person's standing, locked, with its policy and project; what they send and undo waits."""
    serialize_writes(person)
    policy, _made = QualityPolicy.objects.get_or_create(project=project)
    standing, _made = Standing.objects.get_or_create(policy=policy, person=person)
    found = locked(standing.pk)
    assert found is not None
    return found
