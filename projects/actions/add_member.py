"""A researcher brings a person into the project: somebody with an account, or somebody who gets one."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from projects import audit
from projects.access import checked_roles, require_role
from projects.demo_accounts import is_published
from projects.errors import AccessDenied, ProjectError
from projects.models import CrowdWorker, Membership, Project, Role, User

# Without letters and digits that look alike: it is read out and typed.
LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
PASSWORD_PARTS, PART_LENGTH = 4, 4


@dataclass(frozen=True)
class Added:
    """`password` is the temporary one of a new account, told once and stored as a hash alone; else empty."""

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
        raise AccessDenied(_("The accounts of a demo make no further ones; sign in with an account of your own."))
    wanted, name = checked_roles(roles), username.strip()
    try:
        with transaction.atomic():
            added = _new_account(name) if new_account else Added(_person_named(name))
            if Membership.objects.filter(project=project, person=added.person).exists():
                raise ProjectError(
                    _("%(name)s is a member already; change the roles in the list.") % {"name": added.person.username}
                )
            Membership.objects.bulk_create(
                Membership(project=project, person=added.person, role=role) for role in wanted
            )
            CrowdWorker.objects.filter(project=project, person=added.person).update(removed_at=None)
            roles_now = ", ".join(wanted)
            audit.record(
                audit.event(
                    project, actor, "projects.add_member", added.person, roles=roles_now, new_account=new_account
                )
            )
    except IntegrityError as error:
        raise ProjectError(_("Somebody else has just added this name; reload to see the list.")) from error
    return added


def temporary_password() -> str:
    """78 bits that can be read out."""
    return "-".join(
        "".join(secrets.choice(LETTERS) for _letter in range(PART_LENGTH)) for _part in range(PASSWORD_PARTS)
    )


def _person_named(name: str) -> User:
    person = User.objects.filter(username=name).first()
    if person is None:
        raise ProjectError(
            _("There is no account “%(name)s”; correct the name, or tick that a new account is made.") % {"name": name}
        )
    if not person.is_active:
        raise ProjectError(_("The account “%(name)s” is closed; ask a site administrator.") % {"name": name})
    return person


def _new_account(name: str) -> Added:
    password = temporary_password()
    taken = _("The name “%(name)s” is taken; choose another, or add that person without a new account.")
    return Added(make_person(name, password, taken, password_is_temporary=True), password)


def make_person(name: str, password: str, taken: str, **fields: Any) -> User:
    """A new account. ProjectError for a name or an address that cannot be; `taken`: the words for one that is."""
    if User.objects.filter(username__iexact=name).exists():
        raise ProjectError(taken % {"name": name})
    person = User(username=name, **fields)
    person.set_password(password)
    try:
        person.full_clean()
    except ValidationError as error:
        raise ProjectError(next(iter(error.message_dict.values()))[0]) from error
    person.save()
    return person
