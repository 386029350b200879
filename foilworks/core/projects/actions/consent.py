"""Publish and accept consent texts."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.access import forget_roles, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import Consent, ConsentText, Membership, OnWithdrawal, Project, Role, User


@transaction.atomic
def publish_consent_text(actor: User, project: Project, text: str, on_withdrawal: str) -> ConsentText:
    """ProjectError: an empty text, or one that changes nothing."""
    require_role(actor, project, Role.RESEARCHER)
    if not text.strip() or on_withdrawal not in OnWithdrawal.values:
        raise ProjectError(_("Write the consent text, and say what happens to the work of people who withdraw."))
    # Two researchers who publish at once wait for each other here.
    locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    newest = ConsentText.objects.filter(project=project, version=locked.consent_version).first()
    if newest is not None and (newest.text, newest.on_withdrawal) == (text.strip(), on_withdrawal):
        raise ProjectError(
            _("This text is the same as version %(n)s. No new version was published.") % {"n": newest.version}
        )
    consent_text = ConsentText.objects.create(
        project=project,
        version=locked.consent_version + 1,
        text=text.strip(),
        on_withdrawal=on_withdrawal,
        created_by=actor,
    )
    Project.objects.filter(pk=project.pk).update(consent_version=consent_text.version)
    project.consent_version = consent_text.version
    audit.record(
        audit.event(
            project,
            actor,
            "projects.publish_consent_text",
            consent_text,
            version=consent_text.version,
            on_withdrawal=on_withdrawal,
        )
    )
    return consent_text


@transaction.atomic
def give_consent(person: User, project: Project, version: int, *, now: datetime | None = None) -> Consent:
    """`version` is the one that was on the page. ProjectError where a newer one was published meanwhile."""
    require_role(person, project)
    text = ConsentText.objects.filter(project=project).order_by("-version").first()
    if text is None or text.version != version:
        raise ProjectError(_("The consent text has changed. Read the new version and accept it."))
    consent, new = Consent.objects.get_or_create(
        text=text, person=person, withdrawn_at=None, defaults={"given_at": now or timezone.now()}
    )
    Membership.objects.filter(project=project, person=person).update(consent_version=version)
    forget_roles(person)
    if new:
        audit.record(audit.event(project, person, "projects.give_consent", consent, version=version))
    return consent
