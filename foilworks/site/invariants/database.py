"""The database: references point to existing rows of the same project."""

from collections.abc import Iterator

from django.db import IntegrityError, connection
from django.db.models import F

from annotation.models import Slot, Task
from foilworks.core.corpus.models import Item, ReleaseItem
from foilworks.site.invariants.violation import InvariantViolation, rows
from generation.models import CandidateGroup, GenerationRun


def references_lead_somewhere() -> Iterator[InvariantViolation]:
    try:
        connection.check_constraints()
    except IntegrityError as error:
        yield InvariantViolation("database", " ".join(str(error).split()))


def the_file_is_whole() -> Iterator[InvariantViolation]:
    """Check SQLite's file, which disks and copies can damage; PostgreSQL checks its own."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check(20)")
        for (answer,) in cursor.fetchall():
            if answer != "ok":
                yield InvariantViolation("database", answer)


def projects_do_not_mix() -> Iterator[InvariantViolation]:
    pairs = (
        (Item, "subtest__project", "video__project"),
        (Item, "project", "subtest__project"),
        (GenerationRun, "project", "subtest__project"),
        (CandidateGroup, "run__project", "caption__video__project"),
        (Task, "project", "video__project"),
        (Slot, "project", "task__project"),
    )
    for model, first_project, second_project in pairs:
        yield from rows(model.objects.exclude(**{first_project: F(second_project)}), "belongs to two projects")
    members = ReleaseItem.objects.filter(item__isnull=False)
    foreign = members.exclude(item__subtest__project=F("release__project"))
    yield from rows(foreign, "is an item of a different project")
