"""Undo an import: remove the rows that it made, as long as nobody has worked on them."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from django.db import IntegrityError, models, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.actions.workflow.verdicts import flag_captions
from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Caption, Foil, Item, Subtest, Video
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Project, Role, User
from foilworks.site.imports._changes import referring
from foilworks.site.imports.batch import CHUNK
from foilworks.site.imports.models import Import
from foilworks.site.imports.survey import Progress, silent

JOB = "imports.undo"
Undone = Callable[[Counter[str]], None]
STORED, UNDONE = "evaluation.import_records", "evaluation.undo_import"


def _ignore(_removed: Counter[str]) -> None:
    """Do nothing; the default of `stored`."""


@transaction.atomic
def request_undo(person: User, upload: Import) -> Import:
    """Queue the job that undoes the import. EvaluationError: it cannot be undone."""
    require_role(person, upload.project, Role.RESEARCHER)
    locked = Import.objects.select_for_update(no_key=True).get(pk=upload.pk)
    if locked.state != "done":
        raise EvaluationError(_("Only a stored import can be undone. Reload the page."))
    check_undo(upload.project, started_of(upload))
    locked.job = enqueue(
        JOB,
        upload.pk,
        title=_("Undoing the import of %(name)s") % {"name": upload.file_name or _("videos")},
        project_id=upload.project_id,
    )
    locked.save(update_fields=["job"])
    audit.record(audit.event(upload.project, person, "evaluation.request_undo", upload))
    return locked


def started_of(upload: Import) -> str:
    """Return when the stored import began; "" if its rows cannot be distinguished from others."""
    return str((upload.result or {}).get("started", ""))


def latest_import(project: Project) -> AuditEvent | None:
    """Return the audit row of the newest import that made rows and is not undone."""
    events = audit.events_of(project).filter(action__in=(STORED, UNDONE)).order_by("-pk")
    undone = set()
    for event in events.iterator():
        started = event.details.get("started", "")
        if event.action == UNDONE:
            undone.add(started)
        elif started and started not in undone:
            return event
    return None


def check_undo(project: Project, started: str) -> None:
    """EvaluationError: the import changed or made no rows of its own, or somebody worked on one of them."""
    rows = _rows_of(project, started)
    if not any(query.exists() for query in (rows.items, rows.captions, rows.videos)):
        raise EvaluationError(_("This import made no rows that are still there. There is nothing to undo."))
    if table := rows.used_by():
        raise EvaluationError(
            _("This import cannot be undone: its rows are in use (%(table)s). Retract its items instead.")
            % {"table": table}
        )


def undo_import(
    actor: User | None, project: Project, started: str, *, progress: Progress = silent, stored: Undone = _ignore
) -> Counter[str]:
    """Remove the rows that the import made, and its subtests that are empty now; count them by kind.

    `started`: when it began, as its audit row says. Stored records that it changed stay changed; files stay in storage.
    `stored` is called with the counts inside the transaction. EvaluationError: see `check_undo`.
    """
    require_researcher(actor, project)
    try:
        with transaction.atomic():
            removed = _undo(project, started, progress)
            audit.record(audit.event(project, actor, UNDONE, project, started=started, removed=dict(removed)))
            stored(removed)
    except IntegrityError as error:
        # Somebody referred to a row after the check.
        raise EvaluationError(_("Somebody has just begun to work on a record of this import. Try again.")) from error
    return removed


def _undo(project: Project, started: str, progress: Progress) -> Counter[str]:
    # Imports into one project queue here.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    check_undo(project, started)
    rows = _rows_of(project, started)
    removed: Counter[str] = Counter()
    captions = sorted(set(rows.items.values_list("caption_id", flat=True)))
    for kind, query in (("items", rows.items), ("captions", rows.free_captions), ("videos", rows.free_videos)):
        keys = list(query.order_by("pk").values_list("pk", flat=True))
        chunks = [keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)]
        for chunk in progress(chunks, len(chunks), kind):
            query.model.objects.filter(pk__in=chunk).delete()
        removed[kind] = len(keys)
    # Votes of its items may have put the caption of another import in doubt.
    for start in range(0, len(captions), CHUNK):
        flag_captions(captions[start : start + CHUNK])
    event = next(
        event for event in audit.events_of(project).filter(action=STORED) if event.details.get("started") == started
    )
    removed["subtests"] = _remove_empty(project, event.details.get("subtests", []))
    return removed


def _rows_of(project: Project, started: str) -> "_Rows":
    if not started:
        raise EvaluationError(_("This import cannot be undone: its rows cannot be distinguished from others."))
    return _Rows(project, datetime.fromisoformat(started))


class _Rows:
    """The rows that an import made: all of them have the time at which it began."""

    def __init__(self, project: Project, started: datetime) -> None:
        self.items = Item.objects.filter(project=project, created_at=started)
        self.captions = Caption.objects.filter(video__project=project, created_at=started)
        self.videos = Video.objects.filter(project=project, created_at=started)

    @property
    def free_captions(self) -> QuerySet[Caption]:
        """Return those of which no other import made an item."""
        return self.captions.filter(items=None)

    @property
    def free_videos(self) -> QuerySet[Video]:
        return self.videos.filter(items=None, captions=None)

    def used_by(self) -> str:
        """Return the name of a table whose rows refer to rows of the import; "" if none does."""
        foils = Foil.objects.filter(item__in=self.items.values("pk"))
        own_items = self.items.values("pk")
        # Another item may share a proficiency item.
        sharing = Item.objects.filter(proficiency_item__in=own_items).exclude(pk__in=own_items)
        if sharing.exists():
            return str(Item._meta.verbose_name_plural)
        for query, own in (
            (self.items, {(Foil, "item"), (Item, "proficiency_item")}),
            (foils, set()),
            (self.captions, {(Item, "caption")}),
            (self.videos, {(Item, "video"), (Caption, "video")}),
        ):
            if table := _used_by(query, own):
                return table
        return ""


def _used_by(query: QuerySet[Any], own: set[tuple[type[models.Model], str]]) -> str:
    for rows, name in referring(query.model, own):
        if rows.filter(**{f"{name}__in": query.values("pk")}).exists():
            return str(rows.model._meta.verbose_name_plural)
    return ""


def _remove_empty(project: Project, names: Iterable[str]) -> int:
    """Remove the subtests of these names that nothing refers to. Proficiency subtests are made last."""
    n_removed = 0
    for name in names:
        subtest = Subtest.objects.filter(project=project, name=name)
        if subtest.exists() and not _used_by(subtest, set()):
            subtest.delete()
            n_removed += 1
    return n_removed
