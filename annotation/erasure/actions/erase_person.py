"""A person is erased: nothing is left that tells who they were. Their work goes, or stays under a pseudonym."""

import json
import re
import secrets
from collections.abc import Callable, Collection
from datetime import datetime
from functools import partial
from typing import Any

import regex
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.people import withdraw_in_transaction
from annotation.transactions import run_in_transaction
from foilworks.core.projects.actions.consent import on_withdrawal
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.audit_trail import sealing
from foilworks.core.projects.demo_accounts import is_published
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import (
    AuditEvent,
    Consent,
    CrowdPlace,
    CrowdWorker,
    OnWithdrawal,
    Project,
    Role,
    User,
)
from foilworks.core.projects.personal_data import declared, notify_erased
from foilworks.core.text.tokens import whole_words

ERASED = "[erased]"


def may_erase(actor: User, person: User) -> bool:
    """The person, a site administrator, or the researcher of the one project that a crowd worker was ever in."""
    if is_published(person):
        return False
    if actor == person or actor.is_superuser:
        return True
    homes = set(CrowdWorker.objects.filter(person=person).values_list("project", flat=True))
    other_projects = Project.objects.filter(memberships__person=person).exclude(pk__in=homes)
    if len(homes) != 1 or other_projects.exists():
        return False
    return actor.memberships.filter(project__in=homes, role=Role.RESEARCHER).exists()


def erase_person(actor: User, person: User, work: str = OnWithdrawal.KEEP, *, now: datetime | None = None) -> int:
    """How many answers were removed. `work`: "keep" or "remove", where a consent lets the person choose.

    The row of the account stays, closed and empty, for what was done refers to it. ProjectError where the person is the
    last researcher of a project: somebody else has to own it first.
    """
    if not may_erase(actor, person):
        raise AccessDenied(_("Only the person or a site administrator can delete an account."))
    return run_in_transaction(lambda: _erase(actor, person, work, now or timezone.now()))


def _erase(actor: User, person: User, work: str, now: datetime) -> int:
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    names = _names_of(person)
    person_filter = Q(memberships__person=person) | Q(consent_texts__given__person=person)
    person_filter |= Q(crowd_studies__taken__person=person)
    projects = list(Project.objects.filter(person_filter).distinct().order_by("pk"))
    removed = 0
    for project in projects:
        rule = on_withdrawal(person, project)
        work_decision = work if rule == OnWithdrawal.CHOOSE else rule
        removed += withdraw_in_transaction(person, project, work_decision, actor, now)
    _forget_account(person, now)
    scrubbed, audit_rows = _scrub(names)
    _end_sessions(person.pk, names)
    notify_erased(_projects_with_work(person, projects), scrubbed)
    event_actor = None if actor == person else actor
    audit.record(audit.event(None, event_actor, sealing.ERASURE, person, removed=removed, rows=sorted(audit_rows)))
    return removed


def _names_of(person: User) -> frozenset[str]:
    """Whatever tells who the person is, as it may have been written somewhere."""
    names = {person.username, person.email, person.get_full_name(), person.last_name, person.first_name}
    names |= set(CrowdWorker.objects.filter(person=person).values_list("worker", flat=True))
    names |= set(CrowdPlace.objects.filter(person=person).values_list("session", flat=True))
    return frozenset(name for name in names if name)


def _forget_account(person: User, now: datetime) -> None:
    for model, data in declared():
        if data.own_row:
            model.objects.filter(**{data.person: person}).delete()
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


def _scrub(names: Collection[str]) -> tuple[set[int], set[int]]:
    """The names, as whole words and in any case, in what people wrote of one another; the projects whose archives may
    hold what was changed, and the numbers of changed audit rows."""
    sealing.lock_trail()
    audit_rows: set[int] = set()
    longest_first = sorted(names, key=len, reverse=True)
    pattern = whole_words(longest_first)
    ascii_parts, archived = [_ascii_part(name) for name in names], set()
    for model, data in declared():
        for field in (*data.free_text, *data.json_text):
            replace = _in_json if field in data.json_text else _replaced
            changed_ids = _scrub_column(
                model, field, ascii_parts if all(ascii_parts) else (), partial(replace, pattern=pattern)
            )
            if data.archive and changed_ids:
                archived |= set(model.objects.filter(pk__in=changed_ids).values_list(data.archive, flat=True))
            audit_rows |= set(changed_ids if model is AuditEvent else ())
    return archived, audit_rows


def _scrub_column(
    model: type[models.Model], field: str, ascii_parts: Collection[str], replaced: Callable[[Any], Any]
) -> list[int]:
    """Replace the names in one column; return the ids of the changed rows. `ascii_parts` narrows the rows."""
    holds = Q()
    for ascii_part in ascii_parts:
        holds |= Q(**{f"{field}__icontains": ascii_part})
    max_length, changed = model._meta.get_field(field).max_length, {}
    for row in model.objects.filter(holds).only("pk", field).iterator():
        old = getattr(row, field)
        new = replaced(old)
        if new != old:
            changed[row.pk] = new[:max_length] if isinstance(new, str) else new
    if model is AuditEvent:
        sealing.withhold(changed)
    for pk, value in changed.items():
        model.objects.filter(pk=pk).update(**{field: value})
    return list(changed)


def _ascii_part(name: str) -> str:
    """What a database finds of the name in any case, in text and in JSON, where other letters may be escaped; "" where
    the name has none."""
    return max(re.findall(r"[ !#-\[\]-~]+", name), key=len, default="")


def _in_json(text: str, pattern: regex.Pattern[str]) -> str:
    """The same in a text that is JSON, where a name may be written in escapes."""
    old = json.loads(text) if text else None
    new = _replaced(old, pattern)
    return text if new == old else json.dumps(new)


def _replaced(value: Any, pattern: regex.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(ERASED, value)
    if isinstance(value, dict):
        return {key: _replaced(inner, pattern) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, pattern) for inner in value]
    return value


def _end_sessions(person_id: int, names: Collection[str]) -> None:
    """The person's sessions end; others lose the messages that name them."""
    name_forms = [*names, *(json.dumps(name)[1:-1] for name in names)]
    for session in Session.objects.iterator():
        data = session.get_decoded()
        stored_messages = str(data.get("_messages", ""))
        if data.get("_auth_user_id") == str(person_id):
            session.delete()
        elif any(name in stored_messages for name in name_forms):
            del data["_messages"]
            session.session_data = Session.objects.encode(data)
            session.save(update_fields=["session_data"])


def _projects_with_work(person: User, member_projects: list[Project]) -> set[int]:
    """Those that the person was a member of once, too: their reports may name them."""
    project_ids = {project.pk for project in member_projects}
    for model, data in declared():
        for path in data.works:
            rows = model.objects.filter(**{data.person: person, f"{path}__isnull": False})
            project_ids |= set(rows.values_list(path, flat=True))
    return project_ids
