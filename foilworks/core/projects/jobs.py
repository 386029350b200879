"""Jobs of projects."""

from django.utils import timezone

from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import Delivery, NotificationSettings
from foilworks.core.projects.notifications.mail import send_digest
from foilworks.core.projects.webhooks.events import deliver


def deliver_webhook(delivery_id: int, job: Job) -> None:
    """Attempt one delivery; another job retries a failed one."""
    delivery = Delivery.objects.select_related("webhook__project").filter(pk=delivery_id).first()
    if delivery is not None:
        deliver(delivery, timezone.now())


def mail_notifications(person_id: int, job: Job) -> None:
    """Mail a person what is new; another job retries after a failure of the mail server."""
    notification_settings = NotificationSettings.objects.select_related("person").filter(person=person_id).first()
    if notification_settings is not None:
        send_digest(notification_settings, timezone.now())
