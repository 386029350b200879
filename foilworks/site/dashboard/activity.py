"""Read the people at work in a project now, and its latest actions, in one query each."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.models import Slot, SlotState, Stage
from foilworks.core.projects.models import AuditEvent, Project

# Rows of the audit trail that are read, and lines that come of them.
N_EVENTS, N_LINES = 200, 5
SYSTEM = _("Foilworks")

# Action -> what the person did, `n` times without anything else between.
WORDS: dict[str, Any] = {
    "submit_edit": ngettext_lazy("edited %(n)d foil", "edited %(n)d foils", "n"),
    "submit_review": ngettext_lazy("reviewed %(n)d foil", "reviewed %(n)d foils", "n"),
    "submit_vote": ngettext_lazy("judged %(n)d pair", "judged %(n)d pairs", "n"),
    "submit_choice": ngettext_lazy("judged %(n)d pair without the video", "judged %(n)d pairs without the video", "n"),
    "submit_objects": ngettext_lazy("checked the objects of %(n)d frame", "checked the objects of %(n)d frames", "n"),
    "adjudicate": ngettext_lazy("adjudicated %(n)d item", "adjudicated %(n)d items", "n"),
    "retract": ngettext_lazy("retracted %(n)d item", "retracted %(n)d items", "n"),
    "requeue": ngettext_lazy("returned %(n)d item to editing", "returned %(n)d items to editing", "n"),
    "evaluation.import_records": ngettext_lazy("imported a file", "imported %(n)d files", "n"),
    "evaluation.freeze_release": ngettext_lazy("froze a release", "froze %(n)d releases", "n"),
    "evaluation.start_run": ngettext_lazy("scored a model", "scored %(n)d models", "n"),
    "generation.start_run": ngettext_lazy("started a generation run", "started %(n)d generation runs", "n"),
    "generation.make_captions": ngettext_lazy("started a caption run", "started %(n)d caption runs", "n"),
    "corpus.create_subtest": ngettext_lazy("created a subtest", "created %(n)d subtests", "n"),
    "publish_guideline": ngettext_lazy("published a guideline", "published %(n)d guidelines", "n"),
    "projects.accept_invitation": ngettext_lazy("accepted an invitation", "accepted %(n)d invitations", "n"),
}


@dataclass(frozen=True)
class Line:
    """What one person did in a row; `at`: the last of it."""

    who: str
    words: str
    at: datetime


def recent_activity(project: Project) -> list[Line]:
    """Return the last lines, newest first. Which pair a person judged is in none of them."""
    rows = AuditEvent.objects.filter(project=project).order_by("-id")
    return _lines(rows.values_list("action", "actor__username", "at")[:N_EVENTS])


def _lines(rows: Iterable[tuple[str, str | None, datetime]]) -> list[Line]:
    """Rows of one person and action in a row are one line; other rows between them do not count."""
    groups: list[tuple[str, str | None, datetime, int]] = []
    for action, username, at in rows:
        if action not in WORDS:
            continue
        if groups and groups[-1][:2] == (action, username):
            groups[-1] = (action, username, groups[-1][2], groups[-1][3] + 1)
        elif len(groups) == N_LINES:
            break
        else:
            groups.append((action, username, at, 1))
    return [Line(username or str(SYSTEM), str(WORDS[action] % {"n": n}), at) for action, username, at, n in groups]


def people_at_work(project: Project, now: datetime) -> dict[str, list[str]]:
    """Return the people who hold a lease now, by stage and in the order of their names; gold is part of validation."""
    leased_slots = Slot.objects.filter(
        project=project, state=SlotState.LEASED, expires_at__gt=now, person__isnull=False
    )
    names_by_stage: dict[str, list[str]] = defaultdict(list)
    for stage, name in leased_slots.order_by("person__username").values_list("stage", "person__username").distinct():
        stage_of_row = Stage.VALIDATION if stage == Stage.GOLD else Stage(stage)
        if name not in names_by_stage[stage_of_row]:
            names_by_stage[stage_of_row].append(name)
    return dict(names_by_stage)
