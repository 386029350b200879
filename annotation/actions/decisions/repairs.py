"""Accept a proposal that makes an item fair: new foils become candidates, for reviewers and validators to judge."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import item_for
from annotation.actions.decisions.undo_decisions import UNDO_SECONDS, require_unopened
from annotation.actions.workflow import authoring
from annotation.actions.workflow.groups import advance, locked_group, reopened_group
from annotation.declarations import ACCEPT_REPAIR
from annotation.errors import AnnotationError
from annotation.models import Involvement, Task
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Role, User
from foilworks.core.text.registry import parse_params
from generation import pipeline
from generation.methods.registry import METHODS
from generation.models import Candidate, CandidateGroup
from generation.pipeline import Step
from generation.records import MODES
from generation.run_captions import with_siblings

UNDO = "undo_accept_repair"
# Captions of other videos are no edits of this one.
NOT_MINIMAL = ("random_caption",)
# Slug and version of the method, and its foil.
Draft = tuple[str, str, str]


def exchange_foils(person: User, item_id: int, partner_id: int, *, now: datetime | None = None) -> list[Candidate]:
    """Write the caption of each item as a candidate for the clip of the other, unless it is a foil there already.

    The items stay as they are: retract them once the new ones are valid. The person counts as the author, so that they
    cannot judge the texts. AnnotationError: one item, two subtests, one clip, equal captions, or a repeated proposal.
    """
    return run_in_transaction(lambda: _exchange(person, item_id, partner_id, now or timezone.now()))


def _exchange(person: User, item_id: int, partner_id: int, now: datetime) -> list[Candidate]:
    first, second = (item_for(person, pk, Role.RESEARCHER) for pk in (item_id, partner_id))
    serialize_writes(first.subtest.project)
    is_exchangeable = first.subtest_id == second.subtest_id and first.video_id != second.video_id
    if not is_exchangeable or first.caption.text == second.caption.text:
        raise AnnotationError(_("Choose two items of one subtest with different clips and captions."))
    directions = [rows for rows in ((first, second), (second, first)) if not _is_proposed(*rows)]
    if not directions:
        raise AnnotationError(_("These texts were already proposed for the clips. Look at their candidates."))
    candidates = [_propose(person, item, source, now) for item, source in directions]
    _record(person, [first, second], [candidate.group for candidate in candidates], candidates)
    return candidates


def _is_proposed(item: Item, source: Item) -> bool:
    text = source.caption.text
    is_foil = item.foils.filter(text=text).exists()
    return is_foil or Candidate.objects.filter(group__caption=item.caption_id, text=text).exists()


def replace_foils(person: User, item_id: int, *, now: datetime | None = None) -> list[Candidate]:
    """Make as many foils as an item needs by rule methods that made none of its foils. People write what is missing.

    They are edited and reviewed like those of a run. The item stays as it is. AnnotationError: the caption waits for
    other foils already.
    """
    item = item_for(person, item_id, Role.RESEARCHER)
    # Before anything is locked: methods read dictionaries.
    drafts = list(islice(_other_drafts(item), item.subtest.foils_per_item))
    return run_in_transaction(lambda: _replace(person, item_id, drafts, now or timezone.now()))


def _replace(person: User, item_id: int, drafts: Sequence[Draft], now: datetime) -> list[Candidate]:
    item = item_for(person, item_id, Role.RESEARCHER)
    project = item.subtest.project
    serialize_writes(project)
    if CandidateGroup.objects.filter(run__subtest=item.subtest, caption=item.caption, item=None).exists():
        raise AnnotationError(_("This caption waits for other foils already. Look at its candidates."))
    group = locked_group(reopened_group(item.subtest, item.caption, person).pk)
    state = CandidateState.QUEUED if project.edit_stage else CandidateState.IN_REVIEW
    candidates = [
        authoring.store_draft(group, person, slug, version, foil, state, rank)
        for rank, (slug, version, foil) in enumerate(drafts)
    ]
    advance(group, person, now)
    _record(person, [item], [group], candidates)
    return candidates


def _other_drafts(item: Item) -> Iterator[Draft]:
    """Yield the first new foil of each published rule method that made none of the item's foils."""
    makers = set(Candidate.objects.filter(foil__item=item).values_list("method", flat=True))
    texts = {*item.foils.values_list("text", flat=True), item.caption.text}
    captions = [selected.caption_input for selected in with_siblings([item.caption])]
    texts.update(*(caption.siblings for caption in captions))
    for slug, entry in METHODS.items():
        if slug in makers or slug in NOT_MINIMAL or entry.kind != "rule" or entry.origin or not entry.published:
            continue
        method = Step.of(METHODS, slug, "method", parse_params(entry, {}))
        state = pipeline.prepare(method, captions, mode=MODES[0], seed=authoring.SEED)
        outcomes = pipeline.run(method, captions, mode=MODES[0], seed=authoring.SEED, state=state)
        foils = (judged.draft.foil for outcome in outcomes for judged in outcome.foils)
        foil = next((foil for foil in foils if foil not in texts), None)
        if foil is not None:
            texts.add(foil)
            yield slug, method.version, foil


def _record(person: User, items: list[Item], groups: list[CandidateGroup], candidates: list[Candidate]) -> None:
    rows = {"items": items, "groups": groups, "candidates": candidates}
    project = items[0].subtest.project
    details = {name: [row.pk for row in members] for name, members in rows.items()}
    audit.record(audit.event(project, person, ACCEPT_REPAIR, project, **details))


def _propose(person: User, item: Item, source: Item, now: datetime) -> Candidate:
    group = locked_group(reopened_group(item.subtest, item.caption, person).pk)
    candidate = authoring.write_candidate(group, person, source.caption.text, None, CandidateState.IN_REVIEW, 0)
    author = Involvement(
        project=item.subtest.project, person=person, video_id=item.video_id, group=group, kind=Involvement.Kind.MADE
    )
    Involvement.objects.bulk_create([author], ignore_conflicts=True)
    advance(group, person, now)
    return candidate


def undo_repair(person: User, event_id: int, *, now: datetime | None = None) -> Item:
    """Delete the proposal's groups with their candidates and tasks; return the item.

    AnnotationError after UNDO_SECONDS, for somebody else's proposal, or once somebody has opened a task.
    """
    return run_in_transaction(lambda: _undo(person, event_id, now or timezone.now()))


def _undo(person: User, event_id: int, now: datetime) -> Item:
    event = AuditEvent.objects.filter(pk=event_id, actor=person.pk, action=ACCEPT_REPAIR).first()
    groups = CandidateGroup.objects.filter(pk__in=event.details.get("groups", ()) if event else ())
    if event is None or not groups:
        raise AnnotationError(_("There is nothing to undo. You can undo only your own decisions."))
    if now > event.at + timedelta(seconds=UNDO_SECONDS):
        minutes = UNDO_SECONDS // 60
        raise AnnotationError(_("You can undo a decision only for %(minutes)s minutes.") % {"minutes": minutes})
    item = item_for(person, event.details["items"][0], Role.RESEARCHER)
    for group in groups:
        locked_group(group.pk)
    tasks = Task.objects.filter(Q(group__in=groups) | Q(candidate__group__in=groups))
    require_unopened(tasks)
    tasks.delete()
    groups.delete()
    audit.record(audit.event(item.subtest.project, person, UNDO, item.subtest.project, accepted=event.pk))
    return item
