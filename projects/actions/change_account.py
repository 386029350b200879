"""A person says how they are called and where mail reaches them."""

from django.db import transaction
from django.utils.translation import gettext as _

from projects import audit
from projects.demo_accounts import refuse_published
from projects.models import User

FIELDS = ("first_name", "last_name", "email")


@transaction.atomic
def change_account(person: User, **values: str) -> None:
    """Only FIELDS, which the form has checked; the audit row names the fields that changed, not what they say."""
    refuse_published(person, _("This account is a demo's: nobody's name or address belongs here."))
    before = User.objects.get(pk=person.pk)
    changed = [name for name in FIELDS if name in values and getattr(before, name) != values[name]]
    if not changed:
        return
    User.objects.filter(pk=person.pk).update(**{name: values[name] for name in changed})
    audit.record(audit.event(None, person, "projects.change_account", person, fields=", ".join(changed)))
