"""A person chooses a password of their own."""

from django.db import transaction
from django.utils.translation import gettext as _

from projects import audit
from projects.actions.revoke_token import revoke_given_tokens
from projects.demo_accounts import refuse_published
from projects.models import User


@transaction.atomic
def change_password(person: User, password: str) -> None:
    """Store the hash of `password`, which the form has checked; a temporary one is over with it,
    and so are tokens that somebody else told the person.

    AccessDenied for a published account of a demo: the next visitor would be locked out.
    """
    refuse_published(person, _("This account is a demo's and its password is published, so it stays as it is."))
    person.set_password(password)
    person.password_is_temporary = False
    person.save(update_fields=["password", "password_is_temporary"])
    revoke_given_tokens(person)
    audit.record(audit.event(None, person, "projects.change_password", person))
