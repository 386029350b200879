"""Jobs of projects."""

from django.utils import timezone

from jobs.models import Job
from projects.models import Delivery
from projects.webhooks import deliver


def deliver_webhook(delivery_id: int, job: Job) -> None:
    """Attempt one delivery; another job retries a failed one."""
    delivery = Delivery.objects.select_related("webhook__project").filter(pk=delivery_id).first()
    if delivery is not None:
        deliver(delivery, timezone.now())
