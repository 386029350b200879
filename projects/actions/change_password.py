"""A person chooses a password of their own."""

from django.db import transaction

from projects import audit
from projects.models import User


@transaction.atomic
def change_password(person: User, password: str) -> None:
    """Store the hash of `password`, which the form has checked; a temporary one is over with it."""
    person.set_password(password)
    person.password_is_temporary = False
    person.save(update_fields=["password", "password_is_temporary"])
    audit.record(audit.event(None, person, "projects.change_password", person))
