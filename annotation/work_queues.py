"""The queues of a person: available tasks per stage, or why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.messages import ADMISSION, EMPTY
from annotation.models import Slot, SlotState, Stage, Task
from annotation.models.stages import CHOICES, stages_shown_as
from annotation.queries.crowd import place_counts
from annotation.queries.quality import why_barred
from annotation.queries.queues import open_work, why_empty, work_counts
from foilworks.core.projects.access import roles_in
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.diff import diff_segments

Words = str | Promise

TITLES: dict[str, Words] = {
    Stage.EDIT: _("Edit"),
    Stage.REVIEW: _("Review"),
    Stage.VALIDATION: _("Validate"),
    Stage.BASELINE: _("Human baseline"),
    Stage.UNSEEN: _("Without the clip"),
    Stage.OBJECTS: _("Object check"),
}
ABOUT: dict[str, Words] = {
    Stage.EDIT: _(
        "Watch a clip and make a small change to its caption, so that the new sentence is false for the clip."
    ),
    Stage.REVIEW: _("Check what was changed in a caption. Then accept the foil, fix it, send it back or drop it."),
    Stage.VALIDATION: _("Watch a clip, read two sentences and choose which is true."),
    Stage.BASELINE: _("Watch a clip and choose the sentence that describes it best."),
    Stage.UNSEEN: _("Choose the sentence that describes a clip, without seeing the clip."),
    Stage.OBJECTS: _("Look at a frame and mark which of the listed objects are visible."),
}
# A caption and its foil, for newcomers. Of no project, so that it reveals nothing of what they will judge.
EXAMPLE = ("A man opens a door.", "A man closes a door.")
# The key of a session: the projects whose introduction is hidden.
INTRODUCED = "introduced"
# Hidden until a researcher opens them.
STUDIES = frozenset({*CHOICES, Stage.OBJECTS})
# These describe the stage as a whole; their count does not help the person.
UNCOUNTED = frozenset({"nothing_yet", "all_done", "archived"})
OWN_OR_DONE = frozenset({"yours", "all_done"})


@dataclass(frozen=True)
class Queue:
    """One stage as the person sees it.

    `n_held`: tasks that the person holds; `reasons`: (slots, words) if no task is available.
    """

    stage: str
    title: Words
    description: Words
    available: int
    # Tasks that the person holds: after an undo, the next one as well.
    n_held: int
    done_today: int
    done: int
    reasons: list[tuple[int | None, Words]]
    # Why this person gets no tasks at the moment: a key of messages.ADMISSION and its text; usually empty.
    barred: str = ""
    barred_words: Words = ""
    # The person has done every task that was open to them, or their quota: no reason to show.
    finished: bool = False
    # The person's place in a crowd study asks for no more tasks.
    place_done: bool = False


def queues_of(person: User, project: Project, *, in_crowd: bool = False) -> list[Queue]:
    """Return the queues of the person's stages in order; studies only once they are open."""
    roles = roles_in(person, project)
    opened = set(Task.objects.filter(project=project, stage__in=STUDIES).values_list("stage", flat=True).distinct())
    visible_stages = [stage for stage, role in ROLE_OF_STAGE.items() if role in roles and stage not in STUDIES - opened]
    return [queue_of(person, project, stage, in_crowd=in_crowd) for stage in visible_stages]


def queue_of(person: User, project: Project, stage: str, *, in_crowd: bool = False) -> Queue:
    """Return one queue; the caller checks the person's role. `in_crowd`: the person works in a crowd study."""
    own_slots = Slot.objects.filter(project=project, stage__in=stages_shown_as(stage), person=person)
    n_held = own_slots.filter(state=SlotState.LEASED).values("task").distinct().count()
    available = open_work(person, project, stage)
    today, in_all = work_counts(person, project, stage, timezone.now())
    why = [] if available or n_held else why_empty(person, project, stage)
    reasons = [(None if reason.code in UNCOUNTED else reason.count, EMPTY[reason.code]) for reason in why]
    quota_done = not (available or n_held or why)
    finished = quota_done or (bool(in_all and why) and all(reason.code in OWN_OR_DONE for reason in why))
    barred = why_barred(person, project) if stage == Stage.VALIDATION else ""
    words = ADMISSION.get(barred, "")
    title, description = TITLES[stage], ABOUT[stage]
    queue = Queue(stage, title, description, available, n_held, today, in_all, reasons, barred, words, finished)
    return _within_place(queue, person, project) if in_crowd else queue


def _within_place(queue: Queue, person: User, project: Project) -> Queue:
    """Return the queue with no more tasks than the person's place in a crowd study still asks for."""
    counts = place_counts(person, project, queue.stage)
    if counts is None:
        return queue
    done, n_required = counts
    n_remaining = max(0, n_required - done)
    return replace(
        queue, available=min(queue.available, max(0, n_remaining - queue.n_held)), place_done=not n_remaining
    )


def introduction_for(request: HttpRequest, project: Project, queues: Sequence[Queue]) -> list[tuple[str, str]] | None:
    """Return a foil as its difference from the caption, for somebody who works here for the first time; else None.

    No column: the first finished task ends the introduction in every browser. Researchers write the guidelines.
    """
    if not queues or any(queue.done for queue in queues) or Role.RESEARCHER in roles_in(request.user, project):
        return None
    return None if project.pk in request.session.get(INTRODUCED, ()) else diff_segments(*EXAMPLE)
