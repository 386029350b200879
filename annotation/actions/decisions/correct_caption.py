"""A researcher corrects a caption that validators found false: a new revision, to which its foils come over."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.decisions import captions
from annotation.actions.workflow import authoring
from annotation.actions.workflow.groups import advance, reopened_group
from annotation.errors import AnnotationError
from annotation.messages import of_finding
from annotation.models import Involvement
from annotation.rules import editing
from annotation.rules.editing import Problem
from annotation.transactions import run_in_transaction
from corpus.models import Caption, DoubtSettled, Foil, Item, Subtest
from corpus.rules.states import CandidateState
from generation.models import Candidate, CandidateGroup
from projects.models import User

MOVE = "recaption"
C = CandidateState
UNUSABLE = frozenset({Problem.EMPTY, Problem.TOO_LONG, Problem.CONTROL_CHARACTER})


@dataclass(frozen=True)
class Correction:
    """`keep`: ids of foils that are false of the video under the corrected caption, too."""

    text: str
    reason: str
    keep: frozenset[int]
    now: datetime


def correct_caption(
    person: User,
    caption_id: int,
    text: str,
    *,
    keep: Collection[int] = (),
    reason: str = "",
    now: datetime | None = None,
) -> Caption:
    """The new caption. Live items of the old one are requeued and keep their votes; nothing more is made of it.

    Foils in `keep` come over as accepted, the others as suggestions to be edited; what says the same as the new caption
    is dropped. What was under way comes over as suggestions. AnnotationError for a text that is none, or that the video
    has already, for a foil to keep that is no foil of the new caption, for a caption that is not in doubt.
    """
    wanted = Correction(text.strip(), reason.strip(), frozenset(keep), now or timezone.now())
    return run_in_transaction(lambda: _correct(person, caption_id, wanted))


def _correct(person: User, caption_id: int, wanted: Correction) -> Caption:
    old = captions.caption_in_doubt(person, caption_id)
    new = _revision(old, wanted.text)
    project = old.video.project
    items = captions.withdraw_items(Item.objects.filter(caption=old), MOVE, project, person, wanted.reason, wanted.now)
    unfinished = CandidateGroup.objects.filter(caption=old, item=None).select_related("run__subtest")
    # Closed before anything is made of the new one: an undone review cannot bring the old one back.
    under_way = captions.withdraw_candidates(unfinished, MOVE, project, person, wanted.reason, wanted.now)
    captions.settle(
        old, DoubtSettled.CORRECTED, person, wanted.reason, Involvement.Kind.MADE, revision=new.pk, items=len(items)
    )
    known = set()
    for item in items:
        known |= _carry_item(item, new, person, wanted)
    if unknown := wanted.keep - known:
        raise AnnotationError(_("%(n)s of the foils to keep are not there any more; reload.") % {"n": len(unknown)})
    for group in unfinished:
        if group.pk in under_way:
            _carry_group(group.run.subtest, under_way[group.pk], new, person, wanted)
    return new


def _revision(old: Caption, text: str) -> Caption:
    for finding in editing.check_text(old.text, text):
        if finding.problem in UNUSABLE:
            raise AnnotationError(_("The corrected caption: %(problem)s.") % {"problem": of_finding(finding)})
    if text == old.text:
        raise AnnotationError(_("This is the caption as it was; correct it, or confirm it as true."))
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    if Caption.objects.filter(video=old.video_id, text_sha256=sha256).exists():
        raise AnnotationError(_("The video has a caption that says this already; drop its items, or reword it."))
    # Facts were noted of the old text: methods must not take them for the new one's.
    return Caption.objects.create(video=old.video, key=old.key, text=text, text_sha256=sha256, revises=old)


def _carry_item(item: Item, new: Caption, person: User, wanted: Correction) -> set[int]:
    """The item's foils under the new caption, and the new item where enough of them stand; their ids."""
    foils = list(Foil.objects.filter(item=item).order_by("position"))
    _check_kept([foil for foil in foils if foil.pk in wanted.keep], new)
    sources = {candidate.foil_id: candidate for candidate in Candidate.objects.filter(foil__in=foils)}
    group = reopened_group(item.subtest, new, person)
    for foil in foils:
        state = C.ACCEPTED if foil.pk in wanted.keep else _state_under(new, foil.text)
        source: Candidate | Foil = sources.get(foil.pk, foil)
        authoring.carry_over(group, source, foil.position, state, person, wanted.reason)
    _go_on(group, person, wanted)
    return {foil.pk for foil in foils}


def _carry_group(subtest: Subtest, candidates: list[Candidate], new: Caption, person: User, wanted: Correction) -> None:
    group = reopened_group(subtest, new, person)
    for candidate in candidates:
        state = _state_under(new, candidate.text)
        authoring.carry_over(group, candidate, candidate.rank, state, person, wanted.reason)
    _go_on(group, person, wanted)


def _check_kept(foils: list[Foil], new: Caption) -> None:
    found = editing.errors(editing.check_texts(new.text, [foil.text for foil in foils]))
    for finding in found:
        raise AnnotationError(
            _("'%(text)s' cannot stay: %(problem)s.")
            % {"text": foils[finding.index].text, "problem": of_finding(finding)}
        )


def _state_under(new: Caption, text: str) -> CandidateState:
    """A suggestion to be edited, unless it is what the caption says now."""
    return C.DROPPED if editing.normalised(text) == editing.normalised(new.text) else C.QUEUED


def _go_on(group: CandidateGroup, person: User, wanted: Correction) -> None:
    hand = {"project": group.run.project, "person": person, "video_id": group.caption.video_id, "group": group}
    Involvement.objects.bulk_create([Involvement(kind=Involvement.Kind.MADE, **hand)], ignore_conflicts=True)
    advance(group, person, wanted.now)
