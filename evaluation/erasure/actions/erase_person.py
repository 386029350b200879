"""A person is erased: nothing is left that tells who they were. Their work goes, or stays under a pseudonym."""

import json
import re
import secrets
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions._transaction import committed
from annotation.actions.withdraw import on_withdrawal, withdraw_in_transaction
from annotation.models import DeclinedVideo, Draft, GoldPair, PracticeCaption, Review, ReviewRate, Standing
from corpus.models import Takedown
from evaluation.cached_results.models import CachedResult
from evaluation.documents.models import DatasheetAnswer
from evaluation.publishing.models import PublicPage, Submission
from evaluation.releases.models import ReleaseGate
from evaluation.scoring.models import ModelCard
from projects import audit
from projects.errors import AccessDenied
from projects.models import (
    ApiToken,
    AuditEvent,
    Consent,
    CrowdPlace,
    CrowdWorker,
    Delivery,
    IdempotentAnswer,
    Invitation,
    InvitationUse,
    OnWithdrawal,
    Project,
    RecoveryCode,
    Role,
    SecondFactor,
    User,
)
from projects.published import is_published

ERASED = "[erased]"
# Where people write of one another. Captions, foils and guidelines are the project's own text, and no place for it.
FREE_TEXT: tuple[tuple[type[models.Model], tuple[str, ...]], ...] = (
    (AuditEvent, ("reason", "details")),
    (Standing, ("paused_note",)),
    (Review, ("comment",)),
    (Invitation, ("note",)),
    (GoldPair, ("explanation",)),
    (PracticeCaption, ("explanation",)),
    (ReleaseGate, ("override",)),
    (IdempotentAnswer, ("body",)),
    (Delivery, ("payload",)),
    (ModelCard, ("notes",)),
    (DatasheetAnswer, ("text",)),
    (Submission, ("contact", "notes", "reason")),
    (Takedown, ("reason",)),
    (ApiToken, ("name",)),
)
# Of these what stands in archives of public pages, with the way to the project.
IN_ARCHIVES: dict[type[models.Model], str] = {
    ReleaseGate: "release__project",
    ModelCard: "project",
    DatasheetAnswer: "project",
    Takedown: "video__project",
}
# What is of the person alone and no work, whether or not they are a member still.
OWN_ROWS: tuple[type[models.Model], ...] = (
    CrowdWorker,
    InvitationUse,
    SecondFactor,
    RecoveryCode,
    ApiToken,
    IdempotentAnswer,
    DeclinedVideo,
    Draft,
    ReviewRate,
)


def may_erase(actor: User, person: User) -> bool:
    """The person, a site administrator, or the researcher of the one project that a crowd worker was ever in."""
    if is_published(person):
        return False
    if actor == person or actor.is_superuser:
        return True
    homes = set(CrowdWorker.objects.filter(person=person).values_list("project", flat=True))
    others = Project.objects.filter(memberships__person=person).exclude(pk__in=homes)
    if len(homes) != 1 or others.exists():
        return False
    return actor.memberships.filter(project__in=homes, role=Role.RESEARCHER).exists()


def erase_person(actor: User, person: User, work: str = OnWithdrawal.KEEP, *, now: datetime | None = None) -> int:
    """How many answers were removed. `work`: "keep" or "remove", where a consent lets the person choose.

    The row of the account stays, closed and empty, for what was done refers to it. ProjectError where the person is the
    last researcher of a project: somebody else has to own it first.
    """
    if not may_erase(actor, person):
        raise AccessDenied(_("Only the person or a site administrator erases an account."))
    return committed(lambda: _erase(actor, person, work, now or timezone.now()))


def _erase(actor: User, person: User, work: str, now: datetime) -> int:
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    names = _names_of(person)
    theirs = Q(memberships__person=person) | Q(consent_texts__given__person=person)
    theirs |= Q(crowd_studies__taken__person=person)
    projects = list(Project.objects.filter(theirs).distinct().order_by("pk"))
    removed = 0
    for project in projects:
        rule = on_withdrawal(person, project)
        chosen = work if rule == OnWithdrawal.CHOOSE else rule
        removed += withdraw_in_transaction(person, project, chosen, actor, now)
    _forget_account(person, now)
    scrubbed = _scrub(names)
    _end_sessions(person.pk, names)
    worked = _projects_with_work(person, projects)
    # Reports name people until they are shown; they are computed anew when somebody looks.
    CachedResult.objects.filter(project__in=worked).delete()
    # Archives are offered again once they are made anew.
    PublicPage.objects.filter(release__project__in=worked | scrubbed).update(archive_print="")
    audit.record(audit.event(None, None if actor == person else actor, "erase_person", person, removed=removed))
    return removed


def _names_of(person: User) -> frozenset[str]:
    """Whatever tells who the person is, as it may have been written somewhere."""
    names = {person.username, person.email, person.get_full_name(), person.last_name, person.first_name}
    names |= set(CrowdWorker.objects.filter(person=person).values_list("worker", flat=True))
    names |= set(CrowdPlace.objects.filter(person=person).values_list("session", flat=True))
    return frozenset(name for name in names if name)


def _forget_account(person: User, now: datetime) -> None:
    for rows in OWN_ROWS:
        rows.objects.filter(person=person).delete()
    CrowdPlace.objects.filter(person=person).update(session="")
    Consent.objects.filter(person=person, withdrawn_at=None).update(withdrawn_at=now)
    if apps.is_installed("allauth.socialaccount"):
        apps.get_model("socialaccount", "SocialAccount").objects.filter(user=person).delete()
    person.username = f"erased-{secrets.token_hex(6)}"
    person.first_name = person.last_name = person.email = ""
    person.is_active = person.is_staff = person.is_superuser = person.password_is_temporary = False
    person.last_login, person.erased_at = None, now
    person.set_unusable_password()
    person.save()
    person.groups.clear()
    person.user_permissions.clear()


def _scrub(names: Collection[str]) -> set[int]:
    """The names, as whole words and in any case, in what people wrote of one another; the projects whose archives may
    hold what was changed."""
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest_first), re.IGNORECASE)
    may_hold, told = [_ascii_part(name) for name in names], set()
    for model, fields in FREE_TEXT:
        for field in fields:
            holds = Q()
            for part in may_hold if all(may_hold) else ():
                holds |= Q(**{f"{field}__icontains": part})
            longest = model._meta.get_field(field).max_length
            for row in model.objects.filter(holds).only("pk", field).iterator():
                old = getattr(row, field)
                new = _in_json(old, pattern) if model is IdempotentAnswer else _replaced(old, pattern)
                if new == old:
                    continue
                same = model.objects.filter(pk=row.pk)
                same.update(**{field: new[:longest] if isinstance(new, str) else new})
                if path := IN_ARCHIVES.get(model):
                    told |= set(same.values_list(path, flat=True))
    return told


def _ascii_part(name: str) -> str:
    """What a database finds of the name in any case, in text and in JSON, where other letters may be escaped; "" where
    the name has none."""
    return max(re.findall(r"[ !#-\[\]-~]+", name), key=len, default="")


def _in_json(text: str, pattern: re.Pattern[str]) -> str:
    """The same in a text that is JSON, where a name may be written in escapes."""
    old = json.loads(text) if text else None
    new = _replaced(old, pattern)
    return text if new == old else json.dumps(new)


def _replaced(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(ERASED, value)
    if isinstance(value, dict):
        return {key: _replaced(inner, pattern) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, pattern) for inner in value]
    return value


def _end_sessions(person_id: int, names: Collection[str]) -> None:
    """The person's sessions end; others lose the messages that name them."""
    named = [*names, *(json.dumps(name)[1:-1] for name in names)]
    for session in Session.objects.iterator():
        data = session.get_decoded()
        told = str(data.get("_messages", ""))
        if data.get("_auth_user_id") == str(person_id):
            session.delete()
        elif any(name in told for name in named):
            del data["_messages"]
            session.session_data = Session.objects.encode(data)
            session.save(update_fields=["session_data"])


def _projects_with_work(person: User, known: list[Project]) -> set[int]:
    """Those that the person was a member of once, too: their reports may name them."""
    paths = (
        "slots__project",
        "edits__group__run__project",
        "reviews__candidate__group__run__project",
        "votes__item__subtest__project",
        "votes__gold__project",
        "object_answers__frame__check_of__project",
    )
    found = {project.pk for project in known}
    for path in paths:
        found |= set(User.objects.filter(pk=person.pk, **{f"{path}__isnull": False}).values_list(path, flat=True))
    return found
