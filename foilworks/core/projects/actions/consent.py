"""Publish and accept consent texts."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.access import forget_roles, needs_consent, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import (
    Consent,
    ConsentState,
    ConsentText,
    Membership,
    OnWithdrawal,
    Project,
    Role,
    User,
)


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


def consent_state(person: User, project: Project) -> ConsentState:
    """Return the person's answer to the project's newest consent text. Two queries."""
    text = ConsentText.objects.filter(project=project).order_by("-version").first()
    if text is None:
        return ConsentState.NEVER_ASKED
    answer = Consent.objects.filter(text=text, person=person).order_by("-pk").first()
    if answer is None:
        return ConsentState.UNANSWERED
    if answer.refused:
        return ConsentState.REFUSED
    return ConsentState.GIVEN if answer.withdrawn_at is None else ConsentState.WITHDRAWN


def on_withdrawal(person: User, project: Project) -> str:
    """Return what happens to the person's work if they leave: the rule of the texts that they accepted or refuse.

    If they accepted one text and refuse a newer one, the rule that protects them more holds. Without a text, work is
    kept.
    """
    texts = ConsentText.objects.filter(project=project).order_by("-version")
    agreed = texts.filter(given__person=person, given__refused=False).order_by("-given__given_at").first()
    asked = texts.first() if needs_consent(person, project) else None
    rules = {text.on_withdrawal for text in (agreed, asked) if text}
    return next((rule for rule in (OnWithdrawal.REMOVE, OnWithdrawal.CHOOSE) if rule in rules), OnWithdrawal.KEEP)


def refuse_consent(person: User, project: Project, now: datetime) -> bool:
    """Store that a person who leaves does not accept the newest text; return whether they were asked.

    Runs inside the caller's transaction, before the membership ends.
    """
    if not needs_consent(person, project):
        return False
    text = ConsentText.objects.filter(project=project).order_by("-version").first()
    refusal = Consent.objects.create(text=text, person=person, given_at=now, withdrawn_at=now, refused=True)
    audit.record(audit.event(project, person, "projects.refuse_consent", refusal, version=text.version))
    return True


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
