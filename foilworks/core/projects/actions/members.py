"""Add members, change roles, leave a project, renew a temporary password."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.access import checked_roles, forget_roles, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.demo_accounts import NO_ACCOUNTS, is_published, refuse_published
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import ApiToken, AuditEvent, Consent, CrowdWorker, Membership, Project, Role, User

# Without letters and digits that look alike, because people read it aloud and type it.
LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
PASSWORD_PARTS, PART_LENGTH = 4, 4


@dataclass(frozen=True)
class Added:
    """A new member; `password` is a new account's temporary one, shown once and stored as a hash; else empty."""

    person: User
    password: str = ""


def add_member(
    actor: User, project: Project, username: str, roles: Sequence[str], *, new_account: bool = False
) -> Added:
    """Make the person a member with `roles`. With `new_account` the account is made too.

    ProjectError: no role, an unknown, closed or taken name, somebody who is a member already. AccessDenied where a
    published account of a demo asks for another: it would be open sign-up.
    """
    require_role(actor, project, Role.RESEARCHER)
    if new_account and is_published(actor):
        raise AccessDenied(str(NO_ACCOUNTS))
    new_roles, name = checked_roles(roles), username.strip()
    try:
        with transaction.atomic():
            added = _new_account(name) if new_account else Added(_find_person(name))
            if Membership.objects.filter(project=project, person=added.person).exists():
                raise ProjectError(
                    _("%(name)s is already a member. Change the roles in the list.") % {"name": added.person.username}
                )
            Membership.objects.bulk_create(
                Membership(project=project, person=added.person, role=role) for role in new_roles
            )
            CrowdWorker.objects.filter(project=project, person=added.person).update(removed_at=None)
            roles_now = ", ".join(new_roles)
            audit.record(
                audit.event(
                    project, actor, "projects.add_member", added.person, roles=roles_now, new_account=new_account
                )
            )
    except IntegrityError as error:
        raise ProjectError(_("Someone else has just added this name. Reload the page to see the list.")) from error
    return added


def temporary_password() -> str:
    """Return a random password of 78 bits that people can read aloud."""
    return "-".join(
        "".join(secrets.choice(LETTERS) for _letter in range(PART_LENGTH)) for _part in range(PASSWORD_PARTS)
    )


def _find_person(name: str) -> User:
    person = User.objects.filter(username=name).first()
    if person is None:
        raise ProjectError(
            _("There is no account “%(name)s”. Correct the name, or select the option to create a new account.")
            % {"name": name}
        )
    if not person.is_active:
        raise ProjectError(_("The account “%(name)s” is closed. Ask a site administrator.") % {"name": name})
    return person


def _new_account(name: str) -> Added:
    password = temporary_password()
    name_taken = _(
        "The name “%(name)s” is already in use. Choose another one, or add that person without creating an account."
    )
    return Added(make_person(name, password, name_taken, password_is_temporary=True), password)


def make_person(name: str, password: str, name_taken: str, **fields: Any) -> User:
    """A new account. ProjectError for a name or an address that cannot be; `name_taken`: the words for one that is."""
    if User.objects.filter(username__iexact=name).exists():
        raise ProjectError(name_taken % {"name": name})
    person = User(username=name, **fields)
    person.set_password(password)
    try:
        person.full_clean()
    except ValidationError as error:
        raise ProjectError(next(iter(error.message_dict.values()))[0]) from error
    person.save()
    return person


@transaction.atomic
def set_roles(actor: User, project: Project, person: User, roles: Sequence[str]) -> frozenset[str]:
    """The roles that the person has lost by it. ProjectError: no member, an unknown role, the last researcher.

    Whose membership ends comes in by no crowd study of the project either, until somebody adds or invites them again.
    Work in the person's hands is not touched here: annotation.actions.people and remove_member free it.
    """
    # Two researchers who remove each other at once wait for each other here.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    require_role(actor, project, Role.RESEARCHER)
    new_roles = checked_roles(roles) if roles else ()
    rows = Membership.objects.filter(project=project, person=person)
    before = set(rows.values_list("role", flat=True))
    if not before:
        raise ProjectError(_("%(name)s is not a member of this project.") % {"name": person.username})
    if Role.RESEARCHER in before and Role.RESEARCHER not in new_roles:
        keep_one_researcher(project, person)
    if not new_roles:
        # First, so that a person who is entering a study is waited for, and found among the rows.
        CrowdWorker.objects.filter(project=project, person=person).update(removed_at=timezone.now())
    rows.exclude(role__in=new_roles).delete()
    Membership.objects.bulk_create(
        Membership(project=project, person=person, role=role) for role in new_roles if role not in before
    )
    action = "projects.change_roles" if new_roles else "projects.remove_member"
    audit.record(audit.event(project, actor, action, person, before=_listed(before), after=_listed(new_roles)))
    return frozenset(before - set(new_roles))


def keep_one_researcher(project: Project, leaving: User) -> None:
    """Raise ProjectError if nobody else would own the project."""
    researchers = Membership.objects.filter(project=project, role=Role.RESEARCHER, person__is_active=True)
    if not researchers.exclude(person=leaving).exists():
        raise ProjectError(
            _("%(name)s is the last researcher of this project. Give someone else this role first.")
            % {"name": leaving.username}
        )


def _listed(roles: Iterable[str]) -> str:
    return ", ".join(role for role in Role.values if role in roles)


def leave_project(person: User, project: Project, actor: User, *, now: datetime | None = None) -> frozenset[str]:
    """The roles that ended. ProjectError for the last researcher.

    Runs inside the caller's transaction: annotation.actions.people frees what was in the person's hands.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    rows = Membership.objects.filter(project=project, person=person)
    before = frozenset(rows.values_list("role", flat=True))
    if Role.RESEARCHER in before:
        keep_one_researcher(project, person)
    rows.delete()
    forget_roles(person)
    standing = Consent.objects.filter(text__project=project, person=person, withdrawn_at=None)
    withdrawn = standing.update(withdrawn_at=now or timezone.now())
    audit.record(
        audit.event(
            project, actor, "projects.leave", person, before=", ".join(sorted(before)), consents_withdrawn=withdrawn
        )
    )
    return before


def unused_accounts(project: Project) -> QuerySet[User]:
    """Members whose account this project's page made, who have never signed in, and who are nowhere else.

    Anyone who has signed in, has a token, or is in a second project has a password that is theirs alone: a researcher
    who could set it would come in as that person.
    """
    created_here = AuditEvent.objects.filter(
        project=project,
        action="projects.add_member",
        target_type=User._meta.label_lower,
        target_id=Cast(OuterRef("pk"), CharField()),
        details__new_account=True,
    )
    memberships = Membership.objects.filter(person=OuterRef("pk"))
    return User.objects.filter(
        Exists(created_here),
        Exists(memberships.filter(project=project)),
        ~Exists(memberships.exclude(project=project)),
        ~Exists(ApiToken.objects.filter(person=OuterRef("pk"))),
        last_login=None,
        password_is_temporary=True,
        is_active=True,
        is_staff=False,
        is_superuser=False,
    )


@transaction.atomic
def renew_password(actor: User, project: Project, person_id: int) -> Added:
    """Another temporary password, told once; the one before opens nothing any more.

    ProjectError for any other account than an unused one of this project. AccessDenied for a published account of a
    demo, which makes no accounts either.
    """
    require_role(actor, project, Role.RESEARCHER)
    refuse_published(actor, NO_ACCOUNTS)
    # Locked, so that a first sign-in and a new password do not miss each other.
    unused = unused_accounts(project).select_for_update(of=("self",), no_key=True)
    person = unused.filter(pk=person_id).first()
    if person is None:
        raise ProjectError(
            _(
                "This account has been used, or belongs to other projects too. Only its owner or the "
                "operator can set its password."
            )
        )
    password = temporary_password()
    person.set_password(password)
    person.save(update_fields=["password"])
    audit.record(audit.event(project, actor, "projects.renew_password", person))
    return Added(person, password)
