"""Who may validate, and the running counts that decide it: one read per claim, one row per submission."""

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
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User

COUNTS = ("gold_seen", "gold_right", "first", "second", "timed", "fast")


def admitted(person: User, project: Project, now: datetime) -> Standing | None:
    """Return the person's status, created if missing; None if the project has no policy. NotAdmitted says why not."""
    row = policy_and_standing(person, project)
    if row is None:
        return None
    policy, standing = row
    refusal = why_not_admitted(policy, standing)
    if refusal is not None:
        raise NotAdmitted(str(ADMISSION[refusal]), refusal)
    if standing is None:
        standing, _made = Standing.objects.get_or_create(policy=policy, person=person, defaults={"counted_from": now})
    standing.policy = policy
    # Null: the previous version created the row.
    standing.gold_ahead = standing.gold_ahead or []
    return standing


def count_piece(standing: Standing, *, gold: bool) -> None:
    """Count a task that was assigned, and store which gold the person gets next."""
    Standing.objects.filter(pk=standing.pk).update(
        served=F("served") + 1, gold_served=F("gold_served") + int(gold), gold_ahead=standing.gold_ahead
    )


def locked(pk: int | None) -> Standing | None:
    """Return the status row with its policy; other judgements of the person wait until the transaction ends."""
    if pk is None:
        return None
    return Standing.objects.select_for_update(of=("self",), no_key=True).select_related("policy__project").get(pk=pk)


def is_fast(standing: Standing, lease: Lease, now: datetime) -> bool | None:
    """Return if the answer came too soon after the claim; None without a check or a known length.

    Uses the server's clock: the browser can report any time.
    """
    video = lease.slot.video
    share = standing.policy.fast_share
    length = shown_seconds(video.start_time, video.end_time, video.time_unit, video.duration)
    if not share or length is None:
        return None
    return (now - lease.leased_at).total_seconds() < share * length


def counts_of_vote(vote: Vote) -> dict[str, int]:
    """Return what a judgement adds to the counts; its gold pair must be loaded."""
    counts = dict.fromkeys(COUNTS, 0)
    if vote.gold_id is not None:
        counts["gold_seen"] = 1
        counts["gold_right"] = int(vote.choice == vote.gold.answer)
    if vote.choice in (Choice.CAPTION, Choice.FOIL) and vote.caption_first is not None:
        counts["first" if (vote.choice == Choice.CAPTION) == vote.caption_first else "second"] = 1
    if vote.fast is not None:
        counts["timed"], counts["fast"] = 1, int(vote.fast)
    return counts


def add_vote(vote: Vote, now: datetime) -> None:
    """Add the judgement to its locked counts, and pause the person if they are below a limit.

    A judgement from before the counts restarted is not added.
    """
    standing = vote.standing
    if vote.created_at < standing.counted_from:
        return
    _add(standing, counts_of_vote(vote), 1)
    reason = suspicion(JudgementCounts(**{name: getattr(standing, name) for name in COUNTS}), bars_of(standing.policy))
    if reason is not None and standing.state == Standing.State.ACTIVE:
        pause(standing, reason, now, None)


def count_judgement(vote: Vote, *, gold_next: bool | None) -> bool:
    """Add an unpaused person's judgement and the task that follows (`gold_next`; None: no task) to its counts.

    The row need not be locked. False, and nothing is stored, if others have changed it since it was read, or if the
    counts pause the person.
    """
    standing = vote.standing
    old = {name: getattr(standing, name) for name in COUNTS}
    counts = counts_of_vote(vote) if vote.created_at >= standing.counted_from else {}
    new = {name: old[name] + counts.get(name, 0) for name in COUNTS}
    if counts and suspicion(JudgementCounts(**new), bars_of(standing.policy)) is not None:
        return False
    rows = Standing.objects.filter(pk=standing.pk, state=Standing.State.ACTIVE, served=standing.served, **old)
    served = standing.served + (gold_next is not None)
    gold_served = standing.gold_served + bool(gold_next)
    return rows.update(served=served, gold_served=gold_served, gold_ahead=standing.gold_ahead, **new) == 1


def subtract_vote(standing: Standing, vote: Vote) -> None:
    """Subtract an undone judgement from the locked counts, unless it is from before they restarted."""
    if vote.created_at >= standing.counted_from:
        _add(standing, counts_of_vote(vote), -1)


def pause(standing: Standing, reason: Reason, now: datetime, actor: User | None, note: str = "") -> int:
    """Pause an active validator; return how many leases were freed. The row is locked, its policy's project loaded."""
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
    # Late work under an ended lease finds the pause through it.
    leases = Lease.objects.filter(person=standing.person_id, task__project=project, standing=None)
    leases.filter(task__stage__in=stages_shown_as(Stage.VALIDATION)).exclude(ending=Ending.SUBMITTED).update(
        standing=standing
    )
    leased_slots = Slot.objects.filter(project=project, person=standing.person_id, state=SlotState.LEASED)
    leased_slots = leased_slots.filter(stage__in=stages_shown_as(Stage.VALIDATION))
    slots = list(leased_slots.select_for_update(of=("self",), no_key=True).select_related("task", "project"))
    for slot in slots:
        end_lease(slot, Ending.CANCELLED, now, actor)
    return len(slots)


def refuse_undo_while_paused(standing: Standing | None) -> None:
    """Refuse an undo while paused: the task would be leased to the person again."""
    if standing is not None and standing.state == Standing.State.PAUSED:
        raise NotAdmitted(str(ADMISSION[PAUSED]), PAUSED)


def _add(standing: Standing, counts: dict[str, int], sign: int) -> None:
    for name, count in counts.items():
        setattr(standing, name, max(0, getattr(standing, name) + sign * count))
    standing.save(update_fields=list(COUNTS))


def policy_of(project: Project) -> QualityPolicy:
    """Return the policy, locked; a new one requires nothing."""
    pk = QualityPolicy.objects.get_or_create(project=project)[0].pk
    return QualityPolicy.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=pk)


def standing_of(person: User, project: Project) -> Standing:
    """Return the person's status, locked, with policy and project; their submissions and undos wait."""
    serialize_writes(person)
    policy, _made = QualityPolicy.objects.get_or_create(project=project)
    standing, _made = Standing.objects.get_or_create(policy=policy, person=person)
    standing_row = locked(standing.pk)
    assert standing_row is not None
    return standing_row
