"""Store a judgement and claim the next one in one transaction, with few statements: the usual way of validators.

Whatever is unusual goes the general way (submit_vote, then claim), which has the same rules and more statements: late
work, a paused person, prior work on the video, a second window. A test compares the rows that both ways store.
"""

import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from annotation.actions.claims import gold_slots
from annotation.actions.claims.claim import named_place, places_behind
from annotation.actions.leases import leasing
from annotation.actions.quality import standings
from annotation.actions.submissions import submission
from annotation.actions.submissions.judgements import Judgement, judgement_of, new_vote, vote_event
from annotation.actions.submissions.submission import Submission
from annotation.actions.workflow.verdicts import Counts, Pair, apply_vote, votes_and_pairs
from annotation.claims import Claim, claim_of
from annotation.errors import AnnotationError
from annotation.models import Guideline, Involvement, Lease, Slot, SlotState, Stage, Standing, TaskState, Vote
from annotation.models.stages import public_stage
from annotation.queries.eligibility import leakage_of
from annotation.queries.held import GOLD, HELD, HELD_GOLD, PAIRS
from annotation.queries.lookahead import SPREAD
from annotation.queries.quality import why_not_admitted
from annotation.rules.gold_serving import gold_caption_first
from annotation.transactions import checked_key, was_rolled_back_by_the_database
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.access import needs_consent, remember_roles, roles_in
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.projects.sql.prepared import insert


class _UnusualError(Exception):
    """The general way is needed; nothing of this one is stored."""


@dataclass(frozen=True)
class Judged:
    """The stored vote and the claim that follows; without a claim, nothing was found in the usual way."""

    vote: Vote
    project: Project
    claim: Claim | None


def judge_and_claim(
    person: User,
    token: str,
    key: str,
    answer: str | int,
    *,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
    slug: str = "",
) -> Judged | None:
    """Store the vote and claim the next task of the validation, all or nothing; `slug`: the project, if it is known.

    None if it cannot be done in the usual way: then nothing is stored, and the general way says why or does it.
    """
    try:
        with transaction.atomic():
            return _judged(Submission(person, token, key, now or timezone.now(), watch, seconds), answer, slug)
    except (_UnusualError, AnnotationError, IntegrityError):
        return None
    except OperationalError as error:
        if not was_rolled_back_by_the_database(error):
            raise
        return None


@dataclass
class _Next:
    """The slot that the person gets next, and what is offered after it."""

    slot: Slot
    upcoming: tuple[int, int] | tuple[None, None]
    # Whether the caption is first, if the slot does not decide it.
    first: bool | None = None


def _judged(sent: Submission, answer: str | int, slug: str) -> Judged:
    checked_key(sent.key)
    lease, project = _held(sent)
    if slug not in ("", project.slug):
        raise _UnusualError
    said = judgement_of(lease, answer)
    standing = _standing_of(lease, sent.person)
    read = _read(sent, lease, said)
    following = _following(sent, project, lease, standing)
    place = leasing.SlotToFill(lease.slot, late=False)
    vote = new_vote(sent, lease, place, said, standing)
    with audit.in_one_statement():
        if standing is not None:
            _count(standing, vote, following)
        insert(vote)
        submission.involve(sent, lease.slot, Involvement.Kind.JUDGED)
        event = vote_event(sent, lease, vote)
        if read is None:
            audit.record(event)
        else:
            apply_vote(lease.task.item, lease.task, sent.person, sent.now, event, read=read)
        found = _pass_on(sent, lease, standing, following)
    return Judged(vote, project, found)


def _held(sent: Submission) -> tuple[Lease, Project]:
    """Return the lease if everything about it is as usual. Locks person, item or gold pair, and slot."""
    told = {"token": sent.token, "person": sent.person.pk}
    rows = HELD.all(**told) or HELD_GOLD.all(**told)
    if not rows:
        raise _UnusualError
    lease: Lease = rows[0]
    slot, task, item = lease.slot, lease.task, lease.task.item
    project: Project = slot.project
    remember_roles(sent.person, project, {row.role: row.consented for row in rows if row.role})
    running = slot.state == SlotState.LEASED and slot.token == sent.token and not lease.ending
    in_time = running and slot.expires_at > sent.now and task.state == TaskState.OPEN
    wanted = item is None or item.state == ItemState.IN_VALIDATION
    validates = public_stage(slot.stage) == Stage.VALIDATION and project.archived_at is None
    if not (in_time and wanted and validates and _may_work(sent.person, project)):
        raise _UnusualError
    slot.task = task
    if item is not None:
        item.subtest.project = project
    return lease, project


def _may_work(person: User, project: Project) -> bool:
    roles = roles_in(person, project)
    asked_for_code = settings.REQUIRE_TWO_FACTOR and Role.RESEARCHER in roles
    return Role.VALIDATOR in roles and not needs_consent(person, project) and not asked_for_code


def _standing_of(lease: Lease, person: User) -> Standing | None:
    """Return the row that counts the judgement, with the project's policy, and with gold for the next tasks."""
    policy, standing = getattr(lease.slot.project, "quality", None), lease.standing
    if policy is None and standing is None:
        return None
    if policy is None or standing is None or why_not_admitted(policy, standing) is not None:
        raise _UnusualError
    standing.policy, standing.gold_ahead = policy, standing.gold_ahead or []
    gold_slots.fill_up(standing, person)
    return standing


def _read(sent: Submission, lease: Lease, said: Judgement) -> tuple[Counts, dict[int, Pair]] | None:
    """Return the counted votes of the item with the new one, and its pairs; None for gold."""
    slot, task = lease.slot, lease.task
    whose = {
        "person": sent.person.pk,
        "project": slot.project_id,
        "video": slot.video_id,
        "slot": slot.pk,
        "key": sent.key,
        "now": sent.now,
    }
    rows = GOLD.all(pair=task.gold_id, **whose) if task.item_id is None else PAIRS.all(item=task.item_id, **whose)
    if not rows or any(hurdle for hurdle, *_pair in rows):
        raise _UnusualError
    if task.item_id is None:
        return None
    counts, pairs = votes_and_pairs(pair for _hurdle, *pair in rows)
    counts.setdefault(task.foil_id, Counter())[said.choice] += 1
    return counts, pairs


def _following(sent: Submission, project: Project, lease: Lease, standing: Standing | None) -> _Next | None:
    """Return the next slot, locked: gold if it is due, else the slot that was offered with the last task."""
    whose = {"person": sent.person.pk, "project": project.pk, "rest": secrets.randbelow(SPREAD)}
    if standing is not None and gold_slots.is_due(standing):
        pk, _video = standing.gold_ahead[0]
        found = gold_slots.waiting_place(caption_once=project.judge_caption_once).first(pk=pk, **whose)
        # No gold without real work: it would be all that remains.
        if found is None or found.following is None:
            return None
        first = gold_caption_first(standing.policy.secret, sent.person.pk, standing.gold_served)
        standing.gold_ahead.pop(0)
        return _next(found, standing, first)
    if lease.upcoming_slot is None:
        return None
    named = {**whose, "project": project, "now": sent.now, "gold": standing is not None}
    found = _free(lease.upcoming_slot, **named)
    if found is None and (others := places_behind(sent.person, project)):
        found = _free(secrets.choice(others)[0], **named)
    return None if found is None else _next(found, standing)


def _free(pk: int, *, project: Project, gold: bool, **whose: Any) -> Slot | None:
    found = named_place(leakage_of(project, gold=gold)).first(pk=pk, project=project.pk, **whose)
    return found if found is not None and found.state == SlotState.FREE else None


def _next(slot: Slot, standing: Standing | None, first: bool | None = None) -> _Next:
    gold = None if standing is None else gold_slots.upcoming(standing)
    shown = slot.following or {"slot": None, "video": None}
    return _Next(slot, gold or (shown["slot"], shown["video"]), first)


def _count(standing: Standing, vote: Vote, following: _Next | None) -> None:
    """Count the judgement and the next task in one statement, if no other request has counted meanwhile."""
    gold = None if following is None else following.slot.stage == Stage.GOLD
    if not standings.count_judgement(standing, vote, gold_next=gold):
        raise _UnusualError


def _pass_on(sent: Submission, lease: Lease, standing: Standing | None, following: _Next | None) -> Claim | None:
    if following is None:
        leasing.fill(lease.slot, lease, sent.now)
        return None
    slot = following.slot
    slot.project = lease.slot.project
    upcoming, video = following.upcoming
    new = leasing.new_lease(slot, sent.person, secrets.token_urlsafe(32), sent.now, following.first)
    new.standing, new.upcoming_slot = standing, upcoming
    if slot.guideline_now is not None:
        same = slot.guideline_now == lease.guideline_id
        new.guideline = lease.guideline if same else Guideline.objects.get(pk=slot.guideline_now)
    leasing.pass_on(lease.slot, lease, new)
    audit.record(
        audit.event(slot.project, sent.person, "lease", slot, from_state=SlotState.FREE, to_state=SlotState.LEASED)
    )
    return claim_of(new, slot, upcoming_video=video, with_rows=True)
