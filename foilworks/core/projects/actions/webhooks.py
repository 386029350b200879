"""A researcher adds, tests, restarts and deletes a webhook, rotates its secret, and sends a failed delivery again."""

import secrets
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.access import or_404, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import Delivery, Project, Role, User, Webhook
from foilworks.core.projects.webhooks.event_type import event_types
from foilworks.core.projects.webhooks.messages import ROTATION_OVERLAP
from foilworks.core.projects.webhooks.outbound_addresses import checked_target

MAX_WEBHOOKS = 20
# As many as it takes for a webhook to stop, and more; older failures are sent again one by one.
MAX_RESENT = 100


def add_webhook(person: User, project: Project, url: str, events: Sequence[str]) -> Webhook:
    """Store a webhook. ProjectError: a private or unknown address, an unknown event, too many webhooks."""
    require_role(person, project, Role.RESEARCHER)
    unknown = [event for event in events if event not in event_types()]
    if unknown or not events:
        raise ProjectError(_("Choose at least one event from: %(list)s.") % {"list": ", ".join(event_types())})
    # Resolving is slow: before the transaction (but inside that of an Idempotency-Key, decision 35).
    checked_target(url)
    try:
        with transaction.atomic():
            if Webhook.objects.filter(project=project).count() >= MAX_WEBHOOKS:
                raise ProjectError(
                    _("A project can have at most %(most)d webhooks. Delete one first.") % {"most": MAX_WEBHOOKS}
                )
            event_names = [event for event in event_types() if event in events]
            hook = Webhook.objects.create(
                project=project, url=url, events=event_names, salt=secrets.token_hex(16), made_by=person
            )
            audit.record(audit.event(project, person, "projects.add_webhook", hook, events=event_names))
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
def rotate_webhook(person: User, project: Project, pk: int, *, revoke: bool = False) -> Webhook:
    """Give the webhook a new secret; the old one signs as well for a day, unless `revoke`.

    Http404 for another project's webhook.
    """
    webhook_for(person, project, pk)
    hook = Webhook.objects.select_for_update(no_key=True).get(pk=pk)
    hook.old_salt, hook.salt = "" if revoke else hook.salt, secrets.token_hex(16)
    hook.old_salt_until = None if revoke else timezone.now() + ROTATION_OVERLAP
    hook.save(update_fields=["salt", "old_salt", "old_salt_until"])
    audit.record(audit.event(project, person, "projects.rotate_webhook", hook, revoked=revoke))
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


@transaction.atomic
def retry_delivery(person: User, project: Project, pk: int, delivery_pk: int) -> Delivery:
    """Send a delivery again, now, instead of at its next attempt or after its last one.

    ProjectError if no attempt has failed, or if the webhook has stopped.
    """
    hook = webhook_for(person, project, pk)
    row = Delivery.objects.select_for_update(no_key=True).filter(webhook=hook, pk=delivery_pk).first()
    delivery = or_404(row, _("Delivery not found."))
    if hook.stopped_at:
        raise ProjectError(_("Nothing is sent to this webhook any more. Start it again first."))
    if not delivery.can_be_sent_again:
        raise ProjectError(_("Only failed deliveries can be sent again."))
    _send_again(delivery)
    audit.record(audit.event(project, person, "projects.retry_delivery", hook, delivery=delivery.pk))
    return delivery


@transaction.atomic
def restart_webhook(person: User, project: Project, pk: int) -> Webhook:
    """Send to a webhook again that stopped after too many failures; its newest failed deliveries are sent again."""
    hook = webhook_for(person, project, pk)
    if hook.stopped_at is None:
        raise ProjectError(_("This webhook has not stopped."))
    hook.stopped_at, hook.failures, hook.failing_since, hook.paused_until = None, 0, None, None
    hook.save(update_fields=["stopped_at", "failures", "failing_since", "paused_until"])
    failed = list(Delivery.objects.filter(webhook=hook, state=Delivery.State.FAILED)[:MAX_RESENT])
    for delivery in failed:
        _send_again(delivery)
    audit.record(audit.event(project, person, "projects.restart_webhook", hook, resent=len(failed)))
    return hook


def _send_again(delivery: Delivery) -> None:
    delivery.state, delivery.attempts, delivery.next_at = Delivery.State.WAITING, 0, timezone.now()
    delivery.save(update_fields=["state", "attempts", "next_at"])
    Webhook.objects.filter(pk=delivery.webhook_id).update(paused_until=None)
