"""Manage webhooks: addresses that receive a project's events, and their deliveries."""

from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema

from foilworks.core.projects.actions import webhooks as actions
from foilworks.core.projects.models import Delivery, Webhook
from foilworks.core.projects.webhooks.event_type import event_types
from foilworks.core.projects.webhooks.messages import secret_of
from foilworks.site.api.rows import Rows
from foilworks.site.api.shapes import Line

Event = Literal[tuple(event_types())]


class WebhookIn(Schema):
    url: Line
    events: list[Event] = Field(min_length=1, max_length=20)


class RotationIn(Schema):
    revoke: bool = Field(default=False, description="end the old secret now instead of in 24 hours")


class WebhookOut(Schema):
    """`stopped_at`: deliveries have stopped after failing for too long; delete the webhook and create it again."""

    id: int
    url: str
    events: list[str]
    created_at: datetime
    stopped_at: datetime | None


class WebhookMade(WebhookOut):
    secret: str | None = Field(description="secret that signs the messages; returned once")


class DeliveryOut(Schema):
    id: int
    event: str
    state: str
    attempts: int
    answer_status: int | None
    problem: str
    next_at: datetime
    created_at: datetime


def _made(hook: Webhook) -> dict[str, Any]:
    return {name: getattr(hook, name) for name in WebhookOut.model_fields} | {"secret": secret_of(hook)}


rows = Rows("webhooks")
rows.listed(
    "",
    "list_webhooks",
    "List the webhooks.",
    lambda call: Webhook.objects.filter(project=call.project),
    WebhookOut,
    orders=("id", "-id"),
)
rows.write(
    "",
    "create_webhook",
    "Send events to a public https address. Each message is signed with the secret in the response.",
    lambda call: _made(actions.add_webhook(call.person, call.project, call.body["url"], call.body["events"])),
    body=WebhookIn,
    shape=WebhookMade,
    status=201,
)
rows.write(
    "/{int:pk}/ping",
    "ping_webhook",
    "Send a test message to the address.",
    lambda call: actions.ping_webhook(call.person, call.project, call.pk),
    shape=WebhookOut,
    status=202,
)
rows.write(
    "/{int:pk}/rotate",
    "rotate_webhook",
    "Replace the secret. For 24 hours, messages are signed with the old one too.",
    lambda call: _made(actions.rotate_webhook(call.person, call.project, call.pk, revoke=call.body["revoke"])),
    body=RotationIn,
    shape=WebhookMade,
)
rows.write(
    "/{int:pk}/restart",
    "restart_webhook",
    "Send events again to a webhook that stopped after too many failures.",
    lambda call: actions.restart_webhook(call.person, call.project, call.pk),
    shape=WebhookOut,
)
rows.write(
    "/{int:pk}/deliveries/{int:delivery}/retry",
    "retry_delivery",
    "Send a failed message again.",
    lambda call: actions.retry_delivery(call.person, call.project, call.pk, call.delivery),
    shape=DeliveryOut,
)
rows.write(
    "/{int:pk}",
    "delete_webhook",
    "Delete the webhook and its waiting messages.",
    lambda call: actions.remove_webhook(call.person, call.project, call.pk),
    method="delete",
    status=204,
)
rows.listed(
    "/{int:pk}/deliveries",
    "list_deliveries",
    "List the messages sent to the address and its responses.",
    lambda call: Delivery.objects.filter(webhook=actions.webhook_for(call.person, call.project, call.pk)),
    DeliveryOut,
    filters={"state": Literal["waiting", "delivered", "failed"]},
)
