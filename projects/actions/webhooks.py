"""A researcher adds, tests and deletes a webhook."""

import secrets
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from projects import audit
from projects.access import or_404, require_role
from projects.errors import ProjectError
from projects.models import Project, Role, User, Webhook
from projects.outbound_addresses import checked_target
from projects.webhooks import EVENTS

MAX_WEBHOOKS = 20


def add_webhook(person: User, project: Project, url: str, events: Sequence[str]) -> Webhook:
    """Store a webhook. ProjectError: a private or unknown address, an unknown event, too many webhooks."""
    require_role(person, project, Role.RESEARCHER)
    unknown = [event for event in events if event not in EVENTS]
    if unknown or not events:
        raise ProjectError(_("Choose at least one event from: %(list)s.") % {"list": ", ".join(EVENTS)})
    # Resolving is slow: before the transaction (but inside that of an Idempotency-Key, decision 35).
    checked_target(url)
    try:
        with transaction.atomic():
            if Webhook.objects.filter(project=project).count() >= MAX_WEBHOOKS:
                raise ProjectError(
                    _("A project can have at most %(most)d webhooks. Delete one first.") % {"most": MAX_WEBHOOKS}
                )
            wanted = [event for event in EVENTS if event in events]
            hook = Webhook.objects.create(
                project=project, url=url, events=wanted, salt=secrets.token_hex(16), made_by=person
            )
            audit.record(audit.event(project, person, "projects.add_webhook", hook, events=wanted))
    except IntegrityError as error:
        raise ProjectError(_("A webhook with this address already exists. Delete it first.")) from error
    return hook


@transaction.atomic
def ping_webhook(person: User, project: Project, pk: int) -> Webhook:
    """Send a test delivery. Http404 for another project's webhook."""
    hook = webhook_for(person, project, pk)
    audit.record(audit.event(project, person, "projects.ping_webhook", hook))
    return hook


@transaction.atomic
def remove_webhook(person: User, project: Project, pk: int) -> None:
    """Delete the webhook. Http404 for another project's."""
    hook = webhook_for(person, project, pk)
    audit.record(audit.event(project, person, "projects.remove_webhook", hook))
    hook.delete()


def webhook_for(person: User, project: Project, pk: int) -> Webhook:
    """Return a webhook of the project, for its researchers; Http404 for another project's."""
    require_role(person, project, Role.RESEARCHER)
    return or_404(
        Webhook.objects.select_related("project").filter(project=project, pk=pk).first(), _("Webhook not found.")
    )
